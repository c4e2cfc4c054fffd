"""Memory, streams and events of a GPU, for programs that run without a library that manages them."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from .driver_api import CudaDriver

_DISABLE_TIMING = 2


class StreamMemory:
    """Memory allocated in the order of a stream; goes back in the order of the stream that used it last."""

    def __init__(self, memory: CudaMemory, size: int, stream: int) -> None:
        self.address = memory.take(size, stream)
        self._where = [stream]
        weakref.finalize(self, memory.give_back, self.address, self._where).atexit = False

    def used_on(self, stream: int) -> None:
        """Free after what is in this stream then."""
        self._where[0] = stream


class CudaMemory:
    """Allocation, copies and events through the driver."""

    def __init__(self, driver: CudaDriver) -> None:
        self._driver = driver
        self._waiting: list[tuple[Any, Sequence[object]]] = []

    def inside(self, call: Callable[[], Any]) -> Any:
        """Run with the device's context current."""
        entered = self._driver.enter()
        try:
            return call()
        finally:
            if entered:
                self._driver.leave()

    def _call(self, name: str, *arguments: Any) -> Any:
        return self._driver.check(name, getattr(self._driver.cu, name)(*arguments))

    def take(self, size: int, stream: int) -> int:
        """Allocate in stream order."""
        return int(self.inside(lambda: self._call("cuMemAllocAsync", max(1, size), stream)))

    def give_back(self, address: int, where: list[int]) -> None:
        """Free in stream order."""
        self.inside(lambda: self._call("cuMemFreeAsync", address, where[0]))

    def upload(self, data: memoryview, address: int, stream: int) -> None:
        """Copy from the host and wait, so that the host memory may go."""

        def copy() -> None:
            self._call("cuMemcpyHtoDAsync", address, data, data.nbytes, stream)
            self._call("cuStreamSynchronize", stream)

        self.inside(copy)

    def download(self, address: int, size: int, stream: int) -> bytearray:
        """Copy to the host and wait."""
        data = bytearray(size)

        def copy() -> None:
            self._call("cuMemcpyDtoHAsync", data, address, size, stream)
            self._call("cuStreamSynchronize", stream)

        self.inside(copy)
        return data

    def wait_for(self, before: int, after: int) -> None:
        """Work that enters `after` from now on waits for what is in `before`."""

        def order() -> None:
            event = self._call("cuEventCreate", _DISABLE_TIMING)
            self._call("cuEventRecord", event, before)
            self._call("cuStreamWaitEvent", after, event, 0)
            self._call("cuEventDestroy", event)

        if before != after:
            self.inside(order)

    def retain(self, stream: int, objects: Sequence[object]) -> None:
        """Keep objects until what is in the stream is done; forgets those whose work is done by now."""

        def record() -> None:
            still: list[tuple[Any, Sequence[object]]] = []
            for event, kept in self._waiting:
                if int(self._driver.cu.cuEventQuery(event)[0]) == 0:
                    self._call("cuEventDestroy", event)
                else:
                    still.append((event, kept))
            event = self._call("cuEventCreate", _DISABLE_TIMING)
            self._call("cuEventRecord", event, stream)
            self._waiting = [*still, (event, objects)]

        self.inside(record)

    def time(self, call: Callable[[int], Any], stream: int, repeats: int) -> list[float]:
        """Seconds between events around each call."""

        def measure() -> list[float]:
            marks = [self._call("cuEventCreate", 0) for _ in range(repeats + 1)]
            self._call("cuEventRecord", marks[0], stream)
            for mark in marks[1:]:
                call(stream)
                self._call("cuEventRecord", mark, stream)
            self._call("cuStreamSynchronize", stream)
            seconds = [self._call("cuEventElapsedTime", *pair) / 1e3 for pair in itertools.pairwise(marks)]
            for mark in marks:
                self._call("cuEventDestroy", mark)
            return seconds

        return list(self.inside(measure))
