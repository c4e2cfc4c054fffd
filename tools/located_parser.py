"""A parser that gives an op without a `loc(...)` its place in the file, as mlir-opt does: errors can name it."""

from __future__ import annotations

import bisect

from xdsl.context import Context
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr, UnknownLoc
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.utils.exceptions import DiagnosticException, ParseError
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ..dialects.errors import CompileError


class LocatedParser(Parser):
    """Parses a piece of a file that begins after `line_offset` lines of it."""

    def __init__(self, context: Context, text: str, name: str, line_offset: int = 0):
        super().__init__(context, text, name)
        self._file = StringAttr(name)
        self._line_starts = [0, *(at + 1 for at, character in enumerate(text) if character == "\n")]
        self._line_offset = line_offset

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        if self._current_token.kind is MLIRTokenKind.EOF:
            self.raise_error("expected a module or an operation, found none")
        return super().parse_module(allow_implicit_module)

    def parse_operation(self) -> Operation:
        start = self._current_token.span.start
        try:
            op = super().parse_operation()
        except (DiagnosticException, CompileError) as error:
            # A type, an attribute or an op that refuses what it is built from does not know where that stands.
            message = error.message if isinstance(error, CompileError) else str(error)
            raise ParseError(self._current_token.span, message) from error
        if isinstance(op.location, UnknownLoc):
            line = bisect.bisect_right(self._line_starts, start)
            column = start - self._line_starts[line - 1] + 1
            op.location = FileLineColLoc(self._file, IntAttr(line + self._line_offset), IntAttr(column))
        return op
