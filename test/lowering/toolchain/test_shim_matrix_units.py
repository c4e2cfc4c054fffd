"""Matrix units, ldmatrix, asynchronous copies and streaming accesses of albumen_nv.h against numpy: the emulation on
the CPU shim, and the instructions on a device."""

from __future__ import annotations

from typing import Any, Protocol

import ml_dtypes
import numpy as np
import pytest

from albumen.dialects.errors import EvaluationError
from albumen.lowering.toolchain.shim import Order, ShimModule


class Launcher(Protocol):
    def launch(self, kernel: str, grid: Any, block: Any, shared_bytes: int, args: Any) -> None: ...


def tf32(values: np.ndarray[Any, np.dtype[np.float32]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Rounded to 10 bits of mantissa, ties away from zero."""
    bits = (values.view(np.uint32) + np.uint32(0x1000)) & np.uint32(0xFFFFE000)
    return bits.view(np.float32).astype(np.float64)


@pytest.mark.parametrize(("kernel", "dtype"), [("mma_bf16", ml_dtypes.bfloat16), ("mma_f16", np.float16)])
def test_mma_16_bit(launcher: Launcher, rng: np.random.Generator, kernel: str, dtype: type[Any]) -> None:
    a: np.ndarray[Any, Any] = rng.standard_normal((16, 16)).astype(dtype)
    b: np.ndarray[Any, Any] = rng.standard_normal((16, 8)).astype(dtype)
    d = rng.standard_normal((16, 8), dtype=np.float32)
    expected = d + a.astype(np.float64) @ b.astype(np.float64)
    launcher.launch(kernel, (1, 1, 1), (32, 1, 1), 0, [a, b, d])
    np.testing.assert_allclose(d, expected, rtol=1e-5, atol=1e-5)


def test_mma_tf32(launcher: Launcher, rng: np.random.Generator) -> None:
    a, b = rng.standard_normal((16, 8), dtype=np.float32), rng.standard_normal((8, 8), dtype=np.float32)
    d = rng.standard_normal((16, 8), dtype=np.float32)
    expected = d + tf32(a) @ tf32(b)
    launcher.launch("mma_tf32", (1, 1, 1), (32, 1, 1), 0, [a, b, d])
    np.testing.assert_allclose(d, expected, rtol=1e-5, atol=1e-5)


def test_ldmatrix(launcher: Launcher) -> None:
    """Lane l gets row l / 4, columns 2 (l % 4) and the next, of each matrix or of its transpose."""
    x = np.arange(256, dtype=np.uint16).reshape(4, 8, 8)
    out = np.full((6, 32, 4), 0xDEAD, np.uint32)
    launcher.launch("ldmatrix_forms", (1, 1, 1), (32, 1, 1), 0, [x, out])
    for form in range(6):
        count, matrices = (1, 1, 2, 2, 4, 4)[form], x.swapaxes(1, 2) if form % 2 else x
        for lane in range(32):
            pairs = matrices[:count, lane // 4, 2 * (lane % 4) : 2 * (lane % 4) + 2].astype(np.uint32)
            expected = [*(pairs[:, 0] | pairs[:, 1] << 16).tolist(), *([0] * (4 - count))]
            assert out[form, lane].tolist() == expected


@pytest.mark.parametrize("n", [256, 255, 130, 1])
def test_asynchronous_copies_fill_the_edge_with_zeros(launcher: Launcher, rng: np.random.Generator, n: int) -> None:
    x = rng.standard_normal(n, dtype=np.float32)
    y = np.full((256, 3), np.nan, np.float32)
    launcher.launch("copy_edge", (2, 1, 1), (32, 1, 1), 0, [x, y, n])
    expected = np.zeros((256, 3), np.float32)
    expected[:n] = x[:, None]
    np.testing.assert_array_equal(y, expected)


def test_streaming_accesses(launcher: Launcher, rng: np.random.Generator) -> None:
    inputs = [
        rng.integers(0, 255, 32).astype(np.uint8),
        rng.integers(0, 60000, 32).astype(np.uint16),
        rng.integers(0, 99, 32).astype(np.float32),
        rng.integers(0, 99, 32).astype(np.float64),
        rng.integers(0, 60000, (32, 8)).astype(np.uint16),
        rng.integers(0, 60000, (32, 16)).astype(np.uint16),
    ]
    outputs = [np.zeros_like(x) for x in inputs]
    pairs = [array for pair in zip(inputs, outputs, strict=True) for array in pair]
    launcher.launch("stream", (1, 1, 1), (32, 1, 1), 0, pairs)
    for x, y in zip(inputs, outputs, strict=True):
        np.testing.assert_array_equal(y, x + x.dtype.type(1))


@pytest.mark.parametrize(("m", "n", "k"), [(64, 128, 96), (70, 33, 40), (1, 8, 8)])
def test_gemm(launcher: Launcher, rng: np.random.Generator, m: int, n: int, k: int) -> None:
    a = rng.standard_normal((m, k)).astype(ml_dtypes.bfloat16)
    b = rng.standard_normal((n, k)).astype(ml_dtypes.bfloat16)
    c = np.full((m, n), np.nan, np.float32)
    launcher.launch("gemm_bf16", (-(-n // 64), -(-m // 64), 1), (128, 1, 1), 24576, [a, b, c, m, n, k])
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64).T, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("order", ["forward", "reverse"])
def test_gemm_in_both_orders(matrix_units: ShimModule, rng: np.random.Generator, order: Order) -> None:
    a = rng.standard_normal((64, 256)).astype(ml_dtypes.bfloat16)
    b = rng.standard_normal((64, 256)).astype(ml_dtypes.bfloat16)
    c = np.full((64, 64), np.nan, np.float32)
    matrix_units.launch("gemm_bf16", (1, 1, 1), (128, 1, 1), 24576, [a, b, c, 64, 64, 256], order=order)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64).T, rtol=1e-5, atol=1e-4)


def test_a_matrix_operation_needs_the_whole_warp(matrix_units: ShimModule) -> None:
    a, b, d = np.zeros((16, 16), np.uint16), np.zeros((16, 8), np.uint16), np.zeros((16, 8), np.float32)
    with pytest.raises(EvaluationError, match="ldmatrix_x4: some of the 32 lanes"):
        matrix_units.launch("mma_bf16", (1, 1, 1), (31, 1, 1), 0, [a, b, d])


def test_asynchronous_copy_from_outside_is_caught(matrix_units: ShimModule) -> None:
    x, y = np.zeros(64, np.float32), np.zeros((128, 3), np.float32)
    with pytest.raises(EvaluationError, match=r"read 0 bytes behind the end of argument 0 \(256 bytes\)"):
        matrix_units.launch("copy_edge", (1, 1, 1), (32, 1, 1), 0, [x, y, 65])


def test_asynchronous_copy_needs_alignment(matrix_units: ShimModule) -> None:
    storage, y = np.zeros(65, np.float32), np.zeros((128, 3), np.float32)
    with pytest.raises(EvaluationError, match="copy of 16 bytes from or to an address that is not a multiple of 16"):
        matrix_units.launch("copy_edge", (1, 1, 1), (32, 1, 1), 0, [storage[1:], y, 64])
