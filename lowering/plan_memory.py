"""plan-memory: a function of kernels becomes one host.program, with a place for every value and one symbol a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block
from xdsl.passes import ModulePass

from ..dialects.hlir.loop import LoopOp
from ..transforms.unroll import unroll_loop
from .planning.outline import Outliner
from .planning.program import Planner


@dataclass(frozen=True)
class PlanMemoryPass(ModulePass):
    """Unrolls loops, gives every distinct kernel a symbol, and every value its memory.

    A result is written where the caller wants it; a mutated input in place where nothing reads it afterwards, else by
    a last copy. Everything else lies in one arena in which dead space is used again. For target c offsets follow the
    symbols; for a GPU they are constants for the largest sizes, unless that takes too much. With a `matmul_precision`
    below "highest" library products of f32 are of operands rounded to tf32.
    """

    name: ClassVar[str] = "plan-memory"
    target: str = "c"
    matmul_precision: str = "highest"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [f for f in op.ops if isinstance(f, FuncOp) and not f.is_declaration]
        outliner = Outliner({f.sym_name.data for f in functions})
        for function in functions:
            unroll(function.body.block)
            program = Planner(op, function, self.target, outliner, tf32=self.matmul_precision != "highest").program()
            op.body.block.insert_op_before(program, function)
            op.body.block.erase_op(function)
        op.body.block.add_ops(outliner.functions.values())


def unroll(block: Block) -> None:
    """Replaces the loops of a block, and the loops in their bodies, by their iterations."""
    while loops := [op for op in block.ops if isinstance(op, LoopOp)]:
        for loop in loops:
            unroll_loop(loop)
