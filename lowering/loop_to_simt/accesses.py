"""What a loop body reads and writes, as expressions of its index variables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects.errors import LoweringError
from ...dialects.loop import AllocOp, CheckIndexOp, LoadOp, OffsetOp, ParallelOp, PtrType, ReduceOp, StoreOp
from ...dialects.sym.expr import Expr, constant, monomial_expr
from ...dialects.sym.monomial import divide_monomial
from .index_space import UNBOUNDED, IndexSpace

Resolve = Callable[[SSAValue], tuple[SSAValue, Expr]]
"""The buffer that a pointer points into, and the offset from its beginning."""


@dataclass(frozen=True)
class Access:
    """One load or store; `nested` is one inside an inner loop or condition."""

    op: LoadOp | StoreOp
    root: SSAValue
    offset: Expr
    nested: bool

    @property
    def is_store(self) -> bool:
        return isinstance(self.op, StoreOp)

    @property
    def element(self) -> Attribute:
        assert isinstance(self.root.type, PtrType)
        return self.root.type.element


@dataclass
class Summary:
    """Accesses of a body, the other index expressions that its values depend on, and the scratch that it allocates."""

    accesses: list[Access]
    others: list[Expr]
    allocates: bool
    nests: bool

    def expressions(self) -> list[Expr]:
        return [access.offset for access in self.accesses] + self.others


def stride(expr: Expr, variable: Expr) -> Expr | None:
    """The factor of an index variable in a linear expression; None if it occurs in another way."""
    atom = variable.as_atom()
    total = constant(0)
    for monomial, coefficient in expr.terms:
        powers = dict(monomial)
        if atom in powers:
            rest = divide_monomial(monomial, ((atom, 1),))
            if rest is None or powers[atom] != 1:
                return None
            total = total + monomial_expr(rest, coefficient)
        if any(atom is inner for factor, _ in monomial for arg in factor.args for inner in arg.atoms()):
            return None
    return total


class _Walk:
    def __init__(self, space: IndexSpace, resolve: Resolve):
        self.space = space
        self.resolve_outer = resolve
        self.pointers: dict[SSAValue, tuple[SSAValue, Expr]] = {}
        self.summary = Summary([], [], allocates=False, nests=False)

    def resolve(self, pointer: SSAValue) -> tuple[SSAValue, Expr]:
        found = self.pointers.get(pointer)
        return found if found is not None else self.resolve_outer(pointer)

    def index(self, value: SSAValue) -> Expr:
        expr = self.space.known(value)
        if expr is None:
            expr = self.space.variable(UNBOUNDED)
            self.space.bind(value, expr)
        return expr

    def block(self, block: Block, nested: bool) -> None:
        for op in block.ops:
            self.op(op, nested)

    def op(self, op: Operation, nested: bool) -> None:
        if len(op.results) == 1 and isinstance(op.results[0].type, IndexType):
            if self.space.define(op):
                return
            extent = self.index(op.extent) if isinstance(op, CheckIndexOp) else UNBOUNDED
            self.space.bind(op.results[0], self.space.variable(extent))
        match op:
            case LoadOp() | StoreOp():
                root, base = self.resolve(op.pointer)
                self.summary.accesses.append(Access(op, root, base + self.index(op.offset), nested))
            case OffsetOp():
                root, base = self.resolve(op.pointer)
                self.pointers[op.result] = (root, base + self.index(op.offset))
            case AllocOp():
                self.pointers[op.result] = (op.result, constant(0))
                self.summary.allocates = True
            case _:
                self._other(op)

    def _other(self, op: Operation) -> None:
        self.summary.others += [self.index(value) for value in op.operands if isinstance(value.type, IndexType)]
        extents = list(op.extents) if isinstance(op, ParallelOp | ReduceOp) else []
        for region in op.regions:
            self.summary.nests = True
            for block in region.blocks:
                for position, argument in enumerate(block.args):
                    if isinstance(argument.type, IndexType):
                        extent = self.index(extents[position]) if position < len(extents) else UNBOUNDED
                        self.space.bind(argument, self.space.variable(extent))
                self.block(block, nested=True)


@dataclass(frozen=True)
class Body:
    """The ops that one iteration runs, and the index arguments that tell iterations apart."""

    arguments: tuple[SSAValue, ...]
    ops: tuple[Operation, ...]

    @classmethod
    def of(cls, block: Block) -> Body:
        return cls(tuple(block.args), tuple(block.ops))


def summarise(space: IndexSpace, body: Body, resolve: Resolve) -> Summary:
    """The accesses of a body whose index arguments are bound. Binds the index values inside, too; they are bound anew
    when the body is emitted."""
    walk = _Walk(space, resolve)
    for op in body.ops:
        walk.op(op, nested=False)
    return walk.summary


def refuse_vectors(op: Operation) -> None:
    """Raises where a loop kernel already holds vectors: those are for the C target."""
    kinds: list[Attribute] = [value.type for value in (*op.operands, *op.results)]
    for kind in kinds:
        if kind.name == "vector":
            raise LoweringError(
                f"a value of type {kind} in a loop kernel cannot be mapped to threads",
                op=op,
                stage="map-threads",
                hint="lower the kernel for this target, or choose target c",
            )
