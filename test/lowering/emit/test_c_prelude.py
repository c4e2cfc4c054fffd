"""The C math prelude: accuracy in ulp against double precision, speed, and conversions of narrow floats bit by bit."""

from __future__ import annotations

import ctypes
import math
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from albumen.lowering.emit import c_program
from albumen.lowering.toolchain.cc import C_FLAGS, find_c_compiler

UNARY: dict[str, tuple[Callable[[Any], Any], float]] = {
    "exp": (np.exp, 1.0),
    "exp2": (np.exp2, 1.0),
    "log": (np.log, 1.0),
    "log2": (np.log2, 1.5),
    "log10": (np.log10, 2.0),
    "log1p": (np.log1p, 0.6),
    "expm1": (np.expm1, 0.6),
    "erf": (np.vectorize(math.erf, otypes=[np.float64]), 1.5),
    "tanh": (np.tanh, 1.5),
    "sin": (np.sin, 0.6),
    "cos": (np.cos, 0.6),
    "tan": (np.tan, 0.6),
    "sinh": (np.sinh, 0.6),
    "cosh": (np.cosh, 0.6),
}
"""Function -> (reference in double precision, bound in ulp that the header states)."""
NARROW = {
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """Loops over every function of the prelude; each must be vectorised."""
    loops: list[str] = []
    for name in UNARY:
        loops.append(
            f"void map_{name}(const float *restrict x, float *restrict y, int64_t n) {{\n#pragma omp simd\n"
            f"  for (int64_t i = 0; i < n; ++i) y[i] = alb_{name}_f32(x[i]);\n}}\n"
        )
    for name in NARROW:
        loops.append(
            f"void to_{name}(const float *restrict x, alb_{name} *restrict y, int64_t n) {{\n#pragma omp simd\n"
            f"  for (int64_t i = 0; i < n; ++i) y[i] = alb_{name}_from_f32(x[i]);\n}}\n"
            f"void from_{name}(const alb_{name} *restrict x, float *restrict y, int64_t n) {{\n#pragma omp simd\n"
            f"  for (int64_t i = 0; i < n; ++i) y[i] = alb_{name}_to_f32(x[i]);\n}}\n"
        )
    loops.append(
        "void map_pow(const float *restrict x, const float *restrict y, float *restrict z, int64_t n) {\n"
        "#pragma omp simd\n  for (int64_t i = 0; i < n; ++i) z[i] = alb_pow_f32(x[i], y[i]);\n}\n"
        "void map_libm(const float *restrict x, float *restrict y, int64_t n) {\n"
        "  for (int64_t i = 0; i < n; ++i) y[i] = expf(x[i]);\n}\n"
    )
    text = "".join(loops)
    folder = tmp_path_factory.mktemp("prelude")
    (folder / "prelude.c").write_text(c_program.prelude(text) + text)
    compiler = find_c_compiler()
    command = [compiler.path, *C_FLAGS, *compiler.native_flags, "-fopt-info-vec", "-Wall", "-Werror", "-shared"]
    command += ["prelude.c", "-o", "prelude.so", "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    if "gcc" in compiler.version.lower():
        lines = (folder / "prelude.c").read_text().splitlines()
        vectorised = {int(n) for n in re.findall(r"prelude\.c:(\d+):\d+: optimized: loop vectorized", done.stderr)}
        heads = {n for n, line in enumerate(lines, 1) if "for (int64_t i = 0" in line and "expf" not in line}
        assert heads <= vectorised, [lines[n - 1] for n in sorted(heads - vectorised)]
    return ctypes.CDLL(str(folder / "prelude.so"))


def call(library: ctypes.CDLL, name: str, *arrays: NDArray[Any]) -> None:
    getattr(library, name)(*(ctypes.c_void_p(a.ctypes.data) for a in arrays), ctypes.c_int64(arrays[0].size))


def ulps(found: NDArray[np.float32], wanted: NDArray[np.float64]) -> float:
    """The largest error in units of the last place of f32; infinities and NaN must agree."""
    with np.errstate(over="ignore"):
        rounded = wanted.astype(np.float32)
    assert np.array_equal(np.isnan(found), np.isnan(wanted))
    infinite = np.isinf(rounded)
    # The largest finite number is as good as infinity where the true value lies between the two.
    near = np.abs(found[infinite]) >= np.finfo(np.float32).max
    assert np.all(near & (np.sign(found[infinite]) == np.sign(rounded[infinite])))
    finite = np.isfinite(rounded) & np.isfinite(found)
    assert np.all(np.isfinite(found[np.isfinite(rounded)]))
    unit = np.spacing(np.abs(rounded[finite])).astype(np.float64)
    return float((np.abs(found[finite].astype(np.float64) - wanted[finite]) / unit).max(initial=0.0))


def all_floats(step: int) -> NDArray[np.float32]:
    """Every `step`-th bit pattern, and the special ones."""
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-45, -1e-45, 3.4028235e38], np.float32)
    return np.concatenate([np.arange(0, 2**32, step, dtype=np.uint64).astype(np.uint32).view(np.float32), special])


