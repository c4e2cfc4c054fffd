"""host.source: the text that a kernel, or a whole program of target c, was printed as, and how it is called."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import ArrayAttr, IntAttr, ModuleOp, StringAttr, SymbolNameConstraint
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ..sym.dialect import ExprAttr
from ..sym.expr import IntLike
from ..sym.syntax import parse_expr

LANGUAGES = ("c", "cuda", "metal")


@irdl_op_definition
class SourceOp(IRDLOperation):
    """One translation unit, and the function `entry` in it.

    For a GPU kernel: `parameters` are the types of its parameters (ptr, i32, i64), the trailing ones being `symbols`;
    `grid` and `block` are its launch. For target c the one source of the program has the entry of runtime/abi.py and
    none of these.

    `host.source
    @k language "cuda" entry "k" parameters ["ptr", "i32"] symbols ["s"] grid [s, 1, 1] block [128, 1, 1] shared 0
    ["line", "line"]`
    """

    name = "host.source"
    sym_name = prop_def(SymbolNameConstraint())
    language = prop_def(StringAttr)
    entry = prop_def(StringAttr)
    parameters = prop_def(ArrayAttr[StringAttr])
    symbols = prop_def(ArrayAttr[StringAttr])
    grid = prop_def(ArrayAttr[ExprAttr])
    block = prop_def(ArrayAttr[IntAttr])
    shared = prop_def(IntAttr)
    text = prop_def(StringAttr)
    traits = traits_def(HasParent(ModuleOp), SymbolOpInterface())

    def __init__(
        self,
        name: str,
        language: str,
        entry: str,
        text: str,
        *,
        parameters: Sequence[str] = (),
        symbols: Sequence[str] = (),
        grid: Sequence[IntLike] = (),
        block: Sequence[int] = (),
        shared: int = 0,
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "language": StringAttr(language),
                "entry": StringAttr(entry),
                "parameters": ArrayAttr([StringAttr(p) for p in parameters]),
                "symbols": ArrayAttr([StringAttr(s) for s in symbols]),
                "grid": ArrayAttr([ExprAttr.get(g) for g in grid]),
                "block": ArrayAttr([IntAttr(b) for b in block]),
                "shared": IntAttr(shared),
                "text": StringAttr(text),
            }
        )

    def verify_(self) -> None:
        if self.language.data not in LANGUAGES:
            raise VerifyException(f"the language is one of {' '.join(LANGUAGES)}, found {self.language.data!r}")
        if self.language.data != "c" and (len(self.grid) != 3 or len(self.block) != 3):
            raise VerifyException("a GPU kernel has a grid and a block of three extents")
        if len(self.symbols) > len(self.parameters):
            raise VerifyException(f"{len(self.symbols)} symbols for {len(self.parameters)} parameters")

    @classmethod
    def parse(cls, parser: Parser) -> SourceOp:
        square = parser.Delimiter.SQUARE
        name = parser.parse_symbol_name().data
        parser.parse_keyword("language")
        language = parser.parse_str_literal()
        parser.parse_keyword("entry")
        entry = parser.parse_str_literal()
        words: dict[str, list[str]] = {"parameters": [], "symbols": []}
        for key in words:
            if parser.parse_optional_keyword(key):
                words[key] = parser.parse_comma_separated_list(square, parser.parse_str_literal)
        grid, block, shared = [], [], 0
        if parser.parse_optional_keyword("grid"):
            grid = parser.parse_comma_separated_list(square, lambda: parse_expr(parser))
            parser.parse_keyword("block")
            block = parser.parse_comma_separated_list(square, parser.parse_integer)
            parser.parse_keyword("shared")
            shared = parser.parse_integer()
        text = "\n".join(parser.parse_comma_separated_list(square, parser.parse_str_literal))
        return cls(name, language, entry, text, **words, grid=grid, block=block, shared=shared)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(f' language "{self.language.data}" entry "{self.entry.data}"')
        for key, words in (("parameters", self.parameters), ("symbols", self.symbols)):
            if len(words):
                printer.print_string(f" {key} [")
                printer.print_list((word.data for word in words), printer.print_string_literal)
                printer.print_string("]")
        if len(self.grid):
            grid = ", ".join(str(g.data) for g in self.grid)
            block = ", ".join(str(b.data) for b in self.block)
            printer.print_string(f" grid [{grid}] block [{block}] shared {self.shared.data}")
        lines = [json.dumps(line, ensure_ascii=False) for line in self.text.data.split("\n")]
        printer.print_string(" [\n  " + ",\n  ".join(lines) + "]")


def sources(module: ModuleOp) -> Iterator[SourceOp]:
    """The texts of a module in order."""
    return (op for op in module.ops if isinstance(op, SourceOp))
