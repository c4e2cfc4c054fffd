"""Matmuls for the CPU: layouts, batches, dtypes, prologues and epilogues, edges of tiles and blocks."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from albumen.dialects.loop import OffsetOp, PackOp

Make = Callable[[str], Any]
SYMBOLS = "sym.symbol @s min 0 max 4096\nsym.symbol @t min 1 max 300\n"


def tensor(dims: str, dtype: str = "f32") -> str:
    return f"!hlir.tensor<[{dims}], {dtype}>"


def contract(lhs: str, rhs: str, space: str, axes: str, types: tuple[str, str, str], operands: str = "%a, %b") -> str:
    extents = space.split(", ")
    names = ", ".join(f"d{i}" for i in range(len(extents)))
    for number, extent in enumerate(extents):
        if extent == "1":  # the canonical index of such a dim
            lhs, rhs = (re.sub(rf"\bd{number}\b", "0", side) for side in (lhs, rhs))
    maps = f"lhs_map = #hlir.map<({names}) -> ({lhs})>, rhs_map = #hlir.map<({names}) -> ({rhs})>"
    properties = f"{{{maps}, axes = array<i64: {axes}>, space = #hlir.shape<[{space}]>}}"
    return f"%c = hlir.contract {operands} {properties} : ({types[0]}, {types[1]}) -> {types[2]}"


def matmul(name: str, inputs: dict[str, str], result: str, body: str, schedule: str = "") -> str:
    arguments = ", ".join(f"%{n}0: {t}" for n, t in inputs.items())
    bound = ", ".join(f"%{n} = %{n}0 : {t}" for n, t in inputs.items())
    return f"""
