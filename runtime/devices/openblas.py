"""The matrix product of a BLAS library as the C function that programs of target c may call (`gemm` of
runtime/abi.py).
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np

from ..abi import Gemm
from ..errors import ConfigurationError

_SYMBOLS = ("scipy_cblas_sgemm64_", "cblas_sgemm64_", "cblas_sgemm_64")


def find_gemm(choice: str) -> Any:
    """`off` gives NULL; `numpy` the OpenBLAS inside numpy's wheel, NULL where there is none; else a library's path.

    Raises ConfigurationError for a path that is no library with cblas_sgemm over 64-bit integers.
    """
    if choice == "off":
        return Gemm()
    if choice == "numpy":
        for path in _numpy_libraries():
            found = _gemm_of(path)
            if found is not None:
                return found
        return Gemm()
    found = _gemm_of(Path(choice))
    if found is None:
        raise ConfigurationError(
            f"ALBUMEN_BLAS is {choice!r}: not a library with one of {', '.join(_SYMBOLS)}",
            hint="name a BLAS library with 64-bit integers, or set numpy or off",
        )
    return found


def _numpy_libraries() -> list[Path]:
    package = Path(np.__file__).parent
    folders = (package.parent / "numpy.libs", package / ".dylibs")
    return [path for folder in folders if folder.is_dir() for path in sorted(folder.glob("*openblas*"))]


def _gemm_of(path: Path) -> Any:
    try:
        library = ctypes.CDLL(str(path))
    except OSError:
        return None
    for symbol in _SYMBOLS:
        if hasattr(library, symbol):
            return ctypes.cast(getattr(library, symbol), Gemm)
    return None
