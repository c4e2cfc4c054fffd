"""The template of a matmul on a GPU: matrix units for narrow floats, a kernel of its own for a few rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr

from albumen.dialects.dtype import BF16, F16, F32, DType
from albumen.dialects.hlir.activation import GeluOp
from albumen.dialects.hlir.linear import LinearOp
from albumen.dialects.kernel import MatmulOp
from albumen.dialects.sym.dialect import SymbolOp
from albumen.dialects.sym.expr import IntLike, symbol
from albumen.lowering.options import CompileOptions
from albumen.lowering.pipeline import run_stage, stages_for


def layer(graph: Any, rows: IntLike, dtype: DType) -> ModuleOp:
    """gelu(linear(x, w, b))."""
    x = graph.arg("x", [rows, 64], dtype)
    w = graph.arg("w", [256, 64], dtype, "parameter")
    b = graph.arg("b", [256], dtype, "parameter")
    return graph.finish(graph.b.emit(GeluOp, [graph.b.emit(LinearOp, [x, w, b])], approximate=StringAttr("none")))


def templates(module: ModuleOp, target: str) -> list[str]:
    """The templates that the pipeline chooses for the matmuls."""
    options = CompileOptions(target=target)
    for stage in stages_for(options):
        run_stage(stage, stage.make(options), Context(), module)
        if stage.name == "schedule":
            break
    found = [op.schedule.data["template"] for op in module.walk() if isinstance(op, MatmulOp)]
    return [name.data for name in found if isinstance(name, StringAttr)]


@pytest.mark.parametrize("dtype", [BF16, F16])
def test_narrow_layers_run_on_matrix_units(graph: Any, dtype: DType) -> None:
    module = layer(graph, 256, dtype)
    assert templates(module, "cuda") == ["mma"]


@pytest.mark.parametrize(("target", "dtype"), [("cuda", F32), ("metal", BF16)])
def test_other_layers_run_on_the_general_cores(graph: Any, target: str, dtype: DType) -> None:
    assert templates(layer(graph, 256, dtype), target) == ["simt"]


@pytest.mark.parametrize("target", ["cuda", "metal"])
@pytest.mark.parametrize("dtype", [BF16, F32])
@pytest.mark.parametrize("rows", [1, 8])
def test_few_rows_have_a_kernel_of_their_own(graph: Any, target: str, dtype: DType, rows: int) -> None:
    assert templates(layer(graph, rows, dtype), target) == ["skinny"]


@pytest.mark.parametrize(("most", "template"), [(8, "skinny"), (9, "mma")])
def test_the_range_of_a_symbol_says_that_rows_are_few(graph: Any, most: int, template: str) -> None:
    module = layer(graph, symbol("b"), BF16)
    for op in list(module.ops):
        if isinstance(op, SymbolOp) and op.sym_name.data == "b":
            module.body.block.insert_op_before(SymbolOp("b", 1, most), op)
            op.detach()
    assert templates(module, "cuda") == [template]


def test_an_encoder_in_f32_has_a_template_for_every_matmul(encoder: Callable[..., ModuleOp]) -> None:
    assert set(templates(encoder(), "cuda")) == {"simt"}


@pytest.mark.parametrize(("dtype", "least"), [(BF16, 64), (F32, 32)])
def test_the_tile_of_symbolic_rows_suits_many_of_them(graph: Any, dtype: DType, least: int) -> None:
    """With a few rows all tiles take about the time that a kernel needs to start, so many rows decide."""
    module = layer(graph, symbol("b") * symbol("s"), dtype)
    templates(module, "cuda")
    (op,) = (op for op in module.walk() if isinstance(op, MatmulOp))
    tile = op.schedule.data["tile"]
    assert isinstance(tile, StringAttr)
    assert int(tile.data.split("x")[0]) >= least
