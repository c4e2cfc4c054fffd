"""plan-memory: the program computes what the function did, in the caller's memory and one arena."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.dialects.func import FuncOp

from albumen.dialects.dtype import F32, I64
from albumen.dialects.errors import LoweringError
from albumen.dialects.evaluate import evaluate_function, random_inputs
from albumen.dialects.hlir.arithmetic import ExpOp
from albumen.dialects.hlir.creation import LiteralOp
from albumen.dialects.hlir.elementwise import AddOp, MulOp
from albumen.dialects.host import CopyOp, LaunchOp, ProgramOp
from albumen.dialects.host.interpreter import run_program
from albumen.dialects.kernel import kernel_functions
from albumen.dialects.sym.expr import symbol
from albumen.dialects.sym.substitute import evaluate_int
from albumen.lowering.levels import check_level
from albumen.lowering.plan_memory import PlanMemoryPass
from albumen.lowering.search.cover import CoverPass
from albumen.lowering.search.extract import ExtractPass
from albumen.transforms.roll_loops import RollLoopsPass

SIZES = ({"b": 2, "s": 3}, {"b": 1, "s": 1}, {"b": 3, "s": 7}, {"b": 0, "s": 2})


def plan(module: ModuleOp, target: str = "c") -> ProgramOp:
    ExtractPass().apply(Context(), module)
    CoverPass().apply(Context(), module)
    PlanMemoryPass(target=target).apply(Context(), module)
    module.verify()
    check_level(module, "program")
    return next(op for op in module.ops if isinstance(op, ProgramOp))


def check(
    module: ModuleOp, rng: np.random.Generator, target: str = "c", sizes: Sequence[dict[str, int]] = SIZES
) -> ProgramOp:
    before = module.clone()
    program = plan(module, target)
    function = next(op for op in before.ops if isinstance(op, FuncOp))
    for symbols in sizes:
        inputs = random_inputs(function, rng, symbols)
        want = evaluate_function(before, "main", inputs, symbols)
        got = run_program(module, "main", inputs, symbols)
        assert len(want) == len(got)
        for a, b in zip(want, got, strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5)
    return program


def outputs(*entries: int | None) -> ArrayAttr[DictionaryAttr]:
    """`hlir.outputs`: an input's number for a mutation, None for an output."""
    kinds = [
        {"kind": StringAttr("output")} if e is None else {"kind": StringAttr("mutation"), "input": IntegerAttr(e, i64)}
        for e in entries
    ]
    return ArrayAttr([DictionaryAttr(k) for k in kinds])


def copies(program: ProgramOp) -> int:
    return sum(isinstance(step, CopyOp) for step in program.steps)


@pytest.mark.parametrize("target", ["c", "cuda"])
@pytest.mark.parametrize("rolled", [True, False])
def test_encoder(encoder: Callable[..., ModuleOp], rng: np.random.Generator, rolled: bool, target: str) -> None:
    module = encoder(layers=3)
    if rolled:
        RollLoopsPass().apply(Context(), module)
    program = check(module, rng, target)
    assert len(list(kernel_functions(module))) == 8
    assert sum(isinstance(step, LaunchOp) for step in program.steps) == 34
    assert [op.input_name.data for op in program.inputs][:2] == ["ids", "mask"]
    arena = program.arena
    assert arena is not None
    typical = {"b": 8, "s": 128}
    if target == "c":
        assert evaluate_int(arena.size.data, typical) <= 1.7 * evaluate_int(arena.bound.data, typical)


def test_results_are_written_where_the_caller_wants_them(graph: Any, rng: np.random.Generator) -> None:
    x = graph.arg("x", [4])
    y = graph.b.emit(ExpOp, [x])
    program = check(graph.finish(graph.b.emit(AddOp, [y, x]), y), rng, sizes=[{}])
    assert copies(program) == 0
    assert program.arena is None


def test_equal_results_and_inputs_are_copied(graph: Any, rng: np.random.Generator) -> None:
    x = graph.arg("x", [4])
    y = graph.b.emit(ExpOp, [x])
    table = graph.b.emit(LiteralOp, [], **LiteralOp.of_array(np.arange(4, dtype=np.float32), F32))
    program = check(graph.finish(y, y, x, table), rng, sizes=[{}])
    assert copies(program) == 3
    assert [op.role.data for op in program.inputs] == ["input", "constant"]


def test_a_mutation_is_written_in_place_after_the_last_read(graph: Any, rng: np.random.Generator) -> None:
    x, cache = graph.arg("x", [4]), graph.arg("cache", [4], role="buffer")
    read = graph.b.emit(ExpOp, [cache])
    new = graph.b.emit(ExpOp, [graph.b.emit(MulOp, [x, x])])
    program = check(graph.finish(new, read, outputs=outputs(1, None)), rng, sizes=[{}])
    assert [op.mutated is not None for op in program.inputs] == [False, True]
    assert len(program.outputs) == 1
    assert copies(program) == 0


def test_a_mutation_that_its_kernel_reads_is_copied(graph: Any, rng: np.random.Generator) -> None:
    cache = graph.arg("cache", [4], role="buffer")
    program = check(graph.finish(graph.b.emit(AddOp, [cache, cache]), outputs=outputs(0)), rng, sizes=[{}])
    assert copies(program) == 1
    assert not program.outputs


def test_inputs_may_be_swapped(graph: Any, rng: np.random.Generator) -> None:
    x, y = graph.arg("x", [4], role="buffer"), graph.arg("y", [4], role="buffer")
    doubled = graph.b.emit(AddOp, [x, y])
    check(graph.finish(y, x, doubled, x, outputs=outputs(0, 1, None, None)), rng, sizes=[{}])


def test_a_mutated_value_may_also_be_an_output(graph: Any, rng: np.random.Generator) -> None:
    x = graph.arg("x", [4], role="buffer")
    y = graph.b.emit(ExpOp, [x])
    program = check(graph.finish(y, y, outputs=outputs(0, None)), rng, sizes=[{}])
    assert copies(program) == 1


def test_symbols_come_from_dims_or_scalars(graph: Any, rng: np.random.Generator) -> None:
    x = graph.arg("x", [symbol("b") * 2, 3])
    n = graph.arg("n", [], I64, role="scalar")
    entries = {**graph.attributes[-1].data, "hlir.symbol": StringAttr("s")}
    graph.attributes[-1] = DictionaryAttr(entries)
    assert n is not None
    wide = graph.b.broadcast(graph.b.reshape(x, [1, symbol("b") * 6]), [symbol("s"), symbol("b") * 6])
    module = graph.finish(graph.b.emit(ExpOp, [wide]))
    before = module.clone()
    program = plan(module)
    assert [(op.symbol.data, None if op.dim is None else op.dim.data) for op in program.symbols] == [
        ("b", 0),
        ("s", None),
    ]
    inputs = [rng.uniform(-1, 1, (4, 3)).astype(np.float32), np.array(5, np.int64)]
    symbols = {"b": 2, "s": 5}
    (want,) = evaluate_function(before, "main", inputs, symbols)
    (got,) = run_program(module, "main", inputs, symbols)
    np.testing.assert_allclose(want, got, rtol=1e-6)


def test_an_unbound_symbol_is_an_error(graph: Any) -> None:
    x = graph.arg("x", [symbol("b") + symbol("s")])
    module = graph.finish(graph.b.emit(ExpOp, [x]))
    with pytest.raises(LoweringError, match="no input has it as a dim by itself"):
        plan(module)
