"""One look at the whole e-graph: classes, their members and types, as Python data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from ...dialects.dtype import dtype_of
from ...dialects.hlir.types import ShapeAttr, TensorType, tensor_type
from .signature import AttributeTexts, TermForm, form_of_constructor

Class: TypeAlias = Any
"""An egglog value of sort T or Tuple: compared and hashed, never looked into."""


@dataclass(frozen=True)
class Member:
    """One way to make a class: a term. `texts` are its properties."""

    constructor: str
    texts: tuple[str, ...]
    operands: tuple[Class, ...]

    @property
    def form(self) -> TermForm:
        known = form_of_constructor(self.constructor)
        assert known is not None
        return known[0]


class Snapshot:
    """The e-graph at one moment. Values of different sorts may be equal, so each table holds one sort."""

    def __init__(self, egraph: Any, texts: AttributeTexts, forms: dict[str, TermForm]):
        self._egraph = egraph
        self._texts = texts
        self._strings: dict[Any, str] = {}
        # One look: every access to `functions` copies the whole e-graph.
        self.rows: dict[str, list[Any]] = {name: f.rows for name, f in egraph.freeze().functions.items()}
        self.size = sum(len(self.rows[name]) for name in forms if name in self.rows)
        self.classes: dict[Class, list[Member]] = {}
        self.tuples: dict[Class, list[Member]] = {}
        for name, form in forms.items():
            into = self.classes if form.results == 1 else self.tuples
            self._read(name, len(form.properties), into)
        self._read_structure()
        self.node_of: dict[Class, int] = {}
        self.class_of: dict[int, Class] = {}
        for row in self.rows["node"]:
            number = egraph.value_to_i64(row.inputs[0])
            self.class_of[number] = row.output
            self.node_of[row.output] = min(number, self.node_of.get(row.output, number))
        self.types = self._read_types()

    def string(self, value: Any) -> str:
        """The text of a String value."""
        known = self._strings.get(value)
        if known is None:
            known = self._strings[value] = self._egraph.value_to_string(value)
        return known

    def _read(self, name: str, properties: int, into: dict[Class, list[Member]]) -> None:
        string = self.string
        for row in self.rows.get(name, ()):
            inputs = row.inputs
            texts = tuple([string(v) for v in inputs[:properties]])
            into.setdefault(row.output, []).append(Member(name, texts, tuple(inputs[properties:])))

    def _read_structure(self) -> None:
        for row in self.rows["arg"]:
            number = self._egraph.value_to_i64(row.inputs[0])
            self.classes.setdefault(row.output, []).append(Member("arg", (str(number),), ()))
        for row in self.rows["get"]:
            number = self._egraph.value_to_i64(row.inputs[1])
            self.classes.setdefault(row.output, []).append(Member("get", (str(number),), (row.inputs[0],)))
        for row in self.rows["region"]:
            operands = tuple(self._egraph.value_to_vec(row.inputs[1]))
            self.tuples.setdefault(row.output, []).append(Member("region", (self.string(row.inputs[0]),), operands))

    def _read_types(self) -> dict[Class, TensorType]:
        dtypes = {row.inputs[0]: self.string(row.output) for row in self.rows["dtype-of"]}
        known: dict[tuple[str, str], TensorType] = {}
        types: dict[Class, TensorType] = {}
        for row in self.rows["dims-of"]:
            of = row.inputs[0]
            if of not in dtypes:
                continue
            key = (self.string(row.output), dtypes[of])
            type_ = known.get(key)
            if type_ is None:
                shape = self._texts.attribute(key[0])
                assert isinstance(shape, ShapeAttr)
                type_ = known[key] = tensor_type(shape.data, dtype_of(self._texts.attribute(key[1])))
            types[of] = type_
        return types

    def demands(self, oracle: str) -> Iterator[tuple[str, ...]]:
        """The arguments that rules asked the oracle about."""
        string = self.string
        for row in self.rows["need-" + oracle]:
            yield tuple([string(v) for v in row.inputs])

    def reachable(self, roots: list[Class]) -> set[Class]:
        """The classes that the roots need in some form."""
        seen: set[Class] = set()
        stack = list(roots)
        while stack:
            one = stack.pop()
            if one in seen:
                continue
            seen.add(one)
            for member in self.classes[one]:
                stack += self.class_operands(member)
        return seen

    def class_operands(self, member: Member) -> list[Class]:
        """The classes that a member reads; for a result of a tuple, those of every form of the tuple."""
        if member.constructor != "get":
            return list(member.operands)
        return [operand for form in self.tuples[member.operands[0]] for operand in form.operands]