kernel.func @{name}({arguments}) -> ({result}) {{
  %r = kernel.matmul ({bound}) -> ({result}) {schedule} {{
    {body}
    kernel.yield %y : {result}
  }}
  kernel.return %r : {result}
}}
"""


def linear(m: str, k: str, n: str, dtype: str = "f32", schedule: str = "") -> str:
    x, w, b, y = tensor(f"{m}, {k}", dtype), tensor(f"{n}, {k}", dtype), tensor(n, dtype), tensor(f"{m}, {n}", dtype)
    body = f"""{contract("d0, d2", "d1, d2", f"{m}, {n}, {k}", "2", (x, w, y))}
    %v = hlir.view %d (d0, d1) -> ({0 if n == "1" else "d1"}) : ({b}) -> {y}
    %s = hlir.add %c, %v : {y}
    %y = hlir.gelu %s {{approximate = "none"}} : {y}"""
    return matmul("linear", {"a": x, "b": w, "d": b}, y, body, schedule)


SHAPES = [(1, 1, 1), (3, 5, 7), (14, 32, 32), (15, 33, 31), (28, 64, 96), (29, 1, 97), (113, 40, 200), (5, 0, 9)]


@pytest.mark.parametrize(("m", "k", "n"), SHAPES)
def test_linear(kernels: Make, rng: np.random.Generator, m: int, k: int, n: int) -> None:
    kernels(linear(str(m), str(k), str(n))).check(rng, {})


@pytest.mark.parametrize("s", [0, 1, 13, 14, 15, 40])
def test_symbolic_rows(kernels: Make, rng: np.random.Generator, s: int) -> None:
    kernels(SYMBOLS + linear("s", "24", "40")).check(rng, {"s": s})


@pytest.mark.parametrize("schedule", ["{kb = 16 : i64}", "{mr = 3 : i64, nv = 1 : i64, mb = 6 : i64, nb = 32 : i64}"])
def test_schedules(kernels: Make, rng: np.random.Generator, schedule: str) -> None:
    kernels(linear("20", "50", "70", schedule=f"schedule {schedule}")).check(rng, {})


@pytest.mark.parametrize("dtype", ["f64", "bf16", "f16"])
def test_dtypes(kernels: Make, rng: np.random.Generator, dtype: str) -> None:
    kernels(linear("17", "35", "50", dtype)).check(rng, {})


@pytest.mark.parametrize(
    ("lhs", "rhs"), [("d0, d2", "d1, d2"), ("d0, d2", "d2, d1"), ("d2, d0", "d1, d2"), ("d2, d0", "d2, d1")]
)
def test_layouts(kernels: Make, rng: np.random.Generator, lhs: str, rhs: str) -> None:
    extent = {"d0": "19", "d1": "37", "d2": "23"}
    x, w = (tensor(", ".join(extent[i] for i in side.split(", "))) for side in (lhs, rhs))
    y = tensor("19, 37")
    body = contract(lhs, rhs, "19, 37, 23", "2", (x, w, y)).replace("%c =", "%y =")
    kernels(matmul("product", {"a": x, "b": w}, y, body)).check(rng, {})


@pytest.mark.parametrize("s", [1, 3, 14, 20])
def test_attention_scores(kernels: Make, rng: np.random.Generator, s: int) -> None:
    """Heads are read through a view of [batch, s, heads*8], scaled afterwards."""
    flat, heads, scores = tensor("2, s, 24"), tensor("2, 3, s, 8"), tensor("2, 3, s, s")
    view = "(d0, d1, d2, d3) -> (d0, d2, d1*8 + d3)"
    product = contract("d0, d1, d2, d4", "d0, d1, d3, d4", "2, 3, s, s, 8", "4", (heads, heads, scores), "%q, %k")
    body = f"""%q = hlir.view %a {view} : ({flat}) -> {heads}
    %k = hlir.view %b {view} : ({flat}) -> {heads}
    {product}
    %f = hlir.constant 0.25 : {scores}
    %y = hlir.mul %c, %f : {scores}"""
    kernels(SYMBOLS + matmul("scores", {"a": flat, "b": flat}, scores, body)).check(rng, {"s": s})


@pytest.mark.parametrize("t", [1, 5, 14, 33])
def test_attention_values(kernels: Make, rng: np.random.Generator, t: int) -> None:
    """The result is stored as [batch, t, heads*8]."""
    weights, flat, heads, out = tensor("2, 3, t, t"), tensor("2, t, 24"), tensor("2, 3, t, 8"), tensor("2, t, 24")
    product = contract("d0, d1, d2, d4", "d0, d1, d4, d3", "2, 3, t, 8, t", "4", (weights, heads, heads), "%a, %v")
    body = f"""%v = hlir.view %b (d0, d1, d2, d3) -> (d0, d2, d1*8 + d3) : ({flat}) -> {heads}
    {product}
    %y = hlir.view %c (d0, d1, d2) -> (d0, floordiv(d2, 8), d1, d2 - floordiv(d2, 8)*8) : ({heads}) -> {out}"""
    kernels(SYMBOLS + matmul("values", {"a": weights, "b": flat}, out, body)).check(rng, {"t": t})


def test_heads_split_from_columns(kernels: Make, rng: np.random.Generator) -> None:
    """A projection whose columns are stored as heads: [s, 96] -> [2, s/2...] needs runs of 32 columns."""
    x, w, y, heads = tensor("10, 24"), tensor("96, 24"), tensor("10, 96"), tensor("2, 3, 5, 32")
    product = contract("d0, d2", "d1, d2", "10, 96, 24", "2", (x, w, y))
    body = f"""{product}
    %y = hlir.view %c (d0, d1, d2, d3) -> (d0*5 + d2, d1*32 + d3) : ({y}) -> {heads}"""
    kernels(matmul("heads", {"a": x, "b": w}, heads, body)).check(rng, {})


def test_prologue_and_residual(kernels: Make, rng: np.random.Generator) -> None:
    """Elementwise ops before the product are computed while packing; a residual is read at the stored index."""
    x, w, y = tensor("18, 20"), tensor("34, 20"), tensor("18, 34")
    product = contract("d0, d2", "d1, d2", "18, 34, 20", "2", (x, w, y), "%e, %g")
    body = f"""%e = hlir.exp %a : {x}
    %g = hlir.mul %b, %b : {w}
    {product}
    %y = hlir.add %c, %d : {y}"""
    kernels(matmul("fused", {"a": x, "b": w, "d": y}, y, body)).check(rng, {})


def test_mixed_precision(kernels: Make, rng: np.random.Generator) -> None:
    """Operands are cast before the product: bf16 weights against f32 activations."""
    x, w, wide, y = tensor("18, 20"), tensor("34, 20", "bf16"), tensor("34, 20"), tensor("18, 34")
    product = contract("d0, d2", "d1, d2", "18, 34, 20", "2", (x, wide, y), "%a, %g")
    body = f"%g = hlir.cast %b {{dtype = f32}} : ({w}) -> {wide}\n    {product.replace('%c =', '%y =')}"
    kernels(matmul("mixed", {"a": x, "b": w}, y, body)).check(rng, {})


def test_integers(kernels: Make, rng: np.random.Generator) -> None:
    x, w, y = tensor("9, 20", "i32"), tensor("11, 20", "i32"), tensor("9, 11", "i32")
    body = contract("d0, d2", "d1, d2", "9, 11, 20", "2", (x, w, y)).replace("%c =", "%y =")
    kernels(matmul("integers", {"a": x, "b": w}, y, body)).check(rng, {})


def test_vectors(kernels: Make, rng: np.random.Generator) -> None:
    """A matrix times a vector, and a dot product, have no tile to fill."""
    x, w, y = tensor("70, 33"), tensor("33"), tensor("70")
    row = contract("d0, d1", "d1", "70, 33", "1", (x, w, y)).replace("%c =", "%y =")
    v, one = tensor("300"), tensor("")
    dot = contract("d0", "d0", "300", "0", (v, v, one)).replace("%c =", "%y =")
    text = matmul("row", {"a": x, "b": w}, y, row) + matmul("dot", {"a": v, "b": v}, one, dot)
    kernels(text).check(rng, {})


def test_convolution_taps(kernels: Make, rng: np.random.Generator) -> None:
    """A contraction whose map adds indices, as convolutions do, is packed element by element."""
    x, w, y = tensor("4, 12"), tensor("6, 4, 3"), tensor("6, 10")
    body = contract("d2, d1 + d3", "d0, d2, d3", "6, 10, 4, 3", "2, 3", (x, w, y)).replace("%c =", "%y =")
    kernels(matmul("conv", {"a": x, "b": w}, y, body)).check(rng, {})


@pytest.mark.parametrize("s", [1, 20])
def test_weights_first(kernels: Make, rng: np.random.Generator, s: int) -> None:
    """The factor whose index is contiguous in the result is the right one, whatever the order of the operands."""
    w, x, y = tensor("70, 24"), tensor("s, 24"), tensor("s, 70")
    body = contract("d1, d2", "d0, d2", "s, 70, 24", "2", (w, x, y)).replace("%c =", "%y =")
    made = kernels(SYMBOLS + matmul("weights", {"a": w, "b": x}, y, body))
    made.check(rng, {"s": s})
    packed = next(op for op in made.kernels[0].walk() if isinstance(op, PackOp))
    place = packed.source.owner
    assert isinstance(place, OffsetOp)
    assert place.pointer is made.kernels[0].pointers[0], "the weights are packed as columns"


def test_grouped_convolution_stored_flat(kernels: Make, rng: np.random.Generator) -> None:
    """The result is read through a reshape, whose divisions are another spelling of the kernel's own index."""
    x, w, b, y, flat = (tensor(d) for d in ("2, 4, 4, 4", "4, 2, 3, 3", "4", "2, 2, 2, 2, 2", "2, 16"))
    space = "2, 2, 2, 2, 2, 2, 3, 3"
    product = contract("d0, d1*2 + d5, d3 + d6, d4 + d7", "d1*2 + d2, d5, d6, d7", space, "5, 6, 7", (x, w, y))
    index = "floordiv(d1, 8), floordiv(d1, 4) - floordiv(d1, 8)*2, floordiv(d1, 2) - floordiv(d1, 4)*2"
    body = f"""%v = hlir.view %d (d0, d1) -> (floordiv(d1, 4)) : ({b}) -> {flat}
    {product}
    %g = hlir.view %c (d0, d1) -> (d0, {index}, d1 - floordiv(d1, 2)*2) : ({y}) -> {flat}
    %y = hlir.add %v, %g : {flat}"""
    kernels(matmul("grouped", {"a": x, "b": w, "d": b}, flat, body)).check(rng, {})


def test_empty_extents(kernels: Make, rng: np.random.Generator) -> None:
    """Static extents of 0 in a batch, in the rows, and in the depth."""
    for a, b, space in (("0, 3, 4", "0, 5, 4", "0, 3, 5, 4"), ("2, 0, 4", "2, 5, 4", "2, 0, 5, 4")):
        x, w, y = tensor(a), tensor(b), tensor(", ".join(space.split(", ")[:3]))
        body = contract("d0, d1, d3", "d0, d2, d3", space, "3", (x, w, y)).replace("%c =", "%y =")
        kernels(matmul("empty", {"a": x, "b": w}, y, body)).check(rng, {})
