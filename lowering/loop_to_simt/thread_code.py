"""What one thread does: ops of the loop level become thread-level ops, inner loops run one iteration after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IndexType, IntegerAttr, IntegerType, i32, i64
from xdsl.ir import Block, Operation, SSAValue

from ...dialects import simt
from ...dialects.errors import LoweringError
from ...dialects.loop import (
    AllocOp,
    CheckIndexOp,
    Combine,
    LoadOp,
    OffsetOp,
    PackOp,
    ParallelOp,
    PtrType,
    ReduceOp,
    StoreOp,
    YieldOp,
)
from ...dialects.sym.expr import Expr, constant, maximum
from . import control_flow
from .accesses import refuse_vectors
from .emitter import Emitter, int_bits
from .index_space import UNBOUNDED, IndexSpace

MAX_THREAD_SCRATCH = 1024
"""Elements of scratch that one thread may hold for itself."""

Values = list[SSAValue]


@dataclass(frozen=True)
class Memory:
    """Where a buffer of the loop kernel lives: a pointer, or a register array of one dimension."""

    value: SSAValue
    base: Expr

    @property
    def in_registers(self) -> bool:
        return isinstance(self.value.type, simt.RegType)


def combine_op(combine: Combine, a: SSAValue, b: SSAValue) -> Operation:
    """a combined with b."""
    if isinstance(a.type, AnyFloat):
        table: dict[Combine, Callable[[SSAValue, SSAValue], Operation]] = {
            Combine.Add: arith.AddfOp,
            Combine.Mul: arith.MulfOp,
            Combine.Max: arith.MaximumfOp,
            Combine.Min: arith.MinimumfOp,
        }
    else:
        table = {
            Combine.Add: arith.AddiOp,
            Combine.Mul: arith.MuliOp,
            Combine.Max: arith.MaxSIOp,
            Combine.Min: arith.MinSIOp,
            Combine.And: arith.AndIOp,
            Combine.Or: arith.OrIOp,
        }
    if combine not in table:
        raise LoweringError(f"cannot combine {a.type} by {combine}", stage="map-threads")
    return table[combine](a, b)


def constant_value(value: SSAValue) -> float | int | None:
    """The number that a value is, if an arith.constant defines it."""
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr | FloatAttr):
        return owner.value.value.data
    return None


class ThreadCode:
    """Emits loop-level ops for one thread."""

    def __init__(self, emitter: Emitter):
        self.emitter = emitter
        self.values: dict[SSAValue, SSAValue] = {}
        """Thread-level values of the loop kernel's values that are not of type index."""
        self.pointers: dict[SSAValue, tuple[SSAValue, Expr]] = {}
        self.memories: dict[SSAValue, Memory] = {}
        self.store_if: SSAValue | None = None
        """Stores happen only where this holds."""
        self.special: dict[Operation, Callable[[], None]] = {}
        """Loads and stores that are done in another way."""

    @property
    def space(self) -> IndexSpace:
        return self.emitter.space

    # Values

    def index_of(self, value: SSAValue) -> Expr:
        """The expression of an index value."""
        expr = self.space.known(value)
        if expr is None:
            raise LoweringError("an index value is used before it is computed", stage="map-threads")
        return expr

    def resolve(self, pointer: SSAValue) -> tuple[SSAValue, Expr]:
        return self.pointers.get(pointer, (pointer, constant(0)))

    def bind_index(self, value: SSAValue, emitted: SSAValue, extent: Expr = UNBOUNDED) -> None:
        """An index value of which only the extent is known."""
        variable = self.space.variable(extent)
        self.emitter.place(variable, emitted)
        self.space.bind(value, variable)

    # Ops

    def block(self, block: Block) -> None:
        """Everything but the terminator."""
        self.run(block.ops)

    def run(self, ops: Iterable[Operation]) -> None:
        for op in ops:
            if not isinstance(op, YieldOp | scf.YieldOp | scf.ConditionOp):
                self.op(op)

    def op(self, op: Operation) -> None:
        refuse_vectors(op)
        if op in self.special:
            self.special[op]()
            return
        is_index = len(op.results) == 1 and isinstance(op.results[0].type, IndexType)
        if is_index and self.space.define(op):
            return
        match op:
            case LoadOp():
                self.load(op)
            case StoreOp():
                self.store(op)
            case OffsetOp():
                root, base = self.resolve(op.pointer)
                self.pointers[op.result] = (root, base + self.index_of(op.offset))
            case AllocOp():
                self.allocate(op)
            case ParallelOp():
                self.parallel(op)
            case ReduceOp():
                self.reduce(op)
            case scf.ForOp():
                self.for_loop(op)
            case scf.IfOp():
                self.condition(op)
            case scf.WhileOp():
                self.while_loop(op)
            case arith.IndexCastOp():
                self.index_cast(op)
            case CheckIndexOp():
                self.check_index(op)
            case PackOp():
                raise LoweringError("loop.pack is for the C target", op=op, stage="map-threads")
            case _:
                self.plain(op)

    def plain(self, op: Operation) -> None:
        """A scalar op as it is; index operands and results become integers of one width."""
        indices = [self.index_of(value) for value in op.operands if isinstance(value.type, IndexType)]
        kind = self.emitter.width(*indices) if indices else i64
        operands = [
            self.emitter.index(self.index_of(value), kind) if isinstance(value.type, IndexType) else self.values[value]
            for value in op.operands
        ]
        results = [kind if isinstance(result.type, IndexType) else result.type for result in op.results]
        copy = type(op).create(
            operands=operands,
            result_types=results,
            properties=dict(op.properties),
            attributes=dict(op.attributes),
        )
        self.emitter.do(copy)
        for result, new in zip(op.results, copy.results, strict=True):
            new.name_hint = result.name_hint
            if isinstance(result.type, IndexType):
                self.bind_index(result, new, maximum(*indices) + 1 if isinstance(op, arith.SelectOp) else UNBOUNDED)
            else:
                self.values[result] = new

    def index_cast(self, op: arith.IndexCastOp) -> None:
        if isinstance(op.input.type, IndexType):
            expr = self.index_of(op.input)
            assert isinstance(op.result.type, IntegerType)
            self.values[op.result] = self.emitter.resize(self.emitter.index(expr), op.result.type)
            return
        source = op.input.owner
        if isinstance(source, arith.IndexCastOp):
            self.space.bind(op.result, self.index_of(source.input))
            return
        value = self.values[op.input]
        if int_bits(value.type) < 32:
            value = self.emitter.resize(value, i32)
        self.bind_index(op.result, value)

    def check_index(self, op: CheckIndexOp) -> None:
        """The result is known to lie below the extent, so what is computed from it may be narrow."""
        index, extent = self.index_of(op.index), self.index_of(op.extent)
        kind = self.emitter.width(index, extent)
        value, zero = self.emitter.index(index, kind), self.emitter.constant(0, kind)
        natural = self.emitter.add(arith.CmpiOp(value, zero, "sge"))
        below = self.emitter.add(arith.CmpiOp(value, self.emitter.index(extent, kind), "slt"))
        inside = self.emitter.add(arith.AndIOp(natural, below))
        self.emitter.do(simt.AssertOp(inside))
        safe = self.emitter.add(arith.SelectOp(inside, value, zero))
        self.bind_index(op.result, self.emitter.resize(safe, self.emitter.width(extent)), extent)

    # Memory

    def address(self, pointer: SSAValue, offset: SSAValue) -> tuple[Memory, Expr]:
        root, base = self.resolve(pointer)
        memory = self.memories[root]
        return memory, memory.base + base + self.index_of(offset)

    def load(self, op: LoadOp) -> None:
        memory, offset = self.address(op.pointer, op.offset)
        if memory.in_registers:
            new = simt.RegLoadOp(memory.value, [self.emitter.index(offset, i32)])
        else:
            new = simt.LoadOp(memory.value, self.emitter.index(offset), op.result.type)
        self.values[op.result] = self.emitter.add(new)
        self.values[op.result].name_hint = op.result.name_hint

    def store(self, op: StoreOp) -> None:
        memory, offset = self.address(op.pointer, op.offset)
        value = self.values[op.value]
        if memory.in_registers:
            self.emitter.do(simt.RegStoreOp(value, memory.value, [self.emitter.index(offset, i32)]))
            return
        self.emitter.do(simt.StoreOp(value, memory.value, self.emitter.index(offset), self.store_if))

    def scratch_bound(self, op: AllocOp) -> int | None:
        """The largest element count of a scratch buffer, if one is known."""
        return op.bound.value.data if op.bound is not None else self.space.largest(self.index_of(op.count))

    def allocate(self, op: AllocOp) -> None:
        bound = self.scratch_bound(op)
        if bound is None or bound > MAX_THREAD_SCRATCH:
            raise LoweringError(
                f"scratch of {'unknown size' if bound is None else f'{bound} elements'} inside one thread",
                op=op,
                stage="map-threads",
                hint=f"a thread may hold {MAX_THREAD_SCRATCH} elements; allocate it in the grid loop instead",
            )
        assert isinstance(op.result.type, PtrType)
        array = self.emitter.add(simt.RegsOp(simt.RegType.of([max(bound, 1)], op.result.type.element)))
        self.memories[op.result] = Memory(array, constant(0))

    # Loops

    def nest(
        self, extents: Sequence[Expr], variables: Sequence[SSAValue], carried: Values, body: Callable[[Values], Values]
    ) -> Values:
        """Loops over all extents around the body, which takes and returns the carried values."""
        if not extents:
            return body(carried)
        variable = self.space.variable(extents[0])
        self.space.bind(variables[0], variable)
        with self.emitter.loop((constant(0), extents[0], constant(1)), variable, carried) as loop:
            loop.carry(self.nest(extents[1:], variables[1:], loop.arguments, body))
        return loop.results

    def parallel(self, op: ParallelOp) -> None:
        def body(carried: Values) -> Values:
            self.block(op.body.block)
            return carried

        self.nest([self.index_of(extent) for extent in op.extents], op.body.block.args, [], body)

    def reduce(self, op: ReduceOp) -> None:
        def body(carried: Values) -> Values:
            self.block(op.body.block)
            return [self.emitter.add(combine_op(op.combine.data, carried[0], self.yielded(op)))]

        extents = [self.index_of(extent) for extent in op.extents]
        results = self.nest(extents, op.body.block.args, [self.values[op.init]], body)
        self.values[op.result] = results[0]

    def yielded(self, op: ReduceOp) -> SSAValue:
        """The emitted value that an iteration of a reduction contributes."""
        last = op.body.block.last_op
        assert isinstance(last, YieldOp)
        return self.values[last.value]

    def for_loop(self, op: scf.ForOp) -> None:
        control_flow.for_loop(self, op)

    def condition(self, op: scf.IfOp) -> None:
        control_flow.condition(self, op)

    def while_loop(self, op: scf.WhileOp) -> None:
        control_flow.while_loop(self, op)
