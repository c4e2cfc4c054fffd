"""Special functions, inverse functions, integer functions and parts of numbers against eager."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan

import pytest
import torch

Check = Callable[..., None]
FLOATS = (torch.float32, torch.float64, torch.bfloat16, torch.float16)
EDGES = torch.tensor([0.0, -0.0, 1.0, -1.0, 0.5, -0.25, 2.5, -2.5, 3.0, 9.5, -7.75, 1e-3, 40.0, inf, -inf, nan])
UNIT = torch.tensor([0.0, 1.0, 0.5, 0.25, 0.9, 0.001, 0.999, -0.5, 1.5, nan])

EVERYWHERE = (
    "asin acos atan asinh acosh atanh erfc angle special_erfcx special_log_ndtr special_bessel_j0 special_bessel_j1 "
    "special_bessel_y0 special_bessel_y1 special_modified_bessel_k0 special_modified_bessel_k1 special_i0e special_i1e "
    "i0 special_i1 special_spherical_bessel_j0"
)
WIDE_ONLY = {"special_bessel", "special_modified", "special_spherical"}
"""Eager has these for f32 and f64 alone."""


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", EVERYWHERE.split())
def test_unary(check_call: Check, name: str, dtype: torch.dtype) -> None:
    if dtype.itemsize == 2 and "_".join(name.split("_")[:2]) in WIDE_ONLY | {"special_erfcx", "special_log"}:
        pytest.skip("eager has no such function of this dtype")
    x = EDGES if "i0" not in name and "i1" not in name else EDGES[EDGES.isfinite()]
    check_call(f"aten.{name}.default", x.to(dtype), tolerance=3e-7 if dtype is torch.float64 else None)


@pytest.mark.parametrize("dtype", (torch.float32, torch.float64), ids=str)
def test_scaled_bessel_and_airy(check_call: Check, dtype: torch.dtype) -> None:
    x = torch.tensor([0.0, 0.1, 1.0, 2.0, 2.5, 9.0, 30.0, -1.0], dtype=dtype)
    check_call("aten.special_scaled_modified_bessel_k0.default", x)
    check_call("aten.special_scaled_modified_bessel_k1.default", x)
    check_call("aten.special_airy_ai.default", torch.cat([x, -x, x.new_tensor([5.0, -8.5])]))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_distributions(check_call: Check, dtype: torch.dtype) -> None:
    check_call("aten.erfinv.default", torch.cat([UNIT, -UNIT]).to(dtype))
    check_call("aten.logit.default", UNIT[:7].to(dtype))
    check_call("aten.logit.default", UNIT.to(dtype), 0.125)
    if dtype.itemsize > 2:
        check_call("aten.special_ndtri.default", UNIT.to(dtype))


@pytest.mark.parametrize("dtype", (torch.float32, torch.float64), ids=str)
def test_gamma_functions(check_call: Check, dtype: torch.dtype) -> None:
    x = torch.tensor([0.0, -0.0, 0.1, 0.5, 1.0, 1.5, 2.0, 9.9, 10.0, 30.0, -0.5, -1.5, -7.25, -3.0, inf], dtype=dtype)
    check_call("aten.lgamma.default", x)
    check_call("aten.digamma.default", x[:-1], tolerance=1e-5 if dtype is torch.float32 else 1e-12)
    for n in (0, 2, 3, 4):
        check_call("aten.polygamma.default", n, x[2:-2], tolerance=1e-5 if dtype is torch.float32 else 1e-11)
    check_call("aten.polygamma.default", 1, x[2:10])
    q = torch.tensor([0.5, 1.0, 7.5, 40.0, -0.5, -4.25, 0.0, -2.0], dtype=dtype)
    for s in (1.5, 2.0, 3.0, 9.0, 1.0, 0.5):
        check_call("aten.special_zeta.default", torch.full_like(q, s), q, tolerance=1e-11)
    check_call("aten.special_zeta.self_scalar", 2.0, q)


KINDS = [f"{prefix}chebyshev_polynomial_{kind}" for kind in "tuvw" for prefix in ("", "shifted_")]


@pytest.mark.parametrize("dtype", (torch.float32, torch.float64), ids=str)
@pytest.mark.parametrize(
    "name", [*KINDS, "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"]
)
def test_polynomials(check_call: Check, name: str, dtype: torch.dtype) -> None:
    x = torch.tensor([0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -2.0, 0.3], dtype=dtype)
    n = torch.tensor([0.0, 1.0, 2.0, 3.5, 6.0, 9.0, 12.0, -1.0, nan, inf], dtype=dtype)
    tolerance = 3e-5 if dtype is torch.float32 else 1e-11
    check_call(f"aten.special_{name}.default", x.unsqueeze(1), n, tolerance=tolerance)
    check_call(f"aten.special_{name}.n_scalar", x, 4, tolerance=tolerance)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_pairs(check_call: Check, dtype: torch.dtype) -> None:
    a, b = EDGES.to(dtype).unsqueeze(1), EDGES.to(dtype)
    check_call("aten.atan2.default", a, b)
    check_call("aten.hypot.default", a, b)
    check_call("aten.nextafter.default", a, b)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.uint8, torch.bool], ids=str)
def test_integers_become_floats(check_call: Check, dtype: torch.dtype) -> None:
    x = torch.tensor([0, 1, 2, 7]).to(dtype)
    for name in ("asin", "atan", "acosh", "erfc", "erfinv", "digamma", "lgamma", "i0", "special_bessel_j0", "angle"):
        check_call(f"aten.{name}.default", x)
    check_call("aten.atan2.default", x, x.flip(0))
    check_call("aten.atan2.default", x, torch.rand(4, dtype=torch.bfloat16))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_parts_of_numbers(check_call: Check, dtype: torch.dtype) -> None:
    x = torch.cat([EDGES, torch.tensor([1e-40, 6e-8, -3e-39, 1000.0])]).to(dtype)
    check_call("aten.signbit.default", x)
    check_call("aten.frexp.Tensor", x)
    for decimals in (0, 2, -1):
        check_call("aten.round.decimals", torch.tensor([0.125, 2.5, -15.0, 25.0, 1.005]).to(dtype), decimals=decimals)


WIDTHS = {torch.uint8: 8, torch.int8: 8, torch.int32: 32, torch.int64: 64}


@pytest.mark.parametrize("dtype", WIDTHS, ids=str)
def test_shift_counts(check_call: Check, dtype: torch.dtype) -> None:
    width = WIDTHS[dtype]
    x = torch.tensor([1, 3, 100, 127]).to(dtype)
    x = x if dtype is torch.uint8 else torch.cat([x, -x])
    counts = torch.tensor([0, 1, width - 1, width, width + 9] + ([] if dtype is torch.uint8 else [-1]), dtype=dtype)
    for name in ("bitwise_left_shift", "bitwise_right_shift"):
        check_call(f"aten.{name}.Tensor", x.unsqueeze(1), counts)
        check_call(f"aten.{name}.Tensor_Scalar", x, 2)


@pytest.mark.parametrize("dtype", WIDTHS, ids=str)
def test_divisors_and_powers_of_integers(check_call: Check, dtype: torch.dtype) -> None:
    x = torch.tensor([0, 1, 6, 35, 100, 127]).to(dtype)
    y = torch.tensor([0, 4, 21, 49, 75, 1]).to(dtype)
    if dtype is not torch.uint8:
        x, y = torch.cat([x, -x, x]), torch.cat([y, y, -y])
    check_call("aten.gcd.default", x, y)
    check_call("aten.lcm.default", x, y)
    check_call("aten.pow.Tensor_Tensor", x, torch.tensor([0, 1, 2, 3, 5, 64]).to(dtype).repeat(len(x) // 6))
    if dtype is not torch.uint8:
        base = torch.tensor([1, -1, -1, 0, 2, -3], dtype=dtype)
        check_call("aten.pow.Tensor_Tensor", base, torch.tensor([-1, -2, -3, -1, -1, -2], dtype=dtype))


def test_steps_that_eager_rounds(check_call: Check) -> None:
    for dtype in (torch.bfloat16, torch.float16):
        a, b, base = (torch.randn(7, generator=torch.Generator().manual_seed(i)).to(dtype) for i in range(3))
        check_call("aten.addr.default", base.expand(7, 7), a, b, beta=0.6, alpha=0.2, tolerance=0.0)
        check_call("aten.linalg_cross.default", a[:3], b[:3], tolerance=0.0)
        check_call("aten.div.Tensor_mode", a * 50, b, rounding_mode="trunc", tolerance=0.0)
        check_call("aten.addcdiv.default", base, a, b, value=0.3, tolerance=0.0)
    check_call("aten.addr.default", torch.tensor([[True, False]]), torch.tensor([True]), torch.tensor([False, True]))


def test_extremes_of_booleans(check_call: Check) -> None:
    a, b = torch.tensor([True, True, False, False]), torch.tensor([True, False, True, False])
    for name in ("maximum", "minimum", "fmax", "fmin"):
        check_call(f"aten.{name}.default", a, b)
