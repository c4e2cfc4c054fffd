"""The loop.kernel around lowered code: its arguments, its symbols, and its outermost scope."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.traits import Pure

from ...dialects.hlir.types import MapAttr, ShapeAttr, TensorType
from ...dialects.kernel.function import FuncOp
from ...dialects.kernel.launch import KernelOp as KernelLaunch
from ...dialects.loop import AllocOp, KernelOp, LoadOp, PtrType
from ...dialects.sym.bounds import Interval
from ...dialects.sym.expr import Expr
from ...dialects.sym.substitute import symbol_names
from .index_code import IndexCode
from .scalar_ops import element_type
from .scope import Scope

ALIGNMENT = 16
"""Bytes that the memory of every operand and result of a GPU kernel is aligned to."""


def _expressions(attribute: Attribute) -> tuple[Expr, ...]:
    if isinstance(attribute, TensorType):
        return attribute.dims
    if isinstance(attribute, ShapeAttr):
        return attribute.data
    return attribute.data.exprs if isinstance(attribute, MapAttr) else ()


def _attributes(function: FuncOp) -> Iterator[Attribute]:
    for op in function.body.walk():
        yield from (value.type for value in (*op.operands, *op.results))
        yield from op.properties.values()


def function_symbols(function: FuncOp) -> list[str]:
    """Names of the symbols that occur anywhere in a kernel function, sorted: its trailing arguments."""
    return sorted({n for a in _attributes(function) for e in _expressions(a) for n in symbol_names(e)})


@dataclass
class Frame:
    """`operands` maps the values inside the kernel's body that are its operands to their pointers."""

    function: FuncOp
    kernel: KernelLaunch
    root: Scope
    code: IndexCode
    operands: dict[SSAValue, SSAValue]
    results: tuple[SSAValue, ...]

    @classmethod
    def of(cls, function: FuncOp, ranges: Mapping[str, Interval]) -> Frame:
        """The frame of a kernel function."""
        kernel = function.kernel
        tensors = [*kernel.block.args, *kernel.results]
        names = function_symbols(function)
        block = Block(arg_types=[*map(pointer_type, tensors), *[IndexType()] * len(names)])
        for number, (argument, tensor) in enumerate(zip(block.args, tensors, strict=False)):
            fallback = f"in{number}" if number < len(kernel.inputs) else f"out{number - len(kernel.inputs)}"
            argument.name_hint = tensor.name_hint or fallback
        for argument, name in zip(block.args[len(tensors) :], names, strict=True):
            argument.name_hint = name
        inputs = len(kernel.inputs)
        code = IndexCode(dict(zip(names, block.args[len(tensors) :], strict=True)), ranges)
        operands: dict[SSAValue, SSAValue] = dict(zip(kernel.block.args, block.args, strict=False))
        return cls(function, kernel, Scope(block), code, operands, tuple(block.args[inputs : len(tensors)]))

    def finish(self) -> KernelOp:
        """The loop kernel, with the schedule of the kernel it came from."""
        inputs, outputs = len(self.kernel.inputs), len(self.results)
        remove_unused(self.root.block)
        names = function_symbols(self.function)
        modes = ["read"] * inputs + ["write"] * outputs
        op = KernelOp(self.function.sym_name.data, Region(self.root.block), symbols=names, modes=modes)
        if self.kernel.schedule.data:
            op.attributes["schedule"] = self.kernel.schedule
        return op


def pointer_type(value: SSAValue) -> PtrType:
    """The pointer to a tensor's memory, of which nothing is known but that elements are aligned."""
    assert isinstance(value.type, TensorType)
    return PtrType.of(element_type(value.type.dtype))


def promise_alignment(kernel: KernelOp) -> None:
    """Says of the pointers of a kernel what holds of the memory that GPU programs are given."""
    for pointer in kernel.pointers:
        assert isinstance(pointer.type, PtrType)
        wide = PtrType.of(pointer.type.element, max(ALIGNMENT, pointer.type.align.data))
        Rewriter.replace_value_with_new_type(pointer, wide)


def remove_unused(block: Block) -> None:
    """Removes values that nothing uses, last ones first: what was emitted for an index that turned out to be known."""
    for op in reversed(list(block.ops)):
        for region in op.regions:
            for inner in region.blocks:
                remove_unused(inner)
        removable = op.has_trait(Pure) or isinstance(op, LoadOp | AllocOp)
        if removable and op.results and all(not result.uses for result in op.results):
            op.detach()
            op.erase()
