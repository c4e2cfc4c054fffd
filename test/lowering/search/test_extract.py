"""extract: the cheapest acyclic choice, deterministic, and values kept."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from albumen.dialects.errors import OptionError
from albumen.dialects.op import Kind, TensorOp
from albumen.lowering.levels import check_level
from albumen.lowering.search.dag import Node, select
from albumen.lowering.search.extract import ExtractPass

Encoder = Callable[..., ModuleOp]
SameValues = Callable[[ModuleOp, ModuleOp], None]


@pytest.mark.parametrize("whole", [True, False])
def test_composites_are_expanded_without_an_egraph(encoder: Encoder, same_values: SameValues, whole: bool) -> None:
    module = encoder(whole=whole)
    before = module.clone()
    ExtractPass().apply(Context(), module)
    module.verify()
    check_level(module, "graph")
    composites = [op for op in module.walk() if isinstance(op, TensorOp) and op.KIND is Kind.COMPOSITE]
    assert all(op.SPELLING for op in composites)
    assert "hlir.gelu" in {op.name for op in composites}
    same_values(before, module)


def test_a_shared_class_counts_once() -> None:
    classes = {
        0: [Node(1.0, (1, 2)), Node(9.0, ())],
        1: [Node(1.0, (3,)), Node(4.0, ())],
        2: [Node(1.0, (3,)), Node(4.0, ())],
        3: [Node(5.0, ())],
    }
    # As trees 1 and 2 are cheaper alone (4 < 6); as a DAG 1 + 1 + 5 shared would be 7 < 8, which no greedy choice sees.
    chosen = select(classes, [0])
    assert chosen[0] in (0, 1)
    shared = {**classes, 1: classes[1][:1], 2: classes[2][:1]}
    assert select(shared, [0]) == {3: 0, 1: 0, 2: 0, 0: 0}


def test_cycles_are_never_chosen(rng: np.random.Generator) -> None:
    for _ in range(200):
        count = int(rng.integers(2, 12))
        classes = {
            c: [
                Node(float(rng.uniform(0.001, 2)), tuple(int(o) for o in rng.integers(0, count, rng.integers(1, 4))))
                for _ in range(int(rng.integers(1, 4)))
            ]
            for c in range(count)
        }
        for c in range(0, count, 2):
            classes[c].append(Node(float(rng.uniform(0.5, 9)), ()))
        try:
            chosen = select(classes, [0, count - 1])
        except ValueError:
            continue
        done: set[int] = set()
        for c, position in chosen.items():
            assert set(classes[c][position].operands) <= done
            done.add(c)


def test_a_large_graph_is_quick() -> None:
    classes = {c: [Node(1.0, (c - 1, max(c - 7, 0))), Node(1.5, (c - 1,))] for c in range(1, 600)}
    classes[0] = [Node(1.0, ())]
    start = time.perf_counter()
    assert len(select(classes, [599])) == 600
    assert time.perf_counter() - start < 2.0


def test_an_unknown_library_is_refused(encoder: Encoder) -> None:
    with pytest.raises(OptionError, match=r"no library op is called 'nope'"):
        ExtractPass(libraries=("kernel.call_matmul", "nope")).apply(Context(), encoder(whole=True))
