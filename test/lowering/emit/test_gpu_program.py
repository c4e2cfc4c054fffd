"""Whole programs for GPU targets: every kernel printed, compiled for the CPU shim and launched as the program says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from albumen.dialects.dtype import BF16, F16, DType
from albumen.dialects.evaluate import evaluate_function, random_inputs
from albumen.dialects.hlir.activation import GeluOp
from albumen.dialects.hlir.linear import LinearOp
from albumen.dialects.host.interpreter import run_program
from albumen.dialects.host.source import sources
from albumen.dialects.sym.expr import symbol
from albumen.lowering.emit.simt_runner import Language
from albumen.lowering.options import CompileOptions
from albumen.lowering.pipeline import lower_module
from albumen.lowering.toolchain.object_cache import MemoryCache
from albumen.tools.text_launcher import TextLauncher


@pytest.mark.parametrize("target", ["cuda", "metal"])
def test_encoder(encoder: Callable[..., ModuleOp], rng: np.random.Generator, target: Language) -> None:
    module = encoder(1, whole=False)
    lowered = module.clone()
    lower_module(lowered, CompileOptions(target=target))
    launcher = TextLauncher(lowered, MemoryCache())
    function = next(op for op in module.ops if isinstance(op, FuncOp))
    for symbols in ({"b": 2, "s": 3}, {"b": 1, "s": 17}, {"b": 0, "s": 2}):
        inputs: list[Any] = random_inputs(function, rng, symbols)
        want = evaluate_function(module, "main", inputs, symbols)
        got = run_program(lowered, "main", inputs, symbols, launcher)
        for a, b in zip(want, got, strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("target", ["cuda", "metal"])
@pytest.mark.parametrize(("dtype", "unit"), [(BF16, 2.0**-8), (F16, 2.0**-11)])
def test_narrow_layers(graph: Any, rng: np.random.Generator, target: Language, dtype: DType, unit: float) -> None:
    """gelu of a linear layer with a bias, of narrow floats: on the matrix units where the target has them."""
    x = graph.arg("x", [symbol("b"), symbol("s"), 40], dtype)
    w, b = graph.arg("w", [56, 40], dtype, "parameter"), graph.arg("b", [56], dtype, "parameter")
    linear = graph.b.emit(LinearOp, [x, w, b])
    module = graph.finish(graph.b.emit(GeluOp, [linear], approximate=StringAttr("none")))
    lowered = module.clone()
    lower_module(lowered, CompileOptions(target=target))
    if target == "cuda":
        (source,) = sources(lowered)
        assert f"alb_mma_m16n8k16_{dtype.name}(v" in source.text.data
    launcher = TextLauncher(lowered, MemoryCache())
    function = next(op for op in module.ops if isinstance(op, FuncOp))
    for symbols in ({"b": 2, "s": 3}, {"b": 3, "s": 65}, {"b": 0, "s": 2}):
        inputs: list[Any] = random_inputs(function, rng, symbols)
        (want,) = evaluate_function(module, "main", inputs, symbols)
        (got,) = run_program(lowered, "main", inputs, symbols, launcher)
        assert got.dtype == want.dtype
        # The sum may round to the neighbour, which gelu passes on, and be rounded again.
        wide = want.astype(np.float64)
        np.testing.assert_allclose(got.astype(np.float64), wide, rtol=4 * unit, atol=4 * unit)
