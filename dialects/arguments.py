"""Printing the arguments of an op that names them before its body, as kernels and functions do."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import BlockArgument
from xdsl.printer import Printer


def print_arguments(printer: Printer, arguments: Sequence[BlockArgument]) -> None:
    """`(%x: !loop.ptr<f32>, %n: index)`, which `Parser.parse_argument` reads back. xDSL's own function adds locations,
    which that does not take."""

    def one(argument: BlockArgument) -> None:
        printer.print_ssa_value(argument)
        printer.print_string(": ")
        printer.print_attribute(argument.type)

    with printer.in_parens():
        printer.print_list(arguments, one)
