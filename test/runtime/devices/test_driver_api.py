"""The driver on the real binding types with its functions replaced: what is asked, errors decoded, packed
parameters.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from albumen.runtime.artifact import Kernel
from albumen.runtime.devices import find_device, report_devices
from albumen.runtime.devices.cuda import choose_binary
from albumen.runtime.devices.driver import CopyCall, KernelCall, ParameterBlock
from albumen.runtime.devices.driver_api import CudaDriver, load_bindings
from albumen.runtime.errors import ArtifactError, DeviceError

real: Any = pytest.importorskip("cuda.bindings.driver")

ANSWERS: dict[str, tuple[Any, ...]] = {
    "cuDeviceGetCount": (2,),
    "cuDeviceGet": (real.CUdevice(0),),
    "cuDevicePrimaryCtxRetain": (real.CUcontext(77),),
    "cuCtxGetCurrent": (real.CUcontext(0),),
    "cuGetErrorName": (b"CUDA_ERROR_ILLEGAL_ADDRESS",),
    "cuGetErrorString": (b"an illegal memory access was encountered",),
    "cuGraphAddKernelNode": (real.CUgraphNode(5),),
    "cuGraphCreate": (real.CUgraph(6),),
    "cuStreamCreate": (real.CUstream(9),),
    "cuStreamIsCapturing": (real.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE,),
    "cuStreamEndCapture": (real.CUgraph(7),),
}


class Recorder:
    """Types of the real bindings; functions that answer success and record their arguments."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.fail: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if not (name.startswith("cu") and name[2].isupper()):
            return getattr(real, name)
        if name == "cuGraphAddDependencies_v2":
            raise AttributeError(name)

        def call(*arguments: Any) -> tuple[Any, ...]:
            self.calls.append((name, *arguments))
            code = self.fail.get(name, real.CUresult.CUDA_SUCCESS)
            return (code, *ANSWERS.get(name, ()))

        return call

    def last(self, name: str) -> tuple[Any, ...]:
        return next(call[1:] for call in reversed(self.calls) if call[0] == name)


@pytest.fixture
def bindings() -> Recorder:
    return Recorder()


@pytest.fixture
def driver(bindings: Recorder) -> CudaDriver:
    return CudaDriver(bindings, 0)


def kernel_call(pdl: bool = False) -> KernelCall:
    block = ParameterBlock(("ptr", "i32", "f32", "i64", "f64"))
    values = (0xDEADBEEF00, -7, 1.5, -(1 << 40), 0.1)
    return KernelCall(real.CUfunction(3), (4, 5, 6), (32, 2, 1), 1024, values, pdl, block)


def check_parameters(address: int) -> None:
    slots = (ctypes.c_void_p * 5).from_address(address)
    kinds = [ctypes.c_uint64, ctypes.c_int32, ctypes.c_float, ctypes.c_int64, ctypes.c_double]
    found = [kind.from_address(slot).value for kind, slot in zip(kinds, slots, strict=True)]
    assert found == [0xDEADBEEF00, -7, 1.5, -(1 << 40), 0.1]


def test_parameters_lie_where_the_driver_looks() -> None:
    call = kernel_call()
    check_parameters(call.parameters.pack(call.values))
    with pytest.raises(struct.error):
        call.parameters.pack((1, 1 << 40, 0.0, 0, 0.0))


def test_launch(driver: CudaDriver, bindings: Recorder) -> None:
    call = kernel_call(pdl=True)
    driver.launch_kernel(call, 42, after_kernel=False)
    function, *sizes, stream, parameters, extra = bindings.last("cuLaunchKernel")
    assert (int(function), sizes, int(stream), extra) == (3, [4, 5, 6, 32, 2, 1, 1024], 42, 0)
    check_parameters(parameters)


def test_dependent_launch(driver: CudaDriver, bindings: Recorder) -> None:
    call = kernel_call(pdl=True)
    driver.launch_kernel(call, 42, after_kernel=True)
    config, function, parameters, _ = bindings.last("cuLaunchKernelEx")
    assert (config.gridDimX, config.gridDimY, config.gridDimZ) == (4, 5, 6)
    assert (config.blockDimX, config.blockDimY, config.blockDimZ) == (32, 2, 1)
    assert (config.sharedMemBytes, int(config.hStream), config.numAttrs, int(function)) == (1024, 42, 1, 3)
    (attribute,) = config.attrs
    assert "PROGRAMMATIC_STREAM_SERIALIZATION" in attribute.id.name
    assert attribute.value.programmaticStreamSerializationAllowed == 1
    check_parameters(parameters)


def test_kernel_node(driver: CudaDriver, bindings: Recorder) -> None:
    node = driver.add_kernel(6, [real.CUgraphNode(1), real.CUgraphNode(2)], kernel_call(), programmatic=False)
    graph, after, count, params = bindings.last("cuGraphAddKernelNode")
    assert (graph, [int(one) for one in after], count, int(node)) == (6, [1, 2], 2, 5)
    assert (params.gridDimX, params.blockDimY, params.sharedMemBytes, int(params.func)) == (4, 2, 1024, 3)
    assert all(call[0] != "cuGraphAddDependencies" for call in bindings.calls)


