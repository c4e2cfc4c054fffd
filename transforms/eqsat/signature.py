"""Terms derived from op definitions: properties in the order of their definition as text, then operands.

An op whose operand count varies has one constructor for each count; an op with several results makes a tuple, of which
`get` takes one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.ir import Attribute
from xdsl.irdl import VarOperandDef
from xdsl.parser import Parser

from ...dialects.hlir.dialect import HLIR
from ...dialects.kernel import CallMatmulOp
from ...dialects.op import TensorOp


@dataclass(frozen=True)
class TermForm:
    """How ops of one class are terms."""

    op_class: type[TensorOp]
    properties: tuple[str, ...]
    fixed: int
    variadic: bool
    results: int

    @property
    def stem(self) -> str:
        """The op's name as egglog spells it."""
        return self.op_class.name.replace(".", "_")

    def constructor(self, operands: int) -> str:
        """The constructor for this many operands."""
        return f"{self.stem}_v{operands - self.fixed}" if self.variadic else self.stem

    def declaration(self, operands: int) -> str:
        """The egglog command that declares the constructor."""
        sorts = " ".join(["String"] * len(self.properties) + ["T"] * operands)
        return f"(constructor {self.constructor(operands)} ({sorts}) {'T' if self.results == 1 else 'Tuple'})"


@cache
def form_of(op_class: type[TensorOp]) -> TermForm:
    """The term form of an op class."""
    definition = op_class.get_irdl_definition()
    fixed = sum(not isinstance(o, VarOperandDef) for _, o in definition.operands)
    variadic = fixed != len(definition.operands)
    return TermForm(op_class, tuple(definition.properties), fixed, variadic, len(definition.results))


def _known_classes() -> tuple[type[TensorOp], ...]:
    hlir = (op for op in HLIR.operations if issubclass(op, TensorOp))
    return (*hlir, CallMatmulOp)


OP_CLASSES: tuple[type[TensorOp], ...] = _known_classes()
"""The op classes that may be members of a class."""

BY_STEM: Mapping[str, type[TensorOp]] = {form_of(op).stem: op for op in OP_CLASSES}


@cache
def form_of_constructor(name: str) -> tuple[TermForm, int] | None:
    """The form and operand count of a constructor's name, or None if it is none of ours."""
    stem, _, extra = name.rpartition("_v")
    if extra.isdigit() and stem in BY_STEM and form_of(BY_STEM[stem]).variadic:
        form = form_of(BY_STEM[stem])
        return form, form.fixed + int(extra)
    if name in BY_STEM and not form_of(BY_STEM[name]).variadic:
        form = form_of(BY_STEM[name])
        return form, form.fixed
    return None


class AttributeTexts:
    """Attributes as their canonical text and back. An absent property is the empty text."""

    def __init__(self) -> None:
        self._texts: dict[Attribute, str] = {}
        self._attributes: dict[str, Attribute] = {}

    def text(self, attribute: Attribute | None) -> str:
        if attribute is None:
            return ""
        known = self._texts.get(attribute)
        if known is None:
            known = self._texts[attribute] = str(attribute)
            self._attributes.setdefault(known, attribute)
        return known

    def attribute(self, text: str) -> Attribute:
        """The attribute of a text: one that `text` gave, or that stands in a rule."""
        known = self._attributes.get(text)
        if known is None:
            known = self._attributes[text] = parse_attribute(text)
            self._texts.setdefault(known, text)
        return known

    def texts(self, form: TermForm, properties: Mapping[str, Attribute]) -> tuple[str, ...]:
        """The texts of an op's properties in the order of the term."""
        return tuple(self.text(properties.get(name)) for name in form.properties)

    def properties(self, form: TermForm, texts: Iterable[str]) -> dict[str, Attribute]:
        """The properties of a term, those that are absent left out."""
        return {name: self.attribute(t) for name, t in zip(form.properties, texts, strict=True) if t}


def parse_attribute(text: str) -> Attribute:
    """The attribute of a text."""
    context = Context()
    for dialect in (Builtin, HLIR):
        context.load_dialect(dialect)
    return Parser(context, text).parse_attribute()


def quote(text: str) -> str:
    """An egglog string literal."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def call(name: str, *arguments: str) -> str:
    """An egglog expression."""
    return f"({' '.join((name, *arguments))})"


def pattern(op_class: type[TensorOp], properties: Sequence[str], operands: Sequence[str]) -> str:
    """A pattern of the op with these variables or literals."""
    return call(form_of(op_class).constructor(len(operands)), *properties, *operands)
