"""emit: kernels become text. For target c one text holds the whole program, for a GPU each kernel has its own."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import simt
from ...dialects.errors import LoweringError
from ...dialects.host import ProgramOp, SourceOp, programs
from ...dialects.loop import KernelOp
from ...dialects.loop.kernel import kernels_of
from ...dialects.sym.expr import Expr, constant
from ...runtime.abi import ENTRY
from ..options import check_target
from .c_entry import entry_text
from .c_program import kernel_source, program_source


@dataclass(frozen=True)
class EmitPass(ModulePass):
    """Replaces every kernel by its text as `host.source`.

    Target c takes the loop level: a module with a host.program gets one source, `@PROGRAM_c`, for all its kernels and
    the entry; without one each kernel becomes a program of its own, under its name. Targets cuda and metal take the
    simt level: each simt.kernel becomes a source of the same name.
    """

    name = "emit"

    target: str = "c"
    """c, cuda or metal."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        check_target(self.target)
        if self.target == "c":
            emit_c(op)
        else:
            emit_gpu(op, self.target)


def emit_c(module: ModuleOp) -> None:
    """The sources of a loop-level module in C."""
    kernels = list(kernels_of(module))
    found = list(programs(module))
    if len(found) > 1:
        raise LoweringError(f"the module has {len(found)} programs; a C text holds one", op=found[1], stage="emit")
    if found:
        source = program_text(found[0], kernels)
        Rewriter.insert_op(source, InsertPoint.after(found[0]))
        for kernel in kernels:
            Rewriter.erase_op(kernel)
        return
    for kernel in kernels:
        Rewriter.replace_op(kernel, SourceOp(kernel.sym_name.data, "c", ENTRY, kernel_source(kernel)), [])


def program_text(program: ProgramOp, kernels: list[KernelOp]) -> SourceOp:
    """The one source of a program."""
    entry = entry_text(program, {kernel.sym_name.data: kernel for kernel in kernels})
    return SourceOp(f"{program.sym_name.data}_c", "c", ENTRY, program_source(kernels, entry))


def emit_gpu(module: ModuleOp, target: str) -> None:
    """The source of each simt kernel."""
    for kernel in list(simt.kernels_of(module)):
        Rewriter.replace_op(kernel, gpu_source(kernel, target), [])


def gpu_source(kernel: simt.KernelOp, target: str) -> SourceOp:
    """The text of a simt kernel with its launch."""
    from .cuda import cuda_source
    from .metal import metal_source

    text = cuda_source([kernel]) if target == "cuda" else metal_source([kernel])
    name = kernel.sym_name.data
    grid: list[Expr] = [extent.data for extent in kernel.grid]
    grid += [constant(1)] * (3 - len(grid))
    parameters = [_parameter(argument.type) for argument in kernel.body.block.args]
    return SourceOp(
        name,
        target,
        name,
        text,
        parameters=parameters,
        symbols=[symbol.data for symbol in kernel.symbols or ()],
        grid=grid,
        block=kernel.block_shape,
        shared=kernel.smem.value.data,
    )


def _parameter(kind: object) -> str:
    return "ptr" if isinstance(kind, simt.PtrType) else str(kind)
