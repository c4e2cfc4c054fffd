"""simplify-dims: equations, ranges and multiples, exact on every value of the symbols that the module allows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, IntAttr, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from albumen.dialects.dtype import F32
from albumen.dialects.errors import ContractError
from albumen.dialects.evaluate import evaluate_function
from albumen.dialects.hlir.builder import GraphBuilder
from albumen.dialects.hlir.convolution import ConvOp, ints_attr
from albumen.dialects.hlir.types import tensor_type
from albumen.dialects.sym.bounds import Interval
from albumen.dialects.sym.dialect import GuardOp, SymbolOp
from albumen.dialects.sym.expr import Expr, constant, floordiv, maximum, minimum, symbol
from albumen.dialects.sym.substitute import evaluate_int
from albumen.transforms.simplify_dims import SimplifyDimsPass
from albumen.transforms.symbol_facts import facts_of

S, T, U = symbol("s"), symbol("t"), symbol("u")


def allowed(module: ModuleOp) -> list[dict[str, int]]:
    """Every assignment below 40 that the declarations and guards allow."""
    symbols = [op for op in module.ops if isinstance(op, SymbolOp)]
    guards = [op for op in module.ops if isinstance(op, GuardOp)]
    ranges = [
        [v for v in range(op.minimum.data, min(op.range.high or 40, 40) + 1) if v % op.multiple_of.data == 0]
        for op in symbols
    ]
    names = [op.sym_name.data for op in symbols]
    found: list[dict[str, int]] = []
    for values in itertools.product(*ranges):
        env = dict(zip(names, values, strict=True))
        results = [(evaluate_int(g.expr.data, env), g.relation.data) for g in guards]
        if all(v == 0 if relation == "==" else v >= 0 for v, relation in results):
            found.append(env)
    return found


def test_simplified_expressions_agree_on_every_allowed_value() -> None:
    module = ModuleOp(
        [
            SymbolOp("s", 1, 30, 2),
            SymbolOp("t", 0, 40, 4),
            SymbolOp("u", 0, 39),
            GuardOp(U - S - 1, "=="),
            GuardOp(T - 4, ">="),
        ]
    )
    exprs: list[Expr] = [
        floordiv(S, constant(2)) * 2,
        floordiv(S + 3, constant(4)),
        floordiv(T * 3 + 2, constant(4)),
        floordiv(U, constant(2)) + floordiv(T, constant(8)) * 8,
        maximum(S, 1) + maximum(T, 4, U) * S,
        minimum(T, 40) * floordiv(S * T + 1, constant(8)),
        floordiv(floordiv(T, constant(4)) + 7, constant(2)),
    ]
    facts = facts_of(module)
    assert list(facts.ranges) == ["s", "t"]
    for env in allowed(module):
        for e in exprs:
            assert evaluate_int(facts.simplify(e), env) == evaluate_int(e, env)


def test_simplify_decides_what_ranges_and_multiples_say() -> None:
    facts = facts_of(ModuleOp([SymbolOp("s", 8, 64, 8), SymbolOp("t", 1)]))
    assert facts.simplify(floordiv(S, constant(8)) * 8) is S
    assert facts.simplify(floordiv(S + 7, constant(8))) is floordiv(S, constant(8))
    assert facts.simplify(maximum(S, 8)) is S
    assert facts.simplify(maximum(T, 1) * maximum(S, T)) is T * maximum(S, T)


def test_equations_are_solved_in_turn_and_ranges_become_guards() -> None:
    module = ModuleOp(
        [
            SymbolOp("s", 2, 30),
            SymbolOp("t", 4, 40, 2),
            SymbolOp("u", 0, 20),
            GuardOp(T * 2 - S * 4, "=="),
            GuardOp(U - T - 1, "=="),
        ]
    )
    facts = facts_of(module)
    assert facts.solved == {"t": S * 2, "u": S * 2 + 1}
    assert facts.guards == []
    assert facts.ranges["s"] == Interval(2, 9)
    kept = {env["s"] for env in allowed(module)}
    after = module.clone()
    SimplifyDimsPass().apply(Context(), after)
    assert {env["s"] for env in allowed(after)} == kept


def test_a_fixed_symbol_becomes_its_number() -> None:
    assert facts_of(ModuleOp([SymbolOp("s", 7, 7)])).solved == {"s": constant(7)}


def test_an_impossible_guard_is_an_error() -> None:
    module = ModuleOp([SymbolOp("s"), GuardOp(S - 3, "=="), GuardOp(S - 4, ">=")])
    with pytest.raises(ContractError, match="can never hold"):
        facts_of(module)


def test_inferred_dims_that_only_facts_simplify_are_restated(rng: np.random.Generator) -> None:
    x, w = tensor_type([1, 1, S], F32), tensor_type([1, 1, 2], F32)
    block = Block(arg_types=[x, w])
    b = GraphBuilder(block)
    y = b.emit(
        ConvOp,
        list(block.args),
        stride=ints_attr([2]),
        padding=ints_attr([0]),
        dilation=ints_attr([1]),
        groups=IntAttr(1),
    )
    block.add_op(ReturnOp(y))
    function = FuncOp("main", FunctionType.from_lists([x, w], [y.type]), Region(block))
    module = ModuleOp([SymbolOp("s", 2, None, 2), function])
    after = module.clone()
    SimplifyDimsPass().apply(Context(), after)
    after.verify()
    assert "-> !hlir.tensor<[1, 1, floordiv(s, 2)], f32>" in str(after)
    inputs = [rng.standard_normal((1, 1, 6)).astype(np.float32), rng.standard_normal((1, 1, 2)).astype(np.float32)]
    for want, got in zip(
        evaluate_function(module, "main", inputs), evaluate_function(after, "main", inputs), strict=True
    ):
        np.testing.assert_array_equal(want, got)
