"""lower-kernels: each kernel function becomes one loop nest (or, for matmuls of a GPU, thread-level code)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...dialects.errors import LoweringError, OptionError
from ...dialects.kernel.function import FuncOp, kernel_functions
from ...dialects.kernel.launch import FusedOp
from ...dialects.sym.bounds import Interval
from ...dialects.sym.dialect import declared_bounds
from .fused import lower_fused

TARGETS = ("c", "cuda", "metal")


def lower_kernel(function: FuncOp, ranges: Mapping[str, Interval], target: str) -> Operation:
    """The loop.kernel that does what a kernel function means. The function itself is left as it is.

    Raises:
        LoweringError: the kernel's form is not supported.
    """
    copy = function.clone()
    kernel = copy.kernel
    if isinstance(kernel, FusedOp):
        return lower_fused(copy, ranges, threads=target == "c")
    raise LoweringError("no lowering for this kernel", op=kernel, stage="lower-kernels")


@dataclass(frozen=True)
class LowerKernelsPass(ModulePass):
    """Replaces every kernel.func of the module by a loop.kernel of the same name; see the package for its arguments.

    Needs the program level or loose kernel functions; leaves the loop level.
    """

    name = "lower-kernels"

    target: str = "c"
    """c, cuda or metal."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.target not in TARGETS:
            raise OptionError(
                f"lower-kernels has no target {self.target!r}", hint=f"choose one of {', '.join(TARGETS)}"
            )
        ranges = declared_bounds(op).symbols
        for function in list(kernel_functions(op)):
            Rewriter.replace_op(function, lower_kernel(function, ranges, self.target), [])
