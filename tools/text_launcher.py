"""Runs kernels that are already text, or print as text: C compiled for this machine, CUDA and Metal on the CPU shim.

It is how translation validation follows a program past `map-threads` and `emit`, where IR has no meaning on arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ..dialects.errors import EvaluationError
from ..dialects.host import ProgramOp, SourceOp, programs
from ..dialects.simt import KernelOp
from ..dialects.sym.substitute import evaluate_int
from ..lowering.emit.c_runner import LoadedProgram
from ..lowering.emit.simt_runner import Language, compile_for_shim, run_on_shim
from ..lowering.toolchain.cc import compile_c
from ..lowering.toolchain.object_cache import ObjectCache
from ..lowering.toolchain.shim import ShimModule
from ..runtime.abi import ARENA_ALIGNMENT
from ..runtime.config import configuration
from ..runtime.devices.openblas import find_gemm

Array = NDArray[Any]


class TextLauncher:
    """The launcher of one module for `run_program`. Each text is compiled once, when it is first run."""

    def __init__(self, module: ModuleOp, cache: ObjectCache):
        self._module = module
        self._cache = cache
        self._texts: dict[str, ShimModule] = {}

    def __call__(self, kernel: Operation, buffers: Sequence[Array | None], symbols: Mapping[str, int]) -> None:
        if isinstance(kernel, KernelOp):
            run_on_shim(self._kernels, kernel, buffers, symbols)
        elif isinstance(kernel, SourceOp) and kernel.language.data == "c":
            self._run_c(kernel, buffers, symbols)
        elif isinstance(kernel, SourceOp):
            self._run_source(kernel, buffers, symbols)
        else:
            raise EvaluationError("the op is no kernel whose text can be run", op=kernel)

    @property
    def _program(self) -> ProgramOp:
        return next(programs(self._module))

    @cached_property
    def _kernels(self) -> ShimModule:
        kernels = [op for op in self._module.ops if isinstance(op, KernelOp)]
        return compile_for_shim(kernels, cast(Language, self._program.target.data), self._cache)

    def _run_source(self, source: SourceOp, buffers: Sequence[Array | None], symbols: Mapping[str, int]) -> None:
        name, entry = source.sym_name.data, source.entry.data
        if name not in self._texts:
            kinds = [parameter.data for parameter in source.parameters]
            language = cast(Language, source.language.data)
            self._texts[name] = ShimModule.compile(source.text.data, language, {entry: kinds}, self._cache)
        grid = [evaluate_int(extent.data, symbols) for extent in source.grid]
        block = [extent.data for extent in source.block]
        arguments = [*buffers, *(symbols[symbol.data] for symbol in source.symbols)]
        if min(grid) > 0:
            self._texts[name].launch(entry, grid, block, source.shared.data, arguments)

    def _run_c(self, source: SourceOp, buffers: Sequence[Array | None], symbols: Mapping[str, int]) -> None:
        settings = configuration()
        code = compile_c(source.text.data, cache=self._cache).code
        *arrays, arena = buffers
        assert arena is not None
        space = np.full(arena.nbytes + ARENA_ALIGNMENT, 0xFF, np.uint8)
        start = space.ctypes.data + -space.ctypes.data % ARENA_ALIGNMENT
        values = [symbols[op.symbol.data] for op in self._program.symbols]
        program = LoadedProgram(code, source.entry.data)
        program.run(arrays, values, settings.threads, arena=start, gemm=find_gemm(settings.blas))
