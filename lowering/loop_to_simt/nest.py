"""Finds the parallel nest of a loop kernel, and whether one thread or a team of threads should take each of its
iterations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue
from xdsl.traits import is_side_effect_free

from ...dialects.errors import LoweringError
from ...dialects.loop import AllocOp, CheckIndexOp, KernelOp, LoadOp, Mapping, OffsetOp, ParallelOp, ReduceOp
from ...dialects.sym.expr import Expr, constant
from ...dialects.sym.substitute import index_numbers
from .accesses import Body, stride, summarise
from .index_space import IndexSpace

FEW_ITERATIONS = 4
"""A loop this short is done by one thread."""
THREAD_SCRATCH = 64
"""Elements of scratch that one thread may keep."""


@dataclass(frozen=True)
class Nest:
    """Parallel loops of which each holds the next; `body` is what their innermost iteration runs, with what the outer
    ones compute before it. `before` comes first, once."""

    before: tuple[Operation, ...]
    extents: tuple[Expr, ...]
    body: Body


def find_nest(space: IndexSpace, kernel: KernelOp) -> Nest:
    """The nest of a kernel. One without a parallel loop at the top, or with several that are shared by the threads of
    one block, has no extents, and the kernel is its body."""
    ops = tuple(kernel.body.block.ops)
    loops = [op for op in ops if op.regions]
    for op in ops:
        space.define(op)
    if len(loops) != 1 or not isinstance(loops[0], ParallelOp):
        if len(loops) > 1 and any(isinstance(op, ParallelOp) and op.mapping.data is Mapping.Grid for op in loops):
            raise LoweringError(
                f"the kernel has {len(loops)} loops one after another; blocks cannot wait for each other",
                op=kernel,
                stage="map-threads",
                hint="lower it to one grid loop, or to several kernels",
            )
        return Nest((), (), Body((), ops))
    before = tuple(op for op in ops if op is not loops[0])
    extents: list[Expr] = []
    arguments: list[SSAValue] = []
    inner: list[Operation] = []
    loop: ParallelOp | None = loops[0]
    while loop is not None:
        extents += [_extent(space, loop, extent) for extent in loop.extents]
        arguments += loop.body.block.args
        for argument, extent in zip(loop.body.block.args, extents[-len(loop.extents) :], strict=True):
            space.bind(argument, space.variable(extent))
        loop = _next_loop(space, loop, inner)
    return Nest(before, tuple(extents), Body(tuple(arguments), tuple(inner)))


def _extent(space: IndexSpace, loop: ParallelOp, extent: SSAValue) -> Expr:
    expr = space.known(extent)
    if expr is None or index_numbers(expr):
        raise LoweringError(
            "the extent of a grid loop must be an expression of symbols",
            op=loop,
            stage="map-threads",
            hint="bound the loop by the largest extent and skip the rest inside",
        )
    return expr


def _next_loop(space: IndexSpace, loop: ParallelOp, inner: list[Operation]) -> ParallelOp | None:
    """The one loop inside `loop` whose iterations can join the nest; else None, with the body in `inner`."""
    ops = list(loop.body.block.ops)
    for op in ops:
        space.define(op)
    nested = [op for op in ops if op.regions]
    others = [op for op in ops if not op.regions]
    inner += others
    joins = (
        len(nested) == 1
        and isinstance(nested[0], ParallelOp)
        and all(isinstance(op, LoadOp | OffsetOp | CheckIndexOp) or is_side_effect_free(op) for op in others)
    )
    if joins:
        (candidate,) = nested
        assert isinstance(candidate, ParallelOp)
        known = [space.known(extent) for extent in candidate.extents]
        if all(expr is not None and not index_numbers(expr) for expr in known):
            return candidate
    del inner[len(inner) - len(others) :]
    inner += ops
    return None


def prefers_flat(space: IndexSpace, nest: Nest) -> bool:
    """Whether each iteration of the nest should be done by one thread."""
    if not nest.extents:
        return False
    loops = [op for op in nest.body.ops if isinstance(op, ParallelOp | ReduceOp)]
    if not loops:
        return True
    if not _scratch_is_small(space, nest.body.ops):
        return False
    if any(space.known(extent) is None for loop in loops for extent in loop.extents):
        return True  # a loop whose length only its own thread knows
    return _few_iterations(space, loops) or _strides_favour_threads(space, nest, loops)


def _scratch_is_small(space: IndexSpace, ops: Sequence[Operation]) -> bool:
    for op in ops:
        if isinstance(op, AllocOp):
            expr = space.known(op.count)
            bound = op.bound.value.data if op.bound is not None else None if expr is None else space.largest(expr)
            if bound is None or bound > THREAD_SCRATCH:
                return False
    return True


def _few_iterations(space: IndexSpace, loops: Sequence[ParallelOp | ReduceOp]) -> bool:
    for loop in loops:
        total = constant(1)
        for extent in loop.extents:
            expr = space.known(extent)
            if expr is None:
                return False
            total = total * expr
        count = total.as_int()
        if count is None or count > FEW_ITERATIONS:
            return False
    return True


def _strides_favour_threads(space: IndexSpace, nest: Nest, loops: Sequence[ParallelOp | ReduceOp]) -> bool:
    """Neighbouring threads read neighbouring elements if each takes one iteration of the nest, not if they share a
    row."""
    last = space.known(nest.body.arguments[-1])
    assert last is not None
    for_threads = for_rows = 0
    for loop in loops:
        for extent, argument in zip(loop.extents, loop.body.block.args, strict=True):
            expr = space.known(extent)
            assert expr is not None
            space.bind(argument, space.variable(expr))
        inner = space.known(loop.body.block.args[-1])
        assert inner is not None
        summary = summarise(space, Body.of(loop.body.block), lambda pointer: (pointer, constant(0)))
        for access in summary.accesses:
            across, along = stride(access.offset, last), stride(access.offset, inner)
            if along is not None and along.as_int() == 1:
                for_rows += 1
            elif across is not None and across.as_int() == 1 and along is not None and along.terms:
                for_threads += 1
    return for_threads > for_rows
