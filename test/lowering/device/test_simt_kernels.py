"""Row programs and matmuls on a real device, the same kernels that CI runs on the CPU shim; and how fast they are
there.

`-s` shows the times. The bounds are loose: they catch a kernel that has gone wrong, not one that is a little slow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from albumen.dialects.hlir.index_map import IndexMap, canonical
from albumen.dialects.kernel import MatmulOp
from albumen.dialects.kernel.function import FuncOp
from albumen.dialects.simt import KernelOp
from albumen.dialects.sym.expr import constant, index, symbol
from albumen.lowering.search.tiles import matmul_schedule
from albumen.lowering.templates.matmul import matmul_kernel, matmul_schedules

pytestmark = pytest.mark.gpu

Array = np.ndarray[Any, Any]
DTYPES = {"f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16, "f16": np.float16}
UNIT = {"f32": 2.0**-24, "f64": 2.0**-53, "bf16": 2.0**-8, "f16": 2.0**-11}


def index_map(dims: Sequence[int | str], *results: int) -> str:
    """The canonical map from an index space of these extents to some of its indices: those of extent 1 are 0."""
    extents = tuple(symbol(dim) if isinstance(dim, str) else constant(dim) for dim in dims)
    return str(canonical(IndexMap(len(extents), tuple(map(index, results))), extents))


def softmax(rows: int | str, columns: int | str, dtype: str) -> str:
    to_row = index_map((rows, columns), 0)
    full, row = f"!hlir.tensor<[{rows}, {columns}], {dtype}>", f"!hlir.tensor<[{rows}], f32>"
    wide = f"!hlir.tensor<[{rows}, {columns}], f32>"
    symbols = "".join(f"sym.symbol @{e} min 0 max 65536\n" for e in (rows, columns) if isinstance(e, str))
    widen = f"%a = hlir.cast %x0 {{dtype = f32}} : ({full}) -> {wide}" if dtype != "f32" else ""
    narrow = f"%y = hlir.cast %q {{dtype = {dtype}}} : ({wide}) -> {full}" if dtype != "f32" else ""
    first, last = ("%x0", "%y") if dtype != "f32" else ("%a", "%q")
    return f"""{symbols}
    kernel.func @softmax(%x: {full}) -> ({full}) {{
      %r = kernel.fused ({first} = %x : {full}) -> ({full}) {{
        {widen}
        %m = hlir.max %a {{axes = array<i64: 1>}} : ({wide}) -> {row}
        %mb = hlir.view %m {to_row} : ({row}) -> {wide}
        %d = hlir.sub %a, %mb : {wide}
        %e = hlir.exp %d : {wide}
        %z = hlir.sum %e {{axes = array<i64: 1>}} : ({wide}) -> {row}
        %zb = hlir.view %z {to_row} : ({row}) -> {wide}
        %q = hlir.div %e, %zb : {wide}
        {narrow}
        kernel.yield {last} : {full}
      }}
      kernel.return %r : {full}
    }}"""


def gelu(rows: int, columns: int, dtype: str) -> str:
    full, bias = f"!hlir.tensor<[{rows}, {columns}], {dtype}>", f"!hlir.tensor<[{columns}], {dtype}>"
    return f"""
    kernel.func @gelu(%x: {full}, %b: {bias}) -> ({full}) {{
      %r = kernel.fused (%a = %x : {full}, %c = %b : {bias}) -> ({full}) {{
        %v = hlir.view %c {index_map((rows, columns), 1)} : ({bias}) -> {full}
        %s = hlir.add %a, %v : {full}
        %g = hlir.gelu %s {{approximate = "none"}} : {full}
        kernel.yield %g : {full}
      }}
      kernel.return %r : {full}
    }}"""


def matmul(layout: str, dtype: str, m: int | str, n: int | str, k: int | str) -> str:
    def tensor(*dims: int | str) -> str:
        return f"!hlir.tensor<[{', '.join(map(str, dims))}], {dtype}>"

    space = m, n, k
    lhs, lhs_map = (tensor(m, k), (0, 2)) if layout[0] == "N" else (tensor(k, m), (2, 0))
    rhs, rhs_map = (tensor(k, n), (2, 1)) if layout[1] == "N" else (tensor(n, k), (1, 2))
    out, bias = tensor(m, n), tensor(n)
    symbols = "".join(f"sym.symbol @{e} min 0 max 16384\n" for e in (m, n, k) if isinstance(e, str))
    return f"""{symbols}
    kernel.func @matmul(%x: {lhs}, %w: {rhs}, %b: {bias}) -> ({out}) {{
      %r = kernel.matmul (%p = %x : {lhs}, %q = %w : {rhs}, %c = %b : {bias}) -> ({out}) {{
        %t = hlir.contract %p, %q {{axes = array<i64: 2>, lhs_map = #hlir.map<{index_map(space, *lhs_map)}>,
          rhs_map = #hlir.map<{index_map(space, *rhs_map)}>, space = #hlir.shape<[{m}, {n}, {k}]>}}
          : ({lhs}, {rhs}) -> {out}
        %v = hlir.view %c {index_map((m, n), 1)} : ({bias}) -> {out}
        %s = hlir.add %t, %v : {out}
        %y = hlir.relu %s : {out}
        kernel.yield %y : {out}
      }}
      kernel.return %r : {out}
    }}"""


def layer(dtype: str, m: int, n: int, k: int) -> str:
    """relu(x w^T) of narrow floats as a linear layer is expanded: in f32, rounded once."""
    x, w, y, xf, wf, yf = (
        f"!hlir.tensor<[{rows}, {columns}], {kind}>"
        for kind in (dtype, "f32")
        for rows, columns in ((m, k), (n, k), (m, n))
    )
    space = m, n, k
    return f"""
    kernel.func @layer(%x: {x}, %w: {w}) -> ({y}) {{
      %r = kernel.matmul (%p = %x : {x}, %q = %w : {w}) -> ({y}) {{
        %a = hlir.cast %p {{dtype = f32}} : ({x}) -> {xf}
        %b = hlir.cast %q {{dtype = f32}} : ({w}) -> {wf}
        %t = hlir.contract %a, %b {{axes = array<i64: 2>, lhs_map = #hlir.map<{index_map(space, 0, 2)}>,
          rhs_map = #hlir.map<{index_map(space, 1, 2)}>, space = #hlir.shape<[{m}, {n}, {k}]>}}
          : ({xf}, {wf}) -> {yf}
        %s = hlir.relu %t : {yf}
        %y = hlir.cast %s {{dtype = {dtype}}} : ({yf}) -> {y}
        kernel.yield %y : {y}
      }}
      kernel.return %r : {y}
    }}"""


def normal(dtype: str, *shape: int) -> Array:
    return np.random.default_rng(len(shape)).standard_normal(shape, np.float32).astype(DTYPES[dtype])


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (7, 14), (1000, 384), (33, 1023), (64, 8192), (5, 50000)])
def test_softmax(gpu: Any, lowered: Callable[[str], KernelOp], rows: int, columns: int, dtype: str) -> None:
    x = normal(dtype, rows, columns)
    wide = x.astype(np.float64)
    expected = np.exp(wide - wide.max(1, keepdims=True))
    expected /= expected.sum(1, keepdims=True)
    for text, symbols in (
        (softmax(rows, columns, dtype), {}),
        (softmax("m", "n", dtype), {"m": rows, "n": columns}),
    ):
        launch = gpu.launch(lowered(text), [x, np.zeros_like(x)], symbols)
        launch.run()
        found = launch.results()[1].astype(np.float64)
        np.testing.assert_allclose(found, expected, rtol=8 * max(UNIT[dtype], 2**-22), atol=1e-9)


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("layout", ["NT", "NN", "TN", "TT"])
@pytest.mark.parametrize(("m", "n", "k"), [(128, 256, 128), (200, 136, 72), (33, 7, 19), (1, 1000, 512)])
def test_matmul_tiles(
    gpu: Any, function_in: Callable[[str], tuple[FuncOp, Any]], dtype: str, layout: str, m: int, n: int, k: int
) -> None:
    x, w, b = normal(dtype, m, k), normal(dtype, n, k), normal(dtype, n)
    left = np.ascontiguousarray(x if layout[0] == "N" else x.T)
    right = np.ascontiguousarray(w.T if layout[1] == "N" else w)
    wide = x.astype(np.float64), w.astype(np.float64).T
    total, scale = wide[0] @ wide[1], np.abs(wide[0]) @ np.abs(wide[1])
    expected = np.maximum(total + b.astype(np.float64), 0)
    function, module = function_in(matmul(layout, dtype, m, n, k))
    for schedule in matmul_schedules(function, module, "cuda"):
        function.kernel.properties["schedule"] = schedule
        y = np.full((m, n), np.nan, DTYPES[dtype])
        launch = gpu.launch(matmul_kernel(function, module, "cuda"), [left, right, b, y])
        launch.run()
        error = np.abs(launch.results()[3].astype(np.float64) - expected)
        bound = 2.0**-24 * (k + 4) * scale + 6 * UNIT[dtype] * (np.abs(total) + np.abs(b.astype(np.float64)) + 1)
        assert (error <= bound).all(), (schedule, error.max())


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
@pytest.mark.parametrize(("m", "n", "k"), [(200, 136, 72), (33, 7, 19), (4, 96, 384)])
def test_widened_operands(
    gpu: Any, function_in: Callable[[str], tuple[FuncOp, Any]], dtype: str, m: int, n: int, k: int
) -> None:
    x, w = normal(dtype, m, k), normal(dtype, n, k)
    wide = x.astype(np.float64), w.astype(np.float64).T
    total, scale = wide[0] @ wide[1], np.abs(wide[0]) @ np.abs(wide[1])
    function, module = function_in(layer(dtype, m, n, k))
    for schedule in matmul_schedules(function, module, "cuda"):
        function.kernel.properties["schedule"] = schedule
        launch = gpu.launch(matmul_kernel(function, module, "cuda"), [x, w, np.full((m, n), np.nan, DTYPES[dtype])])
        launch.run()
        error = np.abs(launch.results()[2].astype(np.float64) - np.maximum(total, 0))
        bound = 2.0**-23 * (k + 4) * scale + UNIT[dtype] * np.abs(total) + UNIT[dtype] ** 3
        assert (error <= bound).all(), (schedule, error.max())


def report(capsys: pytest.CaptureFixture[str], text: str) -> None:
    with capsys.disabled():
        print(f"\n   {text}", end="")


@pytest.mark.parametrize(
    ("name", "dtype"), [("softmax", "bf16"), ("softmax", "f32"), ("gelu", "bf16"), ("gelu", "f32")]
)
def test_bandwidth(
    gpu: Any, lowered: Callable[[str], KernelOp], capsys: pytest.CaptureFixture[str], name: str, dtype: str
) -> None:
    rows, columns = 16384, 8192
    x = np.zeros((rows, columns), DTYPES[dtype])
    text = softmax(rows, columns, dtype) if name == "softmax" else gelu(rows, columns, dtype)
    arrays = [x, x] if name == "softmax" else [x, x[0].copy(), x]
    time = gpu.launch(lowered(text), arrays).microseconds()
    rate = 2 * x.nbytes / time / 1e6
    report(capsys, f"{name} {rows}x{columns} {dtype}: {time:.1f} us, {rate:.2f} TB/s")
    assert rate > 1.5


@pytest.mark.parametrize(("m", "n", "k"), [(4096, 384, 384), (4096, 1536, 384), (4096, 384, 1536), (8, 4096, 4096)])
def test_layer_times(
    gpu: Any,
    function_in: Callable[[str], tuple[FuncOp, Any]],
    capsys: pytest.CaptureFixture[str],
    m: int,
    n: int,
    k: int,
) -> None:
    """The layers of a small encoder, and one of a decoder that makes a token; every tile, the chosen one first."""
    function, module = function_in(layer("bf16", m, n, k))
    x, w, y = (np.zeros(shape, DTYPES["bf16"]) for shape in ((m, k), (n, k), (m, n)))
    assert isinstance(function.kernel, MatmulOp)
    chosen = matmul_schedule(function.kernel, module, "cuda", [{}])
    others = [one for one in matmul_schedules(function, module, "cuda") if one != chosen]
    times: list[float] = []
    for schedule in (chosen, *others):
        function.kernel.properties["schedule"] = schedule
        times.append(gpu.launch(matmul_kernel(function, module, "cuda"), [x, w, y]).microseconds())
        report(capsys, f"layer {m}x{n}x{k} {schedule}: {times[-1]:.1f} us")
    assert times[0] < 4 * min(times)


@pytest.mark.parametrize(("dtype", "size", "least"), [("bf16", 4096, 150), ("bf16", 8192, 150), ("f32", 4096, 15)])
def test_matmul_rate(
    gpu: Any,
    function_in: Callable[[str], tuple[FuncOp, Any]],
    capsys: pytest.CaptureFixture[str],
    dtype: str,
    size: int,
    least: float,
) -> None:
    function, module = function_in(matmul("NT", dtype, size, size, size))
    x = np.zeros((size, size), DTYPES[dtype])
    best = 0.0
    for schedule in matmul_schedules(function, module, "cuda"):
        function.kernel.properties["schedule"] = schedule
        launch = gpu.launch(matmul_kernel(function, module, "cuda"), [x, x, x[0].copy(), x])
        rate = 2 * size**3 / launch.microseconds(10) / 1e6
        report(capsys, f"matmul {size} {dtype} {schedule}: {rate:.0f} TFLOP/s")
        best = max(best, rate)
    assert best > least