@pytest.mark.parametrize("name", UNARY)
def test_accuracy(library: ctypes.CDLL, name: str) -> None:
    reference, bound = UNARY[name]
    x = all_floats(40009 if name == "erf" else 4001)
    y = np.empty_like(x)
    call(library, f"map_{name}", x, y)
    with np.errstate(all="ignore"):
        assert ulps(y, reference(x.astype(np.float64))) <= bound


def test_power(library: ctypes.CDLL, rng: np.random.Generator) -> None:
    special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, 1e30, -1e30, 2.5]
    pairs = np.array([(a, b) for a in special for b in special], np.float32)
    x = np.concatenate([pairs[:, 0], (rng.random(100000) * 10).astype(np.float32)])
    y = np.concatenate([pairs[:, 1], (rng.random(100000) * 60 - 30).astype(np.float32)])
    z = np.empty_like(x)
    call(library, "map_pow", x, y, z)
    with np.errstate(all="ignore"):
        assert ulps(z, np.power(x.astype(np.float64), y.astype(np.float64))) <= 0.6


def test_exp_beats_libm(library: ctypes.CDLL, rng: np.random.Generator) -> None:
    """What cost 4 ns an element in a prototype was one select too many: a vectorised loop is far below that."""
    x = (rng.random(4096) * 10 - 5).astype(np.float32)
    y = np.empty_like(x)
    best = {"map_exp": math.inf, "map_erf": math.inf, "map_tanh": math.inf, "map_libm": math.inf}
    for _ in range(20):
        for name in best:
            start = time.thread_time_ns()
            for _ in range(20):
                call(library, name, x, y)
            best[name] = min(best[name], (time.thread_time_ns() - start) / 20)
    assert best["map_exp"] < 0.6 * best["map_libm"]
    assert best["map_erf"] < 1.2 * best["map_libm"] and best["map_tanh"] < 1.2 * best["map_libm"]


@pytest.mark.parametrize("name", NARROW)
def test_narrow_floats(library: ctypes.CDLL, name: str) -> None:
    """Widening every pattern, and rounding floats around every narrow number, agree with ml_dtypes."""
    dtype = np.dtype(NARROW[name])
    patterns = np.arange(2 ** (8 * dtype.itemsize), dtype=f"u{dtype.itemsize}")
    wide = np.empty(patterns.size, np.float32)
    call(library, f"from_{name}", patterns, wide)
    expected = patterns.view(dtype).astype(np.float32)
    np.testing.assert_array_equal(np.isnan(wide), np.isnan(expected))
    np.testing.assert_array_equal(wide[~np.isnan(wide)].view(np.uint32), expected[~np.isnan(wide)].view(np.uint32))
    numbers = np.sort(expected[np.isfinite(expected)])
    middles = ((numbers[1:].astype(np.float64) + numbers[:-1]) / 2).astype(np.float32)
    around = np.concatenate([np.nextafter(middles, -np.inf), middles, np.nextafter(middles, np.inf), all_floats(65537)])
    around = np.ascontiguousarray(around, np.float32)
    rounded = np.empty(around.size, patterns.dtype)
    call(library, f"to_{name}", around, rounded)
    with np.errstate(all="ignore"):
        wanted = around.astype(dtype)
    found, nan = rounded.view(dtype), np.isnan(wanted.astype(np.float32))
    np.testing.assert_array_equal(np.isnan(found.astype(np.float32)), nan)
    np.testing.assert_array_equal(rounded[~nan], wanted.view(rounded.dtype)[~nan])


def test_prelude_holds_only_what_is_used() -> None:
    text = c_program.prelude("y = alb_tanh_f32(x);")
    assert "alb_exp_f32" in text and "alb_sin_f32" not in text and "alb_f16" not in text


def test_package_ships_the_headers() -> None:
    for name in ("c_math.h", "c_types.h", "c_pool.h"):
        assert (Path(c_program.__file__).parent / name).is_file()
