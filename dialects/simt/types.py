"""Types of thread-level code: pointers with an address space, and per-thread register arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    Float8E4M3FNType,
    Float8E5M2Type,
    IntAttr,
    IntegerType,
    VectorType,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum


class Space(StrEnum):
    """Where a pointer points: memory of the device, or the memory that the threads of one block share."""

    Global = "global"
    Shared = "shared"


@irdl_attr_definition
class SpaceAttr(EnumAttribute[Space], SpacedOpaqueSyntaxAttribute):
    """`#simt<space global>`."""

    name = "simt.space"


def element_bytes(element: Attribute) -> int:
    """The size in memory of a scalar; i1 takes one byte."""
    if isinstance(element, IntegerType):
        return max(1, element.bitwidth // 8)
    if isinstance(element, Float8E4M3FNType | Float8E5M2Type):
        return 1
    if isinstance(element, AnyFloat):
        return element.bitwidth // 8
    raise VerifyException(f"{element} is no scalar that thread-level code can load or store")


def vector_lanes(attribute: Attribute) -> tuple[int, Attribute]:
    """(lanes, element) of a 1-D vector type; a scalar counts as one lane."""
    if not isinstance(attribute, VectorType):
        return 1, attribute
    vector = cast(VectorType[Attribute], attribute)
    if len(vector.get_shape()) != 1:
        raise VerifyException(f"thread-level vectors have one dimension, found {vector}")
    return vector.get_shape()[0], vector.element_type


def is_scalar(element: Attribute) -> bool:
    """Whether a type is a scalar that thread-level code can hold."""
    return isinstance(element, IntegerType | AnyFloat)


def _int_attr(value: int | IntAttr) -> IntAttr:
    return value if isinstance(value, IntAttr) else IntAttr(value)


def _space_attr(value: Space | SpaceAttr) -> SpaceAttr:
    return value if isinstance(value, SpaceAttr) else SpaceAttr(value)


@irdl_attr_definition
class PtrType(ParametrizedAttribute, TypeAttribute):
    """`!simt.ptr<bf16, global, align 16>`: address of elements; `align` is in bytes and defaults to the element's size.

    Offsets to a pointer always count elements, whatever the width of the access.
    """

    name = "simt.ptr"
    element: Attribute
    space: SpaceAttr = param_def(converter=_space_attr)
    align: IntAttr = param_def(converter=_int_attr)

    @classmethod
    def of(cls, element: Attribute, space: Space, align: int | None = None) -> PtrType:
        """The pointer type with the element's own alignment unless one is given."""
        return cls(element, SpaceAttr(space), IntAttr(align if align is not None else element_bytes(element)))

    @property
    def is_shared(self) -> bool:
        return self.space.data == Space.Shared

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            element = parser.parse_type()
            parser.parse_punctuation(",")
            space = parser.parse_str_enum(Space)
            if parser.parse_optional_punctuation(","):
                parser.parse_keyword("align")
                align = parser.parse_integer()
            else:
                align = element_bytes(element)
        return (element, SpaceAttr(space), IntAttr(align))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.element)
            printer.print_string(f", {self.space.data}")
            if self.align.data != element_bytes(self.element):
                printer.print_string(f", align {self.align.data}")

    def verify(self) -> None:
        size = element_bytes(self.element)
        align = self.align.data
        if align < size or align & (align - 1):
            raise VerifyException(
                f"alignment {align} must be a power of two and at least the {size} bytes of {self.element}"
            )


@irdl_attr_definition
class RegType(ParametrizedAttribute, TypeAttribute):
    """`!simt.reg<2x8xf32>`: an array in the registers of each thread, read and written in place in program order.

    Indices must become constants when the loops around them are unrolled, or the array lands in slow local memory.
    """

    name = "simt.reg"
    shape: ArrayAttr[IntAttr]
    element: Attribute

    @classmethod
    def of(cls, shape: Sequence[int], element: Attribute) -> RegType:
        return cls(ArrayAttr([IntAttr(extent) for extent in shape]), element)

    def get_shape(self) -> tuple[int, ...]:
        return tuple(extent.data for extent in self.shape)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            shape, element = parser.parse_ranked_shape()
        return (ArrayAttr([IntAttr(extent) for extent in shape]), element)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            for extent in self.get_shape():
                printer.print_string(f"{extent}x")
            printer.print_attribute(self.element)

    def verify(self) -> None:
        if not self.shape.data:
            raise VerifyException("a register array needs at least one extent")
        if any(extent <= 0 for extent in self.get_shape()):
            raise VerifyException(f"extents of a register array must be positive, found {list(self.get_shape())}")
        if isinstance(self.element, VectorType | RegType | PtrType):
            raise VerifyException("a register array holds scalars or matrix fragments, not vectors, arrays or pointers")
