"""CUDA programs on a real device with numpy arrays: kernels compiled by NVRTC here, every form of step, refusals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from albumen.runtime.artifact import Copy, Reference, Weight, digest_of
from albumen.runtime.devices import find_device
from albumen.runtime.devices.cuda import CudaDevice
from albumen.runtime.errors import DeviceError, ShapeError
from albumen.runtime.program import Program

pytestmark = pytest.mark.gpu
F32 = np.float32

W = np.linspace(-1, 1, 64, dtype=F32)
B = np.linspace(5, 6, 64, dtype=F32)


def expected(x: Any) -> Any:
    return x * W + B


@pytest.fixture(scope="module")
def device() -> CudaDevice:
    found = find_device("cuda")
    assert isinstance(found, CudaDevice)
    return found


@pytest.fixture
def program(gpu_kit: Any, device: CudaDevice) -> Program:
    return bound(Program(gpu_kit.artifact_of(device, gpu_kit.steps_of()), device))


def bound(program: Program) -> Program:
    program.bind_parameters({"w": W, "b": B})
    return program


def test_numpy_in_and_out(program: Program, rng: np.random.Generator) -> None:
    for rows in (1, 7, 0, 100, 4096, 7):
        x = rng.standard_normal((rows, 64)).astype(F32)
        np.testing.assert_array_equal(program(x), expected(x))
    x = rng.standard_normal((3, 64)).astype(F32)
    np.testing.assert_array_equal(program(program(x)), expected(expected(x)))
    with pytest.raises(ShapeError, match="4097"):
        program(np.zeros((4097, 64), F32))


@pytest.mark.parametrize("kind", ["portable", "wide", "copies"])
def test_forms_of_steps(gpu_kit: Any, device: CudaDevice, kind: str, rng: np.random.Generator) -> None:
    steps = gpu_kit.steps_of("wide", "65536") if kind == "wide" else gpu_kit.steps_of()
    if kind == "copies":
        shift = replace(
            steps[1], arguments=(*steps[1].arguments[:2], gpu_kit.pointer("slice", 1, "write"), gpu_kit.SIZE)
        )
        steps = (steps[0], shift, Copy(Reference("slice", 1), Reference("output", 0), "s*256"))
    program = bound(Program(gpu_kit.artifact_of(device, steps, portable=kind == "portable"), device))
    for rows in (5, 3, 0, 500, 5):
        x = rng.standard_normal((rows, 64)).astype(F32)
        np.testing.assert_array_equal(program(x), expected(x))


def test_wrong_architecture(gpu_kit: Any, device: CudaDevice) -> None:
    with pytest.raises(DeviceError, match="compiled for sm_75"):
        Program(gpu_kit.artifact_of(device, gpu_kit.steps_of(), arch="sm_75"), device)
    blob = b"not a cubin"
    artifact = gpu_kit.artifact_of(device, gpu_kit.steps_of())
    kernels = tuple(replace(kernel, binary=digest_of(blob)) for kernel in artifact.program.kernels)
    broken = replace(artifact.program, kernels=kernels)
    with pytest.raises(DeviceError, match="cuModuleLoadData: CUDA_ERROR_"):
        Program(replace(artifact, program=broken, blobs={**artifact.blobs, digest_of(blob): blob}), device)


def test_timing(program: Program, device: CudaDevice) -> None:
    seconds = device.time(lambda stream: program(np.ones((4, 64), F32), stream=stream), 3)
    assert len(seconds) == 3 and all(value > 0 for value in seconds)


def test_dropped_programs_give_memory_back(gpu_kit: Any, device: CudaDevice) -> None:
    torch: Any = pytest.importorskip("torch")
    weights = {"w": Weight("f32", (64,), W.tobytes()), "b": Weight("f32", (64,), B.tobytes())}
    used: list[int] = []
    for _ in range(12):
        program = Program(gpu_kit.artifact_of(device, gpu_kit.steps_of()), device)
        program.bind_parameters(weights)
        program(np.ones((4096, 64), F32))
        del program
        torch.cuda.synchronize()
        free, total = torch.cuda.mem_get_info()
        used.append(total - free)
    assert used[-1] - used[3] < 64 << 20
