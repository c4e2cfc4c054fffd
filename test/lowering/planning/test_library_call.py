"""kernel.call_matmul as a call of cuBLASLt: which forms are legal, and that the configuration means the same
product."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, SSAValue

from albumen.dialects.dtype import BF16, F32
from albumen.dialects.evaluate import evaluate_function, random_inputs
from albumen.dialects.hlir.contraction import contraction_properties
from albumen.dialects.hlir.index_map import IndexMap
from albumen.dialects.hlir.types import ShapeAttr, tensor_type
from albumen.dialects.host import CallOp, ProgramOp
from albumen.dialects.host.interpreter import run_program
from albumen.dialects.kernel import CallMatmulOp
from albumen.dialects.sym.expr import Expr, IntLike, index, symbol
from albumen.lowering.plan_memory import PlanMemoryPass
from albumen.lowering.planning.library_call import matmul_config
from albumen.lowering.search.cover import CoverPass
from albumen.lowering.search.extract import ExtractPass

S = symbol("s")


def maps(rank: int, *exprs: Sequence[Expr]) -> list[IndexMap]:
    return [IndexMap(rank, tuple(e)) for e in exprs]


D = [index(i) for i in range(6)]
FORMS: dict[
    str, tuple[Sequence[IntLike], Sequence[IntLike], Sequence[IntLike], Sequence[Sequence[Expr]], Sequence[int]]
] = {
    # space, lhs dims, rhs dims, maps, axes
    "nn": ((S, 6, 5), (S, 5), (5, 6), ((D[0], D[2]), (D[2], D[1])), [2]),
    "nt": ((S, 6, 5), (S, 5), (6, 5), ((D[0], D[2]), (D[1], D[2])), [2]),
    "tn": ((S, 6, 5), (5, S), (5, 6), ((D[2], D[0]), (D[2], D[1])), [2]),
    "tt": ((S, 6, 5), (5, S), (6, 5), ((D[2], D[0]), (D[1], D[2])), [2]),
    "linear": ((2, S, 6, 5), (2, S, 5), (6, 5), ((D[0], D[1], D[3]), (D[2], D[3])), [3]),
    "batched": ((3, S, 6, 5), (3, S, 5), (3, 6, 5), ((D[0], D[1], D[3]), (D[0], D[2], D[3])), [3]),
    "heads": ((3, S, S, 5), (S, 15), (S, 15), ((D[1], D[0] * 5 + D[3]), (D[2], D[0] * 5 + D[3])), [3]),
    "row": ((6, 5), (5,), (6, 5), ((D[1],), (D[0], D[1])), [1]),
}


def build(graph: Any, form: str, epilogue: str = "none", extras: Sequence[SSAValue] = ()) -> SSAValue:
    space, lhs, rhs, exprs, axes = FORMS[form]
    a, b = graph.arg("a", lhs), graph.arg("b", rhs)
    left, right = maps(len(space), *exprs)
    properties = contraction_properties(ShapeAttr.get(space), left, right, axes)
    return graph.b.emit(CallMatmulOp, [a, b, *extras], **properties, epilogue=StringAttr(epilogue))


def check(graph: Any, y: SSAValue, rng: np.random.Generator) -> dict[str, str]:
    module = graph.finish(y)
    before = module.clone()
    ExtractPass(target="cuda", libraries=("kernel.call_matmul",)).apply(Context(), module)
    CoverPass(target="cuda").apply(Context(), module)
    PlanMemoryPass(target="cuda").apply(Context(), module)
    module.verify()
    program = next(op for op in module.ops if isinstance(op, ProgramOp))
    (call,) = (step for step in program.steps if isinstance(step, CallOp))
    function = next(op for op in before.ops if isinstance(op, FuncOp))
    for s in (1, 4):
        inputs = random_inputs(function, rng, {"b": 1, "s": s})
        want = evaluate_function(before, "main", inputs, {"b": 1, "s": s})
        got = run_program(module, "main", inputs, {"b": 1, "s": s})
        np.testing.assert_allclose(want[0], got[0], rtol=1e-5, atol=1e-5)
    return {key: str(value) for key, value in call.config.data.items()}


@pytest.mark.parametrize("form", FORMS)
def test_forms(graph: Any, rng: np.random.Generator, form: str) -> None:
    if form == "row":
        graph.arg("unused", [S])
    config = check(graph, build(graph, form), rng)
    transposed = config["lhs_transposed"], config["rhs_transposed"]
    if form in ("nn", "nt", "tn", "tt"):
        assert transposed == (str(StringAttr(str(int(form[0] == "t")))), str(StringAttr(str(int(form[1] == "t")))))


@pytest.mark.parametrize("epilogue", ["bias", "bias_relu", "relu", "bias_gelu_tanh", "add", "bias_add"])
def test_epilogues(graph: Any, rng: np.random.Generator, epilogue: str) -> None:
    extras = [graph.arg("bias", [6])] if epilogue.startswith("bias") else []
    extras += [graph.arg("c", [S, 6])] if epilogue.endswith("add") else []
    check(graph, build(graph, "nt", epilogue, extras), rng)


def legal(
    space: Sequence[IntLike],
    lhs: Sequence[IntLike],
    rhs: Sequence[IntLike],
    exprs: Sequence[Sequence[Expr]],
    axes: Sequence[int],
    **change: Any,
) -> bool:
    dtype = change.get("dtype", F32)
    extras = [tensor_type([space[-2]], dtype)] if "bias" in change.get("epilogue", "") else []
    block = Block(arg_types=[tensor_type(lhs, dtype), tensor_type(rhs, dtype), *extras])
    left, right = maps(len(space), *exprs)
    properties = contraction_properties(ShapeAttr.get(space), left, right, axes)
    epilogue = StringAttr(change.get("epilogue", "none"))
    return matmul_config(CallMatmulOp.make(list(block.args), {**properties, "epilogue": epilogue})) is not None


def test_forms_that_the_library_cannot_do() -> None:
    nt = FORMS["nt"]
    assert legal(*nt)
    assert legal(*nt, dtype=BF16)
    assert not legal(*nt, epilogue="bias_gelu"), "the exact gelu"
    gaps = ((2, S, 6, 5), (S, 2, 7), (6, 5), ((D[1], D[0], D[3]), (D[2], D[3])), [3])
    assert not legal(*gaps), "two row indices with a gap between them"
    offset = ((S, 6, 5), (S, 7), (6, 5), ((D[0], D[2] + 1), (D[1], D[2])), [2])
    assert not legal(*offset), "it starts inside a row"
    strided = ((S, 6, 5), (S, 10), (6, 5), ((D[0], D[2] * 2), (D[1], D[2])), [2])
    assert not legal(*strided), "neither dim of the operand is contiguous"
    windows = ((S, 6, 5), (S + 4,), (6, 5), ((D[0] + D[2],), (D[1], D[2])), [2])
    assert not legal(*windows), "the rows of the operand overlap"
