"""Reductions, matrix products, windows, norms, softmax and attention against eager."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import pytest
import torch

Check = Callable[..., None]
T = torch.tensor
FLOATS = (torch.float32, torch.float64, torch.bfloat16, torch.float16)
TABLE = T([[3.0, -1.0, 3.0, 0.0], [nan, 2.0, inf, -inf], [0.5, 0.25, -7.0, 1.0]])


GENERATOR = torch.Generator().manual_seed(7)


def random(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape, generator=GENERATOR).to(dtype)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin", "logsumexp"])
def test_reductions_of_floats(check_call: Check, name: str, dtype: torch.dtype) -> None:
    full = {"sum": "sum.dim_IntList", "mean": "mean.dim"}.get(name, f"{name}.default")
    x = random(3, 4, 5, dtype=dtype)
    check_call(f"aten.{full}", x, [1])
    check_call(f"aten.{full}", x, [-1, 0], True)
    if name != "mean":
        check_call(f"aten.{full}", TABLE.to(dtype), [1])


@pytest.mark.parametrize("dtype", [torch.bool, torch.int8, torch.uint8, torch.int64], ids=str)
def test_reductions_of_integers(check_call: Check, dtype: torch.dtype) -> None:
    x = T([[1, 0, 3], [1, 1, 2]]).to(dtype)
    for name in (
        "sum.default",
        "prod.default",
        "any.default",
        "all.default",
        "max.default",
        "argmax.default",
        "count_nonzero.default",
    ):
        if not (dtype is torch.bool and name.startswith("argmax")):
            check_call(f"aten.{name}", x)
    check_call("aten.any.dim", x, 1)
    check_call("aten.all.dims", x, [0], True)
    check_call("aten.cumsum.default", x, 1)


def test_booleans_and_fractions_in_reductions(check_call: Check) -> None:
    x = T([[True, False, True], [False, False, False]])
    for dtype in (torch.bool, torch.int32):
        check_call("aten.sum.dim_IntList", x, [1], dtype=dtype)
        check_call("aten.prod.dim_int", x, 1, dtype=dtype)
    check_call("aten.var.correction", random(3, 4), [1], correction=0.5)
    check_call("aten.var.correction", random(3, 1), [1], correction=1.5)


def test_options_of_reductions(check_call: Check) -> None:
    check_call("aten.sum.default", TABLE[0], dtype=torch.float64)
    check_call("aten.sum.dim_IntList", random(2, 3, dtype=torch.bfloat16), [0], dtype=torch.float32)
    check_call("aten.mean.default", T([1, 2]), dtype=torch.float32)
    check_call("aten.sum.dim_IntList", TABLE[0], None)
    check_call("aten.prod.dim_int", TABLE[0], 0, True)
    check_call("aten.max.dim", TABLE, 1)
    check_call("aten.min.dim", TABLE, 0, True)
    check_call("aten.max.dim", T(3.0), 0)
    check_call("aten.argmax.default", TABLE, 1, True)
    check_call("aten.argmin.default", TABLE, 0)
    check_call("aten.argmin.default", T([[2, -5], [1, 1]], dtype=torch.int8), 1)
    check_call("aten.cumsum.default", TABLE[0], -1)
    check_call("aten.cumsum.default", T(3.0), 0)
    check_call("aten.cumprod.default", TABLE[2], 0, dtype=torch.float64)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0,), ()], ids=str)
def test_reductions_of_nothing(check_call: Check, shape: tuple[int, ...]) -> None:
    x = torch.ones(shape)
    for name in ("sum.default", "mean.default", "prod.default", "any.default", "all.default"):
        check_call(f"aten.{name}", x)
    check_call("aten.cumsum.default", x, 0)


def test_moments_and_norms(check_call: Check) -> None:
    x = random(3, 4, 5)
    for name in ("var", "std", "var_mean", "std_mean"):
        check_call(f"aten.{name}.correction", x, [1], correction=1)
        check_call(f"aten.{name}.correction", x, None, correction=0, keepdim=True)
    check_call("aten.var.correction", T([2.0]), [0])
    check_call("aten.var.correction", x.to(torch.bfloat16), [0])
    for order in (2, 1, 0, inf, -inf, 3):
        check_call("aten.linalg_vector_norm.default", x, order, [1], tolerance=4e-6)
    check_call("aten.linalg_vector_norm.default", x)
    check_call("aten.norm.Scalar", x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64], ids=str)
def test_matrix_products(check_call: Check, dtype: torch.dtype) -> None:
    def values(*shape: int) -> torch.Tensor:
        return (torch.rand(shape) * 4 - 2).to(dtype)

    check_call("aten.mm.default", values(3, 4), values(5, 4).t())
    check_call("aten.mm.default", values(2, 0), values(0, 3))
    check_call("aten.bmm.default", values(2, 3, 4), values(2, 4, 5))
    check_call("aten.mv.default", values(3, 4), values(4))
    check_call("aten.dot.default", values(4), values(4))
    for left, right in [
        ((2, 3, 4), (4, 5)),
        ((1, 3, 4), (2, 4, 5)),
        ((4,), (2, 4, 5)),
        ((2, 3, 4), (4,)),
        ((4,), (4,)),
        ((2, 1, 3, 4), (5, 4, 2)),
    ]:
        check_call("aten.matmul.default", values(*left), values(*right))
    check_call("aten.addmm.default", values(5), values(3, 4), values(4, 5))
    check_call("aten.addmm.default", values(3, 5), values(3, 4), values(4, 5), beta=2, alpha=3)
    check_call("aten.baddbmm.default", values(5), values(2, 3, 4), values(2, 4, 5), beta=0)
    check_call("aten.outer.default", values(3), values(4))


def test_linear(check_call: Check) -> None:
    for dtype in (torch.float32, torch.bfloat16, torch.float64):
        check_call(
            "aten.linear.default", random(2, 3, 4, dtype=dtype), random(5, 4, dtype=dtype), random(5, dtype=dtype)
        )
    check_call("aten.linear.default", random(4), random(5, 4))


CONVOLUTIONS: list[tuple[Any, ...]] = [
    ("conv2d.default", random(2, 4, 7, 8), random(6, 2, 3, 3), random(6), [2, 1], [1, 0], [1, 2], 2),
    ("conv2d.default", random(4, 7, 8), random(6, 4, 1, 1)),
    ("conv1d.default", random(2, 4, 9), random(4, 1, 3), None, [1], [1], [1], 4),
    (
        "convolution.default",
        random(2, 3, 5, 5),
        random(4, 3, 3, 3),
        random(4),
        [1, 1],
        [1, 1],
        [1, 1],
        False,
        [0, 0],
        1,
    ),
    ("convolution.default", random(2, 4, 5, 4), random(4, 3, 3, 2), random(6), [2, 1], [1, 0], [1, 2], True, [1, 0], 2),
    ("conv_transpose2d.input", random(2, 4, 5, 4), random(4, 3, 3, 3), None, [1, 3], [2, 2]),
    (
        "convolution_backward.default",
        random(2, 6, 3, 8),
        random(2, 4, 7, 8),
        random(6, 2, 3, 3),
        [6],
        [2, 1],
        [0, 2],
        [1, 2],
        False,
        [0, 0],
        2,
        [True] * 3,
    ),
    ("max_pool2d.default", random(2, 3, 7, 8), [3, 2], [2, 2], [1, 1]),
    ("max_pool2d_with_indices.default", random(2, 3, 7, 8), [3, 3], [2, 2], [1, 1], [1, 1]),
    ("max_pool2d_with_indices.default", random(3, 7, 8), [2]),
    ("max_pool1d.default", random(2, 3, 7), [3], [1], [1], [2]),
    ("avg_pool2d.default", random(2, 3, 7, 8), [3, 2], [2, 1], [1, 1]),
    ("avg_pool2d.default", random(2, 3, 7, 8), [3, 2], [2, 1], [1, 1], False, False),
    ("avg_pool2d.default", random(3, 7, 8), [2, 2], [], [0, 0], False, True, 3),
    ("adaptive_avg_pool2d.default", random(2, 3, 6, 8), [1, 1]),
    ("adaptive_avg_pool2d.default", random(2, 3, 6, 8), [3, 4]),
    ("_adaptive_avg_pool2d.default", random(3, 6, 8), [2, 1]),
]


@pytest.mark.parametrize("case", CONVOLUTIONS, ids=[f"{i}-{c[0]}" for i, c in enumerate(CONVOLUTIONS)])
def test_windows(check_call: Check, case: tuple[Any, ...]) -> None:
    check_call(f"aten.{case[0]}", *case[1:], tolerance=5e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_norms(check_call: Check, dtype: torch.dtype) -> None:
    x = random(2, 4, 6, dtype=dtype)
    weight, bias = random(6, dtype=dtype), random(6, dtype=dtype)
    check_call("aten.layer_norm.default", x, [6], weight, bias, 1e-12, False)
    check_call("aten.layer_norm.default", x, [4, 6])
    check_call("aten.layer_norm.default", x, [6], None, bias)
    check_call("aten.rms_norm.default", x, [6], weight)
    check_call("aten.rms_norm.default", x * 0.05, [6], weight)  # so small that the default of eps shows
    check_call("aten.native_layer_norm.default", x, [6], weight, bias, 1e-5)
    per_channel = [random(4, dtype=dtype) for _ in range(3)] + [torch.rand(4).to(dtype) + 0.5]
    y = random(3, 4, 5, dtype=dtype)
    check_call("aten.native_group_norm.default", y, per_channel[0], per_channel[1], 3, 4, 5, 2, 1e-5)


def test_batch_norm(check_call: Check) -> None:
    x, weight, bias, mean, variance = random(2, 3, 4, 4), random(3), random(3), random(3), torch.rand(3) + 0.5
    check_call("aten.batch_norm.default", x, weight, bias, mean, variance, False, 0.1, 1e-5, False)
    check_call("aten.batch_norm.default", x, None, None, mean, variance, False, 0.1, 1e-3, True)
    check_call("aten._native_batch_norm_legit_no_training.default", x, weight, bias, mean, variance, 0.1, 1e-5)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_softmax(check_call: Check, dtype: torch.dtype) -> None:
    x = T([[inf, 1.0, 0.0], [-inf, 0.0, 2.0], [100.0, -100.0, 0.0]]).to(dtype)[1:]
    for axis in (0, -1):
        check_call("aten._softmax.default", x[1:], axis, False)
        check_call("aten._log_softmax.default", x[1:], axis, False)
    check_call("aten.softmax.int", x, 1)
    check_call("aten.log_softmax.int", x, 1)
    check_call("aten.softmax.int", T(3.0), 0)
    check_call("aten._softmax.default", T([[-inf, -inf], [0.0, 1.0]]).to(dtype), 1, False)
    check_call("aten._safe_softmax.default", T([[-inf, -inf], [0.0, 1.0]]).to(dtype), 1)
    y, grad = random(3, 4).softmax(1), random(3, 4)
    check_call("aten._softmax_backward_data.default", grad, y, 1, torch.float32)
    check_call("aten._log_softmax_backward_data.default", grad, random(3, 4).log_softmax(1), 1, torch.float32)


def test_softmax_gradient_where_the_softmax_is_zero() -> None:
    """Eager multiplies by the softmax last, which gives a zero the sign of the other factor."""

    def gradient(grad: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.ops.aten._softmax_backward_data.default(grad, y, 1, torch.float32)

    arguments = T([[1.0, -1.0, 3.0]]), T([[1.0, 0.0, 0.0]])
    found, expected = torch.compile(gradient, backend="albumen", fullgraph=True)(*arguments), gradient(*arguments)
    assert torch.equal(found, expected)
    assert torch.signbit(found).tolist() == torch.signbit(expected).tolist() == [[False, True, False]]


def test_softmax_in_another_dtype(check_call: Check) -> None:
    check_call("aten.softmax.int", random(3, 4, dtype=torch.bfloat16), 1, torch.float32)
    check_call("aten.log_softmax.int", T([1, 2]), 0, torch.float32)


@pytest.mark.parametrize("mask", ["none", "bool", "float", "causal"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_attention(check_call: Check, dtype: torch.dtype, mask: str) -> None:
    q, k, v = random(2, 4, 5, 8, dtype=dtype), random(2, 4, 5, 8, dtype=dtype), random(2, 4, 5, 8, dtype=dtype)
    given = {"bool": torch.rand(2, 1, 5, 5) > 0.3, "float": random(5, 5, dtype=dtype)}.get(mask)
    causal, limit = mask == "causal", 1e-2 if dtype is torch.bfloat16 else 4e-6
    check_call("aten.scaled_dot_product_attention.default", q, k, v, given, 0.0, causal, tolerance=limit)
    check_call(
        "aten.scaled_dot_product_attention.default", q[0], k[0], v[0], None, 0.0, causal, scale=0.3, tolerance=limit
    )
    flash = "aten._scaled_dot_product_flash_attention_for_cpu.default"
    added = (
        None
        if given is None
        else torch.zeros(2, 1, 5, 5).masked_fill(~given, -1e9).to(dtype)
        if mask == "bool"
        else given[None, None]
    )
    check_call(flash, q, k, v, 0.0, causal, attn_mask=added, tolerance=limit)


def test_grouped_attention(check_call: Check) -> None:
    q, k, v = random(1, 6, 3, 8), random(1, 2, 4, 8), random(1, 2, 4, 8)
    check_call("aten.scaled_dot_product_attention.default", q, k, v, None, 0.0, False, enable_gqa=True, tolerance=4e-6)
