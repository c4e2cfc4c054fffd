"""The driver contract on cuda.bindings, which is imported when the first device is opened and not before."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, cast

from ..errors import DeviceError
from .driver import CopyCall, KernelCall

_NON_BLOCKING = 1
_PROGRAMMATIC_PORT = 1


def load_bindings() -> Any:
    """The module cuda.bindings.driver; raises DeviceError where it is not installed."""
    try:
        return cast("Any", importlib.import_module("cuda.bindings.driver"))
    except ImportError as error:
        raise DeviceError(
            f"the CUDA bindings are not there ({error})", hint="install them: pip install 'albumen[cuda]'"
        ) from error


class CudaDriver:
    """One GPU. Uses its primary context, which torch and every other library use too."""

    def __init__(self, bindings: Any, number: int) -> None:
        self.cu = bindings
        self._start()
        count = self.check("cuDeviceGetCount", self.cu.cuDeviceGetCount())
        if number >= count:
            raise DeviceError(f"there is no cuda:{number}; this machine has {count} CUDA devices")
        self._device = self.check("cuDeviceGet", self.cu.cuDeviceGet(number))
        self._context = self.check("cuDevicePrimaryCtxRetain", self.cu.cuDevicePrimaryCtxRetain(self._device))
        self._context_number = int(self._context)
        self._streams: dict[int, Any] = {}
        self._params = self.cu.CUDA_KERNEL_NODE_PARAMS()

    def _start(self) -> None:
        try:
            result = self.cu.cuInit(0)
        except RuntimeError as error:  # the bindings raise it when there is no libcuda
            raise DeviceError(
                f"there is no CUDA driver ({error})",
                call="cuInit",
                hint="install the NVIDIA driver, or compile for target c",
            ) from error
        self.check("cuInit", result, hint="check nvidia-smi, or compile for target c")

    def check(self, call: str, result: tuple[Any, ...], hint: str = "") -> Any:
        """The values of a successful call; raises DeviceError with the driver's name and text of the error
        otherwise.
        """
        code = result[0]
        if int(code) != 0:
            name, text = (
                self._decoded(function, code) for function in (self.cu.cuGetErrorName, self.cu.cuGetErrorString)
            )
            raise DeviceError(f"{call}: {name}: {text}", call=call, code=name, hint=hint)
        return None if len(result) == 1 else result[1] if len(result) == 2 else result[1:]

    def _decoded(self, function: Callable[[Any], tuple[Any, Any]], code: Any) -> str:
        found, text = function(code)
        return text.decode() if int(found) == 0 and text else str(code)

    def _stream(self, stream: int) -> Any:
        found = self._streams.get(stream)
        if found is None:
            if len(self._streams) > 256:
                self._streams.clear()
            found = self._streams[stream] = self.cu.CUstream(stream)
        return found

    # Device

    def name(self) -> str:
        """The product's name."""
        return (
            cast("bytes", self.check("cuDeviceGetName", self.cu.cuDeviceGetName(128, self._device)))
            .rstrip(b"\0")
            .decode()
        )

    def capability(self) -> tuple[int, int]:
        """The compute capability (major, minor)."""
        kind = self.cu.CUdevice_attribute
        keys = (kind.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, kind.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
        major, minor = (
            self.check("cuDeviceGetAttribute", self.cu.cuDeviceGetAttribute(key, self._device)) for key in keys
        )
        return major, minor

    def enter(self) -> bool:
        """See Driver."""
        if int(self.check("cuCtxGetCurrent", self.cu.cuCtxGetCurrent())) == self._context_number:
            return False
        self.check("cuCtxPushCurrent", self.cu.cuCtxPushCurrent(self._context))
        return True

    def leave(self) -> None:
        """See Driver."""
        self.check("cuCtxPopCurrent", self.cu.cuCtxPopCurrent())

    # Code

    def load_module(self, image: bytes) -> Any:
        """A module from a cubin or a PTX text."""
        return self.check("cuModuleLoadData", self.cu.cuModuleLoadData(image))

    def function(self, module: Any, symbol: str) -> Any:
        """A kernel, loaded now: loading it lazily inside a capture would fail."""
        found = self.check("cuModuleGetFunction", self.cu.cuModuleGetFunction(module, symbol.encode()))
        if hasattr(self.cu, "cuFuncLoad"):
            self.check("cuFuncLoad", self.cu.cuFuncLoad(found))
        return found

    def allow_shared(self, function: Any, size: int) -> None:
        """See Driver."""
        key = self.cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        self.check("cuFuncSetAttribute", self.cu.cuFuncSetAttribute(function, key, size))

    # Launches

    def is_capturing(self, stream: int) -> bool:
        """See Driver."""
        return int(self.check("cuStreamIsCapturing", self.cu.cuStreamIsCapturing(self._stream(stream)))) != 0

    def launch_kernel(self, call: KernelCall, stream: int, after_kernel: bool) -> None:
        """See Driver."""
        handle, parameters = self._stream(stream), call.parameters.pack(call.values)
        if not (call.pdl and after_kernel):
            sizes = (*call.grid, *call.block, call.shared_bytes)
            self.check("cuLaunchKernel", self.cu.cuLaunchKernel(call.function, *sizes, handle, parameters, 0))
            return
        config = self.cu.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = call.grid
        config.blockDimX, config.blockDimY, config.blockDimZ = call.block
        config.sharedMemBytes, config.hStream = call.shared_bytes, handle
        value = self.cu.CUlaunchAttributeValue()
        value.programmaticStreamSerializationAllowed = 1
        attribute = self.cu.CUlaunchAttribute()
        attribute.id = self.cu.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
        attribute.value = value
        config.attrs, config.numAttrs = [attribute], 1
        self.check("cuLaunchKernelEx", self.cu.cuLaunchKernelEx(config, call.function, parameters, 0))

    def copy(self, call: CopyCall, stream: int) -> None:
        """See Driver."""
        result = self.cu.cuMemcpyDtoDAsync(call.destination, call.source, call.size, self._stream(stream))
        self.check("cuMemcpyDtoDAsync", result)

    def launch_graph(self, executable: Any, stream: int) -> None:
        """See Driver."""
        result = self.cu.cuGraphLaunch(executable, self._stream(stream))
        if int(result[0]):
            self.check("cuGraphLaunch", result)

    def create_stream(self) -> int:
        """See Driver."""
        stream = self.check("cuStreamCreate", self.cu.cuStreamCreate(_NON_BLOCKING))
        self._streams[int(stream)] = stream
        return int(stream)

    # Graphs

    def capture(self, stream: int, enqueue: Callable[[int], None]) -> Any:
        """See Driver."""
        handle = self._stream(stream)
        mode = self.cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        self.check("cuStreamBeginCapture", self.cu.cuStreamBeginCapture(handle, mode))
        done = False
        try:
            enqueue(stream)
            done = True
        finally:
            result = self.cu.cuStreamEndCapture(handle)
            if not done and int(result[0]) == 0:
                self.destroy_graph(result[1])
        return self.check("cuStreamEndCapture", result)

    def create_graph(self) -> Any:
        """See Driver."""
        return self.check("cuGraphCreate", self.cu.cuGraphCreate(0))

    def destroy_graph(self, graph: Any) -> None:
        """See Driver."""
        self.check("cuGraphDestroy", self.cu.cuGraphDestroy(graph))

    def add_kernel(self, graph: Any, after: Sequence[Any], call: KernelCall, programmatic: bool) -> Any:
        """See Driver."""
        before = [] if programmatic else list(after)
        result = self.cu.cuGraphAddKernelNode(graph, before, len(before), self._kernel_params(call))
        node = self.check("cuGraphAddKernelNode", result)
        if programmatic:
            edge = self.cu.CUgraphEdgeData()
            edge.from_port, edge.to_port = _PROGRAMMATIC_PORT, 0
            edge.type = self.cu.CUgraphDependencyType.CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC
            add = getattr(self.cu, "cuGraphAddDependencies_v2", self.cu.cuGraphAddDependencies)  # the name of CUDA 12
            self.check("cuGraphAddDependencies", add(graph, list(after), [node], [edge], 1))
        return node

    def _kernel_params(self, call: KernelCall) -> Any:
        params = self._params
        params.func = call.function
        params.gridDimX, params.gridDimY, params.gridDimZ = call.grid
        params.blockDimX, params.blockDimY, params.blockDimZ = call.block
        params.sharedMemBytes = call.shared_bytes
        params.kernelParams = call.parameters.pack(call.values)
        return params

    def _copy_params(self, call: CopyCall) -> Any:
        params = self.cu.CUDA_MEMCPY3D()
        params.srcMemoryType = params.dstMemoryType = self.cu.CUmemorytype.CU_MEMORYTYPE_DEVICE
        params.srcDevice, params.dstDevice = self.cu.CUdeviceptr(call.source), self.cu.CUdeviceptr(call.destination)
        params.WidthInBytes, params.Height, params.Depth = call.size, 1, 1
        return params

    def add_copy(self, graph: Any, after: Sequence[Any], call: CopyCall) -> Any:
        """See Driver."""
        params = self._copy_params(call)
        result = self.cu.cuGraphAddMemcpyNode(graph, list(after), len(after), params, self._context)
        return self.check("cuGraphAddMemcpyNode", result)

    def add_child(self, graph: Any, after: Sequence[Any], child: Any) -> Any:
        """See Driver."""
        result = self.cu.cuGraphAddChildGraphNode(graph, list(after), len(after), child)
        return self.check("cuGraphAddChildGraphNode", result)

    def add_empty(self, graph: Any, after: Sequence[Any]) -> Any:
        """See Driver."""
        return self.check("cuGraphAddEmptyNode", self.cu.cuGraphAddEmptyNode(graph, list(after), len(after)))

    def instantiate(self, graph: Any) -> Any:
        """See Driver."""
        return self.check("cuGraphInstantiate", self.cu.cuGraphInstantiate(graph, 0))

    def destroy_executable(self, executable: Any) -> None:
        """See Driver."""
        self.check("cuGraphExecDestroy", self.cu.cuGraphExecDestroy(executable))

    def set_kernel(self, executable: Any, node: Any, call: KernelCall) -> None:
        """See Driver."""
        result = self.cu.cuGraphExecKernelNodeSetParams(executable, node, self._kernel_params(call))
        self.check("cuGraphExecKernelNodeSetParams", result)

    def set_copy(self, executable: Any, node: Any, call: CopyCall) -> None:
        """See Driver."""
        result = self.cu.cuGraphExecMemcpyNodeSetParams(executable, node, self._copy_params(call), self._context)
        self.check("cuGraphExecMemcpyNodeSetParams", result)

    def set_child(self, executable: Any, node: Any, child: Any) -> bool:
        """See Driver."""
        result = self.cu.cuGraphExecChildGraphNodeSetParams(executable, node, child)
        kind = self.cu.CUresult
        if result[0] in (kind.CUDA_ERROR_INVALID_VALUE, kind.CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE):
            return False
        self.check("cuGraphExecChildGraphNodeSetParams", result)
        return True
