"""roll-loops finds the loops that are there, keeps values, and unrolling gives the program back."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pytest
from graphs import Encoder, module_of
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from albumen.dialects.dtype import F32
from albumen.dialects.errors import OptionError
from albumen.dialects.evaluate import evaluate_function, random_inputs
from albumen.dialects.hlir.activation import ReluOp
from albumen.dialects.hlir.arithmetic import SubOp, TanhOp
from albumen.dialects.hlir.builder import GraphBuilder
from albumen.dialects.hlir.elementwise import AddOp, MulOp
from albumen.dialects.hlir.linear import LinearOp
from albumen.dialects.hlir.loop import LoopOp
from albumen.dialects.hlir.types import tensor_type
from albumen.dialects.sym.expr import symbol
from albumen.transforms.canonicalize import CanonicalizePass
from albumen.transforms.roll_loops import RollLoopsPass
from albumen.transforms.unroll import unroll_loop

S = symbol("s")
X, W = tensor_type([S, 4], F32), tensor_type([4, 4], F32)


def rolled(module: ModuleOp, minimum: int = 2) -> tuple[ModuleOp, list[LoopOp]]:
    after = module.clone()
    CanonicalizePass().apply(Context(), after)
    RollLoopsPass(minimum).apply(Context(), after)
    after.verify()
    return after, [op for op in after.walk() if isinstance(op, LoopOp)]


def assert_same_values(before: ModuleOp, after: ModuleOp, rng: np.random.Generator) -> None:
    function = next(op for op in before.ops if isinstance(op, FuncOp))
    symbols = {"b": 2, "s": 3}
    inputs = random_inputs(function, rng, symbols)
    expected = evaluate_function(before, "main", inputs, symbols)
    for want, got in zip(expected, evaluate_function(after, "main", inputs, symbols), strict=True):
        np.testing.assert_array_equal(want, got)


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "decomposed"])
@pytest.mark.parametrize(("pre_norm", "trips", "carried"), [(False, 6, 1), (True, 5, 2)], ids=["post_norm", "pre_norm"])
def test_six_encoder_layers(whole: bool, pre_norm: bool, trips: int, carried: int, rng: np.random.Generator) -> None:
    module = Encoder(layers=6, whole=whole, pre_norm=pre_norm).module()
    after, loops = rolled(module)
    assert [(op.trip_count, len(op.carried)) for op in loops] == [(trips, carried)]
    assert loops[0].stream_count == 16
    assert_same_values(module, after, rng)


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "decomposed"])
def test_unrolling_gives_the_program_back(whole: bool, rng: np.random.Generator) -> None:
    module = Encoder(layers=3, whole=whole).module()
    after, loops = rolled(module)
    assert len(loops) == 1
    for loop in loops:
        unroll_loop(loop)
    after.verify()
    CanonicalizePass().apply(Context(), after)
    CanonicalizePass().apply(Context(), module)
    assert len(list(after.walk())) == len(list(module.walk()))
    assert_same_values(module, after, rng)


def test_two_layers_are_enough_and_minimum_counts(rng: np.random.Generator) -> None:
    module = Encoder(layers=2).module()
    after, loops = rolled(module)
    assert [op.trip_count for op in loops] == [2]
    assert_same_values(module, after, rng)
    assert rolled(module, minimum=3)[1] == []


def chain(weights: int, layers: int, every_output: bool = False, twist: int = -1) -> ModuleOp:
    """x = relu(x @ w + x), the weights taken in turn; layer `twist` subtracts instead."""

    def build(b: GraphBuilder, v: dict[str, SSAValue]) -> Sequence[SSAValue]:
        x = v["x"]
        outputs: list[SSAValue] = []
        for layer in range(layers):
            y = b.emit(LinearOp, [x, v[f"w{layer % weights}"]])
            x = b.emit(ReluOp, [b.emit(SubOp if layer == twist else AddOp, [y, x])])
            outputs.append(x)
        return outputs if every_output else [x]

    return module_of({"x": X, **{f"w{i}": W for i in range(weights)}}, build, ["s"])


def test_one_shared_weight_is_an_invariant(rng: np.random.Generator) -> None:
    module = chain(1, 5)
    after, (loop,) = rolled(module)
    assert (loop.trip_count, len(loop.invariants), loop.stream_count) == (5, 1, 0)
    assert_same_values(module, after, rng)


def test_every_iteration_may_have_an_output(rng: np.random.Generator) -> None:
    module = chain(4, 4, every_output=True)
    after, (loop,) = rolled(module)
    assert (loop.trip_count, len(loop.carried), len(loop.outs)) == (4, 1, 5)
    assert_same_values(module, after, rng)


def test_an_odd_iteration_stays_outside(rng: np.random.Generator) -> None:
    module = chain(8, 8, twist=2)
    after, loops = rolled(module)
    assert sorted(op.trip_count for op in loops) == [2, 5]
    assert_same_values(module, after, rng)


def test_independent_repetition_is_left_alone() -> None:
    def build(b: GraphBuilder, v: dict[str, SSAValue]) -> Sequence[SSAValue]:
        return [b.emit(ReluOp, [b.emit(LinearOp, [v["x"], v[f"w{i}"]])]) for i in range(6)]

    assert rolled(module_of({"x": X, **{f"w{i}": W for i in range(6)}}, build, ["s"]))[1] == []


def test_elementwise_chains_are_left_to_one_kernel() -> None:
    def build(b: GraphBuilder, v: dict[str, SSAValue]) -> Sequence[SSAValue]:
        x = v["x"]
        for _ in range(6):
            x = b.emit(TanhOp, [b.emit(MulOp, [x, v["y"]])])
        return [x]

    assert rolled(module_of({"x": X, "y": X}, build, ["s"]))[1] == []


def test_crossed_wiring_is_kept(rng: np.random.Generator) -> None:
    """Iterations of equal ops, one of which reads the value before last: no loop over all of them."""

    def build(b: GraphBuilder, v: dict[str, SSAValue]) -> Sequence[SSAValue]:
        x, before = v["x"], v["x"]
        for layer in range(4):
            y = b.emit(LinearOp, [x, v[f"w{layer}"]])
            before, x = x, b.emit(AddOp, [y, before if layer == 2 else x])
        return [x]

    module = module_of({"x": X, **{f"w{i}": W for i in range(4)}}, build, ["s"])
    after, loops = rolled(module)
    assert all(op.trip_count < 4 for op in loops)
    assert_same_values(module, after, rng)


def test_two_thousand_ops_take_under_half_a_second() -> None:
    module = Encoder(layers=24, whole=False).module()
    CanonicalizePass().apply(Context(), module)
    count = len(list(module.walk()))
    assert count > 1900
    start = time.process_time()
    RollLoopsPass().apply(Context(), module)
    assert time.process_time() - start < 0.5
    assert [op.trip_count for op in module.walk() if isinstance(op, LoopOp)] == [24]


def test_minimum_below_two_is_an_error() -> None:
    with pytest.raises(OptionError, match="at least 2"):
        RollLoopsPass(1)
