"""What a module says of its symbols, and expressions simplified by it: equations, ranges and multiples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import gcd

from xdsl.dialects.builtin import ModuleOp

from ..dialects.errors import ContractError
from ..dialects.sym.bounds import Bounds, Interval, proves_nonnegative, simplify
from ..dialects.sym.dialect import GuardOp, SymbolOp, relation_holds
from ..dialects.sym.expr import Expr, constant, floordiv, lift, maximum, monomial_expr, symbol
from ..dialects.sym.substitute import substitute_symbols, symbol_names


@dataclass(frozen=True)
class Guard:
    """expr == 0, expr >= 0 or expr != 0."""

    expr: Expr
    relation: str


@dataclass
class SymbolFacts:
    """The remaining symbols with range and multiple, the guards on them, and the symbols that equations removed."""

    ranges: dict[str, Interval] = field(default_factory=dict[str, Interval])
    multiples: dict[str, int] = field(default_factory=dict[str, int])
    guards: list[Guard] = field(default_factory=list[Guard])
    solved: dict[str, Expr] = field(default_factory=dict[str, Expr])

    def simplify(self, e: Expr, extents: Sequence[Expr] = ()) -> Expr:
        """`e` without solved symbols and without what ranges and multiples decide; d<i> runs below extents[i]."""
        e = substitute_symbols(e, self.solved) if self.solved else e
        e = simplify(e, Bounds(self.ranges, tuple(extents)))
        return self._by_multiples(e, extents)

    def _by_multiples(self, e: Expr, extents: Sequence[Expr]) -> Expr:
        """Writes each symbol of a known multiple m as m times another, simplifies, and goes back."""
        opaque = any(atom.kind in ("floordiv", "max") for atom in e.atoms())
        names = [n for n in symbol_names(e) if self.multiples.get(n, 1) > 1] if opaque else []
        if not names:
            return e
        quotients = {n: symbol(n) * self.multiples[n] for n in names}
        ranges = {n: _quotient_range(r, self.multiples[n]) if n in names else r for n, r in self.ranges.items()}
        inner = tuple(substitute_symbols(x, quotients) for x in extents)
        reduced = simplify(substitute_symbols(e, quotients), Bounds(ranges, inner))
        return _from_quotients(reduced, {n: self.multiples[n] for n in names})

    def proves(self, guard: Guard) -> bool:
        """Whether ranges alone make the guard true."""
        if guard.relation == "==":
            return guard.expr.as_int() == 0
        bounds = Bounds(self.ranges)
        if guard.relation == "!=":
            return proves_nonnegative(guard.expr - 1, bounds) or proves_nonnegative(-guard.expr - 1, bounds)
        return proves_nonnegative(guard.expr, bounds)


def _quotient_range(r: Interval, multiple: int) -> Interval:
    low = None if r.low is None else -(-r.low // multiple)
    return Interval(low, None if r.high is None else r.high // multiple)


def _from_quotients(e: Expr, multiples: dict[str, int]) -> Expr:
    """`e` with each named symbol q read as s / m: m*q is s, and any other power of q is floordiv(s, m)."""
    total = constant(0)
    for monomial, coefficient in e.terms:
        term, rest = constant(1), coefficient
        for atom, power in monomial:
            multiple = multiples.get(atom.name, 0) if atom.kind == "symbol" else 0
            for _ in range(power):
                if multiple and rest % multiple == 0:
                    rest //= multiple
                    term = term * symbol(atom.name)
                elif multiple:
                    term = term * floordiv(symbol(atom.name), constant(multiple))
                elif atom.args:
                    args = [_from_quotients(arg, multiples) for arg in atom.args]
                    term = term * (floordiv(args[0], args[1]) if atom.kind == "floordiv" else maximum(*args))
                else:
                    term = term * monomial_expr(((atom, 1),))
        total = total + term * rest
    return total


def facts_of(module: ModuleOp, pinned: Sequence[str] = ()) -> SymbolFacts:
    """The facts of a module, with every equation solved that has a solution; `pinned` symbols are kept.

    Raises:
        ContractError: a guard can never hold.
    """
    facts = SymbolFacts()
    for op in module.ops:
        if isinstance(op, SymbolOp):
            facts.ranges[op.sym_name.data] = op.range
            facts.multiples[op.sym_name.data] = op.multiple_of.data
        elif isinstance(op, GuardOp):
            facts.guards.append(Guard(op.expr.data, op.relation.data))
    for name, range_ in list(facts.ranges.items()):
        if range_.low is not None and range_.low == range_.high:
            facts.guards.append(Guard(symbol(name) - range_.low, "=="))
    while _solve_one(facts, pinned):
        pass
    _tighten(facts)
    facts.guards = [g for g in (_checked(facts, g) for g in facts.guards) if not facts.proves(g)]
    facts.guards = list(dict.fromkeys(facts.guards))
    return facts


def _checked(facts: SymbolFacts, guard: Guard) -> Guard:
    expr = facts.simplify(guard.expr)
    value = expr.as_int()
    if value is not None and not relation_holds(value, guard.relation):
        raise ContractError(
            f"the guard {guard.expr} {guard.relation} 0 can never hold: it says {value} {guard.relation} 0",
            hint="the shapes or constraints that the module was made from contradict each other",
        )
    return Guard(expr, guard.relation)


def _solve_one(facts: SymbolFacts, pinned: Sequence[str]) -> bool:
    """Solve one equation for the last declared symbol that it can be solved for; its range and multiple become
    guards."""
    for position, guard in enumerate(facts.guards):
        if guard.relation != "==":
            continue
        expr = _primitive(guard.expr)
        for name in reversed(facts.ranges):
            value = _solution(expr, name)
            if value is None or name in pinned:
                continue
            del facts.guards[position]
            _substitute(facts, name, value)
            return True
    return False


def _primitive(e: Expr) -> Expr:
    """The equation divided by the common factor of its coefficients."""
    common = gcd(*(c for _, c in e.terms)) if e.terms else 1
    total = constant(0)
    for monomial, coefficient in e.terms:
        total = total + monomial_expr(monomial, coefficient // common)
    return total


def _solution(e: Expr, name: str) -> Expr | None:
    """x such that e == 0 says symbol == x for integers: the symbol stands alone, with coefficient 1 or -1."""
    alone = symbol(name).terms[0][0]
    coefficient = next((c for m, c in e.terms if m == alone), 0)
    if abs(coefficient) != 1:
        return None
    rest = e - symbol(name) * coefficient
    return None if name in symbol_names(rest) else rest * -coefficient


def _substitute(facts: SymbolFacts, name: str, value: Expr) -> None:
    range_, multiple = facts.ranges.pop(name), facts.multiples.pop(name)
    facts.solved = {n: substitute_symbols(e, {name: value}) for n, e in facts.solved.items()}
    facts.solved[name] = value
    facts.guards = [Guard(substitute_symbols(g.expr, {name: value}), g.relation) for g in facts.guards]
    if range_.low is not None:
        facts.guards.append(Guard(value - range_.low, ">="))
    if range_.high is not None:
        facts.guards.append(Guard(lift(range_.high) - value, ">="))
    if multiple > 1:
        facts.guards.append(Guard(value - floordiv(value, constant(multiple)) * multiple, "=="))


def _tighten(facts: SymbolFacts) -> None:
    """Guards a*s + c >= 0 narrow the range of s, which is what the program then checks."""
    for guard in facts.guards:
        names = symbol_names(guard.expr)
        if guard.relation != ">=" or len(names) != 1 or names[0] not in facts.ranges:
            continue
        (name,) = names
        factor = (guard.expr - guard.expr.constant_term).terms[0][1]
        if guard.expr != symbol(name) * factor + guard.expr.constant_term:
            continue
        old = facts.ranges[name]
        if factor > 0:
            low = -(guard.expr.constant_term // factor)
            facts.ranges[name] = Interval(low if old.low is None else max(old.low, low), old.high)
        else:
            high = guard.expr.constant_term // -factor
            facts.ranges[name] = Interval(old.low, high if old.high is None else min(old.high, high))
