"""Matmul templates: every layout, type, tile and edge, with epilogues, on the CPU shim against numpy."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import erf, sqrt
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import DictionaryAttr, StringAttr

from albumen.dialects.errors import LoweringError
from albumen.dialects.simt import OP_BUDGET, KernelOp
from albumen.lowering.emit.cuda import cuda_source
from albumen.lowering.emit.simt_runner import compile_for_shim, run_on_shim
from albumen.lowering.templates.matmul import matmul_kernel, matmul_schedules
from albumen.lowering.toolchain.nvrtc import compile_cuda
from albumen.lowering.toolchain.shim import ShimModule

DTYPES = {"f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16, "f16": np.float16}
UNIT = {"f32": 2.0**-24, "f64": 2.0**-53, "bf16": 2.0**-8, "f16": 2.0**-11}
Array = np.ndarray[Any, Any]
LAYOUTS = ("NT", "NN", "TN", "TT")

BIAS_RELU = """
%bv = hlir.view %bias {column} : ({bias}) -> {out}
%s = hlir.add %c, %bv : {out}
%t = hlir.add %s, %more : {out}
%r = hlir.relu %t : {out}
"""


def inputs(dtype: str, b: int, m: int, n: int, k: int) -> tuple[Array, Array, Array, Array]:
    random = np.random.default_rng(m + 10 * n + 100 * k)
    shapes = ((b, m, k), (b, n, k), (n,), (b, m, n))
    x, w, bias, more = (random.standard_normal(shape).astype(DTYPES[dtype]) for shape in shapes)
    return x, w, bias, more


def laid_out(layout: str, x: Array, w: Array) -> tuple[Array, Array]:
    """The operands in memory: N has its own index first on the left and the depth first on the right."""
    left = x if layout[0] == "N" else x.transpose(0, 2, 1)
    right = w.transpose(0, 2, 1) if layout[1] == "N" else w
    return np.ascontiguousarray(left), np.ascontiguousarray(right)


def check(y: Array, expected: Array, dtype: str, k: int, scale: Array) -> None:
    """Each sum is exact up to the rounding of f32 (or f64) sums of k products, and of the result."""
    accumulation = (2.0**-53 if dtype == "f64" else 2.0**-24) * (k + 4)
    error = np.abs(y.astype(np.float64) - expected)
    assert (error <= accumulation * scale + 4 * UNIT[dtype] * (np.abs(expected) + 1)).all(), error.max()


SIZES = ((40, 72, 48), (33, 7, 19))


@pytest.fixture(scope="module", params=["cuda", "metal"])
def layouts(request: pytest.FixtureRequest, problem: Any) -> tuple[ShimModule, dict[str, KernelOp]]:
    """A kernel for each layout, dtype and size, compiled together."""
    kernels: dict[str, KernelOp] = {}
    for layout, dtype, (m, n, k) in product(LAYOUTS, ("f32", "bf16", "f16"), SIZES):
        function, module = problem(layout=layout, dtype=dtype, m=m, n=n, k=k).function()
        name = f"{layout}_{dtype}_{m}"
        kernels[name] = matmul_kernel(function, module, request.param)
        kernels[name].properties["sym_name"] = StringAttr(name)
        kernels[name].verify()
    return compile_for_shim(list(kernels.values()), request.param), kernels


@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("m", "n", "k"), SIZES)
def test_layouts(layouts: tuple[ShimModule, dict[str, KernelOp]], dtype: str, layout: str, m: int, n: int, k: int):
    shim, kernels = layouts
    x, w, bias, more = inputs(dtype, 1, m, n, k)
    found: list[Array] = []
    for reverse in (False, True):
        y = np.full((1, m, n), np.nan, DTYPES[dtype])
        arrays = [*laid_out(layout, x, w), bias, more, y]
        run_on_shim(shim, kernels[f"{layout}_{dtype}_{m}"], arrays, {}, reverse=reverse)
        found.append(y)
    np.testing.assert_array_equal(found[0], found[1])
    wide = x.astype(np.float64), w.astype(np.float64).transpose(0, 2, 1)
    check(found[0], wide[0] @ wide[1], dtype, k, np.abs(wide[0]) @ np.abs(wide[1]))


def test_double_precision(problem: Any, run: Callable[..., None]):
    function, module = problem(dtype="f64", m=20, n=36, k=50).function()
    x, w, bias, more = inputs("f64", 1, 20, 36, 50)
    y = np.zeros((1, 20, 36))
    run(matmul_kernel(function, module, "cuda"), "cuda", [x, w, bias, more, y], {})
    check(y, x @ w.transpose(0, 2, 1), "f64", 50, np.abs(x) @ np.abs(w).transpose(0, 2, 1))


@pytest.mark.parametrize(("target", "dtype"), [("cuda", "f32"), ("metal", "f32"), ("cuda", "bf16"), ("metal", "f16")])
@pytest.mark.parametrize(("b", "m", "n", "k"), [(1, 17, 24, 8), (3, 5, 13, 70)])
def test_epilogue_with_bias_residual_and_activation(
    problem: Any, run: Callable[..., None], target: str, dtype: str, b: int, m: int, n: int, k: int
):
    function, module = problem(dtype=dtype, b=b, m=m, n=n, k=k, epilogue=BIAS_RELU, result="%r").function()
    x, w, bias, more = inputs(dtype, b, m, n, k)
    y = np.full((b, m, n), np.nan, DTYPES[dtype])
    run(matmul_kernel(function, module, target), target, [x, w, bias, more, y], {})
    wide = x.astype(np.float64) @ w.astype(np.float64).transpose(0, 2, 1)
    expected = np.maximum(wide + bias.astype(np.float64) + more.astype(np.float64), 0)
    scale = np.abs(x).astype(np.float64) @ np.abs(w).astype(np.float64).transpose(0, 2, 1)
    check(y, expected, dtype, k, scale + 8 * UNIT[dtype] / 2.0**-24 * (np.abs(wide) + 4) / (k + 4))


def test_composites_in_the_epilogue_are_expanded(problem: Any, run: Callable[..., None]):
    epilogue = '%r = hlir.gelu %c {{approximate = "none"}} : {out}'
    function, module = problem(m=9, n=12, k=16, epilogue=epilogue, result="%r").function()
    x, w, bias, more = inputs("f32", 1, 9, 12, 16)
    y = np.zeros((1, 9, 12), np.float32)
    run(matmul_kernel(function, module, "cuda"), "cuda", [x, w, bias, more, y], {})
    wide = x.astype(np.float64) @ w.astype(np.float64).transpose(0, 2, 1)
    expected = 0.5 * wide * (1 + np.vectorize(erf)(wide / sqrt(2)))
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("sizes", [{"s": 1}, {"s": 13}, {"s": 130}])
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_symbolic_rows(problem: Any, run: Callable[..., None], dtype: str, sizes: dict[str, int]):
    function, module = problem(dtype=dtype, m="s", n=24, k=40).function()
    kernel = matmul_kernel(function, module, "cuda")
    x, w, bias, more = inputs(dtype, 1, sizes["s"], 24, 40)
    y = np.zeros((1, sizes["s"], 24), DTYPES[dtype])
    run(kernel, "cuda", [x, w, bias, more, y], sizes)
    wide = x.astype(np.float64) @ w.astype(np.float64).transpose(0, 2, 1)
    check(y, wide, dtype, 40, np.abs(x).astype(np.float64) @ np.abs(w).astype(np.float64).transpose(0, 2, 1))


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_all_extents_symbolic_and_depth_zero(problem: Any, run: Callable[..., None], dtype: str):
    function, module = problem(dtype=dtype, b="b", m="m", n="n", k="k").function()
    kernel = matmul_kernel(function, module, "cuda")
    for b, m, n, k in ((2, 3, 5, 7), (1, 70, 66, 33), (2, 4, 4, 0), (0, 4, 4, 4)):
        x, w, bias, more = inputs(dtype, b, m, n, k)
        y = np.full((b, m, n), np.nan, DTYPES[dtype])
        run(kernel, "cuda", [x, w, bias, more, y], {"b": b, "m": m, "n": n, "k": k})
        wide = x.astype(np.float64) @ w.astype(np.float64).transpose(0, 2, 1)
        check(y, wide, dtype, k, np.abs(x).astype(np.float64) @ np.abs(w).astype(np.float64).transpose(0, 2, 1))


@pytest.mark.parametrize("dtype", ["f32", "bf16", "f64"])
def test_every_tile_is_right_and_fits_the_device(problem: Any, dtype: str):
    m, n, k = 70, 132, 136
    function, module = problem(dtype=dtype, m=m, n=n, k=k).function()
    x, w, bias, more = inputs(dtype, 1, m, n, k)
    wide = x.astype(np.float64) @ w.astype(np.float64).transpose(0, 2, 1)
    scale = np.abs(x).astype(np.float64) @ np.abs(w).astype(np.float64).transpose(0, 2, 1)
    kernels: list[KernelOp] = []
    for number, schedule in enumerate(matmul_schedules(function, module, "cuda")):
        function.kernel.properties["schedule"] = schedule
        kernels.append(matmul_kernel(function, module, "cuda"))
        kernels[-1].properties["sym_name"] = StringAttr(f"k{number}")
    shim = compile_for_shim(kernels, "cuda")
    for kernel in kernels:
        y = np.full((1, m, n), np.nan, DTYPES[dtype])
        run_on_shim(shim, kernel, [x, w, bias, more, y], {})
        check(y, wide, dtype, k, scale)
    assert not compile_cuda(cuda_source(kernels), reject=False).problems


@pytest.mark.parametrize("layout", ["NT", "TN"])
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_kernels_are_compact(problem: Any, layout: str, dtype: str):
    function, module = problem(dtype=dtype, layout=layout, m=4096, n=4096, k=4096).function()
    for schedule in matmul_schedules(function, module, "cuda"):
        function.kernel.properties["schedule"] = schedule
        assert matmul_kernel(function, module, "cuda").op_count() <= OP_BUDGET


TRANSPOSED_STORE = """
%r = hlir.view %c (d0, d1, d2) -> (d0, d2, d1) : ({out}) -> !hlir.tensor<[2, 12, 10], f32>
"""


def test_result_stored_through_a_view(problem: Any, run: Callable[..., None]):
    described = problem(b=2, m=10, n=12, k=16, epilogue=TRANSPOSED_STORE, result="%r")
    text = described.text.replace("-> (!hlir.tensor<[2, 10, 12], f32>)", "-> (!hlir.tensor<[2, 12, 10], f32>)")
    text = text.replace("%r : !hlir.tensor<[2, 10, 12], f32>", "%r : !hlir.tensor<[2, 12, 10], f32>")
    text = text.replace("%y : !hlir.tensor<[2, 10, 12], f32>", "%y : !hlir.tensor<[2, 12, 10], f32>")
    function, module = described.function(text)
    x, w, bias, more = inputs("f32", 2, 10, 12, 16)
    y = np.zeros((2, 12, 10), np.float32)
    run(matmul_kernel(function, module, "cuda"), "cuda", [x, w, bias, more, y], {})
    np.testing.assert_allclose(y, (x @ w.transpose(0, 2, 1)).transpose(0, 2, 1), rtol=1e-4, atol=1e-5)


def test_prologue_on_an_operand(problem: Any, run: Callable[..., None]):
    for dtype in ("f32", "bf16"):
        described = problem(dtype=dtype, m=10, n=12, k=20)
        lhs = described.tensor(1, 10, 20)
        text = described.text.replace(
            "%c = hlir.contract %a,", f"%a2 = hlir.mul %a, %a : {lhs}\n%c = hlir.contract %a2,"
        )
        function, module = described.function(text)
        x, w, bias, more = inputs(dtype, 1, 10, 12, 20)
        y = np.zeros((1, 10, 12), DTYPES[dtype])
        run(matmul_kernel(function, module, "cuda"), "cuda", [x, w, bias, more, y], {})
        squared = (x.astype(np.float32) ** 2).astype(DTYPES[dtype]).astype(np.float64)
        wide = squared @ w.astype(np.float64).transpose(0, 2, 1)
        check(y, wide, dtype, 20, squared @ np.abs(w).astype(np.float64).transpose(0, 2, 1))


def test_unknown_tiles_and_templates_are_refused(problem: Any):
    function, module = problem(m=80, n=8, k=8).function()
    function.kernel.properties["schedule"] = DictionaryAttr({"tile": StringAttr("7x7")})
    with pytest.raises(LoweringError, match="no tile '7x7'") as error:
        matmul_kernel(function, module, "cuda")
    assert "128x128" in error.value.hint
    function.kernel.properties["schedule"] = DictionaryAttr({"template": StringAttr("mma")})
    with pytest.raises(LoweringError, match="no template 'mma'"):
        matmul_kernel(function, module, "cuda")


@pytest.mark.parametrize("target", ["cuda", "metal"])
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 37, 64), (3, 20, 520), (8, 5, 8), (2, 16, 0)])
def test_few_rows(problem: Any, run: Callable[..., None], target: str, dtype: str, m: int, n: int, k: int):
    function, module = problem(dtype=dtype, m=m, n=n, k=k, epilogue=BIAS_RELU, result="%r").function()
    x, w, bias, more = inputs(dtype, 1, m, n, k)
    wide = x.astype(np.float64) @ w.astype(np.float64).transpose(0, 2, 1)
    expected = np.maximum(wide + bias.astype(np.float64) + more.astype(np.float64), 0)
    scale = np.abs(x).astype(np.float64) @ np.abs(w).astype(np.float64).transpose(0, 2, 1)
    scale = scale + 8 * UNIT[dtype] / 2.0**-24 * (np.abs(wide) + 4) / (k + 4)
    schedules = [s for s in matmul_schedules(function, module, target) if s.data["template"] == StringAttr("skinny")]
    assert schedules
    for schedule in schedules:
        function.kernel.properties["schedule"] = schedule
        kernel = matmul_kernel(function, module, target)
        y = np.full((1, m, n), np.nan, DTYPES[dtype])
        run(kernel, target, [x, w, bias, more, y], {})
        check(y, expected, dtype, k, scale)


def test_few_symbolic_rows(problem: Any, run: Callable[..., None]):
    described = problem(dtype="bf16", m="s", n=24, k=40)
    function, module = described.function(described.text.replace("max 4096", "max 4"))
    kernel = matmul_kernel(function, module, "cuda")
    assert "reduce_warp" in str(kernel), "at most four rows"
    for rows in (1, 3, 4):
        x, w, bias, more = inputs("bf16", 1, rows, 24, 40)
        y = np.zeros((1, rows, 24), DTYPES["bf16"])
        run(kernel, "cuda", [x, w, bias, more, y], {"s": rows})
        wide = x.astype(np.float64) @ w.astype(np.float64).transpose(0, 2, 1)
        check(y, wide, "bf16", 40, np.abs(x).astype(np.float64) @ np.abs(w).astype(np.float64).transpose(0, 2, 1))
