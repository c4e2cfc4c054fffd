"""simplify-positions: index arithmetic, comparisons and gathers at known places, the same values for every size."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, IntAttr, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from albumen.dialects.dtype import F32, I32, I64, DType
from albumen.dialects.errors import EvaluationError
from albumen.dialects.evaluate import evaluate_function
from albumen.dialects.hlir.arithmetic import NegOp, SubOp
from albumen.dialects.hlir.builder import GraphBuilder
from albumen.dialects.hlir.comparison import LessEqualOp, MinimumOp, NotEqualOp
from albumen.dialects.hlir.conversion import CastOp, SelectOp
from albumen.dialects.hlir.creation import IotaOp
from albumen.dialects.hlir.elementwise import AddOp, EqualOp, FloorDivOp, LessThanOp, MaximumOp, MulOp
from albumen.dialects.hlir.indexing import GatherOp
from albumen.dialects.hlir.types import MapAttr, ShapeAttr, tensor_type
from albumen.dialects.op import TensorOp, tensor_of
from albumen.dialects.sym.dialect import SymbolOp
from albumen.dialects.sym.expr import Expr, index, symbol
from albumen.transforms.canonicalize import CanonicalizePass
from albumen.transforms.simplify_positions import SimplifyPositionsPass

S = symbol("s")
Build = Callable[[GraphBuilder, SSAValue], Sequence[SSAValue]]


def iota(b: GraphBuilder, dims: Sequence[Expr | int], expr: Expr, dtype: DType = I64) -> SSAValue:
    return b.emit(IotaOp, [], value=MapAttr.get(len(dims), [expr]), shape=ShapeAttr.get(dims), dtype=dtype.attr)


def simplified(build: Build, dims: Sequence[Expr | int] = (S, 4)) -> tuple[ModuleOp, ModuleOp]:
    block = Block(arg_types=[tensor_type(dims, F32)])
    results = build(GraphBuilder(block), block.args[0])
    block.add_op(ReturnOp(*results))
    types = [a.type for a in block.args], [r.type for r in results]
    module = ModuleOp([SymbolOp("s", 0, 100), FuncOp("main", FunctionType.from_lists(*types), Region(block))])
    before = module.clone()
    SimplifyPositionsPass().apply(Context(), module)
    CanonicalizePass().apply(Context(), module)
    module.verify()
    return before, module


def names(module: ModuleOp) -> list[str]:
    return [op.name.removeprefix("hlir.") for op in module.walk() if isinstance(op, TensorOp)]


def check(build: Build, expected: Sequence[str], dims: Sequence[Expr | int] = (S, 4)) -> None:
    before, after = simplified(build, dims)
    assert names(after) == list(expected)
    for s in (0, 1, 2, 7):
        shape = tuple(s if isinstance(d, Expr) else d for d in dims)
        x = np.arange(np.prod(shape, dtype=np.int64), dtype=np.float32).reshape(shape)
        want = evaluate_function(before, "main", [x], {"s": s})
        got = evaluate_function(after, "main", [x], {"s": s})
        for a, b in zip(want, got, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)


def test_arithmetic_is_one_iota() -> None:
    def build(b: GraphBuilder, x: SSAValue) -> Sequence[SSAValue]:
        rows, columns = iota(b, [S, 4], index(0)), iota(b, [S, 4], index(1))
        four = b.constant(4, tensor_of(rows))
        flat = b.emit(AddOp, [b.emit(MulOp, [rows, four]), columns])
        return b.emit(SubOp, [b.emit(NegOp, [flat]), b.emit(FloorDivOp, [flat, four])]), b.emit(
            MaximumOp, [rows, columns]
        )

    check(build, ["iota", "iota"])


def test_a_gather_at_a_computed_place_is_a_view() -> None:
    def build(b: GraphBuilder, x: SSAValue) -> Sequence[SSAValue]:
        # The columns of x backwards, and its transpose through the flat tensor.
        columns = b.emit(SubOp, [b.constant(3, tensor_type([4], I64)), iota(b, [4], index(0))])
        flat = b.reshape(x, [S * 4])
        place = b.emit(AddOp, [iota(b, [4, S], index(1) * 4), iota(b, [4, S], index(0))])
        return b.emit(GatherOp, [x, columns], axis=IntAttr(1)), b.emit(GatherOp, [flat, place], axis=IntAttr(0))

    check(build, ["view", "view"])


@pytest.mark.parametrize("place", [index(0) + 1, index(0) - 1, -index(0) + 2])
def test_a_gather_that_may_read_outside_stays(place: Expr) -> None:
    """Nothing checks a view when it runs: an index outside the axis must stay an error of the gather."""

    def build(b: GraphBuilder, x: SSAValue) -> Sequence[SSAValue]:
        return (b.emit(GatherOp, [x, iota(b, [4], place)], axis=IntAttr(1)),)

    before, after = simplified(build)
    assert names(after) == ["iota", "gather"]
    for module in (before, after):
        with pytest.raises(EvaluationError, match="outside an axis of extent 4"):
            evaluate_function(module, "main", [np.ones((2, 4), np.float32)], {"s": 2})


def test_comparisons_that_ranges_decide() -> None:
    def build(b: GraphBuilder, x: SSAValue) -> Sequence[SSAValue]:
        rows = iota(b, [S, 4], index(0))
        size = iota(b, [S, 4], S)
        zero = b.constant(0, tensor_of(rows))
        inside = b.emit(LessThanOp, [rows, size])
        beyond = b.emit(LessEqualOp, [size, rows])
        wrapped = b.emit(SelectOp, [b.emit(LessThanOp, [rows, zero]), b.emit(AddOp, [rows, size]), rows])
        return inside, beyond, b.emit(EqualOp, [wrapped, rows]), b.emit(NotEqualOp, [rows, size])

    check(build, ["constant", "constant"])


def test_a_causal_mask_stays() -> None:
    def build(b: GraphBuilder, x: SSAValue) -> Sequence[SSAValue]:
        return (b.emit(LessEqualOp, [iota(b, [S, 4], index(1)), iota(b, [S, 4], index(0))]),)

    check(build, ["iota", "iota", "less_equal"])


def test_narrow_integers_wrap_as_before() -> None:
    def build(b: GraphBuilder, x: SSAValue) -> Sequence[SSAValue]:
        rows = iota(b, [S, 4], index(0), I32)
        large = b.constant(2**31 - 1, tensor_of(rows))
        wrapped = b.emit(AddOp, [rows, large])
        lower = b.emit(MinimumOp, [wrapped, rows])
        return lower, b.emit(LessThanOp, [wrapped, rows]), b.emit(CastOp, [wrapped], dtype=I64.attr)

    before, after = simplified(build)
    for s in (0, 1, 3):
        x = np.zeros((s, 4), np.float32)
        for a, b in zip(evaluate_function(before, "main", [x]), evaluate_function(after, "main", [x]), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("seed", range(15))
def test_random_index_arithmetic(seed: int) -> None:
    rng = np.random.default_rng(seed)

    def build(b: GraphBuilder, x: SSAValue) -> Sequence[SSAValue]:
        values = [iota(b, [S, 4], index(0)), iota(b, [S, 4], index(1)), iota(b, [S, 4], S)]
        values.append(b.constant(int(rng.integers(1, 5)), tensor_of(values[0])))
        tests: list[SSAValue] = []
        for _ in range(10):
            p, q = (values[int(rng.integers(0, len(values)))] for _ in range(2))
            ops = [AddOp, SubOp, MulOp, MaximumOp, MinimumOp, FloorDivOp, LessThanOp, EqualOp]
            op = ops[int(rng.integers(0, len(ops)))]
            if op in (LessThanOp, EqualOp):
                tests.append(b.emit(op, [p, q]))
                values.append(b.emit(SelectOp, [tests[-1], p, q]))
            elif op is FloorDivOp:
                values.append(b.emit(op, [p, values[3]]))
            else:
                values.append(b.emit(op, [p, q]))
        return [*values[4:], *tests]

    before, after = simplified(build)
    for s in (0, 1, 2, 5):
        x = np.zeros((s, 4), np.float32)
        want, got = (evaluate_function(m, "main", [x], {"s": s}) for m in (before, after))
        for a, b in zip(want, got, strict=True):
            np.testing.assert_array_equal(a, b)
