"""A runner of loop kernels given as text: mapped to threads, printed, and run on the CPU shim in both thread orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, cast

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects import arith, math, scf, vector
from xdsl.dialects.builtin import Builtin
from xdsl.parser import Parser

from albumen.dialects.loop import LOOP
from albumen.dialects.simt import SIMT, KernelOp, kernels_of
from albumen.dialects.sym.dialect import SYM
from albumen.lowering.emit.simt_runner import compile_for_shim, run_on_shim
from albumen.lowering.loop_to_simt.map_threads import MapThreadsPass
from albumen.lowering.toolchain.object_cache import MemoryCache

Array = np.ndarray[Any, Any]
Target = Literal["cuda", "metal"]
CACHE = MemoryCache()


def map_text(text: str, target: Target = "cuda") -> KernelOp:
    """The only kernel of a loop-level module, mapped to threads."""
    context = Context()
    for dialect in (Builtin, arith.Arith, scf.Scf, vector.Vector, math.Math, LOOP, SIMT, SYM):
        context.load_dialect(dialect)
    module = Parser(context, text).parse_module()
    module.verify()
    MapThreadsPass(target=target).apply(context, module)
    module.verify()
    (kernel,) = kernels_of(module)
    return kernel


@pytest.fixture
def to_threads() -> Callable[[str, Target], KernelOp]:
    """The only kernel of a loop-level text, mapped to threads."""
    return map_text


@pytest.fixture(params=["cuda", "metal"])
def run(request: pytest.FixtureRequest) -> Callable[[str, Sequence[Array], Mapping[str, int]], KernelOp]:
    """`run(text, arrays, symbols)`: the arrays are updated by one launch; both thread orders must agree."""
    target = cast(Target, request.param)

    def launch(text: str, arrays: Sequence[Array], symbols: Mapping[str, int]) -> KernelOp:
        kernel = map_text(text, target)
        module = compile_for_shim([kernel], target, CACHE)
        backwards = [array.copy() for array in arrays]
        run_on_shim(module, kernel, list(arrays), symbols)
        run_on_shim(module, kernel, backwards, symbols, reverse=True)
        for one, other in zip(arrays, backwards, strict=True):
            np.testing.assert_array_equal(one, other)
        return kernel

    return launch
