"""kernel.func: one distinct kernel of a program under a symbol, so that equal kernels are lowered and compiled once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr, SymbolNameConstraint
from xdsl.ir import Block, Region, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, region_def, traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator, Pure, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ..arguments import print_arguments
from ..hlir.types import TensorType
from .launch import KernelOp


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """Ends a kernel.func with the results of its one kernel."""

    name = "kernel.return"
    values = var_operand_def(TensorType)
    traits = traits_def(IsTerminator(), Pure())
    assembly_format = "($values^ `:` type($values))? attr-dict"

    def __init__(self, values: Sequence[SSAValue]):
        super().__init__(operands=[list(values)])


@irdl_op_definition
class FuncOp(IRDLOperation):
    """One kernel as a symbol: its body is one kernel op on the arguments, in order, and `kernel.return` of its results.

    `kernel.func @k(%x: T, %y: T) -> (T) { %r = kernel.fused (...) ... kernel.return %r : T }`
    """

    name = "kernel.func"
    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), HasParent(ModuleOp), SymbolOpInterface())

    def __init__(self, name: str, kernel: KernelOp):
        """The function that holds a copy of `kernel`."""
        types = [operand.type for operand in kernel.inputs]
        block = Block(arg_types=types)
        copy = kernel.clone(dict(zip(kernel.inputs, block.args, strict=False)))
        copy.operands = list(block.args)
        block.add_ops([copy, ReturnOp(list(copy.results))])
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "function_type": FunctionType.from_lists(types, [r.type for r in kernel.results]),
            },
            regions=[Region(block)],
        )

    @property
    def kernel(self) -> KernelOp:
        first = self.body.block.first_op
        assert isinstance(first, KernelOp)
        return first

    def verify_(self) -> None:
        block = self.body.block
        ops = list(block.ops)
        if len(ops) != 2 or not isinstance(ops[0], KernelOp) or not isinstance(ops[1], ReturnOp):
            raise VerifyException("the body is one kernel op and kernel.return")
        if list(ops[0].operands) != list(block.args):
            raise VerifyException("the kernel takes the arguments of the function in order")
        if list(ops[1].values) != list(ops[0].results):
            raise VerifyException("the function returns the results of the kernel in order")
        found = FunctionType.from_lists([a.type for a in block.args], [r.type for r in ops[0].results])
        if found != self.function_type:
            raise VerifyException(f"the function type is {self.function_type}, the kernel has {found}")

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        name = parser.parse_symbol_name()
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        parser.parse_punctuation("->")
        results = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region(arguments)
        type_ = FunctionType.from_lists([argument.type for argument in arguments], results)
        return cls.create(
            properties={"sym_name": name, "function_type": type_},
            attributes=dict(attributes.data) if attributes else {},
            regions=[region],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        print_arguments(printer, self.body.block.args)
        printer.print_string(" -> ")
        with printer.in_parens():
            printer.print_list(self.function_type.outputs, printer.print_attribute)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


def kernel_functions(module: ModuleOp) -> Iterator[FuncOp]:
    """The kernels of a module in program order."""
    return (op for op in module.ops if isinstance(op, FuncOp))
