"""Rules, what they ask of oracles, and proposals, as data; and their egglog text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from xdsl.ir import Attribute, SSAValue

from ...dialects.dtype import FLOATS
from ...dialects.hlir.builder import GraphBuilder
from ...dialects.hlir.index_map import IndexMap
from ...dialects.hlir.types import MapAttr, ScalarAttr, ShapeAttr, TensorType, axes_of
from ...dialects.op import TensorOp
from ...dialects.sym.expr import Expr
from .signature import call


class Strictness(StrEnum):
    """What a rule promises.

    exact: both sides round the same values at the same places. spelling: a composite and its definition, within the
    bound that the op states. real: equal over the real numbers; rounding, infinities and NaN may differ. fast:
    approximate.
    """

    EXACT = "exact"
    SPELLING = "spelling"
    REAL = "real"
    FAST = "fast"


NUMERICS: Mapping[str, tuple[Strictness, ...]] = {
    "eager": (Strictness.EXACT, Strictness.SPELLING),
    "fused": (Strictness.EXACT, Strictness.SPELLING, Strictness.REAL),
    "fast": tuple(Strictness),
}
"""The rules that each value of the option `numerics` allows."""


NARROW: tuple[str, ...] = tuple(d.name for d in FLOATS if d.compute != d)
"""Floats whose arithmetic is done in a wider one."""


@dataclass(frozen=True)
class Ask:
    """`variable` is what the oracle says of the arguments, which are variables of the pattern; no answer, no match."""

    variable: str
    oracle: str
    arguments: str


@dataclass(frozen=True)
class Rule:
    """Where `when` matches and every ask is answered, do `then`. Both are egglog text."""

    name: str
    when: str
    then: str
    asks: tuple[Ask, ...] = ()
    strictness: Strictness = Strictness.EXACT
    dtypes: tuple[str, ...] = ()
    """Element types of which a program must have one for the rule to match; none: any program."""
    pushes: bool = False
    """Whether the rule moves an op inwards, or ends that: one iteration runs it several times over."""

    def texts(self) -> list[tuple[str, str]]:
        """Name and egglog text without ruleset: the demands for the oracles, then the rule itself."""
        found: list[tuple[str, str]] = []
        if self.asks:
            demands = " ".join(f"(need-{a.oracle} {a.arguments})" for a in self.asks)
            found.append((f"demand {self.name}", f"(rule ({self.when}) ({demands})"))
        answers = "".join(f" (= {a.variable} ({a.oracle} {a.arguments}))" for a in self.asks)
        found.append((self.name, f"(rule ({self.when}{answers}) ({self.then})"))
        return found

    def commands(self, ruleset: str) -> list[str]:
        """The egglog commands that add the rule to a ruleset."""
        return [f'{text} :ruleset {ruleset} :name "{name}")' for name, text in self.texts()]


def rewrite(
    name: str,
    lhs: str,
    rhs: str,
    *asks: Ask,
    strictness: Strictness = Strictness.EXACT,
    where: str = "",
    dtypes: tuple[str, ...] = (),
    pushes: bool = False,
) -> Rule:
    """The rule that lhs and rhs are equal. `where` adds premises; the class of lhs is `e`."""
    return Rule(name, f"(= e {lhs}) {where}".rstrip(), f"(union e {rhs})", asks, strictness, dtypes, pushes)


Expansion: TypeAlias = Callable[[TensorOp, GraphBuilder], tuple[SSAValue, ...]]
"""Builds the same results as an op from others, on the op's own operands."""


@dataclass(frozen=True)
class Operand:
    """A class that a proposal matched, by the name of its column; with a map and a shape, a view of it."""

    column: str
    map: MapAttr | None = None
    shape: ShapeAttr | None = None


@dataclass(frozen=True)
class Candidate:
    """A composite that the matched class may be; with `outer_map`, a view of it at the class's shape.

    It is one when the expansion, or one of `variants`, which the bound of the op covers too, is found in the class.
    """

    op_class: type[TensorOp]
    operands: tuple[Operand, ...]
    properties: Mapping[str, Attribute]
    variants: tuple[Expansion, ...] = ()
    outer_map: MapAttr | None = None


@dataclass(frozen=True)
class Match:
    """What a proposal matched, by the names of its columns; the class that it is about is called e."""

    types: Mapping[str, TensorType]
    attributes: Mapping[str, Attribute]

    @property
    def result(self) -> TensorType:
        """The type of the matched class."""
        return self.types["e"]

    def map(self, column: str) -> IndexMap:
        """The map in a column."""
        attribute = self.attributes[column]
        assert isinstance(attribute, MapAttr)
        return attribute.data

    def dims(self, column: str) -> tuple[Expr, ...]:
        """The shape in a column."""
        attribute = self.attributes[column]
        assert isinstance(attribute, ShapeAttr)
        return attribute.data

    def axes(self, column: str) -> tuple[int, ...]:
        """The axes in a column."""
        return axes_of(self.attributes[column])

    def number(self, column: str) -> float:
        """The number in a column."""
        attribute = self.attributes[column]
        assert isinstance(attribute, ScalarAttr)
        return float(attribute.data.value)


@dataclass(frozen=True)
class Proposal:
    """Where `when` matches, `build` may name a composite that the class `e` is, made of the columns.

    Columns are variables of the pattern beside e; those in `texts` are properties, those in `classes` values.
    """

    name: str
    when: str
    texts: tuple[str, ...]
    classes: tuple[str, ...]
    build: Callable[[Match], Candidate | None]
    strictness: Strictness = Strictness.SPELLING
    dtypes: tuple[str, ...] = ()

    @property
    def relation(self) -> str:
        return "propose-" + self.name.replace(" ", "-")

    def declaration(self) -> str:
        sorts = ["String"] * len(self.texts) + ["T"] * (1 + len(self.classes))
        return f"(relation {self.relation} ({' '.join(sorts)}))"

    def as_rule(self) -> Rule:
        """The egglog rule that records the match."""
        row = call(self.relation, *self.texts, "e", *self.classes)
        return Rule(f"propose {self.name}", self.when, row, (), self.strictness, self.dtypes)


@dataclass(frozen=True)
class Theory:
    """Rules and proposals about one subject. `expands` says that composites get their expansions."""

    name: str
    rules: tuple[Rule, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    expands: bool = False
