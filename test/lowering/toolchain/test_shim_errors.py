"""Mistakes in kernels and launches that the CPU shim reports: one kernel of wrong.cu, or one launch, for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from albumen.dialects.errors import EvaluationError, ToolchainError
from albumen.lowering.toolchain.object_cache import MemoryCache
from albumen.lowering.toolchain.shim import Order, ShimModule

KERNELS = {
    "divergent_barrier": ["ptr"],
    "two_barriers": ["ptr"],
    "wrong_mask": ["ptr"],
    "copy": ["ptr", "ptr", "i32"],
    "fixed_index": ["ptr", "i32"],
    "dynamic_shared": ["ptr", "i32"],
    "vector_load": ["ptr", "ptr"],
    "divide": ["ptr", "i32"],
    "trap": ["ptr"],
    "race": ["ptr"],
}
ONE = (1, 1, 1)


@pytest.fixture(scope="module")
def wrong(kernel_text: Callable[[str], str], object_cache: MemoryCache) -> ShimModule:
    return ShimModule.compile(kernel_text("wrong.cu"), "cuda", KERNELS, object_cache)


def zeros(count: int, dtype: type = np.float32) -> np.ndarray[Any, Any]:
    return np.zeros(count, dtype)


@pytest.mark.parametrize(
    ("kernel", "threads", "shared_bytes", "args", "parts"),
    [
        (
            "divergent_barrier",
            64,
            0,
            [zeros(64)],
            ["7 of 64 threads wait at __syncthreads (line 3)", "25 at __shfl_xor_sync (line 4)", "32 have returned"],
        ),
        ("two_barriers", 64, 0, [zeros(64)], ["32 of 64 threads wait at __syncthreads (line 8)", "32 at", "(line 10)"]),
        ("wrong_mask", 32, 0, [zeros(32, np.int32)], ["the mask 0x0000ffff leaves out the calling lane 16", "line 13"]),
        (
            "copy",
            64,
            0,
            [zeros(32), zeros(64), 64],
            ["read 0 bytes behind the end of argument 0 (128 bytes)", "32,0,0"],
        ),
        ("copy", 64, 0, [zeros(64), zeros(16), 64], ["write 0 bytes behind the end of argument 1 (64 bytes)"]),
        ("copy", 4, 0, [None, zeros(4), 4], ["read through a null or malformed pointer"]),
        ("copy", 2, 0, [zeros(2), zeros(1), 2], ["write just outside argument 1 (4 bytes)"]),
        ("fixed_index", 8, 0, [zeros(8), 9], ["index out of bounds", "index 9 outside 'float [8]'", "line 21"]),
        ("dynamic_shared", 8, 256, [zeros(8), 64], ["write 0 bytes behind the end of the dynamic shared memory"]),
        ("dynamic_shared", 8, 200, [zeros(8), 50], ["write behind the dynamic shared memory (200 bytes)"]),
        ("dynamic_shared", 8, 256, [zeros(8), 4096], ["behind the end of the dynamic shared memory (256 bytes)"]),
        ("dynamic_shared", 8, 256, [zeros(8), -9999], ["behind the end of the dynamic shared memory (256 bytes)"]),
        (
            "vector_load",
            4,
            0,
            [zeros(17)[1:], zeros(4)],
            ["misaligned access", "multiple of 16", "argument 0", "line 30"],
        ),
        ("divide", 1, 0, [zeros(1, np.int32), 0], ["integer division by zero"]),
        ("trap", 1, 0, [np.ones(1, np.int32)], ["__trap was called", "line 35"]),
        ("trap", 1, 0, [np.full(1, 2, np.int32)], ["the kernel trapped"]),
    ],
)
def test_mistakes_of_kernels(
    wrong: ShimModule, kernel: str, threads: int, shared_bytes: int, args: list[Any], parts: list[str]
) -> None:
    with pytest.raises(EvaluationError) as caught:
        wrong.launch(kernel, ONE, (threads, 1, 1), shared_bytes, args)
    text = str(caught.value)
    assert text.startswith(f"shim: kernel {kernel}: ")
    for part in parts:
        assert part in text


def test_a_read_only_array_is_not_written(wrong: ShimModule) -> None:
    y = zeros(64)
    y.flags.writeable = False
    with pytest.raises(EvaluationError, match=r"write at byte 0 of argument 1 \(256 bytes\)"):
        wrong.launch("copy", ONE, (64, 1, 1), 0, [zeros(64), y, 64])


def test_a_failed_launch_leaves_the_arrays_and_the_module_alone(wrong: ShimModule) -> None:
    x, y = np.ones(64, np.float32), zeros(16)
    with pytest.raises(EvaluationError):
        wrong.launch("copy", ONE, (64, 1, 1), 0, [x, y, 64])
    assert not y.any()
    good = zeros(64)
    wrong.launch("copy", ONE, (64, 1, 1), 0, [x, good, 64])
    np.testing.assert_array_equal(good, x)


def test_a_missing_barrier_shows_in_one_of_the_orders(wrong: ShimModule) -> None:
    results: list[np.ndarray[Any, Any]] = []
    orders: tuple[Order, ...] = ("forward", "reverse")
    for order in orders:
        x = np.arange(64, dtype=np.float32)
        wrong.launch("race", ONE, (64, 1, 1), 0, [x], order=order)
        results.append(x)
    assert np.isnan(results[0]).any() and np.isnan(results[1]).any()
    assert not np.array_equal(results[0], results[1], equal_nan=True)


@pytest.mark.parametrize(
    ("grid", "block", "shared_bytes", "args", "message"),
    [
        (ONE, (1025, 1, 1), 0, [None, None, 0], "a block of .* threads, allowed are 1 to 1024"),
        (ONE, (0, 1, 1), 0, [None, None, 0], "allowed are 1 to 1024"),
        ((1, 70000, 1), ONE, 0, [None, None, 0], "a grid of"),
        (ONE, ONE, 300000, [None, None, 0], "at most 232448"),
        (ONE, ONE, 0, [None, None], "has 3 parameters, the launch gives 2"),
        (ONE, ONE, 0, [1, None, 0], "argument 0: a pointer takes an array or None, found int"),
        (ONE, ONE, 0, [None, None, 1.5], "argument 2: a parameter of kind i32 takes a number, found float"),
        (ONE, ONE, 0, [None, None, 2**31], "argument 2: 2147483648 does not fit i32"),
    ],
)
def test_mistakes_of_launches(
    wrong: ShimModule, grid: Any, block: Any, shared_bytes: int, args: list[Any], message: str
) -> None:
    with pytest.raises(EvaluationError, match=message):
        wrong.launch("copy", grid, block, shared_bytes, args)


def test_an_unknown_kernel_is_named(wrong: ShimModule) -> None:
    with pytest.raises(EvaluationError, match="no kernel nothing in this module"):
        wrong.launch("nothing", ONE, ONE, 0, [])


def test_a_block_larger_than_the_launch_bounds(basic: ShimModule) -> None:
    with pytest.raises(EvaluationError, match=r"kernel softmax: a block of .* allowed are 1 to 256"):
        basic.launch("softmax", ONE, (512, 1, 1), 0, [zeros(8), zeros(8), 8])


@pytest.mark.parametrize(
    ("text", "kinds", "message"),
    [
        ('extern "C" __global__ void k(int* x) {\n  x[0] = y;\n}', ["ptr"], r"source: kernel.cu:2: x\[0\] = y;"),
        ('extern "C" __global__ void k(int* x) { x[0] = 1; }', ["ptr", "i32"], "has 1 parameters, but 2 kinds"),
        ('extern "C" __global__ void k(long long n) {}', ["i32"], "parameter 0 has 8 bytes, its kind i32 has 4"),
        ('extern "C" __global__ void k(int n) {}', ["int"], "unknown parameter kinds int"),
        ('extern __shared__ float s[];\nextern "C" __global__ void k() {}', [], "s is declared outside a function"),
        ('extern "C" __global__ void k(float* x) { float a[20000]; a[int(x[0])] = 1; x[1] = a[5]; }', ["ptr"], "frame"),
    ],
)
def test_texts_that_are_refused(text: str, kinds: list[str], message: str) -> None:
    with pytest.raises(ToolchainError, match=message):
        ShimModule.compile(text, "cuda", {"k": kinds})
