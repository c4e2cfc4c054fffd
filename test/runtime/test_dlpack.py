"""Arrays of other libraries in and out through DLPack, on torch's CPU tensors and numpy's own implementation."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from albumen.runtime.array import DeviceArray, wrap_numpy
from albumen.runtime.artifact import Artifact, HostProgram, Input, Output
from albumen.runtime.dlpack import Exported, from_dlpack, import_function, to_capsule
from albumen.runtime.errors import LaunchError, ShapeError
from albumen.runtime.program import Program

torch: Any = pytest.importorskip("torch")
pytestmark = pytest.mark.torch
F32 = np.float32


@pytest.fixture
def program(affine: Artifact) -> Program:
    program = Program(affine, "cpu")
    program.bind_parameters({"w": torch.tensor([1.0, 2, 3, 4])})
    return program


def test_torch_in_torch_out(program: Program) -> None:
    x = torch.randn(5, 4)
    y = program(x)
    assert type(y) is torch.Tensor and y.device.type == "cpu"
    torch.testing.assert_close(y, x * torch.tensor([1.0, 2, 3, 4]) + 1, rtol=0, atol=0)
    torch.testing.assert_close(program(y), y * torch.tensor([1.0, 2, 3, 4]) + 1, rtol=0, atol=0)


def test_numpy_and_torch_share_a_program(program: Program) -> None:
    x = torch.randn(5, 4)
    np.testing.assert_array_equal(program(x.numpy()), program(x).numpy())


def test_parameter_is_used_where_it_lies(affine: Artifact) -> None:
    program = Program(affine, "cpu")
    w = torch.ones(4)
    program.bind_parameters({"w": w})
    x = torch.ones(1, 4)
    assert program(x).tolist() == [[2, 2, 2, 2]]
    w.fill_(4)
    assert program(x).tolist() == [[5, 5, 5, 5]]
    assert program(x.numpy()).tolist() == [[5, 5, 5, 5]]


def test_refusals(program: Program) -> None:
    with pytest.raises(ShapeError, match=r"shape \[5, 3\]"):
        program(torch.zeros(5, 3))
    with pytest.raises(LaunchError, match="expected dtype f32, found f64"):
        program(torch.zeros(5, 4, dtype=torch.float64))
    with pytest.raises(ShapeError, match=r"strides \[1, 5\]"):
        program(torch.zeros(4, 5).T)
    with pytest.raises(LaunchError, match="is not supported"):
        program(torch.zeros(5, 4, dtype=torch.complex64))


DTYPES = ["bool", "int8", "uint8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
NAMES = ["i1", "i8", "u8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"]


@pytest.mark.parametrize(("dtype", "name"), list(zip(DTYPES, NAMES, strict=True)))
def test_facts_and_way_back(dtype: str, name: str) -> None:
    x = (torch.arange(24).reshape(2, 3, 4) % 3).to(getattr(torch, dtype))[:, 1:, ::2]
    array = from_dlpack(x)
    assert (array.shape, array.strides, array.dtype, array.device) == ((2, 2, 2), (12, 4, 2), name, "cpu")
    assert array.pointer == x.data_ptr()
    back = torch.from_dlpack(Exported(array, (1, 0), lambda stream: None))
    assert back.dtype == x.dtype and back.data_ptr() == x.data_ptr()
    assert torch.equal(back, x)


def test_memory_lives_as_long_as_the_consumer() -> None:
    class Owner:
        pass

    for consume in (True, False):
        owner = Owner()
        alive = weakref.ref(owner)
        block = np.arange(6, dtype=F32)
        array = DeviceArray(block.ctypes.data, (6,), (1,), "f32", "cpu", (owner, block))
        capsule = to_capsule(array, (1, 0))
        del owner, array
        gc.collect()
        assert alive() is not None
        if consume:
            tensor = torch.utils.dlpack.from_dlpack(capsule)
            del capsule
            gc.collect()
            assert alive() is not None
            assert tensor.tolist() == [0, 1, 2, 3, 4, 5]
            del tensor
        else:
            del capsule
        gc.collect()
        assert alive() is None


def test_numpy_consumes_an_export() -> None:
    block = np.arange(6, dtype=np.int32).reshape(2, 3)
    found = np.from_dlpack(Exported(wrap_numpy(block, "i32"), (1, 0), lambda stream: None))
    np.testing.assert_array_equal(found, block)
    assert np.shares_memory(found, block)


def test_library_without_import() -> None:
    class Odd:
        pass

    with pytest.raises(LaunchError, match=r"Odd has no from_dlpack"):
        import_function(Odd())
    assert import_function(torch.zeros(1)) is torch.from_dlpack
    assert import_function(np.zeros(1)) is np.from_dlpack


def test_bf16_program(make_artifact: Any) -> None:
    text = """
    int albumen_run(void *const *b, const int64_t *s, void *a, const albumen_host *h) {
      for (int i = 0; i < 4; ++i) ((uint16_t *)b[1])[i] = ((const uint16_t *)b[0])[i] ^ 0x8000;
      return ALBUMEN_OK;
    }"""
    inputs, outputs = (Input("x", "bf16", ("4",), ("1",)),), (Output("y", "bf16", ("4",), ("1",)),)
    program = Program(make_artifact(HostProgram("c", "any", (), inputs, outputs, "0"), text), "cpu")
    x = torch.tensor([1.0, -2, 0.5, 3], dtype=torch.bfloat16)
    assert torch.equal(program(x), -x)
    raw = x.view(torch.uint16).numpy()
    assert program(raw).view(np.uint16).tolist() == (-x).view(torch.uint16).tolist()
