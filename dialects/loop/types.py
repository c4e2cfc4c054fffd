"""The pointer type of the loop level, and the scalars and vectors that go through it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import AnyFloat, FixedBitwidthType, IndexType, IntAttr, IntegerType, VectorType
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException


def is_scalar(attribute: Attribute) -> bool:
    """Whether a type is a scalar of the loop level: a signless integer, a float, or index."""
    return isinstance(attribute, IntegerType | AnyFloat | IndexType)


def is_element(attribute: Attribute) -> bool:
    """Whether memory can hold elements of this type."""
    return isinstance(attribute, IntegerType | AnyFloat)


def lanes(attribute: Attribute) -> tuple[int, Attribute]:
    """Lane count and element type; a scalar has one lane."""
    if isinstance(attribute, VectorType):
        kind = cast("VectorType[Attribute]", attribute)
        return prod(kind.get_shape()), kind.element_type
    return 1, attribute


def element_bytes(element: Attribute) -> int:
    """Bytes an element takes in memory; i1 takes one."""
    if not is_element(element) or not isinstance(element, FixedBitwidthType):
        raise VerifyException(f"a pointer points to integers or floats, found {element}")
    return max(1, element.bitwidth // 8)


@irdl_attr_definition
class PtrType(ParametrizedAttribute, TypeAttribute):
    """`!loop.ptr<f32>`, `!loop.ptr<f32, align 16>`: address of elements, a multiple of `align` bytes.

    `align` is the element's size unless said. Offsets count elements. Integers are signless, i1 takes a byte.
    """

    name = "loop.ptr"
    element: Attribute
    align: IntAttr

    @classmethod
    def of(cls, element: Attribute, align: int | None = None) -> PtrType:
        """The pointer type; without `align` nothing but the element's own size is promised."""
        return cls(element, IntAttr(align if align is not None else element_bytes(element)))

    def verify(self) -> None:
        if not is_element(self.element):
            raise VerifyException(f"a pointer points to integers or floats, found {self.element}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            at = parser.pos
            element = parser.parse_type()
            if not is_element(element):
                parser.raise_error(f"a pointer points to integers or floats, found {element}", at, parser.pos)
            align = element_bytes(element)
            if parser.parse_optional_punctuation(","):
                parser.parse_keyword("align")
                align = parser.parse_integer(allow_boolean=False, allow_negative=False)
            return (element, IntAttr(align))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.element)
            if self.align.data != element_bytes(self.element):
                printer.print_string(f", align {self.align.data}")
