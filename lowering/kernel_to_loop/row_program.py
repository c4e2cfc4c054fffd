"""A kernel.fused ready to be lowered: its reductions, its loop variables, and what it loads and stores over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import SSAValue

from ...dialects.hlir.creation import IotaOp
from ...dialects.hlir.index_map import linear_coefficients
from ...dialects.hlir.reduction import Reduction
from ...dialects.hlir.scalar import Scalar
from ...dialects.kernel.function import FuncOp
from ...dialects.loop import Combine
from ...dialects.op import TensorOp, tensor_of
from ...dialects.sym.bounds import Bounds, Interval
from ...dialects.sym.expr import Expr, index
from ...dialects.sym.substitute import index_numbers
from .coordinates import Coordinates, choose_coordinates
from .expand import expand_composites
from .frame import Frame
from .keeping import WEIGHTS, reductions_in_order
from .reads import Key, Reader
from .scalar_ops import cast
from .scalar_ops import constant as scalar_constant
from .scope import Scope
from .stored import stored_elements
from .values import ValueCode

COMBINERS: Mapping[str, Combine] = {
    "add": Combine.Add,
    "mul": Combine.Mul,
    "maximum": Combine.Max,
    "minimum": Combine.Min,
}
THREAD_COST = 250_000
"""What a thread should have to do at least, where an addition to one element costs 1; some 5 us."""
LOOP_COST = 1000
"""Beginning and ending a vector loop."""


class RowProgram:
    """Variables below `rows` are the parallel ones; the others belong to the reductions."""

    def __init__(self, function: FuncOp, ranges: Mapping[str, Interval]):
        self.frame = Frame.of(function, ranges)
        self.symbols = Bounds(ranges)
        expand_composites(self.frame.kernel.block)
        self.placement = self.frame.kernel.placement()
        self.reductions = reductions_in_order(self.placement)
        self.coordinates = self._choose()
        self.code = self.frame.code
        for extent in self.coordinates.extents:
            self.code.variable(extent)
        self.reader = self._reader(self.coordinates)
        self.values = ValueCode(self.code, self.reader, dict(self.frame.operands))
        self.stored = stored_elements(self.frame, self.placement, self.coordinates, self.symbols)
        self.weight = 2 + sum(WEIGHTS.get(op.SPELLING, 1) for op in self.frame.kernel.ops if op.SPELLING)
        """Cost of one element, loads included."""

    @property
    def rows(self) -> int:
        return self.coordinates.rows

    @property
    def count(self) -> int:
        """The number of loop variables."""
        return len(self.coordinates.extents)

    def _choose(self) -> Coordinates:
        space = self.placement.space
        whole = tuple(index(i) for i in range(space.rank))
        rows = len(space.parallel)
        start = Coordinates(whole[:rows], whole[rows:], space.extents, rows)
        return choose_coordinates(start, self.addresses, self.symbols)

    def _reader(self, coordinates: Coordinates) -> Reader:
        return coordinates.reader(self.symbols)

    def addresses(self, coordinates: Coordinates) -> Sequence[Expr]:
        """Every index expression that loads, stores and index-valued ops compute."""
        reader = self._reader(coordinates)
        stored = stored_elements(self.frame, self.placement, coordinates, self.symbols)
        found = [one.address for one in stored]
        seen: set[Key] = set()
        pending: list[Key] = [(one.value, one.at) for one in stored]
        while pending:
            key = pending.pop()
            if key in seen:
                continue
            seen.add(key)
            value, at = key
            op = value.owner
            if not isinstance(op, TensorOp):
                found.append(reader.address(value, at))
                continue
            reads = reader.reads(op, at)
            pending += reads
            if isinstance(op, IotaOp):
                found += reader.through(op.expression, at)
            elif len(reads) > 1 and not op.SPELLING:
                found += at  # gather, pad and concat compute with the index itself
        return found

    def contiguous(self) -> list[int]:
        """For each loop variable how many of the addresses step by 1 with it."""
        scores = [0] * self.count
        for address in self.addresses(self.coordinates):
            linear = linear_coefficients(address, self.count)
            for n in range(self.count):
                scores[n] += linear is not None and linear[0][n].as_int() == 1
        return scores

    def varying(self, number: int) -> int:
        """How many addresses depend on a reduced index and step by 1 with the variable."""
        found = 0
        for address in self.addresses(self.coordinates):
            linear = linear_coefficients(address, self.count)
            full = any(n >= self.rows for n in index_numbers(address))
            found += full and linear is not None and linear[0][number].as_int() == 1
        return found

    def extent(self, number: int) -> SSAValue:
        return self.code.emit(self.coordinates.extents[number], self.frame.root)

    def size(self, numbers: Sequence[int]) -> int:
        """The number of elements of these variables, those of unknown extent left out."""
        return prod(self.coordinates.extents[n].as_int() or 1 for n in numbers)

    def grain(self, elements: int) -> IntegerAttr:
        """Iterations that a thread should take at least, for iterations of this many elements."""
        loops = len(self.reductions) + 1
        cost = elements * self.weight + LOOP_COST * loops
        return IntegerAttr(max(1, THREAD_COST // cost), i64)

    # Reductions

    def identity(self, op: Reduction) -> SSAValue:
        """What a reduction starts with."""
        accumulator = op.accumulator
        number = Scalar(accumulator.encode(op.identity(accumulator)), accumulator)
        return scalar_constant(self.frame.root.add, number)

    def contribution(self, op: Reduction, scope: Scope) -> SSAValue:
        """One element of the operand in the accumulation dtype."""
        element = self.values.value(op.operand, self.reader.over(op), scope)
        return cast(scope.of([element]).add, element, tensor_of(op.operand).dtype, op.accumulator)

    def remember(self, op: Reduction, total: SSAValue, scope: Scope) -> None:
        """From here on the reduction's result in this row is this total."""
        value = cast(scope.add, total, op.accumulator, op.result_type.dtype)
        scope.memo[op.results[0], self.coordinates.parallel] = value
