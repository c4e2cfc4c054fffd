"""loop.kernel: one launch as a loop nest over buffers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IndexType, ModuleOp, StringAttr, SymbolNameConstraint
from xdsl.ir import Attribute, Block, BlockArgument, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ..arguments import print_arguments
from .types import PtrType

MODES = ("read", "write", "readwrite")


@irdl_op_definition
class KernelOp(IRDLOperation):
    """A kernel over pointers, then symbols as `index` values.

    `loop.kernel @k(%x: !loop.ptr<f32>, %y: !loop.ptr<f32>, %s: index) symbols ["s"] modes ["read", "write"] {...}`

    `symbols` names, in order, the module's symbols that the trailing `index` arguments stand for; `modes` says for each
    pointer how the kernel uses it. Pointers never overlap unless both are only read.
    """

    name = "loop.kernel"
    sym_name = prop_def(SymbolNameConstraint())
    symbols = prop_def(ArrayAttr[StringAttr])
    modes = prop_def(ArrayAttr[StringAttr])
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), HasParent(ModuleOp), SymbolOpInterface(), NoTerminator())

    def __init__(self, name: str, body: Region, *, symbols: Sequence[str] = (), modes: Sequence[str] = ()):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "symbols": ArrayAttr([StringAttr(symbol) for symbol in symbols]),
                "modes": ArrayAttr([StringAttr(mode) for mode in modes]),
            },
            regions=[body],
        )

    @property
    def pointers(self) -> tuple[BlockArgument, ...]:
        return tuple(arg for arg in self.body.block.args if isinstance(arg.type, PtrType))

    @property
    def symbol_arguments(self) -> dict[str, BlockArgument]:
        """The index arguments by the name of their symbol."""
        trailing = self.body.block.args[len(self.pointers) :]
        return {name.data: arg for name, arg in zip(self.symbols, trailing, strict=True)}

    def mode_of(self, pointer: BlockArgument) -> str:
        return self.modes.data[pointer.index].data

    def verify_(self) -> None:
        args = self.body.block.args
        count = len(self.pointers)
        for arg in args[count:]:
            if not isinstance(arg.type, IndexType):
                raise VerifyException(f"arguments are pointers, then index values; argument {arg.index} is {arg.type}")
        if len(args) - count != len(self.symbols):
            raise VerifyException(f"symbols has {len(self.symbols)} entries for {len(args) - count} index arguments")
        if len(self.modes) != count:
            raise VerifyException(f"modes has {len(self.modes)} entries for {count} pointer arguments")
        for mode in self.modes:
            if mode.data not in MODES:
                raise VerifyException(f'mode must be "read", "write" or "readwrite", found "{mode.data}"')

    @classmethod
    def parse(cls, parser: Parser) -> KernelOp:
        name = parser.parse_symbol_name()
        args = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_argument)
        properties: dict[str, Attribute] = {"sym_name": name}
        for key in ("symbols", "modes"):
            words: list[str] = []
            if parser.parse_optional_keyword(key):
                words = parser.parse_comma_separated_list(Parser.Delimiter.SQUARE, parser.parse_str_literal)
            properties[key] = ArrayAttr([StringAttr(word) for word in words])
        attributes = parser.parse_optional_attr_dict_with_keyword() or DictionaryAttr({})
        region = parser.parse_region(args)
        if not region.blocks:
            region.add_block(Block(arg_types=[arg.type for arg in args]))
        return cls.create(properties=properties, attributes=dict(attributes.data), regions=[region])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        print_arguments(printer, self.body.block.args)
        for key, words in (("symbols", self.symbols), ("modes", self.modes)):
            if len(words):
                printer.print_string(f" {key} [")
                printer.print_list((word.data for word in words), printer.print_string_literal)
                printer.print_string("]")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


def kernels_of(module: ModuleOp) -> Iterator[KernelOp]:
    """The loop kernels of a module in program order."""
    return (op for op in module.ops if isinstance(op, KernelOp))
