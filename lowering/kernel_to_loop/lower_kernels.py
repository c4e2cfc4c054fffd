"""lower-kernels: each kernel function becomes one loop nest (or, for matmuls of a GPU, thread-level code)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...dialects.errors import LoweringError
from ...dialects.hlir.creation import RandomBitsOp
from ...dialects.hlir.indexing import ScatterOp
from ...dialects.hlir.merging import MergeRunsOp
from ...dialects.hlir.ordering import ScanOp, SortOp
from ...dialects.kernel.function import FuncOp, kernel_functions
from ...dialects.kernel.launch import FusedOp, IrregularOp, MatmulOp
from ...dialects.loop import KernelOp
from ...dialects.sym.bounds import Interval
from ...dialects.sym.dialect import declared_bounds
from ..options import check_target
from ..templates.matmul import matmul_kernel
from .expand import expand_contractions
from .frame import promise_alignment
from .fused import lower_fused
from .irregular import ScatterLoops, lower_scan
from .matmul import is_product_of_matrices, lower_matmul
from .merging import MergeLoops
from .random_bits import RandomBits
from .sorting import SortLoops


def lower_kernel(function: FuncOp, module: ModuleOp, target: str = "c", arch: str = "") -> Operation:
    """What a kernel function means as one loop.kernel; for a matmul on a GPU, a simt.kernel. The function is left as it
    is; `module` declares its symbols.

    Raises:
        LoweringError: the kernel's form is not supported.
    """
    if isinstance(function.kernel, MatmulOp) and target != "c":
        return matmul_kernel(function, module, target, arch)
    lowered = lower_to_loops(function.clone(), declared_bounds(module).symbols, threads=target == "c")
    if target != "c":
        promise_alignment(lowered)
    return lowered


def lower_to_loops(function: FuncOp, ranges: Mapping[str, Interval], *, threads: bool) -> KernelOp:
    """The loop kernel of a function, whose body may change; `threads`: it runs on the threads of a CPU."""
    kernel = function.kernel
    if isinstance(kernel, FusedOp):
        return lower_fused(function, ranges, threads=threads)
    if isinstance(kernel, MatmulOp):
        if is_product_of_matrices(kernel, ranges):
            return lower_matmul(function, ranges)
        expand_contractions(kernel.block)
        return lower_fused(function, ranges, threads=threads)
    if isinstance(kernel, IrregularOp):
        return lower_irregular(function, kernel, ranges)
    raise LoweringError("no lowering for this kernel", op=kernel, stage="lower-kernels")


def lower_irregular(function: FuncOp, kernel: IrregularOp, ranges: Mapping[str, Interval]) -> KernelOp:
    """The loop kernel of a function that holds a kernel.irregular."""
    core = kernel.core
    if isinstance(core, ScanOp):
        return lower_scan(function, ranges).finish()
    if isinstance(core, ScatterOp):
        return ScatterLoops(function, ranges).lower().finish()
    if isinstance(core, SortOp):
        return SortLoops(function, ranges).lower().finish()
    if isinstance(core, MergeRunsOp):
        return MergeLoops(function, ranges).lower().finish()
    if isinstance(core, RandomBitsOp):
        return RandomBits(function, ranges).lower().finish()
    raise LoweringError(f"no lowering for {core.name}", op=kernel, stage="lower-kernels")


@dataclass(frozen=True)
class LowerKernelsPass(ModulePass):
    """Replaces every kernel.func of the module by a loop.kernel (a matmul on a GPU: a simt.kernel) of the same name;
    see the package for its arguments.

    Needs the program level or loose kernel functions; leaves the loop level.
    """

    name = "lower-kernels"

    target: str = "c"
    """c, cuda or metal."""
    arch: str = ""
    """The architecture of the target, for templates that need one."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        check_target(self.target)
        for function in list(kernel_functions(op)):
            Rewriter.replace_op(function, lower_kernel(function, op, self.target, self.arch), [])
