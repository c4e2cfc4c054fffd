"""kernel.fused to loops: chooses how the rows of a row program run."""

from __future__ import annotations

from collections.abc import Mapping

from ...dialects.kernel.function import FuncOp
from ...dialects.loop import KernelOp
from ...dialects.sym.bounds import Interval
from .column_loops import ColumnLoops, prefers_columns
from .row_loops import elementwise, over_rows
from .row_program import RowProgram
from .whole_loops import WholeLoops, is_one_long_row


def lower_fused(function: FuncOp, ranges: Mapping[str, Interval], threads: bool) -> KernelOp:
    """The loop kernel of a function that holds a kernel.fused. With `threads` the loops are for threads of a CPU: long
    rows are cut into blocks, rows that lie across memory are taken side by side."""
    program = RowProgram(function, ranges)
    everything = range(program.count)
    if program.reductions:
        if threads and prefers_columns(program):
            ColumnLoops(program).emit()
        elif threads and is_one_long_row(program):
            WholeLoops(program).emit()
        else:
            over_rows(program, everything[: program.rows], everything[program.rows :])
    else:
        scores = program.contiguous()
        inner = [max(everything, key=lambda n: (scores[n], n))] if program.count else []
        rows = [n for n in everything if n not in inner]
        if threads:
            elementwise(program, rows, inner, program.stored, program.frame.root)
        else:
            over_rows(program, rows, inner)
    return program.frame.finish()
