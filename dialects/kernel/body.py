"""What every kernel with a body shares: its terminator, its syntax, and the check that the region is its meaning."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from ..hlir.types import TensorType
from ..op import TensorOp

SCHEDULE = "schedule"


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends the body of a kernel with the values that it stores: the results of the kernel op, in order."""

    name = "kernel.yield"
    values = var_operand_def(TensorType)
    traits = traits_def(IsTerminator(), Pure())
    assembly_format = "($values^ `:` type($values))? attr-dict"

    def __init__(self, values: Sequence[SSAValue]):
        super().__init__(operands=[list(values)])


def verify_body(block: Block, operands: Sequence[Attribute], results: Sequence[Attribute]) -> None:
    """Checks that the arguments of a kernel's body are its operands, its yield its results, and its ops tensor ops."""
    arguments = [argument.type for argument in block.args]
    if arguments != list(operands):
        raise VerifyException(f"the body takes ({_text(arguments)}), the operands are ({_text(operands)})")
    last = block.last_op
    if not isinstance(last, YieldOp):
        raise VerifyException("the body ends with kernel.yield")
    stored = [value.type for value in last.values]
    if stored != list(results):
        raise VerifyException(f"the body stores ({_text(stored)}), the results are ({_text(results)})")
    if not stored:
        raise VerifyException("a kernel stores at least one value")
    for op in block.ops:
        if op is not last and not isinstance(op, TensorOp):
            raise VerifyException(f"the body holds tensor ops of hlir only, found {op.name}")


def _text(types: Sequence[Attribute]) -> str:
    return ", ".join(map(str, types)) or "nothing"


def parse_bound_operands(parser: Parser) -> tuple[list[Parser.Argument], list[SSAValue]]:
    """`(%a = %x : T, ...)`: the arguments of the body and the operands that they stand for."""

    def one() -> tuple[Parser.Argument, SSAValue]:
        argument = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        operand = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        return argument.resolve(type_), parser.resolve_operand(operand, type_)

    pairs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, one)
    return [argument for argument, _ in pairs], [operand for _, operand in pairs]


def print_bound_operands(printer: Printer, block: Block, operands: Sequence[SSAValue]) -> None:
    """The inverse of `parse_bound_operands`."""

    def one(pair: tuple[SSAValue, SSAValue]) -> None:
        argument, operand = pair
        printer.print_ssa_value(argument)
        printer.print_string(" = ")
        printer.print_operand(operand)
        printer.print_string(" : ")
        printer.print_attribute(operand.type)

    with printer.in_parens():
        printer.print_list(zip(block.args, operands, strict=True), one)


def parse_schedule(parser: Parser) -> DictionaryAttr:
    """`schedule {key = value, ...}`, or an empty schedule where there is none."""
    if parser.parse_optional_keyword(SCHEDULE):
        return DictionaryAttr(parser.parse_optional_dictionary_attr_dict())
    return DictionaryAttr({})


def print_schedule(printer: Printer, schedule: DictionaryAttr) -> None:
    """The inverse of `parse_schedule`."""
    if schedule.data:
        printer.print_string(f" {SCHEDULE} ")
        printer.print_attr_dict(schedule.data)
