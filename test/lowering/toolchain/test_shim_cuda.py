"""CUDA text on the CPU shim against numpy: reductions by shuffles, tiled matmul, votes, atomics, shared memory."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

from albumen.lowering.toolchain.object_cache import MemoryCache
from albumen.lowering.toolchain.shim import Order, ShimModule


@pytest.mark.parametrize("order", ["forward", "reverse"])
def test_softmax(basic: ShimModule, rng: np.random.Generator, order: Order) -> None:
    x = rng.standard_normal((5, 1000), dtype=np.float32)
    y = np.empty_like(x)
    basic.launch("softmax", (5, 1, 1), (256, 1, 1), 0, [x, y, 1000], order=order)
    expected = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    expected /= expected.sum(1, keepdims=True)
    np.testing.assert_allclose(y, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("m", "n", "k"), [(32, 48, 64), (17, 31, 13), (1, 1, 1)])
def test_tiled_matmul(basic: ShimModule, rng: np.random.Generator, m: int, n: int, k: int) -> None:
    a = rng.standard_normal((m, k)).astype(ml_dtypes.bfloat16)
    b = rng.standard_normal((k, n)).astype(ml_dtypes.bfloat16)
    c = np.empty((m, n), np.float32)
    grid = (-(-n // 16), -(-m // 16), 1)
    basic.launch("matmul_bf16", grid, (16, 16, 1), 1024, [a, b, c, m, n, k])
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-5, atol=1e-5)


def test_lanes(basic: ShimModule) -> None:
    out = np.full((64, 12), -1, np.int32)
    basic.launch("lanes", (1, 1, 1), (64, 1, 1), 0, [out])
    for t in range(64):
        lane = t % 32
        in_half = lane % 16
        expected = [
            lane // 8 * 8 + 3,
            lane - 2 if in_half >= 2 else lane,
            lane + 2 if in_half < 14 else lane,
            lane ^ 5,
            sum(1 << i for i in range(0, 32, 3)),
            1,
            31 * 16,
            32,
            1,
            lane ^ 1 if lane < 16 else lane ^ 2,
            sum(1 << i for i in range(lane % 4, 32, 4)),
            0,
        ]
        assert [value & 0xFFFFFFFF for value in out[t].tolist()] == [value & 0xFFFFFFFF for value in expected]


def test_partial_warps(basic: ShimModule) -> None:
    """A block of 40 threads has a second warp of 8 lanes; lanes that do not exist take no part."""
    out = np.zeros((40, 12), np.int32)
    basic.launch("lanes", (1, 1, 1), (40, 1, 1), 0, [out])
    assert out[39, 6] == sum(range(8))
    assert out[39, 4] == 0b01001001
    assert out[39, 0] == 3
    assert out[32, 2] == 2


def test_atomics(basic: ShimModule, rng: np.random.Generator) -> None:
    values = rng.integers(-50, 50, 1000).astype(np.int32)
    histogram, total = np.zeros(8, np.uint32), np.zeros(1, np.float32)
    extremes, count = np.zeros(3, np.int32), np.zeros(1, np.uint64)
    basic.launch("atomics", (4, 1, 1), (256, 1, 1), 0, [values, 1000, histogram, total, extremes, count])
    np.testing.assert_array_equal(histogram, np.bincount(values & 7, minlength=8))
    assert total[0] == 500.0
    assert extremes.tolist() == [values.min(), values.max(), 7]
    assert count[0] == 1000


def test_shared_memory_is_poisoned_before_each_block(basic: ShimModule) -> None:
    out = np.zeros((3, 64), np.float32)
    basic.launch("uninitialised", (3, 1, 1), (32, 1, 1), 128, [out])
    assert np.isnan(out).all()


def test_arrays_keep_their_strides_and_aliases(basic: ShimModule, rng: np.random.Generator) -> None:
    """A view passes its own address; two views of one array are one memory, so the kernel works in place."""
    storage = rng.standard_normal((3, 64), dtype=np.float32)
    before = storage.copy()
    basic.launch("softmax", (1, 1, 1), (256, 1, 1), 0, [storage[1], storage[1:], 64])
    expected = np.exp(before[1].astype(np.float64))
    np.testing.assert_allclose(storage[1], expected / expected.sum(), rtol=1e-6)
    np.testing.assert_array_equal(storage[[0, 2]], before[[0, 2]])


def test_without_guard(basic: ShimModule, rng: np.random.Generator) -> None:
    x = rng.standard_normal((2, 100), dtype=np.float32)
    guarded, bare = np.empty_like(x), np.empty_like(x)
    basic.launch("softmax", (2, 1, 1), (256, 1, 1), 0, [x, guarded, 100])
    basic.launch("softmax", (2, 1, 1), (256, 1, 1), 0, [x, bare, 100], guard=False)
    np.testing.assert_array_equal(guarded, bare)


def test_scalar_kinds(kernel_text: Callable[[str], str], object_cache: MemoryCache) -> None:
    text = kernel_text("scalars.cu")
    kinds = ["ptr", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64"]
    module = ShimModule.compile(text, "cuda", {"scalars": kinds, "math": ["ptr", "ptr"]}, object_cache)
    out = np.zeros(12)
    values = [-8, 200, -300, 60000, -(2**31), 2**32 - 1, -(2**63), 2**63, 1.5, ml_dtypes.bfloat16(3.0), 0.1, 0.1]
    module.launch("scalars", (1, 1, 1), (1, 1, 1), 0, [out, *values])
    expected = [float(value) for value in values]
    expected[10] = float(np.float32(0.1))
    assert out.tolist() == expected
    x, y = np.array([4.0, 0.5, np.nan], np.float32), np.zeros(14, np.float32)
    module.launch("math", (1, 1, 1), (1, 1, 1), 0, [x, y])
    assert y.tolist() == [0.5, 8.0, 4.0, 0.5, 4.0, 8.0, 31.0, 1.0, 2.0, 2.0, 1.0, 11.0, 3.0, 3.0]


def test_objects_are_cached_by_content() -> None:
    class Counting(MemoryCache):
        hits = 0
        stored = 0

        def get(self, key: str) -> bytes | None:
            found = super().get(key)
            self.hits += found is not None
            return found

        def put(self, key: str, data: bytes) -> None:
            self.stored += 1
            super().put(key, data)

    cache = Counting()
    text = 'extern "C" __global__ void one(int* x) { x[threadIdx.x] = 1; }'
    for _ in range(2):
        module = ShimModule.compile(text, "cuda", {"one": ["ptr"]}, cache)
        x = np.zeros(4, np.int32)
        module.launch("one", (1, 1, 1), (4, 1, 1), 0, [x])
        assert x.tolist() == [1, 1, 1, 1]
    assert (cache.hits, cache.stored) == (1, 1)
