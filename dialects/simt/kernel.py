"""simt.kernel: one device function that is launched over a grid of blocks of threads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    DictionaryAttr,
    IntAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolNameConstraint,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, opt_prop_def, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ..arguments import print_arguments
from ..sym.dialect import ExprAttr
from .memory import SharedOp
from .sync import WARP, ReduceBlockOp
from .types import PtrType, is_scalar

MAX_THREADS = 1024
MAX_SHARED_BYTES = 227 * 1024
OP_BUDGET = 300
"""Ops a template's kernel may have: building and verifying cost about 10 us an op, loops with `unroll` keep it
small."""


@irdl_op_definition
class KernelOp(IRDLOperation):
    """A kernel over pointers and scalars.

    `simt.kernel
    @k(%x: !simt.ptr<bf16, global, align 16>, %rows: i32) grid [#sym.expr<s>] block [256, 1, 1] smem 32 {...}`

    `grid` holds one to three expressions over the module's symbols (how many blocks), `block` the threads of a block,
    `smem` the bytes of shared memory that the launch provides. `min_blocks` is the number of blocks that must fit on
    one multiprocessor. `symbols` names, in order, the symbols that the trailing scalar arguments stand for; `modes`
    says for each pointer argument "read", "write" or "readwrite".
    """

    name = "simt.kernel"
    sym_name = prop_def(SymbolNameConstraint())
    grid = prop_def(ArrayAttr[ExprAttr])
    block = prop_def(ArrayAttr[IntAttr])
    smem = prop_def(IntegerAttr[I64])
    min_blocks = opt_prop_def(IntegerAttr[I64])
    symbols = opt_prop_def(ArrayAttr[StringAttr])
    modes = opt_prop_def(ArrayAttr[StringAttr])
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), HasParent(ModuleOp), SymbolOpInterface(), NoTerminator())

    def __init__(
        self,
        name: str,
        arg_types: Sequence[Attribute],
        *,
        grid: Sequence[Attribute],
        block: Sequence[int],
        smem: int = 0,
        min_blocks: int | None = None,
        symbols: Sequence[str] | None = None,
        modes: Sequence[str] | None = None,
        body: Region | None = None,
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "grid": ArrayAttr(grid),
                "block": ArrayAttr([IntAttr(extent) for extent in block]),
                "smem": IntegerAttr(smem, i64),
                "min_blocks": None if min_blocks is None else IntegerAttr(min_blocks, i64),
                "symbols": None if symbols is None else ArrayAttr([StringAttr(symbol) for symbol in symbols]),
                "modes": None if modes is None else ArrayAttr([StringAttr(mode) for mode in modes]),
            },
            regions=[body if body is not None else Region(Block(arg_types=arg_types))],
        )

    @property
    def block_shape(self) -> tuple[int, ...]:
        return tuple(extent.data for extent in self.block)

    @property
    def threads(self) -> int:
        """Threads of one block."""
        count = 1
        for extent in self.block_shape:
            count *= extent
        return count

    def op_count(self) -> int:
        """Ops inside, constants left out: what building, verifying and printing this kernel cost."""
        return sum(1 for op in self.body.walk() if op.name != "arith.constant")

    def verify_(self) -> None:
        if not 1 <= len(self.grid) <= 3:
            raise VerifyException(f"grid needs one to three extents, found {len(self.grid)}")
        if len(self.block) != 3 or any(extent < 1 for extent in self.block_shape):
            raise VerifyException(f"block needs three positive extents, found {list(self.block_shape)}")
        if self.threads > MAX_THREADS:
            raise VerifyException(f"block has {self.threads} threads, a device takes at most {MAX_THREADS}")
        smem = self.smem.value.data
        if not 0 <= smem <= MAX_SHARED_BYTES:
            raise VerifyException(f"smem is {smem} bytes, a block has at most {MAX_SHARED_BYTES}")
        self._verify_arguments()
        for op in self.body.walk():
            if isinstance(op, SharedOp) and op.offset.value.data >= max(smem, 1):
                raise VerifyException(f"simt.shared at {op.offset.value.data} lies outside the {smem} bytes of smem")
        reduces = any(isinstance(op, ReduceBlockOp) for op in self.body.walk())
        if reduces and self.threads % WARP:
            raise VerifyException(f"a block reduction needs whole warps, found {self.threads} threads")

    def _verify_arguments(self) -> None:
        pointers = [arg for arg in self.body.block.args if isinstance(arg.type, PtrType)]
        for arg in self.body.block.args:
            if isinstance(arg.type, PtrType):
                if arg.type.is_shared:
                    raise VerifyException(f"argument {arg.index} is shared; shared memory comes from simt.shared")
            elif not is_scalar(arg.type):
                raise VerifyException(f"argument {arg.index} must be a pointer or a scalar, found {arg.type}")
        if self.modes is not None:
            if len(self.modes) != len(pointers):
                raise VerifyException(f"modes has {len(self.modes)} entries for {len(pointers)} pointer arguments")
            for mode in self.modes:
                if mode.data not in ("read", "write", "readwrite"):
                    raise VerifyException(f'mode must be "read", "write" or "readwrite", found "{mode.data}"')
        if self.symbols is not None and len(self.symbols) > len(self.body.block.args) - len(pointers):
            raise VerifyException(f"symbols has {len(self.symbols)} entries, more than there are scalar arguments")

    @classmethod
    def parse(cls, parser: Parser) -> KernelOp:
        name = parser.parse_symbol_name()
        args = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_argument)
        properties: dict[str, Attribute] = {"sym_name": name}
        parser.parse_keyword("grid")
        properties["grid"] = ArrayAttr(
            parser.parse_comma_separated_list(Parser.Delimiter.SQUARE, parser.parse_attribute)
        )
        parser.parse_keyword("block")
        extents = parser.parse_comma_separated_list(Parser.Delimiter.SQUARE, parser.parse_integer)
        properties["block"] = ArrayAttr([IntAttr(extent) for extent in extents])
        properties["smem"] = IntegerAttr(parser.parse_integer() if parser.parse_optional_keyword("smem") else 0, i64)
        if parser.parse_optional_keyword("min_blocks"):
            properties["min_blocks"] = IntegerAttr(parser.parse_integer(), i64)
        for key in ("symbols", "modes"):
            if parser.parse_optional_keyword(key):
                words = parser.parse_comma_separated_list(Parser.Delimiter.SQUARE, parser.parse_str_literal)
                properties[key] = ArrayAttr([StringAttr(word) for word in words])
        attributes = parser.parse_optional_attr_dict_with_keyword() or DictionaryAttr({})
        region = parser.parse_region(args)
        if not region.blocks:
            region.add_block(Block(arg_types=[arg.type for arg in args]))
        op = cls.create(properties=properties, attributes=dict(attributes.data), regions=[region])
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name)
        print_arguments(printer, self.body.block.args)
        printer.print_string(" grid [")
        printer.print_list(self.grid, printer.print_attribute)
        printer.print_string(f"] block [{', '.join(str(extent) for extent in self.block_shape)}]")
        if self.smem.value.data:
            printer.print_string(f" smem {self.smem.value.data}")
        if self.min_blocks is not None:
            printer.print_string(f" min_blocks {self.min_blocks.value.data}")
        for key, words in (("symbols", self.symbols), ("modes", self.modes)):
            if words is not None:
                printer.print_string(f" {key} [")
                printer.print_list((word.data for word in words), printer.print_string_literal)
                printer.print_string("]")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


def kernels_of(module: ModuleOp) -> Iterable[KernelOp]:
    """The kernels of a module in program order."""
    ops: Iterable[Operation] = module.ops
    return (op for op in ops if isinstance(op, KernelOp))
