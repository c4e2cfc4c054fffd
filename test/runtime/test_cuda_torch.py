"""CUDA programs on torch's tensors: moved weights, streams, captures, DLPack, library calls, the cost of a call."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from albumen.runtime.artifact import Input, Launch, LibraryCall
from albumen.runtime.devices import find_device
from albumen.runtime.devices.cuda import CudaDevice
from albumen.runtime.errors import LaunchError
from albumen.runtime.program import Program

pytestmark = [pytest.mark.gpu, pytest.mark.torch]
F32 = np.float32
W = np.linspace(-1, 1, 64, dtype=F32)
B = np.linspace(5, 6, 64, dtype=F32)


@pytest.fixture(scope="module")
def device() -> CudaDevice:
    found = find_device("cuda")
    assert isinstance(found, CudaDevice)
    return found


@pytest.fixture
def program(gpu_kit: Any, device: CudaDevice) -> Program:
    program = Program(gpu_kit.artifact_of(device, gpu_kit.steps_of()), device)
    program.bind_parameters({"w": W, "b": B})
    return program


class TorchAdapter:
    """CUDA tensors of torch, as small as it can be."""

    def __init__(self) -> None:
        self.torch: Any = pytest.importorskip("torch")
        self.types = {"f32": self.torch.float32, "u8": self.torch.uint8}

    def pointer(self, tensor: Any, /) -> int:
        return int(tensor.data_ptr())

    def pointers(self, tensors: Sequence[Any], /) -> list[int]:
        return [tensor.data_ptr() for tensor in tensors]

    def signature(self, tensor: Any, /) -> Any:
        return tensor.shape, tensor.stride(), tensor.dtype, tensor.device

    def shape(self, tensor: Any, /) -> tuple[int, ...]:
        return tuple(tensor.shape)

    def strides(self, tensor: Any, /) -> tuple[int, ...]:
        return tuple(tensor.stride())

    def dtype(self, tensor: Any, /) -> str | None:
        return next((name for name, kind in self.types.items() if kind == tensor.dtype), None)

    def device(self, tensor: Any, /) -> str:
        return str(tensor.device)

    def remember(self, tensors: Sequence[Any], indices: Sequence[int]) -> Callable[[Sequence[Any]], bool]:
        kept = [tensors[index].detach() for index in indices]
        batch = getattr(self.torch._C, "_tensors_data_ptrs_at_indices_equal", None)
        if batch is not None:
            # torch reads the addresses at the same positions as the tensors.
            expected = [0] * (max(indices) + 1)
            for index, tensor in zip(indices, kept, strict=True):
                expected[index] = tensor.data_ptr()
            places = list(indices)
            return lambda others, kept=kept: batch(others, expected, places)
        pointers = [tensor.data_ptr() for tensor in kept]
        return lambda others, kept=kept: [others[index].data_ptr() for index in indices] == pointers

    def allocator(self, shape: Any, strides: Any, dtype: str, device: str) -> Callable[[], Any]:
        guards = self.torch._C._dynamo.guards
        return partial(guards._empty_strided_cuda, shape, strides, self.types[dtype])

    def viewer(self, shape: Any, strides: Any, offset: int) -> Callable[[Any], Any]:
        return lambda tensor: tensor.as_strided(shape, strides, tensor.storage_offset() + offset)

    def stream_source(self, device: str) -> Callable[[], int]:
        return partial(self.torch._C._cuda_getCurrentRawStream, int(device[5:]))


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


def torch_caller(gpu_kit: Any, device: CudaDevice, steps: Sequence[Any] | None = None) -> Any:
    return Program(gpu_kit.artifact_of(device, steps or gpu_kit.steps_of()), device).caller(TorchAdapter())


def test_torch_tensors_and_moved_weights(gpu_kit: Any, device: CudaDevice, torch: Any) -> None:
    call = torch_caller(gpu_kit, device)
    w, b = torch.randn(64, device="cuda"), torch.randn(64, device="cuda")
    kept: list[Any] = []
    x = torch.zeros(0, 64, device="cuda")
    for turn in range(40):
        x = torch.randn(1 + turn % 3, 64, device="cuda")
        if turn % 10 == 9:
            w = torch.randn(64, device="cuda")
            w.data = torch.randn(64, device="cuda")
        (y,) = call([x, w, b])
        kept.append((y, x * w + b))
    for found, wanted in kept:
        torch.testing.assert_close(found, wanted, rtol=0, atol=0)
    (y,) = call([call([x, w, b])[0], w, b])
    torch.testing.assert_close(y, (x * w + b) * w + b, rtol=0, atol=0)
    with pytest.raises(LaunchError, match="lies on cpu"):
        call([x.cpu(), w, b])
    with pytest.raises(LaunchError, match="not 16-byte aligned"):
        call([torch.zeros(4 * 64 + 1, device="cuda")[1:].view(4, 64), w, b])


def test_streams(gpu_kit: Any, device: CudaDevice, torch: Any) -> None:
    call = torch_caller(gpu_kit, device)
    w, b = torch.randn(64, device="cuda"), torch.randn(64, device="cuda")
    streams = [torch.cuda.Stream() for _ in range(6)]
    inputs = [torch.randn(4096, 64, device="cuda") for _ in streams]
    torch.cuda.synchronize()
    results: list[Any] = []
    for _ in range(5):
        for stream, x in zip(streams, inputs, strict=True):
            with torch.cuda.stream(stream):
                results.append((call([x, w, b])[0], x))
    torch.cuda.synchronize()
    for found, x in results:
        torch.testing.assert_close(found, x * w + b, rtol=0, atol=0)


def test_inside_a_captured_graph(gpu_kit: Any, device: CudaDevice, torch: Any) -> None:
    call = torch_caller(gpu_kit, device)
    x, w, b = torch.randn(32, 64, device="cuda"), torch.randn(64, device="cuda"), torch.randn(64, device="cuda")
    call([x, w, b])
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        (middle,) = call([x, w, b])
        (y,) = call([middle, w, b])
    for _ in range(3):
        x.copy_(torch.randn(32, 64, device="cuda"))
        graph.replay()
        torch.testing.assert_close(y, (x * w + b) * w + b, rtol=0, atol=0)
    torch.testing.assert_close(call([x, w, b])[0], x * w + b, rtol=0, atol=0)


def test_dlpack(program: Program, torch: Any) -> None:
    w, b = torch.from_numpy(W).cuda(), torch.from_numpy(B).cuda()
    results: list[Any] = []
    for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            for _ in range(10):
                x = torch.randn(2000, 64, device="cuda")
                y = program(x)
                assert type(y) is torch.Tensor and y.is_cuda
                results.append((program(y), (x * w + b) * w + b))
    torch.cuda.synchronize()
    for found, wanted in results:
        torch.testing.assert_close(found, wanted, rtol=0, atol=0)
    with pytest.raises(LaunchError, match="lies on cpu"):
        program(torch.zeros(2, 64))


def library_steps(gpu_kit: Any, k: int = 64) -> tuple[Any, ...]:
    config = {
        "m": "s",
        "n": "64",
        "k": str(k),
        "batch": "1",
        "lhs_transposed": "0",
        "rhs_transposed": "1",
        "ld_a": str(k),
        "ld_b": str(k),
        "ld_d": "64",
        "stride_a": "0",
        "stride_b": "0",
        "stride_d": "0",
        "dtype_a": "f32",
        "dtype_b": "f32",
        "dtype_d": "f32",
        "compute": "f32",
        "epilogue": "bias",
        "add": "0",
    }
    p, size = gpu_kit.pointer, gpu_kit.SIZE
    first = (p("input", 0), p("input", 2), p("slice", 0, "write"), size)
    operands = (p("slice", 0), p("input", 1), p("input", 2), p("slice", 1, "write"))
    last = (p("slice", 1), p("input", 2), p("output", 0, "write"), size)
    return (
        Launch("shift", ("s", "1", "1"), (64, 1, 1), first),
        LibraryCall("cublaslt.matmul", tuple(sorted(config.items())), operands),
        Launch("shift", ("s", "1", "1"), (64, 1, 1), last),
    )


def test_library_call_between_kernels(gpu_kit: Any, device: CudaDevice, torch: Any) -> None:
    pytest.importorskip("nvmath.bindings.cublasLt")
    artifact = gpu_kit.artifact_of(device, library_steps(gpu_kit))
    x_input, w_input, b_input = artifact.program.inputs
    inputs = (x_input, replace(w_input, shape=("64", "64"), strides=("64", "1")), b_input)
    call = Program(replace(artifact, program=replace(artifact.program, inputs=inputs)), device).caller(TorchAdapter())
    b, w = torch.randn(64, device="cuda"), torch.randn(64, 64, device="cuda")
    for turn in range(12):
        x = torch.randn(33 + 64 * (turn % 2), 64, device="cuda")
        if turn % 4 == 0:
            w = torch.randn(64, 64, device="cuda")
        (y,) = call([x, w, b])
        torch.testing.assert_close(y, (x + b) @ w.T + b + b, rtol=1e-5, atol=1e-4)


def test_cost_of_a_call(
    gpu_kit: Any, device: CudaDevice, torch: Any, record_property: Callable[[str, object], None]
) -> None:
    """Wall time of a call with 65 inputs, the launch of the graph included; the launch alone is about 2 us."""
    artifact = gpu_kit.artifact_of(device, gpu_kit.steps_of())
    more = tuple(Input(f"p{at}", "f32", ("64",), ("1",), 16, role="parameter") for at in range(62))
    program = replace(artifact.program, inputs=(*artifact.program.inputs, *more))
    call = Program(replace(artifact, program=program), device).caller(TorchAdapter())
    args = [torch.randn(4, 64, device="cuda"), *(torch.randn(64, device="cuda") for _ in range(64))]
    for _ in range(100):
        call(args)
    rounds: list[float] = []
    for _ in range(7):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(200):
            call(args)
        rounds.append((time.perf_counter() - start) / 200)
        torch.cuda.synchronize()
    cost = statistics.median(rounds) * 1e6
    record_property("microseconds", cost)
    print(f"\ncall with 65 inputs, torch adapter, graph launch included: {cost:.2f} us")
    assert cost < 40
