"""Loops with a meaning beyond order: iterations that are independent, and iterations that combine into one value."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Block, Region, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    lazy_traits_def,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsTerminator, NoTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from .types import is_scalar


class Mapping(StrEnum):
    """What runs the iterations: `grid` threads of the CPU or blocks of the GPU; `row` the threads of a block (a plain
    loop in C); `vector` SIMD lanes; `sequential` one after another."""

    Grid = "grid"
    Row = "row"
    Vector = "vector"
    Sequential = "sequential"


class Combine(StrEnum):
    """Combiners. Maximum and minimum of floats give NaN if either side is NaN; integers wrap and are signed."""

    Add = "add"
    Mul = "mul"
    Max = "max"
    Min = "min"
    And = "and"
    Or = "or"


@irdl_attr_definition
class MappingAttr(EnumAttribute[Mapping], SpacedOpaqueSyntaxAttribute):
    """`#loop<mapping grid>`."""

    name = "loop.mapping"


@irdl_attr_definition
class CombineAttr(EnumAttribute[Combine], SpacedOpaqueSyntaxAttribute):
    """`#loop<combine add>`."""

    name = "loop.combine"


INDEX = IndexType()


def _body(count: int) -> Region:
    return Region(Block(arg_types=[INDEX] * count))


def _parse_space(parser: Parser) -> tuple[list[Parser.Argument], Sequence[SSAValue]]:
    """`(%i, %j) to (%m, %n)`."""
    names = parser.parse_comma_separated_list(
        Parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False).resolve(INDEX)
    )
    parser.parse_keyword("to")
    extents = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, lambda: parser.parse_operand(INDEX))
    return names, extents


def _print_space(printer: Printer, args: Sequence[SSAValue], extents: Sequence[SSAValue]) -> None:
    printer.print_string(" (")
    printer.print_list(args, printer.print_ssa_value)
    printer.print_string(") to (")
    printer.print_list(extents, printer.print_ssa_value)
    printer.print_string(")")


def _parse_mapping(parser: Parser) -> MappingAttr:
    if not parser.parse_optional_keyword("mapping"):
        return MappingAttr(Mapping.Sequential)
    at = parser.pos
    word = parser.parse_str_literal()
    if word not in list(Mapping):
        parser.raise_error(f"mapping is one of {', '.join(Mapping)}, found {word!r}", at, parser.pos)
    return MappingAttr(Mapping(word))


def _print_mapping(printer: Printer, mapping: MappingAttr) -> None:
    if mapping.data is not Mapping.Sequential:
        printer.print_string(f' mapping "{mapping.data}"')


def _verify_space(args: Sequence[SSAValue], extents: Sequence[SSAValue]) -> None:
    if len(args) != len(extents) or not args:
        raise VerifyException(f"one index for each extent, found {len(args)} for {len(extents)}")
    if any(not isinstance(value.type, IndexType) for value in (*args, *extents)):
        raise VerifyException("indices and extents are of type index")


@irdl_op_definition
class ParallelOp(IRDLOperation):
    """Runs the body for all index tuples of the space in any order, or at once: iterations do not depend on each other.

    `loop.parallel (%i, %j) to (%m, %n) mapping "grid" {...}`. An extent of 0 or less runs nothing.
    """

    name = "loop.parallel"
    extents = var_operand_def(IndexType)
    mapping = prop_def(MappingAttr)
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    def __init__(self, extents: Sequence[SSAValue], mapping: Mapping, body: Region | None = None):
        super().__init__(
            operands=[list(extents)],
            properties={"mapping": MappingAttr(mapping)},
            regions=[body if body is not None else _body(len(extents))],
        )

    def verify_(self) -> None:
        _verify_space(self.body.block.args, self.extents)

    @classmethod
    def parse(cls, parser: Parser) -> ParallelOp:
        args, extents = _parse_space(parser)
        mapping = _parse_mapping(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region(args)
        op = cls(extents, mapping.data, body)
        op.attributes |= attributes.data if attributes else {}
        return op

    def print(self, printer: Printer) -> None:
        _print_space(printer, self.body.block.args, self.extents)
        _print_mapping(printer, self.mapping)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


@irdl_op_definition
class YieldOp(IRDLOperation):
    """What one iteration of a loop.reduce contributes."""

    name = "loop.yield"
    value = operand_def()
    traits = lazy_traits_def(lambda: (IsTerminator(), HasParent(ReduceOp)))
    assembly_format = "$value attr-dict `:` type($value)"

    def __init__(self, value: SSAValue):
        super().__init__(operands=[value])


@irdl_op_definition
class ReduceOp(IRDLOperation):
    """Combines `init` with the values that the iterations yield, in any order and grouping.

    `%r = loop.reduce (%k) to (%n) add init %zero : f32 mapping "vector" { ... loop.yield %v : f32 }`
    An extent of 0 or less gives `init`, which is the combiner's identity or a value to be counted once.
    """

    name = "loop.reduce"
    extents = var_operand_def(IndexType)
    init = operand_def()
    combine = prop_def(CombineAttr)
    mapping = prop_def(MappingAttr)
    result = result_def()
    body = region_def("single_block")
    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self,
        extents: Sequence[SSAValue],
        init: SSAValue,
        combine: Combine,
        mapping: Mapping,
        body: Region | None = None,
    ):
        super().__init__(
            operands=[list(extents), init],
            result_types=[init.type],
            properties={"combine": CombineAttr(combine), "mapping": MappingAttr(mapping)},
            regions=[body if body is not None else _body(len(extents))],
        )

    def verify_(self) -> None:
        block = self.body.block
        _verify_space(block.args, self.extents)
        last = block.last_op
        if not isinstance(last, YieldOp):
            raise VerifyException("the body ends with loop.yield")
        if not is_scalar(self.init.type):
            raise VerifyException(f"reduces scalars, found {self.init.type}")
        if last.value.type != self.init.type or self.result.type != self.init.type:
            raise VerifyException(f"init is {self.init.type}, but {last.value.type} is yielded")

    @classmethod
    def parse(cls, parser: Parser) -> ReduceOp:
        args, extents = _parse_space(parser)
        at = parser.pos
        word = parser.parse_identifier()
        if word not in list(Combine):
            parser.raise_error(f"combiner is one of {', '.join(Combine)}, found {word!r}", at, parser.pos)
        parser.parse_keyword("init")
        name = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        kind: Attribute = parser.parse_type()
        init = parser.resolve_operand(name, kind)
        mapping = _parse_mapping(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(extents, init, Combine(word), mapping.data, parser.parse_region(args))
        op.attributes |= attributes.data if attributes else {}
        return op

    def print(self, printer: Printer) -> None:
        _print_space(printer, self.body.block.args, self.extents)
        printer.print_string(f" {self.combine.data} init ")
        printer.print_operand(self.init)
        printer.print_string(" : ")
        printer.print_attribute(self.init.type)
        _print_mapping(printer, self.mapping)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)
