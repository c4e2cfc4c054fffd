"""kernel.fused to loops: a loop over rows, and in each row one loop for each reduction and one for the stored elements.

Without reductions one dim is the row. Values that several loops of a row need are kept in scratch if they are dear.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import SSAValue

from ...dialects.hlir.creation import IotaOp
from ...dialects.hlir.index_map import linear_coefficients, row_major_strides
from ...dialects.hlir.reduction import Reduction
from ...dialects.hlir.scalar import Scalar
from ...dialects.kernel.function import FuncOp
from ...dialects.kernel.placement import Placement
from ...dialects.loop import AllocOp, Combine, KernelOp, ParallelOp, ReduceOp, YieldOp
from ...dialects.loop import Mapping as LoopMapping
from ...dialects.op import TensorOp, tensor_of
from ...dialects.sym.bounds import Bounds, Interval, interval, simplify
from ...dialects.sym.expr import Expr, constant, index
from ...dialects.sym.substitute import index_numbers, substitute_indices
from .coordinates import Coordinates, choose_coordinates
from .expand import expand_composites
from .frame import Frame
from .keeping import Keeper, reductions_in_order
from .reads import At, Key, Reader
from .scalar_ops import Add, cast, element_type
from .scalar_ops import constant as scalar_constant
from .scope import Scope
from .values import Kept, ValueCode

COMBINERS: Mapping[str, Combine] = {
    "add": Combine.Add,
    "mul": Combine.Mul,
    "maximum": Combine.Max,
    "minimum": Combine.Min,
}
KEEP_ABOVE = 5
"""Cost of a value from which on it is kept between the loops of a row."""
BLOCK = 4096
"""Elements of a row that one piece of work takes when rows are split."""
GRAIN = 32768
"""Elements that a thread should have at least."""


@dataclass(frozen=True)
class Stored:
    """A value that the kernel stores: the element for the current index, and its offset in memory."""

    value: SSAValue
    at: At
    pointer: SSAValue
    address: Expr


class FusedLowering:
    """State of lowering one kernel.fused."""

    def __init__(self, function: FuncOp, ranges: Mapping[str, Interval], threads: bool):
        self.frame = Frame.of(function, ranges)
        self.threads = threads
        self.symbols = Bounds(ranges)
        expand_composites(self.frame.kernel.block)
        self.placement: Placement = self.frame.kernel.placement()
        self.reductions = reductions_in_order(self.placement)
        self.coordinates = self._choose()
        self.code = self.frame.code
        for extent in self.coordinates.extents:
            self.code.variable(extent)
        self.reader = self._reader(self.coordinates)
        self.values = ValueCode(self.code, self.reader, dict(self.frame.operands))
        self.stored = self._stored(self.coordinates)

    # Coordinates

    def _choose(self) -> Coordinates:
        space = self.placement.space
        whole = tuple(index(i) for i in range(space.rank))
        rows = len(space.parallel)
        start = Coordinates(whole[:rows], whole[rows:], space.extents, rows)
        return choose_coordinates(start, self._addresses, self.symbols)

    def _reader(self, coordinates: Coordinates) -> Reader:
        return Reader(coordinates.bounds(self.symbols), coordinates.reduced)

    def _stored(self, coordinates: Coordinates) -> list[Stored]:
        reader = self._reader(coordinates)
        table = dict(enumerate((*coordinates.parallel, *coordinates.reduced)))
        found: list[Stored] = []
        for value, index_map, pointer in zip(
            self.frame.kernel.stored, self.placement.stored, self.frame.results, strict=True
        ):
            at = tuple(simplify(substitute_indices(e, table), reader.bounds) for e in index_map.exprs)
            found.append(Stored(value, at, pointer, reader.address(value, at)))
        return found

    def _addresses(self, coordinates: Coordinates) -> Sequence[Expr]:
        """Every index expression that loads, stores and index-valued ops compute."""
        return [address for _, address in self._accesses(coordinates)]

    def _accesses(self, coordinates: Coordinates) -> list[tuple[SSAValue, Expr]]:
        reader = self._reader(coordinates)
        found = [(stored.value, stored.address) for stored in self._stored(coordinates)]
        seen: set[Key] = set()
        pending: list[Key] = [(stored.value, stored.at) for stored in self._stored(coordinates)]
        while pending:
            key = pending.pop()
            if key in seen:
                continue
            seen.add(key)
            value, at = key
            op = value.owner
            if isinstance(op, TensorOp):
                reads = reader.reads(op, at)
                pending += reads
                if not reads:
                    found += [(value, e) for e in _created(op, reader, at)]
                elif len(reads) > 1 and not op.SPELLING:
                    found += [(value, e) for e in at]
            else:
                found.append((value, reader.address(value, at)))
        return found

    # Loops

    def lower(self) -> KernelOp:
        """The loop kernel."""
        if self.reductions:
            rows = list(range(self.coordinates.rows))
            inner = list(range(self.coordinates.rows, len(self.coordinates.extents)))
        else:
            inner = self._vector_variable()
            rows = [n for n in range(len(self.coordinates.extents)) if n not in inner]
        full = [stored for stored in self.stored if self._is_full(stored, inner)]
        if not self.reductions and self.threads:
            self._elementwise(rows, inner)
        else:
            self._rows(rows, inner, full)
        return self.frame.finish()

    def _is_full(self, stored: Stored, inner: Sequence[int]) -> bool:
        return any(n in inner for e in (*stored.at, stored.address) for n in index_numbers(e))

    def _vector_variable(self) -> list[int]:
        """The variable along which most accesses are contiguous, the last one in doubt."""
        count = len(self.coordinates.extents)
        scores = [0] * count
        for _, address in self._accesses(self.coordinates):
            linear = linear_coefficients(address, count)
            for n in range(count):
                scores[n] += linear is not None and linear[0][n].as_int() == 1
        return [max(range(count), key=lambda n: (scores[n], n))] if count else []

    def extent(self, number: int) -> SSAValue:
        return self.code.emit(self.coordinates.extents[number], self.frame.root)

    def _grain(self, inner: Sequence[int]) -> IntegerAttr:
        sizes = [self.coordinates.extents[n].as_int() or 1 for n in inner]
        return IntegerAttr(max(1, GRAIN // max(1, prod(sizes))), i64)

    def _elementwise(self, rows: Sequence[int], inner: Sequence[int]) -> None:
        """Rows and, where they are long, blocks of a row are shared by threads."""
        root = self.frame.root
        length = self.coordinates.extents[inner[0]] if inner else constant(1)
        size = length.as_int()
        blocked = bool(inner) and (size is None or size > 2 * BLOCK)
        extents = [self.extent(n) for n in rows]
        if blocked:
            per_block = self.code.number(BLOCK, root)
            extents.append(root.add(arith.CeilDivSIOp(self.extent(inner[0]), per_block)))
        if not extents:
            self._row_loop(inner, self.stored, root)
            return
        grid = ParallelOp(extents, LoopMapping.Grid)
        grid.attributes["grain"] = IntegerAttr(max(1, GRAIN // BLOCK), i64) if blocked else self._grain(inner)
        args = grid.body.block.args
        scope = root.inner(grid.body.block, dict(zip(rows, args, strict=False)))
        if blocked:
            self._block(inner[0], args[-1], scope)
        else:
            self._row_loop(inner, self.stored, scope)
        root.run(grid)

    def _block(self, number: int, block: SSAValue, scope: Scope) -> None:
        """The elements of one block of a long row."""
        per_block = self.code.number(BLOCK, scope)
        start = scope.add(arith.MuliOp(block, per_block))
        left = scope.add(arith.SubiOp(self.extent(number), start))
        loop = ParallelOp([scope.add(arith.MinSIOp(left, per_block))], LoopMapping.Vector)
        inner = scope.inner(loop.body.block)
        inner.variables[number] = inner.add(arith.AddiOp(start, loop.body.block.args[0]))
        for stored in self.stored:
            self.values.store(stored.value, stored.at, stored.pointer, stored.address, inner)
        scope.run(loop)

    def _row_loop(self, inner: Sequence[int], stored: Sequence[Stored], scope: Scope) -> None:
        """One loop over the row that stores elements; without inner variables there is one element."""
        if not inner:
            for one in stored:
                self.values.store(one.value, one.at, one.pointer, one.address, scope)
            return
        loop = ParallelOp([self.extent(n) for n in inner], LoopMapping.Vector)
        body = scope.inner(loop.body.block, dict(zip(inner, loop.body.block.args, strict=True)))
        for one in stored:
            self.values.store(one.value, one.at, one.pointer, one.address, body)
        scope.run(loop)

    def _rows(self, rows: Sequence[int], inner: Sequence[int], full: Sequence[Stored]) -> None:
        root = self.frame.root
        if rows:
            grid = ParallelOp([self.extent(n) for n in rows], LoopMapping.Grid)
            grid.attributes["grain"] = self._grain(inner)
            scope = root.inner(grid.body.block, dict(zip(rows, grid.body.block.args, strict=True)))
            self._row(inner, full, scope)
            root.run(grid)
        else:
            self._row(inner, full, root)

    def _row(self, inner: Sequence[int], full: Sequence[Stored], scope: Scope) -> None:
        """All loops of one row."""
        kept = self._keep(inner, full, scope)
        for reduction in self.reductions:
            self._reduction(reduction, inner, scope)
            for one in kept:
                one.ready = one.stored
        for one in self.stored:
            if one not in full:
                self.values.store(one.value, one.at, one.pointer, one.address, scope)
        if full:
            self._row_loop(inner, full, scope)

    def _keep(self, inner: Sequence[int], full: Sequence[Stored], scope: Scope) -> list[Kept]:
        loops: list[list[Key]] = [
            [(r.operand, self.reader.over(r, self.coordinates.parallel))] for r in self.reductions
        ]
        loops.append([(one.value, one.at) for one in full])
        keys = Keeper(self.reader, self.coordinates.rows, loops).keep(KEEP_ABOVE) if inner else []
        extents = [self.coordinates.extents[n] for n in inner]
        size = constant(1)
        for extent in extents:
            size = size * extent
        position = constant(0)
        for number, stride in zip(inner, row_major_strides(extents), strict=True):
            position = position + index(number) * stride
        bound = interval(size, self.symbols).high
        kept: list[Kept] = []
        for key in keys:
            count = self.code.emit(size, self.frame.root)
            pointer = scope.add(AllocOp(count, element_type(tensor_of(key[0]).dtype), bound))
            self.values.kept[key] = Kept(pointer, position)
            kept.append(self.values.kept[key])
        return kept

    def _reduction(self, op: Reduction, inner: Sequence[int], scope: Scope) -> None:
        """One reduction of the row, remembered in the row's scope."""
        at, accumulator = self.coordinates.parallel, op.accumulator
        if not inner:
            element = self._contribution(op, scope)
        else:
            identity = Scalar(accumulator.encode(op.identity(accumulator)), accumulator)
            init = _ordered(op, self.frame.root.add, scalar_constant(self.frame.root.add, identity))
            loop = ReduceOp([self.extent(n) for n in inner], init, COMBINERS[op.COMBINE], LoopMapping.Vector)
            body = scope.inner(loop.body.block, dict(zip(inner, loop.body.block.args, strict=True)))
            body.run(YieldOp(self._contribution(op, body)))
            scope.run(loop)
            element = loop.result
        total = _ordered(op, scope.add, element)
        scope.memo[op.results[0], at] = cast(scope.add, total, accumulator, op.result_type.dtype)

    def _contribution(self, op: Reduction, scope: Scope) -> SSAValue:
        """One element of the operand in the accumulation dtype."""
        element = self.values.value(op.operand, self.reader.over(op, self.coordinates.parallel), scope)
        add = scope.of([element]).add
        return _ordered(op, add, cast(add, element, tensor_of(op.operand).dtype, op.accumulator))


def _ordered(op: Reduction, add: Add, value: SSAValue) -> SSAValue:
    """Unsigned integers with the sign flipped for a maximum or minimum, which combines as signed; its own inverse."""
    dtype = op.accumulator
    if dtype.category != "unsigned" or op.COMBINE not in ("maximum", "minimum"):
        return value
    sign = scalar_constant(add, Scalar(1 << (dtype.bits - 1), dtype))
    return add(arith.XOrIOp(value, sign))


def _created(op: TensorOp, reader: Reader, at: At) -> At:
    """Index expressions that a creation op computes."""
    return reader.through(op.expression, at) if isinstance(op, IotaOp) else ()


def lower_fused(function: FuncOp, ranges: Mapping[str, Interval], threads: bool) -> KernelOp:
    """The loop kernel of a function that holds a kernel.fused. With `threads` the loops are for threads of a CPU, and
    long rows are cut into blocks."""
    return FusedLowering(function, ranges, threads).lower()