def test_programmatic_edge(driver: CudaDriver, bindings: Recorder) -> None:
    driver.add_kernel(6, [real.CUgraphNode(1)], kernel_call(True), programmatic=True)
    assert bindings.last("cuGraphAddKernelNode")[1:3] == ([], 0)
    _, before, after, (edge,), count = bindings.last("cuGraphAddDependencies")
    assert ([int(one) for one in before], [int(one) for one in after], count) == ([1], [5], 1)
    assert (edge.from_port, edge.to_port) == (1, 0)
    assert int(edge.type) == int(real.CUgraphDependencyType.CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC)


def test_copy_node(driver: CudaDriver, bindings: Recorder) -> None:
    driver.add_copy(6, [], CopyCall(destination=0x2000, source=0x1000, size=96))
    params = bindings.last("cuGraphAddMemcpyNode")[3]
    assert (int(params.srcDevice), int(params.dstDevice)) == (0x1000, 0x2000)
    assert (params.WidthInBytes, params.Height, params.Depth) == (96, 1, 1)


def test_context_is_entered_only_when_another_is_current(driver: CudaDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    assert driver.enter()
    monkeypatch.setitem(ANSWERS, "cuCtxGetCurrent", (real.CUcontext(77),))
    assert not driver.enter()


def test_capture_always_ends(driver: CudaDriver, bindings: Recorder) -> None:
    assert int(driver.capture(42, lambda stream: None)) == 7

    def fail(stream: int) -> None:
        raise ValueError(stream)

    with pytest.raises(ValueError, match="42"):
        driver.capture(42, fail)
    names = [call[0] for call in bindings.calls]
    assert names.count("cuStreamBeginCapture") == names.count("cuStreamEndCapture") == 2
    assert names[-1] == "cuGraphDestroy"
    assert "THREAD_LOCAL" in bindings.last("cuStreamBeginCapture")[1].name


def test_child_of_another_topology(driver: CudaDriver, bindings: Recorder) -> None:
    assert driver.set_child(1, 2, 3)
    bindings.fail["cuGraphExecChildGraphNodeSetParams"] = real.CUresult.CUDA_ERROR_INVALID_VALUE
    assert not driver.set_child(1, 2, 3)
    bindings.fail["cuGraphExecChildGraphNodeSetParams"] = real.CUresult.CUDA_ERROR_OUT_OF_MEMORY
    with pytest.raises(DeviceError):
        driver.set_child(1, 2, 3)


CALLS: list[Callable[[CudaDriver], Any]] = [
    lambda driver: driver.launch_graph(1, 0),
    lambda driver: driver.launch_kernel(kernel_call(), 0, after_kernel=False),
    lambda driver: driver.instantiate(1),
    lambda driver: driver.load_module(b"image"),
]
NAMES = ["cuGraphLaunch", "cuLaunchKernel", "cuGraphInstantiate", "cuModuleLoadData"]


@pytest.mark.parametrize(("name", "call"), list(zip(NAMES, CALLS, strict=True)))
def test_errors_carry_the_drivers_words(
    driver: CudaDriver, bindings: Recorder, name: str, call: Callable[[CudaDriver], Any]
) -> None:
    bindings.fail[name] = real.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    with pytest.raises(DeviceError, match=f"{name}: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access") as caught:
        call(driver)
    assert (caught.value.call, caught.value.code) == (name, "CUDA_ERROR_ILLEGAL_ADDRESS")


def test_no_driver_and_no_device(bindings: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(_: int) -> None:
        raise RuntimeError("Failed to dlopen libcuda.so.1")

    with pytest.raises(DeviceError, match="there is no CUDA driver"):
        CudaDriver(SimpleNamespace(cuInit=absent), 0)
    with pytest.raises(DeviceError, match="there is no cuda:2; this machine has 2"):
        CudaDriver(bindings, 2)
    monkeypatch.setitem(__import__("sys").modules, "cuda.bindings.driver", None)
    with pytest.raises(DeviceError, match="bindings are not there") as caught:
        load_bindings()
    assert "albumen[cuda]" in caught.value.hint
    with pytest.raises(DeviceError, match="bindings are not there"):
        find_device("cuda")
    reports = {report.kind: report for report in report_devices()}
    assert reports["cpu"].available and not reports["cuda"].available


CUBIN, PTX = "c" * 64, "d" * 64


@pytest.mark.parametrize(
    ("arch", "capability", "portable", "chosen"),
    [
        ("sm_90a", (9, 0), None, CUBIN),
        ("sm_90a", (9, 0), PTX, CUBIN),
        ("sm_90a", (10, 0), PTX, PTX),
        ("sm_80", (8, 6), None, CUBIN),
        ("sm_86", (8, 0), PTX, PTX),
        ("sm_100a", (10, 0), None, CUBIN),
        ("sm_90a", (8, 0), None, None),
    ],
)
def test_choice_of_binary(arch: str, capability: tuple[int, int], portable: str | None, chosen: str | None) -> None:
    kernel = Kernel("k", "cuda", "k", (), "0" * 64, CUBIN, portable)
    if chosen is None:
        with pytest.raises(DeviceError, match="compiled for sm_90a, the device is sm_80"):
            choose_binary(kernel, arch, capability)
    else:
        assert choose_binary(kernel, arch, capability) == (chosen, b"\0" if chosen == PTX else b"")


def test_unknown_architecture() -> None:
    with pytest.raises(ArtifactError, match="unknown CUDA architecture 'gfx90a'"):
        choose_binary(Kernel("k", "cuda", "k", (), "0" * 64, CUBIN), "gfx90a", (9, 0))
