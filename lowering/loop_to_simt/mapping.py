"""Maps one loop kernel to threads: chooses between one element a thread and one row a team, and builds the simt
kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue

from ...dialects import simt
from ...dialects.loop import KernelOp, PtrType
from ...dialects.sym.dialect import ExprAttr
from ...dialects.sym.expr import Expr, constant, floordiv, symbol
from .accesses import summarise
from .emitter import Emitter
from .forward_rows import forward_row
from .index_space import IndexSpace
from .nest import Nest, find_nest, prefers_flat
from .row_code import RowCode, SharedMemory, Team
from .row_plan import MAX_CHUNKS, OTHER_REGISTERS, RowPlanner
from .thread_code import Memory, ThreadCode
from .tile_code import TileCode
from .tiling import Tiler, Tiling, product


@dataclass(frozen=True)
class ThreadLimits:
    """What the target gives a block."""

    shared_bytes: int
    row_bytes: int
    """Shared memory that the scratch rows of a block may take before they are computed again instead."""
    flat_threads: int = 256
    row_threads: int = 256
    """Threads of a block that takes one row, unless the row is very long: more wait for each other for longer."""


LIMITS = {
    "cuda": ThreadLimits(shared_bytes=227 * 1024, row_bytes=48 * 1024),
    "metal": ThreadLimits(shared_bytes=32 * 1024, row_bytes=24 * 1024),
}

SHORT_ROW = 1024
"""A row of varying length that is never longer is left to one warp: most are much shorter."""
MIN_ROW_THREADS = 64
MAX_ROW_THREADS = 1024
ROWS_THREADS = 128
"""Threads of a block that holds several rows."""
RESIDENT_THREADS = 1024
"""Threads that a multiprocessor should hold, for enough loads under way: 64 registers a thread. Half as many where
rows in registers need more."""
TILES_A_THREAD = 4
"""Tiles of a row that each thread should get: enough loads under way, few enough registers."""


class KernelMapper:
    """State of mapping one kernel."""

    def __init__(self, kernel: KernelOp, module: ModuleOp, limits: ThreadLimits):
        self.kernel = kernel
        self.limits = limits
        self.space = IndexSpace(module)
        self.block = Block()
        self.emitter = Emitter(self.space, self.block)
        self.alignments: dict[SSAValue, int] = {}
        self.memories: dict[SSAValue, Memory] = {}
        self._add_arguments()
        self.tiler = Tiler(self.space, self.alignments, self.schedule("vector"))

    def schedule(self, key: str) -> int:
        """An integer of the kernel's `schedule` attribute, 0 where it says nothing."""
        schedule = self.kernel.attributes.get("schedule")
        value = schedule.data.get(key) if isinstance(schedule, DictionaryAttr) else None
        return int(value.value.data) if isinstance(value, IntegerAttr) else 0

    def _add_arguments(self) -> None:
        for pointer in self.kernel.pointers:
            assert isinstance(pointer.type, PtrType)
            bytes_ = pointer.type.align.data
            kind = simt.PtrType.of(pointer.type.element, simt.Space.Global, bytes_)
            self.alignments[pointer] = bytes_
            self.memories[pointer] = Memory(self._argument(kind, pointer), constant(0))
        for name, argument in self.kernel.symbol_arguments.items():
            value = self._argument(self.emitter.width(symbol(name)), argument)
            self.space.bind(argument, symbol(name))
            self.emitter.place(symbol(name), value)

    def _argument(self, kind: Attribute, original: BlockArgument) -> BlockArgument:
        argument = self.block.insert_arg(kind, len(self.block.args))
        argument.name_hint = original.name_hint
        return argument

    def thread(self, kind: simt.Id, extent: Expr) -> Expr:
        """A thread or block number as an index variable."""
        value = self.emitter.add(simt.IdOp(kind))
        return self.named(value, extent, kind.partition(".")[0])

    def streamed(self) -> frozenset[SSAValue]:
        """Buffers whose vector accesses leave no trace in the caches: all, if the schedule says so."""
        return frozenset(self.kernel.pointers) if self.schedule("stream") else frozenset()

    def prepare(self, code: ThreadCode, nest: Nest) -> None:
        """Memory and what is computed once before the nest."""
        code.memories |= self.memories
        ThreadCode.run(code, nest.before)

    def finish(self, grid: Expr, threads: int, smem: int = 0, row_registers: int = 0) -> simt.KernelOp:
        """The kernel with everything emitted so far."""
        resident = RESIDENT_THREADS if row_registers + OTHER_REGISTERS <= 64 else RESIDENT_THREADS // 2
        kernel = self.kernel
        new = simt.KernelOp(
            kernel.sym_name.data,
            [],
            grid=[ExprAttr.get(self.space.simplify(grid))],
            block=[threads, 1, 1],
            smem=-(-smem // 16) * 16,
            min_blocks=max(1, resident // threads),
            symbols=[name.data for name in kernel.symbols],
            modes=[mode.data for mode in kernel.modes],
            body=Region(self.block),
        )
        new.attributes |= {key: value for key, value in kernel.attributes.items() if key != "schedule"}
        return new

    # One element (or one tile of elements) a thread

    def map_flat(self, nest: Nest) -> simt.KernelOp:
        """The iterations of the nest, one tile a thread; loops inside run in the thread."""
        variables = [self.space.variable(extent) for extent in nest.extents]
        self.bind_nest(nest, variables)
        summary = summarise(self.space, nest.body, lambda pointer: (pointer, constant(0)))
        tiling = self.tiler.tile(nest.extents, variables, summary)
        threads = self.schedule("threads") or self.limits.flat_threads
        code = TileCode(self.emitter, self.tiler)
        code.streamed = self.streamed()
        self.prepare(code, nest)
        grid = blocks_for(tiling.count, threads)
        flat = self.thread(simt.Id.BlockX, grid) * threads + self.thread(simt.Id.ThreadX, constant(threads))
        tile = self.named(self.emitter.index(flat), tiling.count, "tile")
        whole = self.space.is_multiple(tiling.count, threads)
        inside = None if whole else self.emitter.less(tile, tiling.count)
        with self.emitter.when(inside):
            code.tile(nest.body, tiling, tile, [], lambda carried: carried)
        return self.finish(grid, threads)

    def named(self, value: SSAValue, extent: Expr, hint: str) -> Expr:
        """A variable for a value that is only known to lie below the extent."""
        value.name_hint = hint
        variable = self.space.variable(extent)
        self.emitter.place(variable, value)
        return variable

    def bind_nest(self, nest: Nest, indices: Sequence[Expr]) -> None:
        for argument, index in zip(nest.body.arguments, indices, strict=True):
            self.space.bind(argument, self.space.simplify(index))

    # One row a team of threads

    def plan_rows(self, nest: Nest) -> tuple[RowPlanner, Expr]:
        """How a team runs one iteration of the nest, and the number of that iteration."""
        rows = product(nest.extents)
        row = self.space.variable(rows)
        if nest.extents:
            tiling = Tiling(rows, 1, (rows,), (tuple(nest.extents),))
            self.bind_nest(nest, tiling.indices(row, constant(0)))
        planner = RowPlanner(self.space, self.tiler)
        for op in nest.body.ops:
            planner.collect_op(op, repeated=False)
        planner.tile()
        planner.plan.width, planner.plan.teams = self._team_size(planner, alone=not nest.extents)
        modes = [self.kernel.mode_of(pointer) for pointer in self.kernel.pointers]
        planner.keep_rows([p for p, mode in zip(self.kernel.pointers, modes, strict=True) if mode == "read"])
        return planner, row

    def map_rows(self, nest: Nest, planner: RowPlanner, row: Expr) -> simt.KernelOp:
        """Each iteration of the nest by a team of threads, which share the loops inside."""
        rows, plan = product(nest.extents), planner.plan
        team, live = self._team(plan.width, plan.teams, rows, row)
        shared = SharedMemory(self.limits.shared_bytes)
        code = RowCode(self.emitter, self.tiler, plan, team, shared)
        code.live = live
        code.streamed = self.streamed()
        self.prepare(code, nest)
        code.run(nest.body.ops)
        grid = blocks_for(rows, plan.teams)
        return self.finish(grid, plan.width * plan.teams, shared.used, plan.registers)

    def _team_size(self, planner: RowPlanner, *, alone: bool) -> tuple[int, int]:
        """(threads of a team, teams of a block); `alone` is a kernel of one row."""
        if threads := self.schedule("threads"):
            return threads, 1
        counts = [tiling.count for tiling in planner.plan.tilings.values()]
        most = [self.space.largest(count) for count in counts]
        if None in most or not most:
            return MAX_ROW_THREADS if alone else self.limits.row_threads, 1
        tiles = max(count for count in most if count is not None)
        if alone:
            return min(max(power_of_two(max(tiles, 1)), simt.WARP), MAX_ROW_THREADS), 1
        if tiles <= simt.WARP * TILES_A_THREAD:
            width = min(simt.WARP, power_of_two(max(tiles, 1)))
            return width, ROWS_THREADS // width
        if any(count.as_int() is None for count in counts):
            short = tiles <= SHORT_ROW
            return (simt.WARP, ROWS_THREADS // simt.WARP) if short else (self.limits.row_threads, 1)
        threads = min(max(power_of_two(-(-tiles // TILES_A_THREAD)), MIN_ROW_THREADS), self.limits.row_threads)
        while threads < MAX_ROW_THREADS and tiles > MAX_CHUNKS * threads:
            threads *= 2
        return threads, 1

    def _team(self, width: int, count: int, rows: Expr, row: Expr) -> tuple[Team, SSAValue | None]:
        """The team of this thread and whether it has a row of its own. Places the row."""
        if count == 1:
            self.emitter.place(row, self.emitter.add(simt.IdOp(simt.Id.BlockX)))
            return Team(width, 1, self.thread(simt.Id.ThreadX, constant(width)), constant(0)), None
        block = self.thread(simt.Id.BlockX, blocks_for(rows, count))
        thread = self.thread(simt.Id.ThreadX, constant(width * count))
        number = self.named(self.emitter.index(floordiv(thread, constant(width))), constant(count), "team")
        member = self.named(self.emitter.index(thread - number * width), constant(width), "member")
        flat = block * count + number
        team = Team(width, count, member, number)
        if self.space.is_multiple(rows, count):
            self.emitter.place(row, self.emitter.index(flat))
            return team, None
        kind = self.emitter.width(flat, rows)
        last = self.emitter.index(rows - 1, kind)
        self.emitter.place(row, self.emitter.add(arith.MinSIOp(self.emitter.index(flat, kind), last)))
        return team, self.emitter.less(flat, rows)


def blocks_for(items: Expr, of: int) -> Expr:
    """How many blocks of a size hold the items."""
    return floordiv(items + of - 1, constant(of))


def power_of_two(count: int) -> int:
    """The smallest power of two that is at least `count`."""
    return 1 << (count - 1).bit_length()


def map_kernel(kernel: KernelOp, module: ModuleOp, limits: ThreadLimits) -> simt.KernelOp:
    """The simt kernel of a loop kernel, which is left as it is.

    Rows that would need too much shared memory are computed again where they are read, if they can be.

    Raises:
        LoweringError: the kernel has a form that threads cannot run.
    """
    kernel = kernel.clone()
    while True:
        mapper = KernelMapper(kernel, module, limits)
        nest = find_nest(mapper.space, kernel)
        if prefers_flat(mapper.space, nest):
            return mapper.map_flat(nest)
        planner, row = mapper.plan_rows(nest)
        long_rows = planner.rows_above(limits.row_bytes)
        if not any(forward_row(op, planner.plan.loops) for op in long_rows):
            return mapper.map_rows(nest, planner, row)
