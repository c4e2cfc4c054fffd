"""Metal text on the CPU shim against numpy: SIMD groups and matrices, threadgroup memory, narrow types, atomics."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

from albumen.dialects.errors import EvaluationError, ToolchainError
from albumen.lowering.toolchain.metal_source import metal_kernels
from albumen.lowering.toolchain.object_cache import MemoryCache
from albumen.lowering.toolchain.shim import Order, ShimModule

KERNELS = {
    "softmax": ["ptr", "ptr", "i32"],
    "matmul": ["ptr", "ptr", "ptr", "ptr"],
    "transpose": ["ptr", "ptr"],
    "narrow": ["ptr"] * 5,
    "vectors": ["ptr", "ptr", "f32", "ptr", "ptr"],
    "lanes": ["ptr", "ptr", "ptr"],
    "early_return": ["ptr", "i32"],
}


@pytest.fixture(scope="module")
def metal(kernel_text: Callable[[str], str], object_cache: MemoryCache) -> ShimModule:
    return ShimModule.compile(kernel_text("basic.metal"), "metal", KERNELS, object_cache)


@pytest.mark.parametrize("order", ["forward", "reverse"])
def test_softmax(metal: ShimModule, rng: np.random.Generator, order: Order) -> None:
    x = rng.standard_normal((5, 1000), dtype=np.float32)
    y = np.empty_like(x)
    metal.launch("softmax", (5, 1, 1), (256, 1, 1), 0, [x, y, 1000], order=order)
    expected = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    expected /= expected.sum(1, keepdims=True)
    np.testing.assert_allclose(y, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("order", ["forward", "reverse"])
def test_simdgroup_matmul(metal: ShimModule, rng: np.random.Generator, order: Order) -> None:
    a, b = rng.standard_normal((64, 48)).astype(np.float16), rng.standard_normal((48, 96)).astype(np.float16)
    c = np.empty((64, 96), np.float32)
    sizes = np.array([64, 96, 48, 0], np.uint32)
    metal.launch("matmul", (3, 2, 1), (128, 1, 1), 1024, [a, b, c, sizes], order=order)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-5, atol=1e-5)


def test_simdgroup_matrix_transposed(metal: ShimModule, rng: np.random.Generator) -> None:
    x, y = rng.standard_normal((8, 8), dtype=np.float32), np.zeros((8, 8), np.float32)
    metal.launch("transpose", (1, 1, 1), (32, 1, 1), 0, [x, y])
    np.testing.assert_array_equal(y, x.T + np.float32(1))


def test_narrow_types_round_after_every_operation(metal: ShimModule, rng: np.random.Generator) -> None:
    a, b = rng.standard_normal(256).astype(np.float16), rng.standard_normal(256).astype(np.float16)
    p = rng.standard_normal(256).astype(ml_dtypes.bfloat16)
    c, q = np.empty_like(a), np.empty_like(p)
    metal.launch("narrow", (4, 1, 1), (64, 1, 1), 0, [a, b, c, p, q])
    np.testing.assert_array_equal(c, a * b + a - np.float16(1))
    square = (p.astype(np.float32) * p.astype(np.float32)).astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(q, (square.astype(np.float32) + 1).astype(ml_dtypes.bfloat16))


def test_vectors(metal: ShimModule, rng: np.random.Generator) -> None:
    x, v = rng.standard_normal((64, 4)).astype(np.float16), rng.standard_normal((32, 8)).astype(np.float16)
    y, w = np.empty_like(x), np.empty_like(v)
    metal.launch("vectors", (2, 1, 1), (32, 1, 1), 0, [x, y, 2.5, v, w])
    np.testing.assert_array_equal(y, (x.astype(np.float32) * np.float32(2.5) + 1).astype(np.float16))
    np.testing.assert_array_equal(w, v * np.float16(2))


def test_lanes(metal: ShimModule) -> None:
    out, count, total = np.zeros((64, 14), np.int32), np.zeros(1, np.int32), np.zeros(1, np.float32)
    metal.launch("lanes", (1, 1, 1), (64, 1, 1), 0, [out, count, total])
    for t in range(64):
        lane = t % 32
        expected = [
            3,
            lane - 2 if lane >= 2 else lane,
            lane + 2 if lane < 30 else lane,
            lane ^ 5,
            t // 32 * 32 + 7,
            lane * (lane + 1) // 2,
            lane * (lane - 1) // 2,
            1,
            -4,
            64,
            1064,
            2,
            int(np.float32(4).view(np.int32)),
            lane.bit_count() if lane > 15 else min(max(lane, 4), 9),
        ]
        assert out[t].tolist() == expected
    assert (count[0], total[0]) == (64, 32.0)


def test_early_return_before_a_barrier_is_divergent(metal: ShimModule) -> None:
    with pytest.raises(EvaluationError, match=r"5 of 64 threads wait at threadgroup_barrier .* 59 have returned"):
        metal.launch("early_return", (1, 1, 1), (64, 1, 1), 0, [np.zeros(64, np.float32), 5])


def test_threadgroup_memory_has_metals_limit(metal: ShimModule) -> None:
    with pytest.raises(EvaluationError, match="33000 bytes of shared memory, a block has at most 32768"):
        metal.launch("transpose", (1, 1, 1), (32, 1, 1), 33000, [None, None])


def test_signatures_are_read(kernel_text: Callable[[str], str]) -> None:
    parameters = metal_kernels(kernel_text("basic.metal"))["matmul"]
    assert [(p.name, p.attribute, p.index) for p in parameters] == [
        ("a", "buffer", 0),
        ("b", "buffer", 1),
        ("c", "buffer", 2),
        ("mnk", "buffer", 3),
        ("group", "threadgroup_position_in_grid", 0),
        ("simd", "simdgroup_index_in_threadgroup", 0),
        ("lane", "thread_index_in_simdgroup", 0),
        ("tiles", "threadgroup", 0),
    ]


@pytest.mark.parametrize(
    ("parameters", "kinds", "message"),
    [
        ("device float* x", ["ptr"], "parameter 'device float\\* x' has no attribute"),
        ("device float* x [[buffer(0)]], uint t [[thread_in_quad]]", ["ptr"], r"attribute \[\[thread_in_quad\]\]"),
        ("device float* x [[buffer(0)]], device float* y [[buffer(2)]]", ["ptr", "ptr"], r"takes buffers \[0, 2\]"),
        ("device float* x [[buffer(0)]]", ["i32"], "buffer 0 is a pointer, its kind is i32"),
        ("device float* x [[buffer(0)]], threadgroup float* s [[threadgroup(1)]]", ["ptr"], "only .*threadgroup"),
        ("device float* x [[buffer(0)]], constant int& n [[buffer(1)]]", ["ptr", "i64"], "parameter 1 has 4 bytes"),
    ],
)
def test_wrong_parameters(parameters: str, kinds: list[str], message: str) -> None:
    text = f"#include <metal_stdlib>\nusing namespace metal;\nkernel void k({parameters}) {{ x[0] = 1.0f; }}\n"
    with pytest.raises(ToolchainError, match=message):
        ShimModule.compile(text, "metal", {"k": kinds})


def test_a_missing_kernel_is_named() -> None:
    with pytest.raises(ToolchainError, match="no kernel other"):
        ShimModule.compile("kernel void k(device int* x [[buffer(0)]]) {}", "metal", {"other": ["ptr"]})
