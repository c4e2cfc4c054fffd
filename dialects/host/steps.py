"""The steps of a program: kernel launches, library calls and copies, each with how it uses its buffers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FlatSymbolRefAttrConstr,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .types import BufferType, parse_buffer

MODES = ("read", "write", "update", "scratch")
"""How a step uses a buffer: reads it, overwrites it, reads and writes it, or uses it as workspace."""
Use = tuple[str, SSAValue]


def parse_uses(parser: Parser) -> list[Use]:
    """`(read %x, write %y)`."""

    def one() -> Use:
        return parser.parse_identifier(), parse_buffer(parser)

    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, one)


def print_uses(printer: Printer, uses: Sequence[Use]) -> None:
    """The inverse of `parse_uses`."""

    def one(use: Use) -> None:
        printer.print_string(f"{use[0]} ")
        printer.print_operand(use[1])

    with printer.in_parens():
        printer.print_list(uses, one)


class BufferStep(IRDLOperation):
    """A step with buffers and a mode for each."""

    buffers = var_operand_def(BufferType)
    modes = prop_def(ArrayAttr[StringAttr])

    @property
    def uses(self) -> list[Use]:
        """(mode, buffer) of every operand."""
        return [(mode.data, buffer) for mode, buffer in zip(self.modes, self.buffers, strict=True)]

    def verify_(self) -> None:
        if len(self.modes) != len(self.buffers):
            raise VerifyException(f"{len(self.modes)} modes for {len(self.buffers)} buffers")
        for mode in self.modes:
            if mode.data not in MODES:
                raise VerifyException(f"the mode is one of {' '.join(MODES)}, found {mode.data!r}")


def _modes(uses: Sequence[Use]) -> ArrayAttr[StringAttr]:
    return ArrayAttr([StringAttr(mode) for mode, _ in uses])


@irdl_op_definition
class LaunchOp(BufferStep):
    """Runs a kernel of the module on buffers: `host.launch @k0 (read %x, read %w, write %y)`.

    The buffers are the kernel's operands, then its results. The kernel's symbols are the program's.
    """

    name = "host.launch"
    kernel = prop_def(FlatSymbolRefAttrConstr)

    def __init__(self, kernel: str, uses: Sequence[Use]):
        super().__init__(
            operands=[[buffer for _, buffer in uses]],
            properties={"kernel": SymbolRefAttr(kernel), "modes": _modes(uses)},
        )

    @property
    def kernel_name(self) -> str:
        return self.kernel.root_reference.data

    @classmethod
    def parse(cls, parser: Parser) -> LaunchOp:
        name = parser.parse_symbol_name().data
        return cls(name, parse_uses(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.kernel_name)
        printer.print_string(" ")
        print_uses(printer, self.uses)


@irdl_op_definition
class CallOp(BufferStep):
    """Calls a library:
    `host.call "cublaslt.matmul" {m = #sym.expr<s>, epilogue = "bias"} (read %x, read %w, write %y)`.

    The callee says what its buffers and configuration mean; sizes in the configuration are expressions over the
    symbols, everything else is text.
    """

    name = "host.call"
    callee = prop_def(StringAttr)
    config = prop_def(DictionaryAttr)

    def __init__(self, callee: str, config: DictionaryAttr, uses: Sequence[Use]):
        super().__init__(
            operands=[[buffer for _, buffer in uses]],
            properties={"callee": StringAttr(callee), "config": config, "modes": _modes(uses)},
        )

    @classmethod
    def parse(cls, parser: Parser) -> CallOp:
        callee = parser.parse_str_literal()
        config = DictionaryAttr(parser.parse_optional_dictionary_attr_dict())
        return cls(callee, config, parse_uses(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.callee.data)
        if self.config.data:
            printer.print_string(" ")
            printer.print_attr_dict(self.config.data)
        printer.print_string(" ")
        print_uses(printer, self.uses)


@irdl_op_definition
class CopyOp(IRDLOperation):
    """Copies a whole buffer to one of the same type: `host.copy %t to %x`."""

    name = "host.copy"
    source = operand_def(BufferType)
    destination = operand_def(BufferType)

    def __init__(self, source: SSAValue, destination: SSAValue):
        super().__init__(operands=[source, destination])

    @property
    def uses(self) -> list[Use]:
        """(mode, buffer) of every operand."""
        return [("read", self.source), ("write", self.destination)]

    def verify_(self) -> None:
        if self.source.type != self.destination.type:
            raise VerifyException(f"copies {self.source.type} to {self.destination.type}")

    @classmethod
    def parse(cls, parser: Parser) -> CopyOp:
        source = parse_buffer(parser)
        parser.parse_keyword("to")
        return cls(source, parse_buffer(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.source)
        printer.print_string(" to ")
        printer.print_operand(self.destination)


Step = LaunchOp | CallOp | CopyOp
STEPS = (LaunchOp, CallOp, CopyOp)
