"""Matmuls whose body widens bf16 and f16 operands to f32, as eager linear and attention do: read narrow, exact."""

from __future__ import annotations

from collections.abc import Callable
from math import erf, sqrt
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import StringAttr

from albumen.dialects.simt import KernelOp
from albumen.lowering.emit.cuda import cuda_source
from albumen.lowering.emit.simt_runner import compile_for_shim, run_on_shim
from albumen.lowering.templates.matmul import matmul_kernel, matmul_schedules
from albumen.lowering.toolchain.nvrtc import compile_cuda

Array = np.ndarray[Any, Any]
DTYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32}
UNIT = {"bf16": 2.0**-8, "f16": 2.0**-11}
RHS = {"T": "(d0, d1, d2, d3) -> (d0, d2, d3)", "N": "(d0, d1, d2, d3) -> (d0, d3, d2)"}


def layer(dtype: str, dims: tuple[int, int, int, int], right: str = "T", left: str = "") -> str:
    """gelu(x w + bias) in f32 with one rounding; w is [b, n, k] ("T") or [b, k, n]. `left` is x's dtype if another."""
    b, m, n, k = dims

    def tensor(kind: str, *shape: int) -> str:
        return f"!hlir.tensor<[{', '.join(map(str, shape))}], {kind}>"

    w_shape = (b, n, k) if right == "T" else (b, k, n)
    x, w, bias, y = (
        tensor(left or dtype, b, m, k),
        tensor(dtype, *w_shape),
        tensor(dtype, n),
        tensor(dtype, b, m, n),
    )
    xf, wf, yf, bf = (
        tensor("f32", b, m, k),
        tensor("f32", *w_shape),
        tensor("f32", b, m, n),
        tensor("f32", n),
    )
    widened = f"%c = hlir.cast %a {{dtype = f32}} : ({x}) -> {xf}" if left != "f32" else ""
    return f"""
    kernel.func @layer(%x: {x}, %w: {w}, %v: {bias}) -> ({y}) {{
      %r = kernel.matmul (%a = %x : {x}, %q = %w : {w}, %bias = %v : {bias}) -> ({y}) {{
        {widened}
        %d = hlir.cast %q {{dtype = f32}} : ({w}) -> {wf}
        %t = hlir.contract {"%a" if left == "f32" else "%c"}, %d {{axes = array<i64: 3>,
          lhs_map = #hlir.map<(d0, d1, d2, d3) -> (d0, d1, d3)>, rhs_map = #hlir.map<{RHS[right]}>,
          space = #hlir.shape<[{b}, {m}, {n}, {k}]>}} : ({xf}, {wf}) -> {yf}
        %e = hlir.cast %bias {{dtype = f32}} : ({bias}) -> {bf}
        %f = hlir.view %e (d0, d1, d2) -> (d2) : ({bf}) -> {yf}
        %s = hlir.add %t, %f : {yf}
        %g = hlir.gelu %s {{approximate = "none"}} : {yf}
        %y = hlir.cast %g {{dtype = {dtype}}} : ({yf}) -> {y}
        kernel.yield %y : {y}
      }}
      kernel.return %r : {y}
    }}"""


def inputs(dtype: str, dims: tuple[int, int, int, int], right: str, left: str = "") -> list[Array]:
    b, m, n, k = dims
    random = np.random.default_rng(m + n + k)
    x, w, bias = (random.standard_normal(shape).astype(np.float32) for shape in ((b, m, k), (b, k, n), (n,)))
    w = w if right == "N" else np.ascontiguousarray(w.transpose(0, 2, 1))
    return [x.astype(DTYPES[left or dtype]), w.astype(DTYPES[dtype]), bias.astype(DTYPES[dtype])]


def check(y: Array, arrays: list[Array], dtype: str, right: str) -> None:
    """Only the sums in f32 and the last rounding may err."""
    x, w, bias = (array.astype(np.float64) for array in arrays)
    w = w if right == "N" else w.transpose(0, 2, 1)
    wide = x @ w + bias
    expected = 0.5 * wide * (1 + np.vectorize(erf)(wide / sqrt(2)))
    scale = np.abs(x) @ np.abs(w) + np.abs(bias)
    error = np.abs(y.astype(np.float64) - expected)
    assert (error <= 2.0**-22 * (x.shape[2] + 8) * scale + UNIT[dtype] * np.abs(expected)).all(), error.max()


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
@pytest.mark.parametrize("right", ["T", "N"])
@pytest.mark.parametrize("dims", [(2, 40, 72, 48), (3, 33, 7, 19)])
def test_matrix_units_take_widened_operands(
    problem: Any, run: Callable[..., None], dtype: str, right: str, dims: tuple[int, int, int, int]
) -> None:
    function, module = problem().function(layer(dtype, dims, right))
    kernel = matmul_kernel(function, module, "cuda")
    assert "nv.mma" in str(kernel)
    arrays = inputs(dtype, dims, right)
    y = np.full(dims[:3], np.nan, DTYPES[dtype])
    run(kernel, "cuda", [*arrays, y], {})
    check(y, arrays, dtype, right)


@pytest.mark.parametrize("target", ["cuda", "metal"])
def test_operands_of_two_types_go_to_the_general_cores(problem: Any, run: Callable[..., None], target: str) -> None:
    dims = (2, 17, 20, 24)
    function, module = problem().function(layer("bf16", dims, "N", "f32"))
    kernel = matmul_kernel(function, module, target)
    assert "nv.mma" not in str(kernel)
    arrays = inputs("bf16", dims, "N", "f32")
    y = np.full(dims[:3], np.nan, DTYPES["bf16"])
    run(kernel, target, [*arrays, y], {})
    check(y, arrays, "bf16", "N")


def kernels_of_all_tiles(problem: Any, dims: tuple[int, int, int, int], right: str) -> list[KernelOp]:
    function, module = problem().function(layer("bf16", dims, right))
    kernels: list[KernelOp] = []
    for number, schedule in enumerate(matmul_schedules(function, module, "cuda")):
        function.kernel.properties["schedule"] = schedule
        kernels.append(matmul_kernel(function, module, "cuda"))
        kernels[-1].properties["sym_name"] = StringAttr(f"k{number}")
    return kernels


@pytest.mark.parametrize(
    ("dims", "right"), [((2, 70, 136, 72), "T"), ((2, 33, 7, 19), "N"), ((2, 33, 7, 19), "T"), ((2, 5, 9, 16), "T")]
)
def test_every_tile_is_right_and_fits_the_device(problem: Any, dims: tuple[int, int, int, int], right: str) -> None:
    kernels = kernels_of_all_tiles(problem, dims, right)
    shim = compile_for_shim(kernels, "cuda")
    arrays = inputs("bf16", dims, right)
    for kernel in kernels:
        for reverse in (False, True):
            y = np.full(dims[:3], np.nan, DTYPES["bf16"])
            run_on_shim(shim, kernel, [*arrays, y], {}, reverse=reverse)
            check(y, arrays, "bf16", right)
    assert not compile_cuda(cuda_source(kernels), reject=False).problems
