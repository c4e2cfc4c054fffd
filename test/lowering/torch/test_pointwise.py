"""Elementwise overloads against eager: promotion, numbers, edge values."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import pytest
import torch

Check = Callable[..., None]
EDGES = torch.tensor([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e-3, 40.0, -40.0, inf, -inf, nan])
FLOATS = (torch.float32, torch.float64, torch.bfloat16, torch.float16)

SMOOTH = (
    "abs exp exp2 log log2 log10 log1p expm1 sin cos tan tanh sqrt rsqrt reciprocal sigmoid erf silu relu neg sinh cosh"
)
STEPS = "floor ceil trunc round frac sign isnan isinf isfinite logical_not"
ACTIVATIONS = "hardsigmoid hardswish mish hardtanh elu leaky_relu softplus square"


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", f"{SMOOTH} {STEPS} {ACTIVATIONS}".split())
def test_unary(check_call: Check, name: str, dtype: torch.dtype) -> None:
    check_call(f"aten.{name}.default", EDGES.to(dtype))


@pytest.mark.parametrize(
    "name", ["abs", "neg", "relu", "floor", "round", "sign", "bitwise_not", "exp", "sqrt", "isnan", "isfinite"]
)
@pytest.mark.parametrize("dtype", [torch.int8, torch.int32, torch.int64], ids=str)
def test_unary_of_integers(check_call: Check, name: str, dtype: torch.dtype) -> None:
    check_call(f"aten.{name}.default", torch.tensor([0, 1, 2, 7, 100], dtype=dtype))


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,), (5,)], ids=str)
def test_shapes_without_many_elements(check_call: Check, shape: tuple[int, ...]) -> None:
    check_call("aten.add.Tensor", torch.randn(shape), torch.randn(shape))
    check_call("aten.exp.default", torch.randn(shape))


PAIRS = [
    (torch.float32, torch.float32),
    (torch.bfloat16, torch.float32),
    (torch.bfloat16, torch.bfloat16),
    (torch.float16, torch.bfloat16),
    (torch.int32, torch.float16),
    (torch.int8, torch.int64),
    (torch.uint8, torch.int8),
    (torch.bool, torch.float32),
    (torch.int64, torch.bool),
]
BINARY = "add.Tensor sub.Tensor mul.Tensor div.Tensor maximum.default minimum.default eq.Tensor ne.Tensor lt.Tensor"


@pytest.mark.parametrize("types", PAIRS, ids=str)
@pytest.mark.parametrize("name", [*BINARY.split(), "ge.Tensor", "gt.Tensor", "le.Tensor"])
def test_binary_promotion(check_call: Check, name: str, types: tuple[torch.dtype, torch.dtype]) -> None:
    if name == "sub.Tensor" and torch.bool in types:
        pytest.skip("torch refuses to subtract booleans")
    a = (torch.rand(3, 1, 4) * 9 + 1).to(types[0])
    b = (torch.rand(2, 1) * 9 + 1).to(types[1])
    check_call(f"aten.{name}", a, b)
    check_call(f"aten.{name}", a, b[0, 0])
    check_call(f"aten.{name}", a[0, 0, 0], b)


NUMBERS = [0.1, -1.7, 2, True, 1e-9]


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("dtype", [*FLOATS, torch.int32, torch.int64, torch.uint8], ids=str)
def test_numbers(check_call: Check, dtype: torch.dtype, number: Any) -> None:
    x = (torch.rand(64) * 20 + 1).to(dtype)
    names = ["add.Tensor", "mul.Tensor", "div.Tensor", "eq.Scalar", "lt.Scalar", "ge.Scalar"]
    if number is not True:
        names += ["sub.Tensor", "rsub.Scalar"]
    if isinstance(number, float) or dtype.is_floating_point:
        names += ["maximum.default"]
    for name in names:
        if name == "maximum.default":
            check_call("aten.maximum.default", x, torch.tensor(number))
        elif not (dtype is torch.uint8 and number == -1.7 and name in ("eq.Scalar", "lt.Scalar", "ge.Scalar")):
            check_call(f"aten.{name}", x, number)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_alpha(check_call: Check, dtype: torch.dtype) -> None:
    x, y = torch.randn(64).to(dtype), torch.randn(64).to(dtype)
    check_call("aten.add.Tensor", x, y, alpha=0.3)
    check_call("aten.sub.Tensor", x, y, alpha=2)
    check_call("aten.add.Tensor", torch.arange(5), torch.arange(5), alpha=3)


@pytest.mark.parametrize("mode", [None, "floor", "trunc"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32, torch.int64], ids=str)
def test_division(check_call: Check, dtype: torch.dtype, mode: str | None) -> None:
    a = torch.tensor([7, -7, 7, -7, 0, 5]).to(dtype)
    b = torch.tensor([2, 2, -2, -2, 3, 5]).to(dtype)
    check_call("aten.div.Tensor_mode", a, b, rounding_mode=mode)
    check_call("aten.remainder.Tensor", a, b)
    check_call("aten.fmod.Tensor", a, b)
    check_call("aten.floor_divide.default", a, b)
    check_call("aten.remainder.Scalar", a, 3)
    check_call("aten.fmod.Scalar", a, 3)


def test_floor_division_is_corrected(check_call: Check) -> None:
    a = torch.tensor([1.0, -1.0, 0.0, -0.0, 1.0, inf, 5.0])
    b = torch.tensor([0.1, 0.1, -3.0, 3.0, 0.0, 2.0, inf])
    check_call("aten.div.Tensor_mode", a, b, rounding_mode="floor")
    check_call("aten.div.Tensor_mode", torch.tensor([14.999999, 148.0]), torch.tensor(37.0), rounding_mode="trunc")


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 0.5, -0.5, -1, -2, 1.5, 7, -3.25, 1 / 3])
def test_constant_powers(check_call: Check, exponent: float) -> None:
    check_call("aten.pow.Tensor_Scalar", EDGES, exponent, tolerance=4e-6)
    check_call("aten.pow.Tensor_Scalar", EDGES.to(torch.bfloat16), exponent)


def test_powers(check_call: Check) -> None:
    base = torch.tensor([-2.0, 0.0, -8.0, inf, 1.0, -1.0, nan, -0.0, -inf, 2.0])
    for exponent in ([3.0, 0.0, 1 / 3, 0.0, nan, inf, 0.0, -1.0, 3.0, -inf], [2.0] * 10, [-3.0] * 10, [0.5] * 10):
        check_call("aten.pow.Tensor_Tensor", base, torch.tensor(exponent), tolerance=4e-6)
    check_call("aten.pow.Scalar", 2.0, torch.tensor([1.0, 2.0, -3.5]), tolerance=4e-6)
    check_call("aten.pow.Tensor_Scalar", torch.tensor([1, 2, -3]), 5)


def test_choices(check_call: Check) -> None:
    condition = torch.tensor([[True], [False]])
    check_call("aten.where.self", condition, torch.randn(3), torch.tensor(1.0, dtype=torch.float64))
    check_call("aten.where.ScalarOther", condition, torch.arange(3), 1.5)
    check_call("aten.where.ScalarSelf", condition, 2, torch.randn(3, dtype=torch.bfloat16))
    check_call("aten.masked_fill.Scalar", torch.randn(2, 3), condition, -inf)
    check_call("aten.clamp.default", EDGES, -1.0, 2.0)
    check_call("aten.clamp.default", torch.arange(-3, 4), None, 2)
    check_call("aten.clamp.Tensor", EDGES, torch.tensor(nan))
    check_call("aten.clamp_min.default", EDGES.to(torch.bfloat16), 0.1)
    check_call("aten.clamp_max.default", EDGES, 0.1)
    check_call("aten.lerp.Scalar", torch.randn(5), torch.randn(5), 0.7)
    check_call("aten.addcmul.default", torch.randn(5), torch.randn(5), torch.randn(5), value=0.5)
    check_call("aten.addcdiv.default", torch.randn(5), torch.randn(5), torch.rand(5) + 1)


@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_or", "bitwise_xor", "__and__", "__or__"])
def test_bits(check_call: Check, name: str) -> None:
    check_call(f"aten.{name}.Tensor", torch.arange(6), torch.tensor([3]))
    check_call(f"aten.{name}.Scalar", torch.arange(6, dtype=torch.int8), 5)
    check_call(f"aten.{name}.Tensor", torch.tensor([True, False]), torch.tensor([[True], [False]]))


def test_extremes_without_nan_and_signs(check_call: Check) -> None:
    a, b = torch.tensor([1.0, nan, nan, -2.0]), torch.tensor([nan, 2.0, nan, -3.0])
    for name in ("fmax", "fmin"):
        check_call(f"aten.{name}.default", a, b)
        check_call(f"aten.{name}.default", torch.tensor([1, 2]), torch.tensor([2, 1]))
    check_call("aten.copysign.Tensor", EDGES, EDGES.flip(0))
    check_call("aten.copysign.Scalar", torch.tensor([1, 2]), -0.0)


def test_logic_and_shifts(check_call: Check) -> None:
    for name in ("logical_and", "logical_or", "logical_xor"):
        check_call(f"aten.{name}.default", torch.tensor([0.0, 2.0, nan]), torch.tensor([[1], [0]]))
    check_call("aten.bitwise_left_shift.Tensor_Scalar", torch.arange(5), 2)
    check_call("aten.__rshift__.Scalar", torch.tensor([-8, -1, 7]), 1)


def test_gradients_of_activations(check_call: Check) -> None:
    grad, x = torch.randn(9), torch.randn(9)
    check_call("aten.threshold_backward.default", grad, x, 0.0)
    check_call("aten.sigmoid_backward.default", grad, x.sigmoid())
    check_call("aten.tanh_backward.default", grad, x.tanh())
    check_call("aten.silu_backward.default", grad, x)
    check_call("aten._prelu_kernel.default", x, torch.tensor([0.25]))


def test_gelu_forms(check_call: Check) -> None:
    for dtype in FLOATS:
        for form in ("none", "tanh"):
            check_call("aten.gelu.default", torch.linspace(-4, 4, 33).to(dtype), approximate=form)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_zeros_keep_their_sign(dtype: torch.dtype) -> None:
    """Where a bound equals the number, eager gives the number."""

    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        f = torch.nn.functional
        return x.tanh(), x.relu(), x.clamp(min=0), x.clamp(max=-0.0), x.clamp(0, 1), f.relu6(x), f.hardtanh(x, 0, 6)

    x = torch.tensor([0.0, -0.0, 1.0, -1.0] * 9).to(dtype)
    torch.compiler.reset()
    compiled = torch.compile(function, backend="albumen", fullgraph=True)
    for found, wanted in zip(compiled(x), function(x), strict=True):
        zero = wanted == 0
        assert torch.equal(found[zero].signbit(), wanted[zero].signbit())
