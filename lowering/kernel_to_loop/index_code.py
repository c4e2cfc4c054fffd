"""Symbolic integers as `index` arithmetic, each part in the outermost loop where it is known."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import SSAValue

from ...dialects.sym.bounds import Bounds, Interval, proves_nonnegative
from ...dialects.sym.expr import Expr, constant, monomial_expr
from ...dialects.sym.monomial import Atom
from ...dialects.sym.substitute import index_numbers
from .scope import Scope

INDEX = IndexType()


class IndexCode:
    """Emits expressions over index variables and symbols. `extents` are those of all index variables by number."""

    def __init__(self, symbols: Mapping[str, SSAValue], ranges: Mapping[str, Interval]):
        self.symbols = symbols
        self.ranges = ranges
        self.extents: list[Expr] = []

    @property
    def bounds(self) -> Bounds:
        return Bounds(self.ranges, tuple(self.extents))

    def variable(self, extent: Expr) -> int:
        """The number of a new index variable that runs over [0, extent)."""
        self.extents.append(extent)
        return len(self.extents) - 1

    def number(self, value: int, scope: Scope) -> SSAValue:
        """An index constant, at the head of the kernel."""
        root = scope.root
        if value not in root.memo:
            root.memo[value] = root.add(arith.ConstantOp(IntegerAttr(value, INDEX)))
        return root.memo[value]

    def emit(self, expr: Expr, scope: Scope) -> SSAValue:
        """The value of the expression."""
        value = expr.as_int()
        if value is not None:
            return self.number(value, scope)
        home = scope.home(index_numbers(expr))
        found = home.recall(expr)
        if found is None:
            found = home.memo[expr] = self._sum(expr, home)
        return found

    def _sum(self, expr: Expr, scope: Scope) -> SSAValue:
        depths = [scope.home(index_numbers(monomial_expr(m))).depth if m else 0 for m, _ in expr.terms]
        deepest = max(depths)
        outer = constant(0)
        inner: list[Expr] = []
        for (monomial, coefficient), depth in zip(expr.terms, depths, strict=True):
            term = monomial_expr(monomial, coefficient)
            if depth < deepest:
                outer = outer + term
            else:
                inner.append(term)
        total = self.emit(outer, scope) if outer.terms else None
        for term in sorted(inner, key=lambda e: e.terms[0][1] < 0):
            total = self._add(total, term, scope)
        assert total is not None
        return total

    def _add(self, total: SSAValue | None, term: Expr, scope: Scope) -> SSAValue:
        ((monomial, coefficient),) = term.terms
        if total is None:
            return self._product(monomial, coefficient, scope)
        product = self._product(monomial, abs(coefficient), scope)
        return scope.add(arith.AddiOp(total, product) if coefficient > 0 else arith.SubiOp(total, product))

    def _product(self, monomial: tuple[tuple[Atom, int], ...], coefficient: int, scope: Scope) -> SSAValue:
        factors = [self._atom(atom, scope) for atom, power in monomial for _ in range(power)]
        if coefficient != 1 or not factors:
            factors.append(self.number(coefficient, scope))
        value = factors[0]
        for factor in factors[1:]:
            value = scope.add(arith.MuliOp(value, factor))
        return value

    def _atom(self, atom: Atom, scope: Scope) -> SSAValue:
        if atom.kind == "symbol":
            return self.symbols[atom.name]
        if atom.kind == "index":
            return scope.variable(atom.number)
        args = [self.emit(arg, scope) for arg in atom.args]
        if atom.kind == "floordiv":
            unsigned = proves_nonnegative(atom.args[0], self.bounds)
            return scope.add(arith.DivUIOp(args[0], args[1]) if unsigned else arith.FloorDivSIOp(args[0], args[1]))
        value = args[0]
        for arg in args[1:]:
            value = scope.add(arith.MaxSIOp(value, arg))
        return value
