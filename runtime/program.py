"""A loaded program: the callable that `albumen.load` and `albumen.compile` give to users."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from .adapter import Array, NumpyAdapter, TensorAdapter
from .array import ArrayAdapter, DeviceArray, as_numpy, download, upload
from .artifact import Artifact, Input, Output, read_artifact, write_artifact
from .caller import Caller, CallerFactory
from .config import configuration
from .devices.device import Device, Recompile, Threaded
from .devices.registry import device_for, find_device
from .dlpack import LEGACY_STREAM, Exported, from_dlpack, import_function, is_dlpack
from .errors import ArtifactError, LaunchError
from .numpy_dtype import accepts, dtype_name
from .weights import Values, bound_inputs, check_digest, place, read_values, require_writable

_MAXIMUM_CALLERS = 16
"""One for numpy and one for every stream that DLPack arrays came on."""


def load(
    path: str | os.PathLike[str],
    *,
    device: str | Device | None = None,
    weights: str | os.PathLike[str] | Values | None = None,
    recompile: Recompile | None = None,
) -> Program:
    """Load an artifact.

    device: "cpu", "cuda", "cuda:1", ...; None takes ALBUMEN_DEVICE, else the first device for the artifact's target.
    weights: a safetensors file or a mapping from input names to arrays, for an artifact that holds digests only.
    recompile: rebuilds a C program on a machine whose processor lacks what it was compiled for.
    """
    artifact = read_artifact(path)
    program = Program(artifact, device, recompile=recompile)
    if weights is not None:
        values = read_values(weights)
        items = {item.name: item for item in artifact.program.inputs}
        given = {name: value for name, value in values.items() if name in program.bound_names}
        for name, value in given.items():
            check_digest(items[name], value)
        program.bind_parameters(given)
    return program


class Program:
    """A compiled program on a device.

    Call it with the inputs of roles input and scalar, in order: numpy arrays or arrays of one library that speaks
    DLPack. The results are of the same kind, on the same device, fresh, and owned by the caller. One result comes
    alone, several as a tuple.
    """

    def __init__(
        self, artifact: Artifact, device: str | Device | None = None, *, recompile: Recompile | None = None
    ) -> None:
        """Load an artifact on a device and bind the values that it holds."""
        self.artifact = artifact
        self.device = self._choose(device)
        self._executable = self.device.load(artifact, recompile)
        self.inputs: tuple[Input, ...] = tuple(
            item for item in artifact.program.inputs if item.role in ("input", "scalar")
        )
        """What a call takes, in order."""
        self._bound: dict[str, DeviceArray] = {}
        self._positions = bound_inputs(artifact.program)
        self._callers: dict[object, Caller] = {}
        self._lock = threading.Lock()
        inside = artifact.weights or {}
        self.bind_parameters({name: value for name, value in inside.items() if name in self._positions})

    def _choose(self, device: str | Device | None) -> Device:
        target = self.artifact.program.target
        wanted = device if device is not None else configuration().device
        if wanted is None:
            return device_for(target)
        chosen = find_device(wanted) if isinstance(wanted, str) else wanted
        if target not in chosen.targets:
            raise ArtifactError(
                f"the program is compiled for target {target}, which {chosen.name} does not run",
                hint=f"choose a device for target {target}, or compile for {' or '.join(chosen.targets)}",
            )
        return chosen

    @property
    def outputs(self) -> tuple[Output, ...]:
        """What a call returns, in order."""
        return self.artifact.program.outputs

    @property
    def bound_names(self) -> tuple[str, ...]:
        """Names of the parameters, buffers and constants."""
        return tuple(self._positions)

    @property
    def device_values(self) -> Mapping[str, DeviceArray]:
        """The values bound so far, as they lie on the device."""
        return dict(self._bound)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the artifact that the program was loaded from or compiled to."""
        write_artifact(path, self.artifact)

    def bind_parameters(self, values: Values) -> None:
        """Give values to parameters and buffers by name: numpy arrays, Weights or DLPack arrays.

        Values in the device's memory are used where they lie, without a copy. Constants must be the values that the
        program was compiled with.
        """
        unknown = sorted(set(values) - set(self._positions))
        if unknown:
            raise LaunchError(
                f"the program has no parameter {unknown[0]!r}", hint=f"it has {', '.join(self._positions) or 'none'}"
            )
        items = self.artifact.program.inputs
        placed: dict[str, DeviceArray] = {}
        for name, value in values.items():
            item = items[self._positions[name]]
            if item.role == "constant" and not (self.artifact.weights and value is self.artifact.weights.get(name)):
                check_digest(item, value)
            placed[name] = place(item, value, self.device)
        with self._lock:
            self._bound.update(placed)
            self._callers = {}

    def limit_threads(self, count: int) -> None:
        """Use at most `count` threads of this machine in a call; nothing to do for a device that uses none."""
        if isinstance(self._executable, Threaded):
            self._executable.limit_threads(count)

    def caller(self, adapter: TensorAdapter[Any], bound: Mapping[str, Any] | None = None) -> Caller:
        """The fast path for one tensor library: a function from the list of inputs to the tuple of outputs.

        `bound` gives tensors of that library by name; their addresses are still compared at every call, since a library
        may swap their storage. The list holds the other inputs in order, but those that `bind_parameters` or the
        artifact gave values to: they are used where they lie. Bind before asking for a caller.
        """
        program = self.artifact.program
        positions = {item.name: index for index, item in enumerate(program.inputs)}
        held = {positions[name]: tensor for name, tensor in (bound or {}).items()}
        viewed = {output.alias for output in program.outputs}
        values = {self._positions[name]: value for name, value in self._bound.items()}
        free = {index: value for index, value in values.items() if index not in held and index not in viewed}
        return CallerFactory(program, self._executable, self.device.name, adapter, held, free).build()

    def __call__(self, *arrays: Any, stream: int = LEGACY_STREAM) -> Any:
        """Run on numpy or DLPack arrays. `stream` (raw handle) is where the work goes on a device that has streams."""
        for position, array in enumerate(arrays):
            self._check_kind(position, array)
        tensors = [array for array in arrays if type(array) is not int]
        if not all(isinstance(array, np.ndarray) for array in tensors):
            results = self._call_dlpack(arrays, tensors[0], stream)
        elif self.device.name == "cpu":
            results = self._cached("numpy", self._numpy_caller)(list(arrays))
        else:
            results = self._call_staged(arrays, stream)
        return results[0] if len(results) == 1 else results

    def _check_kind(self, position: int, array: Any) -> None:
        scalar = position < len(self.inputs) and self.inputs[position].role == "scalar"
        if scalar and type(array) is not int:
            raise LaunchError(f"input {self.inputs[position].name!r}: expected an int, found {type(array).__name__}")
        if not scalar and not isinstance(array, np.ndarray) and not is_dlpack(array):
            name = repr(self.inputs[position].name) if position < len(self.inputs) else str(position)
            raise LaunchError(
                f"input {name}: expected an array, found {type(array).__name__}",
                hint="pass numpy arrays or arrays that speak DLPack; ints only for scalar inputs",
            )
        if isinstance(array, np.ndarray) and position < len(self.inputs) and self.inputs[position].mutated:
            require_writable(self.inputs[position], cast("Array", array))

    def _cached(self, key: object, build: Any) -> Caller:
        caller = self._callers.get(key)
        if caller is None:
            self._need_values()
            with self._lock:
                while len(self._callers) >= _MAXIMUM_CALLERS:
                    del self._callers[next(iter(self._callers))]
                caller = self._callers.setdefault(key, build())
        return caller

    def _need_values(self) -> None:
        missing = [name for name in self._positions if name not in self._bound]
        if missing:
            more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
            raise LaunchError(
                f"no values for {', '.join(map(repr, missing[:3]))}{more}",
                hint="load with weights=, or call bind_parameters first",
            )

    def _numpy_caller(self) -> Caller:
        return self.caller(NumpyAdapter(), {name: as_numpy(value) for name, value in self._bound.items()})

    def _array_caller(self, stream: int) -> Caller:
        return self._cached(stream, lambda: self.caller(ArrayAdapter(self.device, stream), self._bound))

    def _call_dlpack(self, arrays: Sequence[Any], example: Any, stream: int) -> tuple[Any, ...]:
        inputs = [array if type(array) is int else from_dlpack(array, stream) for array in arrays]
        results = self._array_caller(stream)(inputs)
        self.device.retain(stream, inputs)
        import_array = import_function(example)
        device = self.device
        return tuple(
            import_array(
                Exported(
                    result, device.dlpack, lambda after, owner=result.owner: device.hand_over(owner, stream, after)
                )
            )
            for result in results
        )

    def _call_staged(self, arrays: Sequence[Any], stream: int) -> tuple[Array, ...]:
        """numpy arrays on a device with memory of its own: copied there and back; waits for the results."""
        inputs: list[Any] = []
        for item, array in zip(self.inputs, arrays, strict=False):
            if not isinstance(array, np.ndarray):
                inputs.append(array)
                continue
            host = cast("Array", array)
            found = dtype_name(host.dtype) or str(host.dtype)
            inputs.append(upload(host, item.dtype if accepts(item.dtype, found) else found, self.device, stream))
        inputs.extend(arrays[len(self.inputs) :])
        results = self._array_caller(stream)(list(inputs))
        for item, array, placed in zip(self.inputs, arrays, inputs, strict=True):
            if item.mutated and item.role == "input":
                np.copyto(array, download(placed, self.device, stream))
        return tuple(download(result, self.device, stream) for result in results)
