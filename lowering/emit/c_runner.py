"""Runs compiled C programs on numpy arrays: what translation validation and tests use beside the runtime."""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ...dialects.errors import EvaluationError
from ...runtime.abi import ABI_VERSION, ENTRY, STATUS, Gemm, Host


class LoadedProgram:
    """The entry of a compiled program."""

    def __init__(self, code: bytes, entry: str = ENTRY):
        # The library stays mapped after its file is gone.
        with tempfile.TemporaryDirectory(prefix="albumen-run-") as directory:
            path = Path(directory) / "program.so"
            path.write_bytes(code)
            self.entry = getattr(ctypes.CDLL(str(path)), entry)

    def bind(
        self,
        buffers: Sequence[NDArray[Any] | None],
        symbols: Sequence[int] = (),
        threads: int = 2,
        *,
        arena: int | None = None,
        gemm: Any = None,
    ) -> Callable[[], int]:
        """A function that runs the program on these arrays, which must live as long, and returns its status. `arena`
        is an address, `gemm` that of the BLAS function, where the program takes them."""
        host = Host(version=ABI_VERSION, threads=threads, gemm=gemm or Gemm())
        addresses = (None if buffer is None else buffer.ctypes.data for buffer in buffers)
        pointers = (ctypes.c_void_p * max(1, len(buffers)))(*addresses)
        numbers = (ctypes.c_int64 * max(1, len(symbols)))(*symbols)
        entry, space, reference = self.entry, ctypes.c_void_p(arena), ctypes.byref(host)
        return lambda: int(entry(pointers, numbers, space, reference))

    def run(
        self,
        buffers: Sequence[NDArray[Any] | None],
        symbols: Sequence[int] = (),
        threads: int = 2,
        *,
        arena: int | None = None,
        gemm: Any = None,
    ) -> None:
        """Runs the program once, in place.

        Raises:
            EvaluationError: it reported a failure.
        """
        status = self.bind(buffers, symbols, threads, arena=arena, gemm=gemm)()
        if status != 0:
            raise EvaluationError(f"the program failed: {STATUS[status][1]}")
