"""build_artifact: a module of source texts becomes a file that loads and computes, without xdsl."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from albumen.dialects.dtype import F32
from albumen.dialects.errors import OptionError
from albumen.dialects.evaluate import evaluate_function, random_inputs
from albumen.dialects.hlir.arithmetic import ExpOp, SubOp
from albumen.dialects.hlir.creation import LiteralOp
from albumen.dialects.hlir.elementwise import AddOp, MulOp
from albumen.dialects.hlir.reduction import SumOp
from albumen.dialects.hlir.types import axes_attr, tensor_type
from albumen.dialects.sym.expr import symbol
from albumen.lowering.build_artifact import build_artifact
from albumen.lowering.emit.emit import EmitPass
from albumen.lowering.kernel_to_loop.lower_kernels import LowerKernelsPass
from albumen.lowering.levels import check_level
from albumen.lowering.options import CompileOptions
from albumen.lowering.plan_memory import PlanMemoryPass
from albumen.lowering.search.cover import CoverPass
from albumen.lowering.search.extract import ExtractPass
from albumen.runtime.artifact import read_artifact, write_artifact
from albumen.runtime.program import load


def lower(module: ModuleOp) -> None:
    for one in (ExtractPass(), CoverPass(), PlanMemoryPass(), LowerKernelsPass(), EmitPass()):
        one.apply(Context(), module)
        module.verify()
    check_level(module, "source")


def make(graph: Any) -> ModuleOp:
    """Rows without their mean times a table, and the exponentials of the input; two kernels."""
    x = graph.arg("x", [symbol("b"), 8])
    y = graph.arg("y", [8])
    b = graph.b
    mean = b.emit(MulOp, [b.emit(SumOp, [x], axes=axes_attr([1])), b.constant(0.125, graph.row)])
    centred = b.emit(SubOp, [x, b.restore_axes(mean, [1], [symbol("b"), 8])])
    table = b.emit(LiteralOp, [], **LiteralOp.of_array(np.arange(8, dtype=np.float32), F32))
    scaled = b.emit(MulOp, [centred, b.broadcast(b.emit(AddOp, [table, y]), [symbol("b"), 8])])
    e = b.emit(ExpOp, [scaled])
    return graph.finish(b.emit(SumOp, [e], axes=axes_attr([0])), scaled)


@pytest.fixture
def module(graph: Any) -> ModuleOp:
    graph.row = tensor_type([symbol("b")], F32)
    return make(graph)


def test_c_program_loads_and_runs(module: ModuleOp, tmp_path: Path, rng: np.random.Generator) -> None:
    before = module.clone()
    lower(module)
    artifact = build_artifact(module, CompileOptions(), None)
    path = tmp_path / "m.alb"
    write_artifact(path, artifact)
    assert [i.role for i in read_artifact(path).program.inputs] == ["input", "input", "constant"]
    program = load(path)
    function = next(op for op in before.ops if isinstance(op, FuncOp))
    for rows in (1, 5, 64):
        inputs = random_inputs(function, rng, {"b": rows, "s": 1})
        want = evaluate_function(before, "main", inputs)
        got: Sequence[Any] = program(*inputs)
        for a, b in zip(want, got, strict=True):
            np.testing.assert_allclose(a, np.asarray(b), rtol=2e-5, atol=1e-5)


def test_equal_modules_give_equal_artifacts(module: ModuleOp, tmp_path: Path) -> None:
    again = module.clone()
    paths = [tmp_path / "a.alb", tmp_path / "b.alb"]
    for one, path in zip((module, again), paths, strict=True):
        lower(one)
        write_artifact(path, build_artifact(one, CompileOptions(), None))
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_c_is_compiled_for_this_machine_alone(module: ModuleOp) -> None:
    lower(module)
    with pytest.raises(OptionError, match="target c compiles for this machine"):
        build_artifact(module, CompileOptions(arch="nonsense"), None)
