"""Runs simt kernels on this machine: prints them as CUDA or Metal text and gives the text to the CPU shim.

This is what a simt kernel means where there is no device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from ...dialects.simt import KernelOp, PtrType
from ...dialects.sym.expr import Expr
from ...dialects.sym.substitute import evaluate_int
from ..toolchain.kernel_arguments import Argument
from ..toolchain.object_cache import ObjectCache
from ..toolchain.shim import ShimModule
from .cuda import cuda_source
from .metal import metal_source

Language = Literal["cuda", "metal"]
SOURCES = {"cuda": cuda_source, "metal": metal_source}


def parameter_kinds(kernel: KernelOp) -> list[str]:
    """The kinds of a kernel's parameters as the shim names them."""
    return ["ptr" if isinstance(argument.type, PtrType) else str(argument.type) for argument in kernel.body.block.args]


def compile_for_shim(kernels: Sequence[KernelOp], language: Language, cache: ObjectCache | None = None) -> ShimModule:
    """One module with all the kernels."""
    kinds = {kernel.sym_name.data: parameter_kinds(kernel) for kernel in kernels}
    return ShimModule.compile(SOURCES[language](kernels), language, kinds, cache)


def launch_grid(kernel: KernelOp, symbols: Mapping[str, int]) -> tuple[int, int, int]:
    """The number of blocks for given values of the symbols."""
    extents: list[Expr] = [extent.data for extent in kernel.grid]
    numbers = [evaluate_int(extent, symbols) for extent in extents]
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z


def run_on_shim(
    module: ShimModule,
    kernel: KernelOp,
    arrays: Sequence[Argument],
    symbols: Mapping[str, int],
    *,
    reverse: bool = False,
) -> None:
    """Launches a kernel; arrays are updated in place, symbols fill the scalar arguments. Nothing runs on an empty
    grid."""
    scalars = [symbols[name.data] for name in kernel.symbols or ()]
    grid = launch_grid(kernel, symbols)
    if min(grid) < 1:
        return
    module.launch(
        kernel.sym_name.data,
        grid,
        kernel.block_shape,
        kernel.smem.value.data,
        [*arrays, *scalars],
        order="reverse" if reverse else "forward",
    )
