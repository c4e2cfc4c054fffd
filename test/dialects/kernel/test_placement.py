"""Placement finds where the values of a kernel are computed, and refuses what is not one row program or matmul."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import IntAttr
from xdsl.ir import Block

from albumen.dialects.dtype import F32, I64
from albumen.dialects.hlir.arithmetic import ExpOp, SubOp
from albumen.dialects.hlir.builder import GraphBuilder
from albumen.dialects.hlir.elementwise import AddOp, DivOp
from albumen.dialects.hlir.index_map import IndexMap, canonical, compose, identity, permutation, reshape
from albumen.dialects.hlir.indexing import GatherOp
from albumen.dialects.hlir.linear import contract
from albumen.dialects.hlir.reduction import MaxOp, SumOp
from albumen.dialects.hlir.types import ShapeAttr, axes_attr, tensor_type
from albumen.dialects.kernel import NotOneKernelError, place
from albumen.dialects.kernel.inverse import invert
from albumen.dialects.sym.expr import index, lift, symbol

B, S = symbol("b"), symbol("s")


def dims(*values: object) -> tuple[object, ...]:
    return tuple(lift(v) for v in values)  # pyright: ignore


def always(op: object) -> bool:
    return True


def test_softmax_is_one_row_program() -> None:
    block = Block(arg_types=[tensor_type([B, 4, S], F32)])
    b = GraphBuilder(block)
    x = block.args[0]
    top = b.emit(MaxOp, [x], axes=axes_attr([2]))
    e = b.emit(ExpOp, [b.emit(SubOp, [x, b.restore_axes(top, [2], [B, 4, S])])])
    total = b.restore_axes(b.emit(SumOp, [e], axes=axes_attr([2])), [2], [B, 4, S])
    placement = place([b.emit(DivOp, [e, total])], always)
    assert placement.space.parallel == dims(B, 4)
    assert placement.space.reduced == dims(S)
    at = dict(placement.computed)
    assert placement.is_row(at[top])
    assert not placement.is_row(at[e])


def test_column_reduction_and_two_outputs() -> None:
    block = Block(arg_types=[tensor_type([S, 8], F32)])
    b = GraphBuilder(block)
    e = b.emit(ExpOp, [block.args[0]])
    total = b.emit(SumOp, [e], axes=axes_attr([0]))
    placement = place([e, total], always)
    assert placement.space.parallel == dims(8)
    assert placement.stored[0].exprs == (index(1), index(0))
    assert placement.stored[1].exprs == (index(0),)


def test_a_reduction_read_off_its_row_is_refused() -> None:
    block = Block(arg_types=[tensor_type([8, 8], F32)])
    b = GraphBuilder(block)
    total = b.emit(SumOp, [block.args[0]], axes=axes_attr([1]))
    y = b.emit(AddOp, [block.args[0], b.broadcast(total, [8, 8])])
    with pytest.raises(NotOneKernelError, match="not once a row"):
        place([y], always)


def test_matmul_stored_with_merged_heads() -> None:
    # context[b, h, s, d] stored as [b, s, h*d]
    block = Block(arg_types=[tensor_type([B, 12, S, S], F32), tensor_type([B, 12, S, 32], F32)])
    b = GraphBuilder(block)
    space = ShapeAttr.get([B, 12, S, 32, S])
    lead = (index(0), index(1))
    p, v = block.args
    lhs, rhs = IndexMap(5, (*lead, index(2), index(4))), IndexMap(5, (*lead, index(4), index(3)))
    y = contract(b, p, v, space, lhs, rhs, [4])
    merged = b.reshape(b.permute(y, [0, 2, 1, 3]), [B, S, 384])
    placement = place([merged], always)
    assert placement.space.parallel == dims(B, 12, S, 32)
    assert placement.stored[0].exprs == (index(0), index(2), index(1) * 32 + index(3))


def test_gather_of_a_computed_source_is_refused() -> None:
    block = Block(arg_types=[tensor_type([9, 4], F32), tensor_type([S], I64)])
    b = GraphBuilder(block)
    x, rows = block.args
    y = b.emit(GatherOp, [x, rows], axis=IntAttr(0))
    assert place([y], always).space.parallel == dims(S, 4)
    z = b.emit(GatherOp, [b.emit(ExpOp, [x]), rows], axis=IntAttr(0))
    with pytest.raises(NotOneKernelError, match="computed place"):
        place([z], always)


def test_inverse_of_random_bijective_views(rng: np.random.Generator) -> None:
    inverted = 0
    for _ in range(60):
        extents = [int(n) for n in rng.choice([1, 2, 3, 4, 8], rng.integers(1, 5))]
        source = tuple(lift(n) for n in extents)
        order = [int(i) for i in rng.permutation(len(extents))]
        moved = tuple(source[i] for i in order)
        cut = int(rng.integers(0, len(extents)))
        total = int(np.prod(extents[:0] + [extents[i] for i in order[cut:]]))
        result = (*moved[:cut], lift(total))
        index_map = compose(reshape(moved, result), permutation(order), result)
        inverse = invert(index_map, source, result)
        if inverse is not None:
            inverted += 1
            assert compose(inverse, index_map, source) == canonical(identity(len(source)), source)
    assert inverted > 50


def test_a_broadcast_has_no_inverse() -> None:
    assert invert(IndexMap(2, (index(1),)), dims(3), dims(4, 3)) is None  # pyright: ignore
    assert invert(IndexMap(1, (index(0) + 1,)), dims(4), dims(3)) is None  # pyright: ignore
