"""Matmul kernels as IR text and a runner for them on the CPU shim."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.parser import Parser

from albumen.dialects.hlir.dialect import HLIR
from albumen.dialects.kernel import KERNEL, FuncOp
from albumen.dialects.simt import KernelOp
from albumen.dialects.sym.dialect import SYM
from albumen.lowering.emit.simt_runner import Language, compile_for_shim, run_on_shim
from albumen.lowering.toolchain.object_cache import MemoryCache

Array = np.ndarray[Any, Any]
CACHE = MemoryCache()

LAYOUTS = {
    "NT": ("(d0, d1, d2, d3) -> (d0, d1, d3)", "(d0, d1, d2, d3) -> (d0, d2, d3)"),
    "NN": ("(d0, d1, d2, d3) -> (d0, d1, d3)", "(d0, d1, d2, d3) -> (d0, d3, d2)"),
    "TN": ("(d0, d1, d2, d3) -> (d0, d3, d1)", "(d0, d1, d2, d3) -> (d0, d3, d2)"),
    "TT": ("(d0, d1, d2, d3) -> (d0, d3, d1)", "(d0, d1, d2, d3) -> (d0, d2, d3)"),
}
"""Maps of batched operands: N is row-major with its own index first, T the transpose."""


@dataclass(frozen=True)
class Problem:
    """C[b, m, n] = sum over k of A B, operands laid out as two letters say; extents are numbers or symbols."""

    layout: str = "NT"
    dtype: str = "f32"
    b: int | str = 1
    m: int | str = 1
    n: int | str = 1
    k: int | str = 1
    epilogue: str = ""
    """Ops from %c to %r; %bias is [n], %more has the result's shape."""
    result: str = "%c"

    def tensor(self, *dims: int | str) -> str:
        return f"!hlir.tensor<[{', '.join(map(str, dims))}], {self.dtype}>"

    @property
    def text(self) -> str:
        b, m, n, k = self.b, self.m, self.n, self.k
        lhs = self.tensor(b, m, k) if self.layout[0] == "N" else self.tensor(b, k, m)
        rhs = self.tensor(b, k, n) if self.layout[1] == "N" else self.tensor(b, n, k)
        out, bias = self.tensor(b, m, n), self.tensor(n)
        lhs_map, rhs_map = LAYOUTS[self.layout]
        symbols = sorted({dim for dim in (b, m, n, k) if isinstance(dim, str)})
        declared = "\n".join(f"sym.symbol @{name} min 0 max 4096" for name in symbols)
        lhs_map, rhs_map = (_canonical(text, (b, m, n, k)) for text in (lhs_map, rhs_map))
        return f"""
        {declared}
        kernel.func @matmul(%x: {lhs}, %w: {rhs}, %v: {bias}, %u: {out}) -> ({out}) {{
          %y = kernel.matmul (%a = %x : {lhs}, %b = %w : {rhs}, %bias = %v : {bias}, %more = %u : {out}) -> ({out}) {{
            %c = hlir.contract %a, %b {{axes = array<i64: 3>, lhs_map = #hlir.map<{lhs_map}>,
              rhs_map = #hlir.map<{rhs_map}>, space = #hlir.shape<[{b}, {m}, {n}, {k}]>}} : ({lhs}, {rhs}) -> {out}
            {self.epilogue.format(out=out, bias=bias, column=_canonical("(d0, d1, d2) -> (d2)", (b, m, n)))}
            kernel.yield {self.result} : {out}
          }}
          kernel.return %y : {out}
        }}"""

    def function(self, text: str | None = None) -> tuple[FuncOp, ModuleOp]:
        context = Context()
        for dialect in (Builtin, HLIR, KERNEL, SYM):
            context.load_dialect(dialect)
        module = Parser(context, text or self.text).parse_module()
        module.verify()
        (function,) = (op for op in module.ops if isinstance(op, FuncOp))
        return function, module


def _canonical(text: str, extents: Sequence[int | str]) -> str:
    """Indices of extents of 1 are 0."""
    head, _, body = text.partition("->")
    for number, extent in enumerate(extents):
        if extent == 1:
            body = body.replace(f"d{number}", "0")
    return f"{head}->{body}"


@pytest.fixture(scope="session")
def problem() -> type[Problem]:
    """The description of a matmul."""
    return Problem


@pytest.fixture
def run() -> Callable[[KernelOp, Language, Sequence[Array], Mapping[str, int]], None]:
    """Runs a kernel on the CPU shim in both thread orders, which must agree."""

    def launch(kernel: KernelOp, language: Language, arrays: Sequence[Array], symbols: Mapping[str, int]) -> None:
        module = compile_for_shim([kernel], language, CACHE)
        backwards = [array.copy() for array in arrays]
        run_on_shim(module, kernel, list(arrays), symbols)
        run_on_shim(module, kernel, backwards, symbols, reverse=True)
        for one, other in zip(arrays, backwards, strict=True):
            np.testing.assert_array_equal(one, other)

    return launch
