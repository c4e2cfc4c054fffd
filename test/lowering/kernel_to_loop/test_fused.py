"""Row programs: elementwise, reductions, views, gathers, in all dtypes and at the edges of shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

Make = Callable[[str], Any]


def unary(name: str, op: str, dtype: str, dims: str = "s, 33") -> str:
    t = f"!hlir.tensor<[{dims}], {dtype}>"
    return f"""
kernel.func @{name}(%x: {t}) -> ({t}) {{
  %r = kernel.fused (%a = %x : {t}) -> ({t}) {{
    %y = {op.format(x="%a")} : {t}
    kernel.yield %y : {t}
  }}
  kernel.return %r : {t}
}}
"""


SOFTMAX = """
kernel.func @softmax(%x: !hlir.tensor<[s, t], f32>) -> (!hlir.tensor<[s, t], f32>) {
  %r = kernel.fused (%a = %x : !hlir.tensor<[s, t], f32>) -> (!hlir.tensor<[s, t], f32>) {
    %m = hlir.max %a {axes = array<i64: 1>} : (!hlir.tensor<[s, t], f32>) -> !hlir.tensor<[s], f32>
    %mb = hlir.view %m (d0, d1) -> (d0) : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s, t], f32>
    %d = hlir.sub %a, %mb : !hlir.tensor<[s, t], f32>
    %e = hlir.exp %d : !hlir.tensor<[s, t], f32>
    %z = hlir.sum %e {axes = array<i64: 1>} : (!hlir.tensor<[s, t], f32>) -> !hlir.tensor<[s], f32>
    %zb = hlir.view %z (d0, d1) -> (d0) : (!hlir.tensor<[s], f32>) -> !hlir.tensor<[s, t], f32>
    %q = hlir.div %e, %zb : !hlir.tensor<[s, t], f32>
    kernel.yield %q : !hlir.tensor<[s, t], f32>
  }
  kernel.return %r : !hlir.tensor<[s, t], f32>
}
"""
SYMBOLS = "sym.symbol @s min 0 max 4096\nsym.symbol @t min 0 max 65536\n"


@pytest.mark.parametrize(("s", "t"), [(0, 5), (5, 0), (1, 1), (7, 13), (64, 257), (3, 5000)])
def test_softmax(kernels: Make, rng: np.random.Generator, s: int, t: int) -> None:
    kernels(SYMBOLS + SOFTMAX).check(rng, {"s": s, "t": t})
