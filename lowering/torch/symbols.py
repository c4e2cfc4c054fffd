"""The symbols of a traced program: torch's SymInts as expressions, its guards solved where they are equations."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import lcm
from typing import Any, cast

import sympy
import torch
from torch.utils._sympy.functions import Mod, PythonMod
from torch.utils._sympy.value_ranges import ValueRanges
from xdsl.ir import Operation

from ...dialects.sym.bounds import Bounds, Interval, proves_nonnegative
from ...dialects.sym.dialect import GuardOp, SymbolOp
from ...dialects.sym.expr import Expr, constant, monomial_expr, symbol
from ...dialects.sym.substitute import substitute_symbols, symbol_names
from .fx import known_size, sympy_of
from .symbolic_float import FloatExpr, float_expression
from .sympy_expressions import expression_of
from .unsupported import UnsupportedNodeError

_UNBOUNDED = 1 << 62
"""torch writes "no maximum" as infinity or as a number near the largest machine integer."""


@dataclass
class _Range:
    low: int
    high: int | None


class SymbolTable:
    """What each sympy symbol is, as an expression over the declared symbols s0, s1, ...

    `symbols` are in the order in which the inputs show them. A guard s % k == 0 makes s the expression k*t; an
    equation that is linear in a symbol with coefficient 1 eliminates it. `numbers` are symbols that callers give as
    they are: they stay s and are declared as multiples of k. What remains is `guards`, and `holes`: expressions
    that are not 0 for the sizes of the trace. Kernels do not rely on those, but another graph would be traced.
    """

    guards: list[tuple[Expr, str]]
    holes: list[Expr]

    def __init__(
        self,
        symbols: Sequence[sympy.Symbol],
        ranges: Mapping[sympy.Symbol, ValueRanges[Any]],
        guards: Iterable[Any] = (),
        numbers: Collection[sympy.Symbol] = (),
    ):
        known = set(symbols)  # torch also guards on sizes inside the program, which follow from those of the inputs
        facts = [fact for guard in guards for fact in _conjuncts(guard) if fact.free_symbols <= known]
        factors = _factors(facts)
        self._values: dict[sympy.Symbol, Expr] = {}
        self._ranges: dict[str, _Range] = {}
        self._multiples: dict[str, int] = {}
        self._count = len(symbols)
        self.guards = []
        self.holes = []
        for number, one in enumerate(symbols):
            factor, name = factors.get(one, 1), f"s{number}"
            low, high = _limits(ranges.get(one))
            if one in numbers:
                self._multiples[name], factor = factor, 1
            self._values[one] = symbol(name) * factor
            self._ranges[name] = _Range(-(-low // factor), None if high is None else high // factor)
        for left, right in _relations(facts, sympy.Eq):
            self._equate(left, right)
        self._require_all(facts)

    def lift(self, value: int | torch.SymInt | Any) -> Expr:
        """An int, SymInt or sympy expression as an expression over the declared symbols.

        Raises:
            UnsupportedNodeError: the size depends on data, or has no exact form.
        """
        if isinstance(value, int):
            return constant(value)
        if isinstance(value, torch.SymInt):
            known = known_size(value)
            return constant(int(known)) if known is not None else self.lift(sympy_of(value))
        return expression_of(value, self._leaf)

    def lift_float(self, value: torch.SymFloat) -> float | FloatExpr:
        """A float that may depend on sizes.

        Raises:
            UnsupportedNodeError: it is computed from data, or by a function that has no counterpart.
        """
        known = known_size(value)
        return float(known) if known is not None else float_expression(sympy_of(value), self.lift)

    def lift_all(self, values: Iterable[int | torch.SymInt]) -> tuple[Expr, ...]:
        """`lift` for each."""
        return tuple(self.lift(value) for value in values)

    @property
    def bounds(self) -> Bounds:
        """The ranges of the declared symbols."""
        return Bounds({name: Interval(r.low, r.high) for name, r in self._ranges.items()})

    def assume(self, condition: Any) -> None:
        """Adds a condition that the program asserts."""
        facts = _conjuncts(condition)
        if sympy.false in facts:
            raise UnsupportedNodeError("asserts a condition of sizes that never holds")
        self._require_all(facts)

    def equal_to(self, value: Expr) -> str:
        """A new symbol for a number that callers give, under the guard that it is `value`."""
        name = f"s{self._count}"
        self._count += 1
        self._ranges[name] = _Range(0, None)
        self.guards.append((symbol(name) - value, "=="))
        return name

    def operations(self) -> list[Operation]:
        """The `sym.symbol` and `sym.guard` ops of the module."""
        declared: list[Operation] = [
            SymbolOp(name, r.low, r.high, self._multiples.get(name, 1)) for name, r in self._ranges.items()
        ]
        return declared + [GuardOp(expr, relation) for expr, relation in self.guards]

    def _leaf(self, one: sympy.Symbol) -> Expr:
        if one not in self._values:
            raise UnsupportedNodeError(f"makes a tensor whose size {one} depends on data")
        return self._values[one]

    def _equate(self, left: Any, right: Any) -> None:
        difference = self.lift(left) - self.lift(right)
        for name in reversed(symbol_names(difference)):
            rest = _solved_for(difference, name)
            if rest is not None:
                self._eliminate(name, rest)
                return

    def _eliminate(self, name: str, value: Expr) -> None:
        range_ = self._ranges.pop(name)
        self._values = {one: substitute_symbols(e, {name: value}) for one, e in self._values.items()}
        self.guards = [(substitute_symbols(e, {name: value}), relation) for e, relation in self.guards]
        self._require(value - range_.low)
        if range_.high is not None:
            self._require(constant(range_.high) - value)

    def _require_all(self, facts: Sequence[Any]) -> None:
        for left, right in _relations(facts, sympy.Eq):
            difference = self.lift(left) - self.lift(right)
            if difference.as_int() != 0:
                self.guards.append((difference, "=="))
        self.guards += [(guard, "==") for guard in map(self._one_of, facts) if guard is not None]
        for bigger, smaller, strict in _orderings([fact for fact in facts if self._one_of(fact) is None]):
            self._require(self.lift(bigger) - self.lift(smaller) - int(strict))
        differences = [self.lift(left) - self.lift(right) for left, right in _relations(facts, sympy.Ne)]
        for _ in range(2):  # excluding one end of a range can put another excluded value at the end
            differences = [d for d in differences if not self._excluded(d)]
        self.holes += differences
        self.guards = [(e, r) for e, r in dict.fromkeys(self.guards) if not (r == ">=" and self._proved(e))]

    def _one_of(self, fact: Any) -> Expr | None:
        """What is 0 if one of several equations holds: the product of their differences; None for any other fact."""
        if not isinstance(fact, sympy.Or) or not all(isinstance(part, sympy.Eq) for part in fact.args):
            return None
        pairs = _relations(cast("Sequence[Any]", fact.args), sympy.Eq)
        return reduce(lambda a, b: a * b, [self.lift(left) - self.lift(right) for left, right in pairs])

    def _proved(self, difference: Expr) -> bool:
        return proves_nonnegative(difference, self.bounds)

    def _require(self, difference: Expr) -> None:
        """Makes `difference >= 0` part of a range, or a guard, unless it is known."""
        form = _linear_in_one(difference)
        if form is None:
            self.guards.append((difference, ">="))
            return
        name, scale, offset = form
        range_ = self._ranges[name]
        if scale > 0:
            range_.low = max(range_.low, -(offset // scale))
        else:
            limit = offset // -scale
            range_.high = limit if range_.high is None else min(range_.high, limit)

    def _excluded(self, difference: Expr) -> bool:
        """Whether `difference != 0` is known, or becomes known by moving one end of a range."""
        if self._proved(difference - 1) or self._proved(-difference - 1):
            return True
        form = _linear_in_one(difference)
        if form is None:
            return False
        name, scale, offset = form
        range_, root = self._ranges[name], -offset // scale
        if root * scale + offset:
            return True
        if root == range_.low:
            range_.low += 1
        elif range_.high is not None and root == range_.high:
            range_.high -= 1
        else:
            return False
        return True


def _limits(range_: ValueRanges[Any] | None) -> tuple[int, int | None]:
    if range_ is None:
        return 0, None
    lower, upper = range_.lower, range_.upper
    low = int(lower) if lower.is_Integer else 0
    high = int(upper) if upper.is_Integer else _UNBOUNDED
    return max(low, 0), None if high >= _UNBOUNDED else high


def _conjuncts(guard: Any) -> list[Any]:
    if isinstance(guard, sympy.And):
        return [fact for part in guard.args for fact in _conjuncts(part)]
    return [] if guard in (sympy.true, True) else [guard]


def _factors(facts: Sequence[Any]) -> dict[sympy.Symbol, int]:
    """For each symbol what the guards say it is a multiple of."""
    factors: dict[sympy.Symbol, int] = {}
    for left, right in _relations(facts, sympy.Eq):
        if isinstance(left, Mod | PythonMod) and right == 0:
            base, modulus = cast("tuple[Any, Any]", left.args)
            if isinstance(base, sympy.Symbol) and modulus.is_Integer:
                factors[base] = lcm(factors.get(base, 1), int(modulus))
    return factors


def _relations(facts: Sequence[Any], kind: type) -> list[tuple[Any, Any]]:
    return [(fact.lhs, fact.rhs) for fact in facts if isinstance(fact, kind)]


def _orderings(facts: Sequence[Any]) -> list[tuple[Any, Any, bool]]:
    """(larger, smaller, strictly) of the inequalities.

    Raises:
        UnsupportedNodeError: a fact is neither an equation nor an inequality.
    """
    found: list[tuple[Any, Any, bool]] = []
    for fact in facts:
        if isinstance(fact, sympy.Ge | sympy.Gt):
            found.append((fact.lhs, fact.rhs, isinstance(fact, sympy.Gt)))
        elif isinstance(fact, sympy.Le | sympy.Lt):
            found.append((fact.rhs, fact.lhs, isinstance(fact, sympy.Lt)))
        elif not isinstance(fact, sympy.Eq | sympy.Ne):
            raise UnsupportedNodeError(f"depends on the condition {fact} of sizes")
    return found


def _solved_for(difference: Expr, name: str) -> Expr | None:
    """The value of the symbol that makes `difference` 0, if it occurs once, linearly, with coefficient 1 or -1."""
    found: int | None = None
    for monomial, coefficient in difference.terms:
        if name in {n for atom, _ in monomial for n in symbol_names(monomial_expr(((atom, 1),)))}:
            if found is not None or coefficient not in (1, -1) or monomial != symbol(name).terms[0][0]:
                return None
            found = coefficient
    return None if found is None else symbol(name) - difference * found


def _linear_in_one(difference: Expr) -> tuple[str, int, int] | None:
    """(symbol, a, b) of a*symbol + b with a != 0, if the expression has that form."""
    offset = difference.constant_term
    rest = (difference - offset).terms
    if len(rest) != 1:
        return None
    monomial, scale = rest[0]
    if len(monomial) != 1 or monomial[0][1] != 1 or monomial[0][0].kind != "symbol":
        return None
    return monomial[0][0].name, scale, offset
