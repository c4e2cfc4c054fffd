"""Row programs: reductions along and across memory, kept values, views, computed loads, several results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from albumen.dialects.errors import EvaluationError

Make = Callable[[str], Any]
SYMBOLS = "sym.symbol @s min 0 max 4096\nsym.symbol @t min 0 max 65536\n"


def tensor(dims: str, dtype: str = "f32") -> str:
    return f"!hlir.tensor<[{dims}], {dtype}>"


def fused(name: str, inputs: dict[str, str], results: dict[str, str], body: str) -> str:
    """A kernel of the values named in `results`."""
    arguments = ", ".join(f"%{n}0: {t}" for n, t in inputs.items())
    bound = ", ".join(f"%{n} = %{n}0 : {t}" for n, t in inputs.items())
    types = ", ".join(results.values())
    outs = ", ".join(f"%o{i}" for i in range(len(results)))
    yielded = ", ".join(f"%{n}" for n in results)
    return f"""{SYMBOLS}
kernel.func @{name}({arguments}) -> ({types}) {{
  {outs} = kernel.fused ({bound}) -> ({types}) {{
    {body}
    kernel.yield {yielded} : {types}
  }}
  kernel.return {outs} : {types}
}}
"""


def softmax(full: str, row: str, axis: int, back: str) -> str:
    axes = f"{{axes = array<i64: {axis}>}}"
    return f"""%m = hlir.max %a {axes} : ({full}) -> {row}
    %mb = hlir.view %m {back} : ({row}) -> {full}
    %d = hlir.sub %a, %mb : {full}
    %e = hlir.exp %d : {full}
    %z = hlir.sum %e {axes} : ({full}) -> {row}
    %zb = hlir.view %z {back} : ({row}) -> {full}
    %y = hlir.div %e, %zb : {full}"""


SHAPES = [(0, 5), (5, 0), (1, 1), (7, 13), (64, 257), (3, 5000), (300, 2)]


@pytest.mark.parametrize(("s", "t"), SHAPES)
def test_softmax_of_rows(kernels: Make, rng: np.random.Generator, s: int, t: int) -> None:
    full, row = tensor("s, t"), tensor("s")
    body = softmax(full, row, 1, "(d0, d1) -> (d0)")
    made = kernels(fused("rows", {"a": full}, {"y": full}, body))
    assert made.source.count("alb_exp_f32(") == 2, "defined, and called once: its values are kept for the second loop"
    made.check(rng, {"s": s, "t": t})


@pytest.mark.parametrize(("s", "t"), SHAPES)
def test_softmax_of_columns(kernels: Make, rng: np.random.Generator, s: int, t: int) -> None:
    full, row = tensor("s, t"), tensor("t")
    body = softmax(full, row, 0, "(d0, d1) -> (d1)")
    kernels(fused("columns", {"a": full}, {"y": full}, body)).check(rng, {"s": s, "t": t})


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("s", [0, 1, 9])
def test_layer_norm_of_sum(kernels: Make, rng: np.random.Generator, s: int, dtype: str) -> None:
    """Two outputs: the residual sum and its normalisation."""
    full, row, column = tensor("s, 96", dtype), tensor("s", dtype), tensor("96", dtype)
    body = f"""%x = hlir.add %a, %b : {full}
    %t = hlir.sum %x {{axes = array<i64: 1>}} : ({full}) -> {row}
    %n = hlir.constant 0.01041666666 : {row}
    %mean = hlir.mul %t, %n : {row}
    %mb = hlir.view %mean (d0, d1) -> (d0) : ({row}) -> {full}
    %c = hlir.sub %x, %mb : {full}
    %q = hlir.mul %c, %c : {full}
    %v = hlir.sum %q {{axes = array<i64: 1>}} : ({full}) -> {row}
    %var = hlir.mul %v, %n : {row}
    %eps = hlir.constant 0.00001 : {row}
    %ve = hlir.add %var, %eps : {row}
    %r = hlir.rsqrt %ve : {row}
    %rb = hlir.view %r (d0, d1) -> (d0) : ({row}) -> {full}
    %u = hlir.mul %c, %rb : {full}
    %wb = hlir.view %w (d0, d1) -> (d1) : ({column}) -> {full}
    %y = hlir.mul %u, %wb : {full}"""
    text = fused("norm", {"a": full, "b": full, "w": column}, {"x": full, "y": full, "mean": row}, body)
    kernels(text).check(rng, {"s": s})


@pytest.mark.parametrize("s", [1, 14, 130])
def test_mean_pooling(kernels: Make, rng: np.random.Generator, s: int) -> None:
    """A masked sum over the middle dim, whose rows are contiguous across the reduction."""
    x, mask, out = tensor("3, s, 200"), tensor("3, s"), tensor("3, 200")
    body = f"""%mb = hlir.view %m (d0, d1, d2) -> (d0, d1) : ({mask}) -> {x}
    %p = hlir.mul %a, %mb : {x}
    %y = hlir.sum %p {{axes = array<i64: 1>}} : ({x}) -> {out}"""
    kernels(fused("pool", {"a": x, "m": mask}, {"y": out}, body)).check(rng, {"s": s})


@pytest.mark.parametrize(("op", "dtype"), [("sum", "f32"), ("max", "u8"), ("min", "i32"), ("prod", "f32")])
@pytest.mark.parametrize("dims", ["s, t", "t"])
def test_whole_reductions(kernels: Make, rng: np.random.Generator, op: str, dtype: str, dims: str) -> None:
    """Everything to one number, and what depends on it."""
    axes = ", ".join(str(i) for i in range(dims.count(",") + 1))
    full, one = tensor(dims, dtype), tensor("", dtype)
    variables = ", ".join(f"d{i}" for i in range(dims.count(",") + 1))
    body = f"""%r = hlir.{op} %a {{axes = array<i64: {axes}>}} : ({full}) -> {one}
    %b = hlir.view %r ({variables}) -> () : ({one}) -> {full}
    %y = hlir.add %a, %b : {full}"""
    made = kernels(fused("whole", {"a": full}, {"r": one, "y": full}, body))
    for s, t in ((3, 7), (0, 4), (40, 20000)) if op != "prod" else ((2, 3),):
        made.check(rng, {"s": s, "t": t})


def test_transpose_of_heads(kernels: Make, rng: np.random.Generator) -> None:
    """Divisions of the index in views become loops."""
    x, heads = tensor("2, s, 96"), tensor("2, 3, s, 32")
    body = f"%y = hlir.view %a (d0, d1, d2, d3) -> (d0, d2, d1*32 + d3) : ({x}) -> {heads}"
    merge = f"%y = hlir.view %a (d0, d1, d2) -> (d0, floordiv(d2, 32), d1, d2 - floordiv(d2, 32)*32) : ({heads}) -> {x}"
    for text in (fused("split", {"a": x}, {"y": heads}, body), fused("merge", {"a": heads}, {"y": x}, merge)):
        made = kernels(text)
        loops = made.source[made.source.index("struct kernel_") :]
        assert "omp simd" in loops and "alb_floordiv" not in loops
        for s in (1, 5):
            made.check(rng, {"s": s})


def test_contiguous_dims_are_one_loop(kernels: Make, rng: np.random.Generator) -> None:
    full = tensor("s, 3, t, 2")
    body = f"%y = hlir.mul %a, %a : {full}"
    made = kernels(fused("flat", {"a": full}, {"y": full}, body))
    assert len(made.kernels[0].body.block.last_op.extents) == 1
    for s, t in ((0, 3), (2, 5), (30, 1000)):
        made.check(rng, {"s": s, "t": t})


def test_embedding(kernels: Make, rng: np.random.Generator) -> None:
    """Rows of two tables by computed index, added and normalised to their largest value."""
    table, ids, x, row = tensor("11, 40"), tensor("s", "i64"), tensor("s, 40"), tensor("s")
    body = f"""%g = hlir.gather %w, %i {{axis = #builtin.int<0>}} : ({table}, {ids}) -> {x}
    %h = hlir.gather %v, %i {{axis = #builtin.int<0>}} : ({table}, {ids}) -> {x}
    %a = hlir.add %g, %h : {x}
    %m = hlir.max %a {{axes = array<i64: 1>}} : ({x}) -> {row}
    %mb = hlir.view %m (d0, d1) -> (d0) : ({row}) -> {x}
    %y = hlir.sub %a, %mb : {x}"""
    made = kernels(fused("embed", {"w": table, "v": table, "i": ids}, {"y": x}, body))
    made.check(rng, {"s": 6})
    buffers = [np.zeros(440, np.float32), np.zeros(440, np.float32), np.array([3, 11]), np.zeros(80, np.float32)]
    with pytest.raises(EvaluationError, match="index operand was out of range"):
        made.program.run(buffers, [0, 2])


def test_a_number_looked_up_twice(kernels: Make, rng: np.random.Generator) -> None:
    """By one index, from a table of one dim: the place is not taken for what stands there."""
    table, ids, x = tensor("11"), tensor("s", "i64"), tensor("s")
    body = f"""%g = hlir.gather %w, %i {{axis = #builtin.int<0>}} : ({table}, {ids}) -> {x}
    %h = hlir.gather %v, %i {{axis = #builtin.int<0>}} : ({table}, {ids}) -> {x}
    %a = hlir.mul %g, %g : {x}
    %y = hlir.add %a, %h : {x}"""
    made = kernels(fused("look", {"w": table, "v": table, "i": ids}, {"y": x}, body))
    made.check(rng, {"s": 6})


def test_rotary_embedding(kernels: Make, rng: np.random.Generator) -> None:
    """Concatenated halves, each read through a view, times tables that broadcast."""
    x, half, table = tensor("2, s, 8"), tensor("2, s, 4"), tensor("s, 8")
    body = f"""%l = hlir.view %a (d0, d1, d2) -> (d0, d1, d2) : ({x}) -> {half}
    %r = hlir.view %a (d0, d1, d2) -> (d0, d1, d2 + 4) : ({x}) -> {half}
    %k = hlir.concat %r, %l {{axis = #builtin.int<2>}} : ({half}, {half}) -> {x}
    %cb = hlir.view %c (d0, d1, d2) -> (d1, d2) : ({table}) -> {x}
    %p = hlir.mul %a, %cb : {x}
    %q = hlir.mul %k, %cb : {x}
    %y = hlir.add %p, %q : {x}"""
    kernels(fused("rotary", {"a": x, "c": table}, {"y": x}, body)).check(rng, {"s": 5})


def test_causal_mask(kernels: Make, rng: np.random.Generator) -> None:
    """Index expressions as values, compared and selected."""
    scores = tensor("s, s")
    ids, flags = tensor("s, s", "i64"), tensor("s, s", "i1")
    body = f"""%i = hlir.iota (d0, d1) -> (d0) : {ids}
    %j = hlir.iota (d0, d1) -> (d1) : {ids}
    %f = hlir.less_equal %j, %i : ({ids}, {ids}) -> {flags}
    %n = hlir.constant 0xFF800000 : {scores}
    %y = hlir.select %f, %a, %n : ({flags}, {scores}, {scores}) -> {scores}"""
    kernels(fused("mask", {"a": scores}, {"y": scores}, body)).check(rng, {"s": 9})


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads(kernels: Make, rng: np.random.Generator, threads: int) -> None:
    full = tensor("s, t")
    body = f"%y = hlir.tanh %a : {full}"
    kernels(fused("threads", {"a": full}, {"y": full}, body)).check(rng, {"s": 700, "t": 311}, threads=threads)


@pytest.mark.parametrize("dims", ["0, 3, 2", "2, 0, 3", "3, 2, 0"])
def test_static_extents_of_zero(kernels: Make, rng: np.random.Generator, dims: str) -> None:
    full, axes = tensor(dims), dims.split(", ")
    for axis in range(3):
        row = tensor(", ".join(d for i, d in enumerate(axes) if i != axis))
        body = f"""%r = hlir.sum %a {{axes = array<i64: {axis}>}} : ({full}) -> {row}
    %y = hlir.exp %a : {full}"""
        kernels(fused("empty", {"a": full}, {"r": row, "y": full}, body)).check(rng, {})
