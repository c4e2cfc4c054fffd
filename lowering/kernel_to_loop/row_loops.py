"""Row programs as a loop over rows: in each row a loop for each reduction, then one for the stored elements."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from ...dialects.hlir.index_map import row_major_strides
from ...dialects.hlir.reduction import Reduction
from ...dialects.hlir.scalar import Scalar
from ...dialects.loop import AllocOp, ParallelOp, ReduceOp, YieldOp
from ...dialects.loop import Mapping as LoopMapping
from ...dialects.op import tensor_of
from ...dialects.sym.bounds import interval
from ...dialects.sym.expr import Expr, constant, index
from .keeping import Keeper
from .reads import Key
from .row_program import COMBINERS, RowProgram
from .scalar_ops import Add, element_type
from .scalar_ops import constant as scalar_constant
from .scope import Scope, named
from .stored import Stored
from .values import Kept

KEEP_ABOVE = 5
"""Cost of a value from which on it is kept between the loops of a row."""
BLOCK = 4096
"""Elements of a row that one piece of work takes when rows are split."""


def store_row(program: RowProgram, inner: Sequence[int], stored: Sequence[Stored], scope: Scope) -> None:
    """One loop over a row that stores elements; without inner variables there is one element."""
    if not inner:
        for one in stored:
            program.values.store(one, scope)
        return
    loop = ParallelOp([program.extent(n) for n in inner], LoopMapping.Vector)
    body = scope.inner(loop.body.block, dict(zip(inner, loop.body.block.args, strict=True)))
    for one in stored:
        program.values.store(one, body)
    scope.run(loop)


def over_rows(program: RowProgram, rows: Sequence[int], inner: Sequence[int]) -> None:
    """Threads share the rows; each row has all its loops."""
    root = program.frame.root
    if not rows:
        _row(program, inner, root)
        return
    grid = ParallelOp([program.extent(n) for n in rows], LoopMapping.Grid)
    grid.attributes["grain"] = program.grain(program.size(inner))
    scope = root.inner(grid.body.block, dict(zip(rows, grid.body.block.args, strict=True)))
    _row(program, inner, scope)
    root.run(grid)


def elementwise(
    program: RowProgram, rows: Sequence[int], inner: Sequence[int], stored: Sequence[Stored], scope: Scope
) -> None:
    """Threads share the rows and, where these are long, blocks of a row."""
    length = program.coordinates.extents[inner[0]] if inner else constant(1)
    size = length.as_int()
    blocked = bool(inner) and (size is None or size > 2 * BLOCK)
    extents = [program.extent(n) for n in rows]
    if blocked:
        per_block = program.code.number(BLOCK, scope)
        extents.append(scope.add(arith.CeilDivSIOp(program.extent(inner[0]), per_block)))
    if not extents:
        store_row(program, inner, stored, scope)
        return
    grid = ParallelOp(extents, LoopMapping.Grid)
    grid.attributes["grain"] = program.grain(BLOCK if blocked else program.size(inner))
    args = grid.body.block.args
    body = scope.inner(grid.body.block, dict(zip(rows, args, strict=False)))
    if blocked:
        _block(program, inner[0], args[-1], stored, body)
    else:
        store_row(program, inner, stored, body)
    scope.run(grid)


def _block(program: RowProgram, number: int, block: SSAValue, stored: Sequence[Stored], scope: Scope) -> None:
    """The elements of one block of a long row."""
    per_block = program.code.number(BLOCK, scope)
    start = scope.add(arith.MuliOp(block, per_block))
    left = scope.add(arith.SubiOp(program.extent(number), start))
    loop = ParallelOp([scope.add(arith.MinSIOp(left, per_block))], LoopMapping.Vector)
    inner = scope.inner(loop.body.block)
    inner.bind(number, inner.add(arith.AddiOp(start, loop.body.block.args[0])))
    for one in stored:
        program.values.store(one, inner)
    scope.run(loop)


def _row(program: RowProgram, inner: Sequence[int], scope: Scope) -> None:
    """All loops of one row."""
    variables = frozenset(inner)
    full = [one for one in program.stored if one.depends_on(variables)]
    kept = _keep(program, inner, full, scope)
    for reduction in program.reductions:
        _reduction(program, reduction, inner, scope)
        for one in kept:
            one.ready = one.stored
    for one in program.stored:
        if one not in full:
            program.values.store(one, scope)
    if full:
        store_row(program, inner, full, scope)


def _keep(program: RowProgram, inner: Sequence[int], full: Sequence[Stored], scope: Scope) -> list[Kept]:
    """Scratch for the values that several loops of a row need."""
    loops: list[list[Key]] = [[(op.operand, program.reader.over(op))] for op in program.reductions]
    loops.append([(one.value, one.at) for one in full])
    keys = Keeper(program.reader, program.rows, loops).keep(KEEP_ABOVE) if inner else []
    extents = [program.coordinates.extents[n] for n in inner]
    size = constant(1)
    for extent in extents:
        size = size * extent
    position: Expr = constant(0)
    for number, stride in zip(inner, row_major_strides(extents), strict=True):
        position = position + index(number) * stride
    bound = interval(size, program.symbols).high
    kept: list[Kept] = []
    for key in keys:
        count = program.code.emit(size, program.frame.root)
        pointer = named(scope.add(AllocOp(count, element_type(tensor_of(key[0]).dtype), bound)), "kept")
        program.values.kept[key] = Kept(pointer, position)
        kept.append(program.values.kept[key])
    return kept


def _reduction(program: RowProgram, op: Reduction, inner: Sequence[int], scope: Scope) -> None:
    """One reduction of the row."""
    if not inner:
        program.remember(op, program.contribution(op, scope), scope)
        return
    extents = [program.extent(n) for n in inner]
    init = ordered(op, program.frame.root.add, program.identity(op))
    loop = ReduceOp(extents, init, COMBINERS[op.COMBINE], LoopMapping.Vector)
    body = scope.inner(loop.body.block, dict(zip(inner, loop.body.block.args, strict=True)))
    body.run(YieldOp(ordered(op, body.add, program.contribution(op, body))))
    scope.run(loop)
    named(loop.result, op.name.removeprefix("hlir."))
    program.remember(op, ordered(op, scope.add, loop.result), scope)


def ordered(op: Reduction, add: Add, value: SSAValue) -> SSAValue:
    """Unsigned integers with the sign flipped for a maximum or minimum, which combines as signed; its own inverse."""
    dtype = op.accumulator
    if dtype.category != "unsigned" or op.COMBINE not in ("maximum", "minimum"):
        return value
    return add(arith.XOrIOp(value, scalar_constant(add, Scalar(1 << (dtype.bits - 1), dtype))))
