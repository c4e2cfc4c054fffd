"""Runs compiled C programs on numpy arrays: what tests and measured search use beside the runtime."""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ...dialects.errors import EvaluationError
from ...runtime.abi import ABI_VERSION, ENTRY, STATUS, Host


class LoadedProgram:
    """The entry of a compiled program."""

    def __init__(self, code: bytes):
        # The library stays mapped after its file is gone.
        with tempfile.TemporaryDirectory(prefix="albumen-run-") as directory:
            path = Path(directory) / "program.so"
            path.write_bytes(code)
            self.entry = getattr(ctypes.CDLL(str(path)), ENTRY)

    def bind(self, buffers: Sequence[NDArray[Any]], symbols: Sequence[int] = (), threads: int = 2) -> Callable[[], int]:
        """A function that runs the program on these arrays, which must live as long, and returns its status."""
        host = Host(version=ABI_VERSION, threads=threads)
        pointers = (ctypes.c_void_p * max(1, len(buffers)))(*(buffer.ctypes.data for buffer in buffers))
        numbers = (ctypes.c_int64 * max(1, len(symbols)))(*symbols)
        entry, reference = self.entry, ctypes.byref(host)
        return lambda: int(entry(pointers, numbers, None, reference))

    def run(self, buffers: Sequence[NDArray[Any]], symbols: Sequence[int] = (), threads: int = 2) -> None:
        """Runs the program once, in place.

        Raises:
            EvaluationError: it reported a failure.
        """
        status = self.bind(buffers, symbols, threads)()
        if status != 0:
            raise EvaluationError(f"the program failed: {STATUS[status][1]}")
