"""A graph means the same to the evaluator, to the optimiser, and as text of each target."""

# pyright: basic
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from albumen.dialects.errors import LoweringError
from albumen.dialects.evaluate import evaluate_function
from albumen.dialects.host.interpreter import run_program
from albumen.lowering.options import CompileOptions
from albumen.lowering.pipeline import run_stage, stages_for
from albumen.lowering.toolchain.object_cache import MemoryCache
from albumen.tools.text_launcher import TextLauncher

from .conditioning import difference
from .hlir_graphs import Program, programs
from .slices import holds

COUNTS = {"c": (25, 600), "cuda": (6, 150), "metal": (4, 100)}
"""Graphs of a slice, and of the whole suite."""

Array = np.ndarray[Any, Any]


def lowered(module: ModuleOp, target: str) -> ModuleOp:
    """The module after every stage of a compile, but for the text of a GPU, which the shim prints itself."""
    module = module.clone()
    options = CompileOptions(target=target)
    for stage in stages_for(options):
        if stage.name != "emit" or target == "c":
            run_stage(stage, stage.make(options), Context(), module)
    return module


def check_on(target: str, program: Program) -> None:
    """Raise unless the target's text gives what the graph means; a clear refusal (f64 on Metal) is no defect."""
    program.module.verify()

    def meaning(inputs: Sequence[Array]) -> Sequence[Array]:
        with np.errstate(all="ignore"):
            return evaluate_function(program.module, "main", inputs, program.symbols)

    try:
        module = lowered(program.module, target)
        found = run_program(module, "main", program.inputs, program.symbols, TextLauncher(module, MemoryCache()))
    except LoweringError:
        if target == "c":
            raise
        return
    text = difference(meaning, program.inputs, found, np.random.default_rng(0))
    assert not text, text


@pytest.mark.slow
@pytest.mark.parametrize("target", list(COUNTS))
def test_text_of_a_target(target: str, slice_seed: str, full: bool) -> None:
    holds(lambda program: check_on(target, program), programs(), COUNTS[target][full], slice_seed, target, shrink=full)
