"""Scalar functions that upstream `arith` and `math` do not have."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, result_def, traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException


@irdl_op_definition
class ApplyOp(IRDLOperation):
    """`%y = loop.apply "fmod"(%a, %b) : f32`: the scalar function that hlir ops name as their SPELLING, on each lane.

    Operands and result have one type.
    """

    name = "loop.apply"
    inputs = var_operand_def()
    function = prop_def(StringAttr)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, function: str, inputs: Sequence[SSAValue]):
        super().__init__(
            operands=[list(inputs)], properties={"function": StringAttr(function)}, result_types=[inputs[0].type]
        )

    def verify_(self) -> None:
        if not self.inputs or any(value.type != self.result.type for value in self.inputs):
            raise VerifyException("operands and result have one type")

    @classmethod
    def parse(cls, parser: Parser) -> ApplyOp:
        function = parser.parse_str_literal()
        names = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        parser.parse_punctuation(":")
        kind: Attribute = parser.parse_type()
        return cls(function, [parser.resolve_operand(name, kind) for name in names])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.function.data)
        with printer.in_parens():
            printer.print_list(self.inputs, printer.print_operand)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)
