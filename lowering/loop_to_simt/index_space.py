"""What the index values of a kernel are: polynomials over symbols and over index variables with known extents."""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Operation, SSAValue

from ...dialects.loop.extent import without_division
from ...dialects.sym.bounds import Bounds, Interval, interval, proves_nonnegative, simplify
from ...dialects.sym.dialect import SymbolOp
from ...dialects.sym.expr import Expr, ceildiv, constant, floordiv, index, monomial_expr, symbol
from ...dialects.sym.monomial import Atom

I32_LIMIT = 1 << 31
UNBOUNDED = symbol("?")
"""Extent of an index value of which nothing is known, such as one loaded from memory."""


class IndexSpace:
    """The index variables of one kernel, and the expression of each index value seen so far."""

    def __init__(self, module: ModuleOp):
        declared = [op for op in module.ops if isinstance(op, SymbolOp)]
        self._ranges: Mapping[str, Interval] = {op.sym_name.data: op.range for op in declared}
        self._multiples = {op.sym_name.data: op.multiple_of.data for op in declared}
        self._extents: list[Expr] = []
        self._expressions: dict[SSAValue, Expr] = {}

    @property
    def bounds(self) -> Bounds:
        return Bounds(self._ranges, tuple(self._extents))

    def variable(self, extent: Expr) -> Expr:
        """A new index variable that runs over [0, extent)."""
        self._extents.append(extent)
        return index(len(self._extents) - 1)

    def bind(self, value: SSAValue, expr: Expr) -> None:
        """From here on the value is this expression."""
        self._expressions[value] = expr

    def known(self, value: SSAValue) -> Expr | None:
        """The expression of a value, if it was bound."""
        return self._expressions.get(value)

    def simplify(self, expr: Expr) -> Expr:
        return simplify(expr, self.bounds)

    def interval(self, expr: Expr) -> Interval:
        return interval(expr, self.bounds)

    def largest(self, expr: Expr) -> int | None:
        """The largest value that an expression can take, if there is one."""
        value = expr.as_int()
        return value if value is not None else self.interval(expr).high

    def at_least(self, expr: Expr, low: int) -> bool:
        """Whether the expression is proved to be at least `low`."""
        value = expr.as_int()
        return value >= low if value is not None else proves_nonnegative(expr - low, self.bounds)

    def fits_i32(self, expr: Expr) -> bool:
        """Whether the expression and everything computed on the way stays below 2^31 in size."""
        total = 0
        for monomial, coefficient in expr.terms:
            high = self.interval(monomial_expr(monomial)).high
            if high is None:
                return False
            total += abs(coefficient) * high
            for atom, _ in monomial:
                if any(not self.fits_i32(arg) for arg in atom.args):
                    return False
        return total < I32_LIMIT

    def is_multiple(self, expr: Expr, of: int) -> bool:
        """Whether every term is a multiple of `of`, from coefficients and what symbols are declared multiples of."""
        for monomial, coefficient in expr.terms:
            factor = gcd(coefficient, of)
            for atom, power in monomial:
                factor = gcd(factor * self._multiple_of_atom(atom, of) ** power, of)
            if factor % of:
                return False
        return True

    def _multiple_of_atom(self, atom: Atom, of: int) -> int:
        return gcd(self._multiples.get(atom.name, 1), of) if atom.kind == "symbol" else 1

    def define(self, op: Operation) -> bool:
        """Binds the result of an index computation to its expression; False if it has none."""
        if len(op.results) != 1:
            return False
        expr = self._of_constant(op) if isinstance(op, arith.ConstantOp) else self._of_arithmetic(op)
        if expr is None:
            return False
        self.bind(op.results[0], self.simplify(expr))
        return True

    def _of_constant(self, op: arith.ConstantOp) -> Expr | None:
        return constant(int(op.value.value.data)) if isinstance(op.value, IntegerAttr) else None

    def _of_arithmetic(self, op: Operation) -> Expr | None:
        if len(op.operands) != 2:
            return None
        a, b = (self.known(operand) for operand in op.operands)
        if a is None or b is None:
            return None
        whole = without_division(op, a, b)
        return whole if whole is not None else self._of_division(op, a, b)

    def _of_division(self, op: Operation, a: Expr, b: Expr) -> Expr | None:
        """Divisions by a divisor that is known to be positive; truncating is flooring where the dividend is not
        negative."""
        if not self.at_least(b, 1):
            return None
        if isinstance(op, arith.FloorDivSIOp):
            return floordiv(a, b)
        if isinstance(op, arith.CeilDivSIOp):
            return ceildiv(a, b)
        if not self.at_least(a, 0):
            return None
        if isinstance(op, arith.DivSIOp | arith.DivUIOp):
            return floordiv(a, b)
        if isinstance(op, arith.RemSIOp | arith.RemUIOp):
            return a - b * floordiv(a, b)
        return None
