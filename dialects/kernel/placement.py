"""Where each value of a kernel is computed: the one analysis behind what may be one kernel and how it is lowered.

A kernel runs over an index (p..., r...): p over the parallel extents P, r over the reduced extents R (empty without a
reduction or contraction). Each stored value has a map from that index to its own. A reduction or contraction inside is
read at p itself, so it is computed once for each p, over all r. Everything else is computed where it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from ..hlir.arranging import ConcatOp, PadOp
from ..hlir.contraction import ContractOp
from ..hlir.elementwise import Elementwise
from ..hlir.index_map import IndexMap, canonical, compose, reshape
from ..hlir.indexing import GatherOp
from ..hlir.reduction import Reduction
from ..hlir.view import ViewOp
from ..op import Kind, TensorOp, tensor_of
from ..sym.expr import Expr, IntLike, constant, index, lift
from ..sym.substitute import index_numbers
from .inverse import element_count, invert

Dims = tuple[Expr, ...]
Inside = Callable[[Operation], bool]


class NotOneKernelError(Exception):
    """The values cannot be computed by one kernel; the message says why."""


@dataclass(frozen=True)
class Space:
    """The extents a kernel runs over."""

    parallel: Dims
    reduced: Dims

    @property
    def extents(self) -> Dims:
        return (*self.parallel, *self.reduced)

    @property
    def rank(self) -> int:
        return len(self.parallel) + len(self.reduced)

    def map(self, exprs: Sequence[IntLike]) -> IndexMap:
        """A map from an index of the space, in canonical form."""
        return canonical(IndexMap(self.rank, tuple(lift(e) for e in exprs)), self.extents)

    def rows(self) -> IndexMap:
        """Each index to its parallel part."""
        return self.map([index(i) for i in range(len(self.parallel))])

    def is_row(self, index_map: IndexMap) -> bool:
        """Whether the map depends on the parallel part alone."""
        return all(n < len(self.parallel) for e in index_map.exprs for n in index_numbers(e))


@dataclass(frozen=True)
class Placement:
    """`stored`: from the kernel's index to that of each stored value. `computed`: every value with each map that it is
    computed or loaded at, producers first. `space`: P and R."""

    space: Space
    stored: tuple[IndexMap, ...]
    computed: tuple[tuple[SSAValue, IndexMap], ...]

    def is_row(self, index_map: IndexMap) -> bool:
        """Whether a value placed by the map is the same for all r."""
        return self.space.is_row(index_map)


def operand_dims(op: TensorOp) -> Dims:
    """The extents that a reduction or contraction runs over."""
    return op.space.data if isinstance(op, ContractOp) else tensor_of(op.operands[0]).dims


def combined_axes(op: TensorOp) -> tuple[int, ...]:
    """The dims of `operand_dims` that the reduction or contraction combines."""
    assert isinstance(op, ContractOp | Reduction)
    return op.axis_numbers


def space_of(op: TensorOp) -> Space:
    """P and R of one reduction or contraction: the dims that it keeps and those that it combines."""
    dims, axes = operand_dims(op), combined_axes(op)
    kept = tuple(d for i, d in enumerate(dims) if i not in axes)
    return Space(kept, tuple(dims[a] for a in axes))


def full_map(op: TensorOp, space: Space) -> IndexMap:
    """From the kernel's index to an index of what a reduction or contraction runs over."""
    axes = combined_axes(op)
    kept = [i for i in range(len(operand_dims(op))) if i not in axes]
    position = {**{k: n for n, k in enumerate(kept)}, **{a: len(kept) + n for n, a in enumerate(axes)}}
    return space.map([index(position[i]) for i in range(len(position))])


def place(stored: Sequence[SSAValue], inside: Inside) -> Placement:
    """Places the stored values of the kernel that consists of the ops `inside`.

    Raises:
        NotOneKernelError: they are not one row program or matmul.
    """
    combiners = _combiners(stored, inside)
    if not combiners:
        space = Space(tensor_of(stored[0]).dims, ())
    else:
        space = space_of(combiners[0])
        for op in combiners[1:]:
            if space_of(op) != space:
                raise NotOneKernelError(f"{op.name} runs over other dims than {combiners[0].name}")
    tracer = _Tracer(space, inside)
    maps = tuple(_place_stored(value, combiners, space, inside, tracer) for value in stored)
    return Placement(space, maps, tuple(tracer.order))


def _combiners(stored: Sequence[SSAValue], inside: Inside) -> list[TensorOp]:
    """The reductions and contractions inside that the stored values depend on, producers first."""
    found: list[TensorOp] = []
    seen: set[SSAValue] = set()

    def visit(value: SSAValue) -> None:
        op = value.owner
        if value in seen or not isinstance(op, TensorOp) or not inside(op):
            return
        seen.add(value)
        for operand in op.operands:
            visit(operand)
        if op.KIND in (Kind.REDUCTION, Kind.CONTRACTION):
            found.append(op)

    for value in stored:
        visit(value)
    return found


def _place_stored(
    value: SSAValue, combiners: Sequence[TensorOp], space: Space, inside: Inside, tracer: _Tracer
) -> IndexMap:
    reasons: list[str] = []
    for candidate in _stored_maps(value, combiners, space, inside):
        mark = tracer.mark()
        try:
            tracer.visit(value, candidate)
        except NotOneKernelError as error:
            tracer.restore(mark)
            reasons.append(str(error))
        else:
            return candidate
    reason = reasons[0] if reasons else f"{value.type} does not cover the kernel's dims once"
    raise NotOneKernelError(reason)


