"""Builds thread-level code block by block; index expressions are computed once, as far out as their variables allow."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, i1, i32, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects.errors import InternalError
from ...dialects.sym.expr import Expr, constant, monomial_expr
from ...dialects.sym.monomial import Atom
from .index_space import IndexSpace
from .loop_builder import LoopBuilder

NSW = arith.IntegerOverflowAttr([arith.IntegerOverflowFlag.NSW])


def int_bits(kind: Attribute) -> int:
    """Width of an integer type."""
    if not isinstance(kind, IntegerType):
        raise InternalError(f"{kind} is no integer type", stage="map-threads")
    return cast(IntegerType, kind).bitwidth


@dataclass
class Frame:
    """A block under construction and what has been computed in it."""

    block: Block
    values: dict[tuple[object, int], SSAValue] = field(default_factory=dict[tuple[object, int], SSAValue])


class Emitter:
    """A stack of blocks under construction, innermost last.

    A loop or a condition is created after its body, so a computation that an inner block needs can still be put into an
    outer one.
    """

    def __init__(self, space: IndexSpace, block: Block):
        self.space = space
        self.frames = [Frame(block)]
        self._places: dict[Atom, tuple[int, SSAValue]] = {}
        """Depth and value of each symbol and index variable."""

    # Ops

    def add(self, op: Operation) -> SSAValue:
        """Appends an op with one result to the innermost block."""
        self.frames[-1].block.add_op(op)
        return op.results[0]

    def do(self, op: Operation) -> None:
        """Appends an op without results."""
        self.frames[-1].block.add_op(op)

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """Everything emitted meanwhile goes into the block."""
        self.frames.append(Frame(block))
        yield
        self.frames.pop()
        depth = len(self.frames)
        self._places = {atom: place for atom, place in self._places.items() if place[0] < depth}

    def constant(self, value: float | int, kind: Attribute) -> SSAValue:
        """A scalar constant, kept in the outermost block."""
        key = (("constant", repr(value), str(kind)), 0)
        found = self.frames[0].values.get(key)
        if found is None:
            if isinstance(value, int) and not isinstance(kind, AnyFloat):
                op = arith.ConstantOp(IntegerAttr(value, int_bits(kind)))
            else:
                op = arith.ConstantOp(FloatAttr(float(value), kind))  # pyright: ignore[reportArgumentType, reportCallIssue]
            first = self.frames[0].block.first_op
            if first is None:
                self.frames[0].block.add_op(op)
            else:
                self.frames[0].block.insert_op_before(op, first)
            found = self.frames[0].values[key] = op.results[0]
        return found

    # Index values

    def place(self, expr: Expr, value: SSAValue) -> None:
        """Says which value (i32 or i64) an index variable or symbol has in the innermost block."""
        atom = expr.as_atom()
        assert atom is not None
        self._places[atom] = (len(self.frames) - 1, value)

    def placed(self, expr: Expr) -> bool:
        """Whether all variables of the expression have values here."""
        return all(atom in self._places for atom in expr.atoms() if atom.kind in ("symbol", "index"))

    def width(self, *exprs: Expr) -> IntegerType:
        """i32 if all expressions fit, else i64."""
        return i32 if all(self.space.fits_i32(expr) for expr in exprs) else i64

    def index(self, expr: Expr, kind: IntegerType | None = None) -> SSAValue:
        """The value of an index expression."""
        return self._expression(self.space.simplify(expr), kind or self.width(expr))

    def _depth_of_atom(self, atom: Atom) -> int:
        if atom.args:
            return max(self._depth(arg) for arg in atom.args)
        if atom not in self._places:
            raise InternalError(f"the index variable {atom} has no value here", stage="map-threads")
        return self._places[atom][0]

    def _depth(self, expr: Expr) -> int:
        return max((self._depth_of_atom(atom) for monomial, _ in expr.terms for atom, _ in monomial), default=0)

    def _expression(self, expr: Expr, kind: IntegerType) -> SSAValue:
        value = expr.as_int()
        if value is not None:
            return self.constant(value, kind)
        depth = self._depth(expr)
        key = (expr, kind.bitwidth)
        found = self.frames[depth].values.get(key)
        if found is None:
            found = self.frames[depth].values[key] = self._sum(expr, kind, depth)
        return found

    def _sum(self, expr: Expr, kind: IntegerType, depth: int) -> SSAValue:
        """Terms of outer blocks are summed there first, then the terms of this one follow."""
        outer, inner = constant(0), list[tuple[SSAValue, int]]()
        offset = 0
        for monomial, coefficient in expr.terms:
            term = monomial_expr(monomial, coefficient)
            if not monomial:
                offset = coefficient
            elif self._depth(term) < depth:
                outer = outer + term
            else:
                inner.append((self._product(term, kind, depth), 1 if coefficient > 0 else -1))
        if outer.terms:
            inner.insert(0, (self._expression(outer + offset, kind), 1))
        elif offset:
            inner.append((self.constant(offset, kind), 1))
        inner.sort(key=lambda item: -item[1])
        total, sign = inner[0]
        if sign < 0:
            total = self._binary(arith.SubiOp, self.constant(0, kind), total, depth)
        for value, sign in inner[1:]:
            total = self._binary(arith.AddiOp if sign > 0 else arith.SubiOp, total, value, depth)
        return total

    def _product(self, term: Expr, kind: IntegerType, depth: int) -> SSAValue:
        """The absolute value of one term: factors of outer blocks are multiplied there first."""
        ((monomial, coefficient),) = term.terms
        outer = constant(abs(coefficient))
        inner: list[SSAValue] = []
        for atom, power in monomial:
            if self._depth_of_atom(atom) < depth:
                outer = outer * monomial_expr(((atom, power),))
            else:
                inner += [self._atom(atom, kind)] * power
        if outer.as_int() != 1:
            inner.append(self._expression(outer, kind))
        total = inner[0]
        for value in inner[1:]:
            total = self._binary(arith.MuliOp, total, value, depth)
        return total

    def _atom(self, atom: Atom, kind: IntegerType) -> SSAValue:
        key = (atom, kind.bitwidth)
        depth = self._depth_of_atom(atom)
        found = self.frames[depth].values.get(key)
        if found is None:
            found = self.frames[depth].values[key] = self._atom_value(atom, kind, depth)
        return found

    def _atom_value(self, atom: Atom, kind: IntegerType, depth: int) -> SSAValue:
        if not atom.args:
            return self.resize(self._places[atom][1], kind, depth)
        values = [self._expression(arg, kind) for arg in atom.args]
        if atom.kind == "max":
            total = values[0]
            for value in values[1:]:
                total = self._append(arith.MaxSIOp(total, value), depth)
            return total
        low = self.space.interval(atom.args[0]).low
        division = arith.DivSIOp if low is not None and low >= 0 else arith.FloorDivSIOp
        return self._append(division(values[0], values[1]), depth)

    def _append(self, op: Operation, depth: int) -> SSAValue:
        self.frames[depth].block.add_op(op)
        return op.results[0]

    def _binary(
        self, op: type[arith.AddiOp] | type[arith.SubiOp] | type[arith.MuliOp], a: SSAValue, b: SSAValue, depth: int
    ) -> SSAValue:
        return self._append(op(a, b, overflow=NSW), depth)

    def resize(self, value: SSAValue, kind: IntegerType, depth: int | None = None) -> SSAValue:
        """An integer in another width, sign-extended."""
        at = len(self.frames) - 1 if depth is None else depth
        if int_bits(value.type) < kind.bitwidth:
            return self._append(arith.ExtSIOp(value, kind), at)
        if int_bits(value.type) > kind.bitwidth:
            return self._append(arith.TruncIOp(value, kind), at)
        return value

    # Control flow

    def less(self, a: Expr, b: Expr) -> SSAValue:
        """a < b as i1."""
        kind = self.width(a, b)
        return self.add(arith.CmpiOp(self.index(a, kind), self.index(b, kind), "slt"))

    def both(self, *conditions: SSAValue | None) -> SSAValue | None:
        """The conjunction of the conditions that are there."""
        total: SSAValue | None = None
        for condition in conditions:
            if condition is not None:
                total = condition if total is None else self.add(arith.AndIOp(total, condition))
        return total

    def loop(
        self,
        bounds: tuple[Expr, Expr, Expr],
        variable: Expr,
        carried: Sequence[SSAValue] = (),
        *,
        unroll: bool = False,
        hint: str = "",
    ) -> LoopBuilder:
        """A loop of the variable from the first to the second bound by steps of the third; `hint` names the
        variable."""
        return LoopBuilder(self, bounds, variable, carried, unroll, hint)

    @contextmanager
    def unrolled(self, count: int, hint: str = "") -> Generator[Expr]:
        """An unrolled loop that carries nothing; gives its variable. Without a loop where there is one iteration."""
        with self._counted(count, True, hint) as variable:
            yield variable

    @contextmanager
    def repeated(self, count: int, hint: str = "") -> Generator[Expr]:
        """As `unrolled`, but the loop stays one."""
        with self._counted(count, False, hint) as variable:
            yield variable

    @contextmanager
    def _counted(self, count: int, unroll: bool, hint: str) -> Generator[Expr]:
        if count == 1:
            yield constant(0)
            return
        variable = self.space.variable(constant(count))
        with self.loop((constant(0), constant(count), constant(1)), variable, unroll=unroll, hint=hint):
            yield variable

    @contextmanager
    def when(self, condition: SSAValue | None) -> Generator[None]:
        """Everything emitted meanwhile happens only where the condition holds; always without one."""
        if condition is None:
            yield
            return
        block = Block()
        with self.inside(block):
            yield
            self.do(scf.YieldOp())
        assert condition.type == i1
        self.do(scf.IfOp(condition, [], [block]))

    def when_value(
        self, condition: SSAValue | None, compute: Callable[[], list[SSAValue]], otherwise: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """The computed values where the condition holds (or there is none), else the others."""
        if condition is None:
            return compute()
        then, other = Block(), Block()
        with self.inside(then):
            values = compute()
            self.do(scf.YieldOp(*values))
        with self.inside(other):
            self.do(scf.YieldOp(*otherwise))
        choice = scf.IfOp(condition, [value.type for value in otherwise], [then], [other] if otherwise else None)
        self.do(choice)
        return list(choice.output)
