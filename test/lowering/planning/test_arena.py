"""Offsets in the arena: values alive together never overlap, at any size; the plan is near the bound."""

from __future__ import annotations

import numpy as np
import pytest

from albumen.dialects.host.order import proves_at_most
from albumen.dialects.sym.bounds import Bounds, Interval
from albumen.dialects.sym.expr import Expr, constant, floordiv, maximum, symbol
from albumen.dialects.sym.substitute import evaluate_int
from albumen.lowering.planning.arena import Plan, Request, plan_arena

B, S = symbol("b"), symbol("s")
BOUNDS = Bounds({"b": Interval(0, 64), "s": Interval(1, 512)})
TYPICAL = {"b": 8, "s": 128}


def measure(e: Expr) -> int:
    return evaluate_int(e, TYPICAL)


def check(requests: list[Request], plan: Plan, symbols: dict[str, int]) -> None:
    size = evaluate_int(plan.size, symbols)
    spans = [
        (evaluate_int(o, symbols), evaluate_int(o + r.size, symbols))
        for o, r in zip(plan.offsets, requests, strict=True)
    ]
    for i, (low, high) in enumerate(spans):
        assert low % 64 == 0 and low >= 0 and high <= size
        for j in range(i):
            if requests[i].meets(requests[j]):
                assert high <= spans[j][0] or spans[j][1] <= low
    assert evaluate_int(plan.bound, symbols) <= size


def draw(rng: np.random.Generator, sizes: list[Expr]) -> list[Request]:
    count = int(rng.integers(1, 24))
    firsts = sorted(int(n) for n in rng.integers(0, 30, count))
    return [Request(sizes[int(rng.integers(0, len(sizes)))], f, f + int(rng.integers(0, 8))) for f in firsts]


@pytest.mark.parametrize("seed", range(20))
def test_constant_sizes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    requests = draw(rng, [constant(int(n)) for n in rng.integers(1, 5000, 6)])
    plan = plan_arena(requests, 64, BOUNDS, measure)
    check(requests, plan, {})
    assert measure(plan.size) <= 1.5 * measure(plan.bound)


@pytest.mark.parametrize("seed", range(20))
def test_symbolic_sizes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    requests = draw(rng, [B * S * 1536, B * S * 384, B * S * S * 48, constant(4096), S * 4, B * 4])
    plan = plan_arena(requests, 64, BOUNDS, measure)
    for symbols in ({"b": 0, "s": 1}, {"b": 1, "s": 1}, {"b": 64, "s": 512}, {"b": 3, "s": 17}, {"b": 64, "s": 1}):
        check(requests, plan, symbols)


def test_one_symbol_is_packed_as_constants_are() -> None:
    requests = [Request(B * 4096, 0, 1), Request(B * 1024, 1, 2), Request(B * 3072, 2, 3), Request(B * 1024, 3, 4)]
    plan = plan_arena(requests, 64, BOUNDS, measure)
    assert plan.size is plan.bound is B * 5120


def test_nothing_takes_nothing() -> None:
    assert plan_arena([], 64, BOUNDS, measure) == Plan((), constant(0), constant(0))


def test_comparisons_of_sizes() -> None:
    assert proves_at_most(B * S, maximum(B * S, B * 7), BOUNDS)
    assert proves_at_most(B * S * S * 48, -floordiv(-B * S * S * 48, constant(64)) * 64, BOUNDS)
    assert proves_at_most(B * 3, B * S * 3, BOUNDS)
    assert not proves_at_most(B * S, B * 7, BOUNDS)
    assert not proves_at_most(S, floordiv(S, constant(4)) * 4, BOUNDS)
