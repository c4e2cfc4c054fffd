"""host.program: the buffers and steps of one launchable program."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolNameConstraint
from xdsl.ir import Block, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ..sym.bounds import Bounds
from ..sym.dialect import declared_bounds
from .buffers import ArenaOp, InputOp, OutputOp, SliceOp
from .races import check_program
from .steps import STEPS, Step
from .symbols import GuardOp, SymbolOp, check_facts


@irdl_op_definition
class ProgramOp(IRDLOperation):
    """One program: buffers, symbols and guards first, then steps that run as if one after another, in order.

    `host.program @main target "c" { ... }`. The inputs are in the order of the arguments of the function that the
    program was made from, constants that the compiler made after them; the outputs are in the order of its results.
    """

    name = "host.program"
    sym_name = prop_def(SymbolNameConstraint())
    target = prop_def(StringAttr)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), HasParent(ModuleOp), SymbolOpInterface(), NoTerminator())

    def __init__(self, name: str, target: str, body: Block):
        super().__init__(
            properties={"sym_name": StringAttr(name), "target": StringAttr(target)}, regions=[Region(body)]
        )

    @property
    def inputs(self) -> list[InputOp]:
        return [op for op in self.body.block.ops if isinstance(op, InputOp)]

    @property
    def outputs(self) -> list[OutputOp]:
        return [op for op in self.body.block.ops if isinstance(op, OutputOp)]

    @property
    def slices(self) -> list[SliceOp]:
        return [op for op in self.body.block.ops if isinstance(op, SliceOp)]

    @property
    def symbols(self) -> list[SymbolOp]:
        return [op for op in self.body.block.ops if isinstance(op, SymbolOp)]

    @property
    def guards(self) -> list[GuardOp]:
        return [op for op in self.body.block.ops if isinstance(op, GuardOp)]

    @property
    def steps(self) -> list[Step]:
        return [op for op in self.body.block.ops if isinstance(op, STEPS)]

    @property
    def arena(self) -> ArenaOp | None:
        """The working memory, or None where the program needs none."""
        return next((op for op in self.body.block.ops if isinstance(op, ArenaOp)), None)

    def verify_(self) -> None:
        allowed = (InputOp, OutputOp, SliceOp, SymbolOp, GuardOp, ArenaOp, *STEPS)
        for op in self.body.block.ops:
            if not isinstance(op, allowed):
                raise VerifyException(f"a program holds buffers and steps, found {op.name}")
        module = self.parent_op()
        bounds = declared_bounds(module) if isinstance(module, ModuleOp) else Bounds()
        if isinstance(module, ModuleOp):
            check_facts(module, self.symbols, self.guards)
        check_program(list(self.body.block.ops), bounds)

    @classmethod
    def parse(cls, parser: Parser) -> ProgramOp:
        name = parser.parse_symbol_name().data
        parser.parse_keyword("target")
        target = parser.parse_str_literal()
        region = parser.parse_region()
        return cls.create(
            properties={"sym_name": StringAttr(name), "target": StringAttr(target)},
            regions=[region if region.blocks else Region(Block())],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(f' target "{self.target.data}" ')
        printer.print_region(self.body)


def programs(module: ModuleOp) -> Iterator[ProgramOp]:
    """The programs of a module in order."""
    return (op for op in module.ops if isinstance(op, ProgramOp))
