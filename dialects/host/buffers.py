"""The memory of a program: inputs and outputs that the caller owns, and slices of one arena."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..sym.dialect import ExprAttr
from ..sym.expr import Expr, IntLike
from ..sym.syntax import parse_expr
from .types import BufferType, parse_buffer

ROLES = ("input", "scalar", "parameter", "buffer", "constant")
INPUT_ALIGNMENT = 16
"""Bytes that the kernels of a GPU assume of the address of an input, for their vector loads."""
ARENA_ALIGNMENT = 64
"""Bytes that the arena and every slice of it are aligned to."""


def _buffer_type(parser: Parser) -> BufferType:
    parser.parse_punctuation(":")
    type_ = parser.parse_type()
    if not isinstance(type_, BufferType):
        parser.raise_error(f"expected a host.buffer, found {type_}")
    return type_


def _print_type(printer: Printer, value: SSAValue) -> None:
    printer.print_string(" : ")
    printer.print_attribute(value.type)


def value_name(name: str) -> str:
    """The name of a parameter as the name of a value, which holds no other characters and starts with no digit."""
    kept = re.sub(r"[^A-Za-z0-9_$.-]", "_", name)
    return f"_{kept}" if kept[:1].isdigit() or not kept else kept


@irdl_op_definition
class InputOp(IRDLOperation):
    """Memory that the caller gives: `%x = host.input "x" role "input" align 16 : !host.buffer<[s, 4], f32>`.

    The roles are those of the artifact. The address is a multiple of `align` bytes. `mutated n`: the program writes
    it, and what it holds at the end is result n of the function that the program was made from. A constant that the
    compiler made carries its bytes, as hlir.literal does. A scalar is a Python int known to the program as a symbol,
    and no memory.
    """

    name = "host.input"
    input_name = prop_def(StringAttr)
    role = prop_def(StringAttr)
    align = prop_def(IntAttr)
    mutated = opt_prop_def(IntAttr)
    data = opt_prop_def(StringAttr)
    buffer = result_def(BufferType)

    def __init__(
        self,
        name: str,
        role: str,
        type_: BufferType,
        *,
        align: int = INPUT_ALIGNMENT,
        mutated: int | None = None,
        data: str | None = None,
    ):
        super().__init__(
            properties={
                "input_name": StringAttr(name),
                "role": StringAttr(role),
                "align": IntAttr(align),
                "mutated": None if mutated is None else IntAttr(mutated),
                "data": None if data is None else StringAttr(data),
            },
            result_types=[type_],
        )
        self.buffer.name_hint = value_name(name)

    def verify_(self) -> None:
        if self.role.data not in ROLES:
            raise VerifyException(f"the role is one of {' '.join(ROLES)}, found {self.role.data!r}")
        if self.data is not None and self.role.data != "constant":
            raise VerifyException(f"only a constant carries its data, found role {self.role.data!r}")
        align = self.align.data
        if align < 1 or align & (align - 1):
            raise VerifyException(f"align is a power of two, found {align}")

    @classmethod
    def parse(cls, parser: Parser) -> InputOp:
        name = parser.parse_str_literal()
        parser.parse_keyword("role")
        role = parser.parse_str_literal()
        parser.parse_keyword("align")
        align = parser.parse_integer()
        mutated = parser.parse_integer() if parser.parse_optional_keyword("mutated") else None
        data = parser.parse_str_literal() if parser.parse_optional_keyword("data") else None
        return cls(name, role, _buffer_type(parser), align=align, mutated=mutated, data=data)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.input_name.data)
        printer.print_string(" role ")
        printer.print_string_literal(self.role.data)
        printer.print_string(f" align {self.align.data}")
        if self.mutated is not None:
            printer.print_string(f" mutated {self.mutated.data}")
        if self.data is not None:
            printer.print_string(" data ")
            printer.print_string_literal(self.data.data)
        _print_type(printer, self.buffer)


@irdl_op_definition
class OutputOp(IRDLOperation):
    """Memory that is given back to the caller, fresh at every call: `%y = host.output "y" : !host.buffer<[s, 4], f32>`.

    `host.output "y" alias %x strides [1, 4] offset 0 : ...` is a view of an input instead, and has no memory of its
    own.
    """

    name = "host.output"
    output_name = prop_def(StringAttr)
    alias = opt_operand_def(BufferType)
    strides = opt_prop_def(ArrayAttr[ExprAttr])
    offset = opt_prop_def(ExprAttr)
    buffer = result_def(BufferType)

    def __init__(
        self,
        name: str,
        type_: BufferType,
        *,
        alias: SSAValue | None = None,
        strides: Sequence[IntLike] = (),
        offset: IntLike = 0,
    ):
        view = alias is not None
        super().__init__(
            operands=[[alias] if alias is not None else []],
            properties={
                "output_name": StringAttr(name),
                "strides": ArrayAttr([ExprAttr.get(s) for s in strides]) if view else None,
                "offset": ExprAttr.get(offset) if view else None,
            },
            result_types=[type_],
        )
        self.buffer.name_hint = value_name(name)

    @classmethod
    def parse(cls, parser: Parser) -> OutputOp:
        name = parser.parse_str_literal()
        alias, strides, offset = None, list[Expr](), None
        if parser.parse_optional_keyword("alias"):
            alias = parse_buffer(parser)
            parser.parse_keyword("strides")
            strides = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_expr(parser))
            parser.parse_keyword("offset")
            offset = parse_expr(parser)
        return cls(name, _buffer_type(parser), alias=alias, strides=strides, offset=offset or 0)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.output_name.data)
        if self.alias is not None and self.strides is not None and self.offset is not None:
            printer.print_string(" alias ")
            printer.print_operand(self.alias)
            strides = ", ".join(str(s.data) for s in self.strides)
            printer.print_string(f" strides [{strides}] offset {self.offset.data}")
        _print_type(printer, self.buffer)


@irdl_op_definition
class ArenaOp(IRDLOperation):
    """The program's one piece of working memory: `host.arena size s*1536 align 64`. `bound` is the largest number of
    bytes that are alive at one moment: no plan takes less."""

    name = "host.arena"
    size = prop_def(ExprAttr)
    bound = prop_def(ExprAttr)
    align = prop_def(IntAttr)

    def __init__(self, size: IntLike, bound: IntLike, align: int = ARENA_ALIGNMENT):
        super().__init__(properties={"size": ExprAttr.get(size), "bound": ExprAttr.get(bound), "align": IntAttr(align)})

    @classmethod
    def parse(cls, parser: Parser) -> ArenaOp:
        parser.parse_keyword("size")
        size = parse_expr(parser)
        parser.parse_keyword("bound")
        bound = parse_expr(parser)
        parser.parse_keyword("align")
        return cls(size, bound, parser.parse_integer())

    def print(self, printer: Printer) -> None:
        printer.print_string(f" size {self.size.data} bound {self.bound.data} align {self.align.data}")


@irdl_op_definition
class SliceOp(IRDLOperation):
    """A piece of the arena, `offset` bytes from its start:
    `%t = host.slice at s*1536 : !host.buffer<[s, 384], f32>`."""

    name = "host.slice"
    offset = prop_def(ExprAttr)
    buffer = result_def(BufferType)

    def __init__(self, offset: IntLike, type_: BufferType):
        super().__init__(properties={"offset": ExprAttr.get(offset)}, result_types=[type_])

    @property
    def end(self) -> Expr:
        """The first byte after the slice."""
        assert isinstance(self.buffer.type, BufferType)
        return self.offset.data + self.buffer.type.bytes

    @classmethod
    def parse(cls, parser: Parser) -> SliceOp:
        parser.parse_keyword("at")
        offset = parse_expr(parser)
        return cls(offset, _buffer_type(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(f" at {self.offset.data}")
        _print_type(printer, self.buffer)
