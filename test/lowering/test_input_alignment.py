"""Programs of target c take inputs and weights at any address that suits their elements; GPU programs need 16 bytes."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from albumen.dialects.dtype import I64
from albumen.dialects.evaluate import random_inputs
from albumen.dialects.hlir.arithmetic import ExpOp
from albumen.dialects.hlir.linear import LinearOp
from albumen.dialects.host import programs
from albumen.dialects.loop.kernel import kernels_of
from albumen.dialects.loop.types import PtrType
from albumen.lowering.options import CompileOptions
from albumen.lowering.pipeline import compile_module, run_stage, stages_for
from albumen.runtime.artifact import Artifact
from albumen.runtime.errors import LaunchError
from albumen.runtime.program import Program
from albumen.runtime.safetensors import read_safetensors

Array = np.ndarray[Any, np.dtype[Any]]


def at_address(array: Array, offset: int) -> Array:
    """A copy whose first element lies `offset` bytes after a multiple of 64."""
    memory = np.empty(array.nbytes + 128, np.uint8)
    start = -memory.ctypes.data % 64 + offset
    copy = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    assert copy.ctypes.data % 64 == offset
    return copy


def values_of(module: ModuleOp, rng: np.random.Generator, sizes: Mapping[str, int]) -> dict[str, Array]:
    function = next(op for op in module.ops if isinstance(op, FuncOp))
    names = [argument.name_hint or "" for argument in function.body.block.args]
    return dict(zip(names, random_inputs(function, rng, sizes), strict=True))


def run(artifact: Artifact, values: Mapping[str, Array]) -> Array:
    program = Program(artifact, "cpu")
    program.bind_parameters({name: values[name] for name in program.bound_names if name in values})
    return program(*(values[item.name] for item in program.inputs))


def test_any_address_that_suits_the_elements(encoder: Callable[..., ModuleOp], rng: np.random.Generator) -> None:
    module = encoder()
    artifact = compile_module(module, CompileOptions())
    values = values_of(module, rng, {"b": 2, "s": 13})
    expected = run(artifact, {name: at_address(x, 0) for name, x in values.items()})
    for offset in (4, 8, 60):
        moved = {name: at_address(x, offset if x.itemsize == 4 else 8) for name, x in values.items()}
        np.testing.assert_array_equal(run(artifact, moved), expected)
    with pytest.raises(LaunchError, match=r"input 'ids': address 0x\w+ is not 8-byte aligned") as caught:
        run(artifact, {**values, "ids": at_address(values["ids"], 4)})
    assert "pass a copy" in caught.value.hint


def write_safetensors(path: Path, values: Mapping[str, Array]) -> None:
    """As the library of that name writes: data begin at a multiple of 8 bytes, here not of 16."""
    end, head = 0, dict[str, Any]()
    for name, value in values.items():
        head[name] = {"dtype": "F32", "shape": value.shape, "data_offsets": [end, end + value.nbytes]}
        end += value.nbytes
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 16)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(value.tobytes() for value in values.values()))


def test_mapped_weights_are_used_where_they_lie(graph: Any, rng: np.random.Generator, tmp_path: Path) -> None:
    x, w = graph.arg("x", [5, 8]), graph.weight("w", 8, 8)
    artifact = compile_module(graph.finish(graph.b.emit(LinearOp, [x, w])), CompileOptions())
    weight, given = (rng.standard_normal(shape).astype(np.float32) for shape in ((8, 8), (5, 8)))
    write_safetensors(tmp_path / "w.safetensors", {"w": weight})
    program = Program(artifact, "cpu")
    program.bind_parameters(read_safetensors(str(tmp_path / "w.safetensors")))
    assert program.device_values["w"].pointer % 16 == 8
    np.testing.assert_allclose(program(given), given @ weight.T, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("target", "expected"), [("c", {"f32": 4, "i64": 8}), ("cuda", {"f32": 16, "i64": 16})])
def test_what_kernels_assume(graph: Any, target: str, expected: dict[str, int]) -> None:
    x, n = graph.arg("x", [5, 4]), graph.arg("n", [5], I64)
    module = graph.finish(graph.b.emit(ExpOp, [x]), n)
    options = CompileOptions(target=target)
    for stage in stages_for(options):
        run_stage(stage, stage.make(options), Context(), module)
        if stage.name == "lower-kernels":
            break
    (program,) = programs(module)
    assert {op.buffer.type.dtype.name: op.align.data for op in program.inputs} == expected
    pointers = [p.type for kernel in kernels_of(module) for p in kernel.pointers]
    assert pointers
    assert {type_.align.data for type_ in pointers if isinstance(type_, PtrType)} == {expected["f32"]}