def _stored_maps(value: SSAValue, combiners: Sequence[TensorOp], space: Space, inside: Inside) -> list[IndexMap]:
    """The maps at which the value may be stored, best first: its own index, a reshape of it, or the source of a view
    undone."""
    dims = tensor_of(value).dims
    found: list[IndexMap] = []
    if dims == space.parallel:
        found.append(space.rows())
    found += [full_map(op, space) for op in combiners if isinstance(op, Reduction) and operand_dims(op) == dims][:1]
    if not found:
        found += _reshaped(dims, combiners, space)
    op = value.owner
    if isinstance(op, ViewOp) and inside(op):
        source = tensor_of(op.source).dims
        inverse = invert(op.map.data, source, dims)
        if inverse is not None:
            inner = _stored_maps(op.source, combiners, space, inside)
            found += [compose(m, inverse, space.extents) for m in inner]
    return list(dict.fromkeys(found))


def _reshaped(dims: Dims, combiners: Sequence[TensorOp], space: Space) -> list[IndexMap]:
    if element_count(dims) == element_count(space.parallel):
        flat = reshape(dims, space.parallel)
        return [compose(space.rows(), flat, space.extents)]
    for op in combiners:
        over = operand_dims(op)
        if isinstance(op, Reduction) and element_count(dims) == element_count(over):
            return [compose(full_map(op, space), reshape(dims, over), space.extents)]
    return []


@dataclass
class _Tracer:
    """Walks from stored values to what they are computed from, with the map at each value."""

    space: Space
    inside: Inside
    order: list[tuple[SSAValue, IndexMap]] = field(default_factory=list[tuple[SSAValue, IndexMap]])
    seen: dict[tuple[SSAValue, IndexMap], None] = field(default_factory=dict[tuple[SSAValue, IndexMap], None])

    def mark(self) -> int:
        return len(self.seen)

    def restore(self, mark: int) -> None:
        """Forgets what was visited after the mark."""
        for key in list(self.seen)[mark:]:
            del self.seen[key]
        self.order = [entry for entry in self.order if entry in self.seen]

    def visit(self, value: SSAValue, at: IndexMap) -> None:
        if (value, at) in self.seen:
            return
        self.seen[value, at] = None
        op = value.owner
        if isinstance(op, TensorOp) and self.inside(op):
            for operand, operand_map in self.reads(op, at):
                self.visit(operand, operand_map)
        self.order.append((value, at))

    def reads(self, op: TensorOp, at: IndexMap) -> list[tuple[SSAValue, IndexMap]]:
        """The operands of an op with the maps that they are read at when its result is computed at `at`."""
        if isinstance(op, Elementwise):
            return [(operand, at) for operand in op.operands]
        if isinstance(op, ViewOp):
            return [(op.source, compose(at, op.map.data, self.space.extents))]
        if op.KIND in (Kind.REDUCTION, Kind.CONTRACTION):
            return self._combined(op, at)
        if op.KIND is Kind.CREATION:
            return []
        if isinstance(op, GatherOp):
            return self._gathered(op, at)
        if isinstance(op, PadOp):
            self._check_memory(op.operands[0], op)
            moved = [e - low for e, low in zip(at.exprs, op.low.data, strict=True)]
            return [(op.operands[0], self.space.map(moved))]
        if isinstance(op, ConcatOp):
            return self._concatenated(op, at)
        raise NotOneKernelError(f"{op.name} cannot stand in a row program")

    def _combined(self, op: TensorOp, at: IndexMap) -> list[tuple[SSAValue, IndexMap]]:
        if at != self.space.rows():
            raise NotOneKernelError(f"{op.name} is read at {at}, not once a row")
        over = full_map(op, self.space)
        if isinstance(op, ContractOp):
            maps = (compose(over, m.data, self.space.extents) for m in (op.lhs_map, op.rhs_map))
            return list(zip(op.operands, maps, strict=True))
        return [(op.operands[0], over)]

    def _gathered(self, op: GatherOp, at: IndexMap) -> list[tuple[SSAValue, IndexMap]]:
        self._check_memory(op.source, op)
        axis, rank = op.axis.data, tensor_of(op.indices).rank
        # The computed index has no expression; 0 stands for it.
        source = (*at.exprs[:axis], constant(0), *at.exprs[axis + rank :])
        return [(op.indices, self.space.map(at.exprs[axis : axis + rank])), (op.source, self.space.map(source))]

    def _concatenated(self, op: ConcatOp, at: IndexMap) -> list[tuple[SSAValue, IndexMap]]:
        reads: list[tuple[SSAValue, IndexMap]] = []
        start: Expr = constant(0)
        for part in op.operands:
            self._check_memory(part, op)
            exprs = list(at.exprs)
            exprs[op.axis.data] = exprs[op.axis.data] - start
            reads.append((part, self.space.map(exprs)))
            start = start + tensor_of(part).dims[op.axis.data]
        return reads

    def _check_memory(self, value: SSAValue, reader: TensorOp) -> None:
        """A value read at a computed or guarded place comes from memory, through views only."""
        while isinstance(value.owner, ViewOp) and self.inside(value.owner):
            value = value.owner.source
        if isinstance(value.owner, TensorOp) and self.inside(value.owner):
            raise NotOneKernelError(f"{reader.name} reads {value.owner.name} at a computed place")
