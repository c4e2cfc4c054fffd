"""A runner of simt kernels given as text: printed, and run on the CPU shim in both thread orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects import arith, math, scf, vector
from xdsl.dialects.builtin import Builtin
from xdsl.parser import Parser

from albumen.dialects.apple import APPLE
from albumen.dialects.loop import LOOP
from albumen.dialects.nv import NV
from albumen.dialects.simt import SIMT, KernelOp, kernels_of
from albumen.dialects.sym.dialect import SYM
from albumen.lowering.emit.simt_runner import Language, compile_for_shim, run_on_shim
from albumen.lowering.toolchain.object_cache import MemoryCache

Array = np.ndarray[Any, Any]
CACHE = MemoryCache()


def parse_kernel(text: str) -> KernelOp:
    """The only kernel of a simt-level module."""
    context = Context()
    for dialect in (Builtin, arith.Arith, scf.Scf, vector.Vector, math.Math, LOOP, SIMT, NV, APPLE, SYM):
        context.load_dialect(dialect)
    module = Parser(context, text).parse_module()
    module.verify()
    (kernel,) = kernels_of(module)
    return kernel


@pytest.fixture
def parse() -> Callable[[str], KernelOp]:
    """The only kernel of a simt-level text."""
    return parse_kernel


@pytest.fixture
def run_as() -> Callable[..., None]:
    """`run_as(language, text, arrays, symbols)`: the arrays are updated by one launch; both thread orders must
    agree."""

    def launch(
        language: Language, text: str, arrays: Sequence[Array], symbols: Mapping[str, int] | None = None
    ) -> None:
        kernel = parse_kernel(text)
        module = compile_for_shim([kernel], language, CACHE)
        backwards = [array.copy() for array in arrays]
        run_on_shim(module, kernel, list(arrays), symbols or {})
        run_on_shim(module, kernel, backwards, symbols or {}, reverse=True)
        for one, other in zip(arrays, backwards, strict=True):
            np.testing.assert_array_equal(one, other)

    return launch


@pytest.fixture(params=["cuda", "metal"])
def run(request: pytest.FixtureRequest, run_as: Callable[..., None]) -> Callable[..., None]:
    """`run(text, arrays, symbols)` as CUDA and as Metal text."""
    language = cast(Language, request.param)

    def launch(text: str, arrays: Sequence[Array], symbols: Mapping[str, int] | None = None) -> None:
        run_as(language, text, arrays, symbols)

    return launch
