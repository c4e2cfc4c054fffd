"""Plans how a group of threads runs the loops of one row: tilings, threads, and what stays in registers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, SSAValue

from ...dialects.loop import AllocOp, CheckIndexOp, LoadOp, Mapping, OffsetOp, ParallelOp, PtrType, ReduceOp, StoreOp
from ...dialects.simt import element_bytes
from ...dialects.sym.expr import Expr, constant, index
from ...dialects.sym.substitute import substitute_indices
from .accesses import Access, Body, Summary, summarise
from .index_space import UNBOUNDED, IndexSpace
from .tiling import Tiler, Tiling, variable_number

MAX_CHUNKS = 16
"""Tiles of a row that one thread takes in an unrolled loop."""
ROW_REGISTERS = 96
"""32-bit registers that a thread may spend on rows."""
OTHER_REGISTERS = 40
"""What a thread needs beside its part of the rows."""
REGISTER_FILE = 65536
CANONICAL = 1 << 20
"""Number of the first index variable that stands for a dim of a row in comparisons."""


def is_team_loop(op: Operation) -> bool:
    """Whether the threads of a row share out the iterations; a sequential loop around such loops is run by all of
    them."""
    if isinstance(op, ReduceOp):
        return True
    if not isinstance(op, ParallelOp):
        return False
    if op.mapping.data is not Mapping.Sequential:
        return True
    inner = (one for one in op.body.walk() if isinstance(one, ParallelOp | ReduceOp))
    return not any(one.mapping.data in (Mapping.Row, Mapping.Vector) for one in inner)


@dataclass
class TeamLoop:
    """A loop that the threads of a row share; offsets are in terms of canonical variables, one a dim."""

    op: ParallelOp | ReduceOp
    extents: tuple[Expr, ...]
    accesses: list[Access]
    others: list[Expr]
    nests: bool
    allocates: bool
    repeated: bool
    """Inside a loop that all threads run."""


@dataclass
class RowPlan:
    """Decisions for one row."""

    loops: list[TeamLoop] = field(default_factory=list[TeamLoop])
    tilings: dict[tuple[Expr, ...], Tiling] = field(default_factory=dict[tuple[Expr, ...], Tiling])
    width: int = 1
    """Threads of one row."""
    teams: int = 1
    """Rows of a block."""
    in_registers: list[SSAValue] = field(default_factory=list[SSAValue])
    """Scratch rows that each thread keeps its part of."""
    cached: list[list[LoadOp]] = field(default_factory=list[list[LoadOp]])
    """Loads that read the same elements in several loops: the first keeps them."""
    registers: int = 0
    """32-bit registers that a thread spends on rows."""
    private: set[SSAValue] = field(default_factory=set[SSAValue])
    """Buffers of which each thread touches only elements that no other thread touches."""

    def chunks(self, space: IndexSpace, tiling: Tiling) -> int | None:
        """Tiles of a row that one thread takes at most, if that is a small number."""
        most = space.largest(tiling.count)
        chunks = None if most is None else -(-most // self.width)
        return chunks if chunks is not None and chunks <= MAX_CHUNKS else None

    def loop_of(self, op: Operation) -> TeamLoop:
        return next(loop for loop in self.loops if loop.op is op)

    def tiling_of(self, op: Operation) -> Tiling:
        return self.tilings[self.loop_of(op).extents]


class RowPlanner:
    """Collects the team loops of a row and decides."""

    def __init__(self, space: IndexSpace, tiler: Tiler):
        self.space = space
        self.tiler = tiler
        self.plan = RowPlan()
        self.pointers: dict[SSAValue, tuple[SSAValue, Expr]] = {}
        self.elsewhere: set[SSAValue] = set()
        """Buffers that are touched outside team loops."""
        self.scratch: list[AllocOp] = []

    def resolve(self, pointer: SSAValue) -> tuple[SSAValue, Expr]:
        return self.pointers.get(pointer, (pointer, constant(0)))

    def collect(self, block: Block, *, repeated: bool = False) -> None:
        """Binds the index values of the row level and gathers its loops."""
        for op in block.ops:
            self.collect_op(op, repeated)

    def _index(self, value: SSAValue) -> Expr:
        expr = self.space.known(value)
        if expr is None:
            expr = self.space.variable(UNBOUNDED)
            self.space.bind(value, expr)
        return expr

    def collect_op(self, op: Operation, repeated: bool) -> None:
        if len(op.results) == 1 and isinstance(op.results[0].type, IndexType) and self.space.define(op):
            return
        if isinstance(op, OffsetOp):
            root, base = self.resolve(op.pointer)
            self.pointers[op.result] = (root, base + self._index(op.offset))
        elif isinstance(op, LoadOp | StoreOp):
            self.elsewhere.add(self.resolve(op.pointer)[0])
        elif isinstance(op, CheckIndexOp):
            self.space.bind(op.result, self.space.variable(self._index(op.extent)))
        elif isinstance(op, AllocOp):
            self.scratch.append(op)
            if repeated:
                self.elsewhere.add(op.result)
        elif is_team_loop(op):
            assert isinstance(op, ParallelOp | ReduceOp)
            self._team_loop(op, repeated)
        else:
            for region in op.regions:
                for inner in region.blocks:
                    for argument in inner.args:
                        if isinstance(argument.type, IndexType):
                            self.space.bind(argument, self.space.variable(UNBOUNDED))
                    self.collect(inner, repeated=repeated or not isinstance(op, scf.IfOp))

    def _team_loop(self, op: ParallelOp | ReduceOp, repeated: bool) -> None:
        extents = tuple(self._index(extent) for extent in op.extents)
        variables = [self.space.variable(extent) for extent in extents]
        for argument, variable in zip(op.body.block.args, variables, strict=True):
            self.space.bind(argument, variable)
        summary = summarise(self.space, Body.of(op.body.block), self.resolve)
        canonical = {variable_number(v): index(CANONICAL + dim) for dim, v in enumerate(variables)}
        accesses = [
            Access(a.op, a.root, self.space.simplify(substitute_indices(a.offset, canonical)), a.nested)
            for a in summary.accesses
        ]
        others = [substitute_indices(expr, canonical) for expr in summary.others]
        self.plan.loops.append(TeamLoop(op, extents, accesses, others, summary.nests, summary.allocates, repeated))

    # Decisions

    def tile(self) -> None:
        """One tiling for all loops over the same extents, so that a thread meets the same elements in each."""
        for extents, loops in self._by_extents():
            self.plan.tilings[extents] = self._tile_together(extents, loops)

    def _by_extents(self) -> Iterator[tuple[tuple[Expr, ...], list[TeamLoop]]]:
        groups: dict[tuple[Expr, ...], list[TeamLoop]] = {}
        for loop in self.plan.loops:
            groups.setdefault(loop.extents, []).append(loop)
        yield from groups.items()

    def _tile_together(self, extents: tuple[Expr, ...], loops: Sequence[TeamLoop]) -> Tiling:
        widest = self.tiler.widest
        merged = [expr for loop in loops for expr in (*(a.offset for a in loop.accesses), *loop.others)]
        tiling: Tiling | None = None
        for loop in loops:
            variables = [self.space.variable(extent) for extent in extents]
            real = {CANONICAL + dim: variable for dim, variable in enumerate(variables)}
            accesses = [Access(a.op, a.root, substitute_indices(a.offset, real), a.nested) for a in loop.accesses]
            others = [substitute_indices(expr, real) for expr in (*loop.others, *merged)]
            summary = Summary(accesses, others, loop.allocates, loop.nests)
            limited = Tiler(self.space, self.tiler.alignments, tiling.width if tiling is not None else widest)
            tiling = limited.tile(extents, variables, summary)
        assert tiling is not None
        return tiling

    def chunks(self, extents: tuple[Expr, ...]) -> int | None:
        """Tiles of a row that one thread takes, if that is a small constant."""
        return self.plan.chunks(self.space, self.plan.tilings[extents])

    def keep_rows(self, readable: Sequence[SSAValue]) -> None:
        """Finds private buffers, and puts scratch rows and repeated reads of `readable` buffers into registers."""
        available = REGISTER_FILE // (self.plan.width * self.plan.teams) - OTHER_REGISTERS
        limit = budget = max(0, min(ROW_REGISTERS, available))
        by_root: dict[SSAValue, list[tuple[TeamLoop, Access]]] = {}
        for loop in self.plan.loops:
            for access in loop.accesses:
                by_root.setdefault(access.root, []).append((loop, access))
        for root, uses in by_root.items():
            if self._is_private(root, uses):
                self.plan.private.add(root)
        for op in self.scratch:
            uses = by_root.get(op.result, [])
            cost = self._cost(uses) if op.result in self.plan.private else None
            if cost is not None and cost <= budget and not any(loop.nests for loop, _ in uses):
                self.plan.in_registers.append(op.result)
                budget -= cost
        for root in readable:
            budget -= self._cache_reads(by_root.get(root, []), budget)
        self.plan.registers = limit - budget

    def rows_above(self, limit: int) -> list[AllocOp]:
        """Private scratch rows that would live in shared memory and are too large for it together, or of unknown
        size."""
        rows = [op for op in self.scratch if op.result not in self.plan.in_registers]
        sizes = [self._bytes(op) for op in rows]
        if None not in sizes and sum(size for size in sizes if size is not None) * self.plan.teams <= limit:
            return []
        return [op for op in rows if op.result in self.plan.private]

    def _bytes(self, op: AllocOp) -> int | None:
        count = op.bound.value.data if op.bound is not None else self.space.largest(self._index(op.count))
        assert isinstance(op.result.type, PtrType)
        return None if count is None else count * element_bytes(op.result.type.element)

    def _is_private(self, root: SSAValue, uses: Sequence[tuple[TeamLoop, Access]]) -> bool:
        """All uses are at one offset of loops with one tiling, and the offset tells the elements of the row apart."""
        first_loop, first = uses[0]
        if root in self.elsewhere or any(access.nested for _, access in uses):
            return False
        if any(loop.extents != first_loop.extents or access.offset != first.offset for loop, access in uses):
            return False
        flat = index(CANONICAL + len(first_loop.extents) - 1)
        step = constant(1)
        for dim in range(len(first_loop.extents) - 2, -1, -1):
            step = step * first_loop.extents[dim + 1]
            flat = flat + index(CANONICAL + dim) * step
        rest = first.offset - flat
        return all(atom.kind != "index" or atom.number < CANONICAL for atom in rest.atoms())

    def _cost(self, uses: Sequence[tuple[TeamLoop, Access]]) -> int | None:
        """Registers for what a thread touches of a row."""
        if not uses:
            return None
        loop, access = uses[0]
        chunks = self.chunks(loop.extents)
        if chunks is None:
            return None
        elements = chunks * self.plan.tilings[loop.extents].width
        return -(-elements * element_bytes(access.element) // 4)

    def _cache_reads(self, uses: Sequence[tuple[TeamLoop, Access]], budget: int) -> int:
        spent = 0
        keys: dict[tuple[tuple[Expr, ...], Expr], list[tuple[TeamLoop, Access]]] = {}
        for loop, access in uses:
            varies = any(atom.kind == "index" and atom.number >= CANONICAL for atom in access.offset.atoms())
            if not access.nested and not loop.nests and not loop.repeated and varies:
                keys.setdefault((loop.extents, access.offset), []).append((loop, access))
        for same in keys.values():
            cost = self._cost(same)
            if len({id(loop) for loop, _ in same}) < 2 or cost is None or spent + cost > budget:
                continue
            spent += cost
            self.plan.cached.append([access.op for _, access in same if isinstance(access.op, LoadOp)])
        return spent
