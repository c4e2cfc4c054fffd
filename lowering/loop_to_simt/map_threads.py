"""map-threads: each loop.kernel becomes a simt.kernel, with its launch geometry in the kernel's grid, block and
smem."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...dialects.loop import KernelOp
from ..options import check_target
from .mapping import LIMITS, map_kernel


@dataclass(frozen=True)
class MapThreadsPass(ModulePass):
    """Replaces every loop.kernel of the module by a simt.kernel of the same name and arguments.

    `index` arguments become i32, or i64 where the symbol can reach 2^31. A kernel's `schedule` may say `threads` of a
    block, the widest `vector` in elements, and `stream` = 1 for data too large for the caches. Needs the loop level;
    leaves the simt level.
    """

    name = "map-threads"

    target: str = "cuda"
    """cuda or metal."""
    arch: str = ""
    """The architecture of the target, for templates that need one; maps are the same for all."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        check_target(self.target, LIMITS)
        for kernel in [one for one in op.ops if isinstance(one, KernelOp)]:
            Rewriter.replace_op(kernel, map_kernel(kernel, op, LIMITS[self.target]), [])
