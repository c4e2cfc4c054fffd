"""Scalar functions and casts in thread-level code, run as CUDA and as Metal text, against numpy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

Array = np.ndarray[Any, Any]
Run = Callable[..., None]


def kernel(body: str, arguments: str, *, grid: str = "#sym.expr<1>", block: int = 64, smem: int = 0) -> str:
    return f"""
    sym.symbol @n min 1 max 1000
    simt.kernel @k({arguments}) grid [{grid}] block [{block}, 1, 1] smem {smem} symbols ["n"] {{
      %t = simt.id thread.x : i32
      {body}
    }}"""


F32 = "!simt.ptr<f32, global, align 16>"
I32 = "!simt.ptr<i32, global>"


def normal(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize(("kind", "dtype"), [("f16", np.float16), ("bf16", ml_dtypes.bfloat16)])
def test_narrow_floats_round_to_nearest_even(run: Run, kind: str, dtype: Any):
    body = f"""
      %v = simt.load %x[%t] : {F32}, i32 -> f32
      %h = arith.truncf %v : f32 to {kind}
      simt.store %h, %y[%t] : {kind}, !simt.ptr<{kind}, global>, i32
      %w = arith.extf %h : {kind} to f32
      simt.store %w, %z[%t] : f32, {F32}, i32"""
    x = normal(64)
    x[:5] = [1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-11, np.inf, -0.0]
    y, z = np.zeros(64, dtype), np.zeros(64, np.float32)
    arguments = f"%x: {F32}, %y: !simt.ptr<{kind}, global>, %z: {F32}, %n: i32"
    run(kernel(body, arguments), [x, y, z], {"n": 1})
    np.testing.assert_array_equal(y.view(np.uint16), x.astype(dtype).view(np.uint16))
    np.testing.assert_array_equal(z, x.astype(dtype).astype(np.float32))


@pytest.mark.parametrize(("kind", "dtype"), [("f16", np.float16), ("bf16", ml_dtypes.bfloat16)])
def test_infinite_constants_of_narrow_floats(run: Run, kind: str, dtype: Any):
    body = f"""
      %low = arith.constant 0x{"FC00" if kind == "f16" else "FF80"} : {kind}
      simt.store %low, %x[%t] : {kind}, !simt.ptr<{kind}, global>, i32"""
    x = np.zeros(64, dtype)
    run(kernel(body, f"%x: !simt.ptr<{kind}, global>, %n: i32"), [x], {"n": 1})
    assert (x.astype(np.float32) == -np.inf).all()


UNARY: dict[str, Callable[[Array], Array]] = {
    "math.exp": np.exp,
    "math.exp2": np.exp2,
    "math.log": lambda x: np.log(np.abs(x)),
    "math.tanh": np.tanh,
    "math.sin": np.sin,
    "math.cos": np.cos,
    "math.erf": np.vectorize(math.erf, otypes=[np.float64]),
    "math.expm1": np.expm1,
    "math.log1p": lambda x: np.log1p(np.abs(x)),
    "math.cbrt": np.cbrt,
    "math.sqrt": lambda x: np.sqrt(np.abs(x)),
    "math.rsqrt": lambda x: 1 / np.sqrt(np.abs(x)),
    "math.floor": np.floor,
    "math.roundeven": np.rint,
    "math.trunc": np.trunc,
}


@pytest.mark.parametrize("name", UNARY)
def test_functions(run: Run, name: str):
    on_magnitude = name in ("math.log", "math.log1p", "math.sqrt", "math.rsqrt")
    argument = "%a" if on_magnitude else "%v"
    body = f"""
      %v = simt.load %x[%t] : {F32}, i32 -> f32
      %a = math.absf %v : f32
      %w = {name} {argument} : f32
      simt.store %w, %y[%t] : f32, {F32}, i32"""
    x = np.concatenate([normal(48), np.linspace(-9, 9, 16, dtype=np.float32)])
    y = np.zeros(64, np.float32)
    run(kernel(body, f"%x: {F32}, %y: {F32}, %n: i32"), [x, y], {"n": 1})
    reference = UNARY[name]
    np.testing.assert_allclose(y, reference(x.astype(np.float64)), rtol=5e-7, atol=1e-30)


def test_apply_of_a_scalar_function(run: Run):
    body = f"""
      %v = simt.load %x[%t] : {F32}, i32 -> f32
      %c = arith.constant 0.75 : f32
      %w = loop.apply "mod"(%v, %c) : f32
      simt.store %w, %y[%t] : f32, {F32}, i32"""
    x, y = 10 * normal(64), np.zeros(64, np.float32)
    run(kernel(body, f"%x: {F32}, %y: {F32}, %n: i32"), [x, y], {"n": 1})
    np.testing.assert_array_equal(y, np.fmod(x, np.float32(0.75)))


def test_nan_propagating_maximum(run: Run):
    body = f"""
      %a = simt.load %x[%t] : {F32}, i32 -> f32
      %b = simt.load %y[%t] : {F32}, i32 -> f32
      %m = arith.maximumf %a, %b : f32
      %n2 = arith.minimumf %a, %b : f32
      simt.store %m, %x[%t] : f32, {F32}, i32
      simt.store %n2, %y[%t] : f32, {F32}, i32"""
    x, y = normal(64), normal(64)[::-1].copy()
    x[3] = y[4] = np.nan
    high, low = np.maximum(x, y), np.minimum(x, y)
    run(kernel(body, f"%x: {F32}, %y: {F32}, %n: i32"), [x, y], {"n": 1})
    np.testing.assert_array_equal(x, high)
    np.testing.assert_array_equal(y, low)
