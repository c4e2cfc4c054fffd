"""Which targets take which op in which element type: found by lowering a program of one op as far as its text."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from ..dialects.errors import CompileError
from ..dialects.op import Sample, TensorOp
from ..lowering.options import CompileOptions
from ..lowering.pipeline import stages_for

Use = tuple[type[TensorOp], Sample]


def program_of(uses: Sequence[Use]) -> ModuleOp:
    """A graph of ops that have nothing to do with one another: @main takes the operands of all and returns all
    results."""
    block = Block()
    results: list[SSAValue] = []
    for op_class, sample in uses:
        arguments = [block.insert_arg(type_, len(block.args)) for type_ in sample.operands]
        op = op_class.make(arguments, sample.properties)
        block.add_op(op)
        results += op.results
    block.add_op(ReturnOp(*results))
    types = FunctionType.from_lists([a.type for a in block.args], [r.type for r in results])
    return ModuleOp([FuncOp("main", types, Region(block))])


def lower_without_search(module: ModuleOp, target: str, last: str = "emit") -> None:
    """The stages from `extract` to `last`, which lower a graph as it is, in place.

    Raises:
        CompileError: the target does not take the graph.
    """
    options = CompileOptions(target=target)
    stages = stages_for(options)
    names = [stage.name for stage in stages]
    for stage in stages[names.index("extract") : names.index(last) + 1]:
        stage.make(options).apply(Context(), module)


def refusal(op_class: type[TensorOp], sample: Sample, target: str) -> str:
    """Why a target does not take a use of an op; nothing if it does."""
    try:
        lower_without_search(program_of([(op_class, sample)]), target)
    except CompileError as error:
        return error.message
    return ""
