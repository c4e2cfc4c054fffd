"""Whole programs for GPU targets: every kernel printed, compiled for the CPU shim and launched as the program says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from albumen.dialects.evaluate import evaluate_function, random_inputs
from albumen.dialects.host.interpreter import run_program
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
