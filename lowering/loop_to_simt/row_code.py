"""Emits the work of one row by a team of threads: a block, or a part of a warp with several rows in a block.

What stands outside team loops is computed by every thread alike; single values are stored by the first thread of the
team. Barriers stand where one thread may read or overwrite what another thread touched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import AnyFloat, IntegerType, i32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects import simt
from ...dialects.errors import LoweringError
from ...dialects.loop import AllocOp, Combine, LoadOp, ParallelOp, PtrType, ReduceOp, StoreOp
from ...dialects.simt import element_bytes
from ...dialects.sym.expr import Expr, constant
from .accesses import Body
from .emitter import Emitter, int_bits
from .row_plan import RowPlan, is_team_loop
from .thread_code import Memory, Values, combine_op, constant_value
from .tile_code import RowCache, TileCode
from .tiling import Tiler, Tiling, vector_split

NARROW_INTEGERS = (IntegerType(1), IntegerType(8), IntegerType(16))
IDENTITIES = {Combine.Add: 0, Combine.Mul: 1, Combine.And: -1, Combine.Or: 0}


@dataclass(frozen=True)
class Team:
    """The threads of one row: `width` of them, this one is number `thread`, in team number `number` of `count` in the
    block."""

    width: int
    count: int
    thread: Expr
    number: Expr

    @property
    def is_block(self) -> bool:
        return self.count == 1


class SharedMemory:
    """Hands out bytes of the block's shared memory."""

    def __init__(self, limit: int):
        self.limit = limit
        self.used = 0

    def take(self, size: int, op: Operation) -> int:
        """The byte offset of a new part."""
        start = -(-self.used // 16) * 16
        self.used = start + size
        if self.used > self.limit:
            raise LoweringError(
                f"the rows of a block need {self.used} bytes of shared memory, there are {self.limit}",
                op=op,
                stage="map-threads",
                hint="lower the kernel so that it reads its rows again instead of keeping them",
            )
        return start


def identity(combine: Combine, kind: Attribute) -> float | int:
    """What changes nothing when it is combined with a value of the type."""
    if combine in IDENTITIES:
        return IDENTITIES[combine]
    sign = -1 if combine is Combine.Max else 1
    if isinstance(kind, AnyFloat):
        return sign * float("inf")
    half = 1 << (int_bits(kind) - 1)
    return -half if sign < 0 else half - 1


class RowCode(TileCode):
    """Code of one row."""

    def __init__(self, emitter: Emitter, tiler: Tiler, plan: RowPlan, team: Team, shared: SharedMemory):
        super().__init__(emitter, tiler)
        self.plan = plan
        self.team = team
        self.shared = shared
        self.alone = False
        """Inside a team loop each thread runs for itself."""
        self.live: SSAValue | None = None
        """Whether the team has a row of its own; one that has not repeats the last row and stores nothing."""
        self.touched: dict[SSAValue, set[str]] = {}
        """Buffers that were read or written since the last barrier."""
        self.depth = 0
        for group in plan.cached:
            cache = self._cache(group[0])
            self.caches |= dict.fromkeys(group, cache)

    # Rows in registers

    def _array(self, op: Operation, element: Attribute) -> SSAValue:
        """A register array for what a thread touches of a row in the loop around `op`."""
        loop = next(loop for loop in self.plan.loops if any(access.op is op for access in loop.accesses))
        tiling = self.plan.tilings[loop.extents]
        chunks = self.plan.chunks(self.space, tiling)
        assert chunks is not None
        kind = simt.RegType.of([max(chunks, 1), *vector_split(element, tiling.width)], element)
        return self.emitter.add(simt.RegsOp(kind))

    def _cache(self, op: LoadOp) -> RowCache:
        return RowCache(self._array(op, op.result.type))

    def allocate(self, op: AllocOp) -> None:
        if self.alone:
            super().allocate(op)
            return
        assert isinstance(op.result.type, PtrType)
        element = op.result.type.element
        if op.result in self.plan.in_registers:
            user = next(a.op for loop in self.plan.loops for a in loop.accesses if a.root is op.result)
            self.row_arrays[op.result] = self._array(user, element)
            return
        bound = self.scratch_bound(op)
        if bound is None:
            raise LoweringError(
                "a row of unknown size cannot be kept in shared memory",
                op=op,
                stage="map-threads",
                hint="give the symbol a maximum, or lower the kernel so that it reads its rows again",
            )
        size = -(-max(bound, 1) * element_bytes(element) // 16) * 16
        start = self.shared.take(size * self.team.count, op)
        pointer = self.emitter.add(simt.SharedOp(start, simt.PtrType.of(element, simt.Space.Shared, 16)))
        self.memories[op.result] = Memory(pointer, self.team.number * (size // element_bytes(element)))

    # Barriers

    def barrier(self) -> None:
        scope = simt.Scope.Block if self.team.is_block else simt.Scope.Warp
        self.emitter.do(simt.BarrierOp(scope))
        self.touched.clear()

    def _touch(self, op: Operation) -> None:
        """Puts a barrier before an op that meets earlier accesses of other threads, and notes its own."""
        uses: dict[SSAValue, set[str]] = {}
        for access in op.walk():
            if isinstance(access, LoadOp | StoreOp):
                root = self._root(access.pointer)
                uses.setdefault(root, set()).add("write" if isinstance(access, StoreOp) else "read")
        uses = {root: modes for root, modes in uses.items() if root not in self.plan.private}
        for root, modes in uses.items():
            before = self.touched.get(root, set())
            if "write" in before or (before and "write" in modes):
                self.barrier()
                break
        for root, modes in uses.items():
            self.touched.setdefault(root, set()).update(modes)

    def _root(self, pointer: SSAValue) -> SSAValue:
        owner = pointer.owner
        while isinstance(owner, Operation) and owner.name == "loop.offset":
            pointer = owner.operands[0]
            owner = pointer.owner
        return pointer

    # Ops at the level of the row

    def first(self) -> SSAValue | None:
        """Whether this is the first thread of its team, and the team has a row."""
        thread = self.emitter.index(self.team.thread)
        first = self.emitter.add(arith.CmpiOp(thread, self.emitter.constant(0, i32), "eq"))
        return self.emitter.both(first, self.live)

    def store(self, op: StoreOp) -> None:
        if self.alone:
            super().store(op)
            return
        self._touch(op)
        kept, self.store_if = self.store_if, self.first()
        super().store(op)
        self.store_if = kept

    def load(self, op: LoadOp) -> None:
        if not self.alone:
            self._touch(op)
        super().load(op)

    def for_loop(self, op: scf.ForOp) -> None:
        self._around(lambda: super(RowCode, self).for_loop(op))

    def while_loop(self, op: scf.WhileOp) -> None:
        self._around(lambda: super(RowCode, self).while_loop(op))

    def condition(self, op: scf.IfOp) -> None:
        self._around(lambda: super(RowCode, self).condition(op))

    def _around(self, emit: Callable[[], None]) -> None:
        """Control flow of the row level: what is touched before, in one iteration and in the next are kept apart."""
        if self.alone:
            emit()
            return
        if self.touched:
            self.barrier()
        self.depth += 1
        emit()
        self.depth -= 1
        if self.touched:
            self.barrier()

    def block(self, block: Block) -> None:
        super().block(block)
        if not self.alone and self.depth and self.touched:
            self.barrier()

    def parallel(self, op: ParallelOp) -> None:
        if self.alone:
            super().parallel(op)
        elif is_team_loop(op):
            self._touch(op)
            self._share(Body.of(op.body.block), self.plan.tiling_of(op), op, [], lambda carried: carried)
        else:
            self._around(lambda: super(RowCode, self).parallel(op))

    def reduce(self, op: ReduceOp) -> None:
        if self.alone:
            super().reduce(op)
            return
        self._touch(op)
        combine, kind = op.combine.data, op.init.type
        start = self.emitter.constant(identity(combine, kind), kind)

        def step(carried: Values) -> Values:
            return [self.emitter.add(combine_op(combine, carried[0], self.yielded(op)))]

        (partial,) = self._share(Body.of(op.body.block), self.plan.tiling_of(op), op, [start], step)
        total = self._across_team(op, partial)
        if constant_value(op.init) != identity(combine, kind):
            total = self.emitter.add(combine_op(combine, self.values[op.init], total))
        self.values[op.result] = total

    def _across_team(self, op: ReduceOp, partial: SSAValue) -> SSAValue:
        """The partial values of all threads of the team combined; narrow integers travel as i32."""
        kind = partial.type
        if narrow := kind in NARROW_INTEGERS:
            partial = self.emitter.add((arith.ExtUIOp if kind == IntegerType(1) else arith.ExtSIOp)(partial, i32))
        combiner = simt.Combiner(op.combine.data.value)
        if not self.team.is_block:
            total = self.emitter.add(simt.ReduceWarpOp(combiner, partial, self.team.width))
        else:
            warps = self.team.width // simt.WARP
            start = self.shared.take(warps * element_bytes(partial.type), op) if warps > 1 else self.shared.take(16, op)
            scratch = self.emitter.add(simt.SharedOp(start, simt.PtrType.of(partial.type, simt.Space.Shared)))
            total = self.emitter.add(simt.ReduceBlockOp(combiner, partial, scratch, fresh=self.depth == 0))
            if warps > 1:
                self.touched.clear()
        return self.emitter.add(arith.TruncIOp(total, IntegerType(int_bits(kind)))) if narrow else total

    def _share(
        self, body: Body, tiling: Tiling, op: Operation, carried: Values, step: Callable[[Values], Values]
    ) -> Values:
        """The tiles of a loop, shared by the threads of the team."""
        kept = (self.alone, self.store_if)
        self.alone, self.store_if = True, self.live
        # Rows in registers need unrolled chunks; of a loop around other loops that would only be more code.
        chunks = None if self.plan.loop_of(op).nests else self.plan.chunks(self.space, tiling)
        if chunks is None:
            results = self._stride_tiles(body, tiling, carried, step)
        else:
            results = self._unroll_tiles(body, tiling, chunks, carried, step)
        self.alone, self.store_if = kept
        for access in op.walk():
            if isinstance(access, LoadOp) and access in self.caches:
                self.caches[access].filled = True
        return results

    def _stride_tiles(self, body: Body, tiling: Tiling, carried: Values, step: Callable[[Values], Values]) -> Values:
        tile = self.space.variable(tiling.count)
        bounds = (self.team.thread, tiling.count, constant(self.team.width))
        with self.emitter.loop(bounds, tile, carried, hint="tile") as loop:
            loop.carry(self.tile(body, tiling, tile, loop.arguments, step))
        return loop.results

    def _unroll_tiles(
        self, body: Body, tiling: Tiling, chunks: int, carried: Values, step: Callable[[Values], Values]
    ) -> Values:
        if chunks == 0:
            return carried
        whole = tiling.count.as_int() == chunks * self.team.width
        chunk = self.space.variable(constant(chunks))
        bounds = (constant(0), constant(chunks), constant(1))
        with self.emitter.loop(bounds, chunk, carried, unroll=True, hint="chunk") as loop:
            self.chunk = chunk
            tile = chunk * self.team.width + self.team.thread
            inside = None if whole else self.emitter.less(tile, tiling.count)
            loop.carry(
                self.emitter.when_value(
                    inside, lambda: self.tile(body, tiling, tile, loop.arguments, step), loop.arguments
                )
            )
        self.chunk = constant(0)
        return loop.results
