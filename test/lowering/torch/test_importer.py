"""What the importer refuses, where it says things are, and how functions, mutation, constants and layouts are written
down."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim
from torch.fx import Graph, GraphModule
from xdsl.ir import SSAValue

import albumen.lowering.torch.importer as importer
from albumen.dialects.errors import UnsupportedError
from albumen.dialects.hlir.creation import ConstantOp, LiteralOp
from albumen.lowering.torch.call import Call
from albumen.lowering.torch.exported import import_exported
from albumen.lowering.torch.function import ImportedGraph
from albumen.lowering.torch.handlers.table import HANDLERS, MODULES
from albumen.lowering.torch.traced import import_traced

pytestmark = pytest.mark.torch


class Model(nn.Module):
    """A function as a module."""

    def __init__(self, function: Any):
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def imported(model: nn.Module, *args: Any, dynamic_shapes: Any = None) -> ImportedGraph:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(model, args, dynamic_shapes=dynamic_shapes)
    return import_exported(program)


class Unusual(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.linalg.svdvals(x)
        z = torch.linalg.eigvalsh(x)
        return y + z + torch.fft.rfft(x).abs().sum() + torch.relu(x)


def test_every_unsupported_call_is_listed_with_its_line() -> None:
    with pytest.raises(UnsupportedError) as info:
        imported(Unusual(), torch.randn(4, 4))
    items = info.value.items
    first = Unusual.forward.__code__.co_firstlineno
    for name, line in (("aten._linalg_svd.default", 1), ("aten._linalg_eigh.default", 2), ("aten._fft_r2c.default", 3)):
        assert any(item.startswith(f"{name} at {__file__}:{first + line}:") for item in items), items
    assert "aten.relu" not in str(info.value)
    assert "to do:" in str(info.value)


def test_an_argument_that_no_handler_reads_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = Graph()
    x = graph.placeholder("x")
    call = graph.call_function(torch.ops.aten._softmax.default, (x, 1, True))
    for node in (x, call):
        node.meta["val"] = torch.empty(3, 4, device="meta")
    graph.output((call,))
    import_traced(GraphModule(nn.Module(), graph))
    monkeypatch.setattr(importer, "HANDLERS", {"aten._softmax.default": lambda call: call.tensor("self")})
    with pytest.raises(UnsupportedError, match=r"aten\._softmax\.default: has dim=1, half_to_float=True, which is not"):
        import_traced(GraphModule(nn.Module(), graph))


def test_an_option_without_a_counterpart_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def handler(call: Call) -> SSAValue:
        call.ignore("dim")
        call.require("half_to_float", True)
        return call.tensor("self")

    monkeypatch.setattr(importer, "HANDLERS", {"aten._softmax.default": handler})
    with pytest.raises(UnsupportedError, match=r"aten\._softmax\.default.*half_to_float=False; only True is supported"):
        imported(Model(lambda x: torch.ops.aten._softmax(x, 1, False)), torch.randn(3, 4))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda x: x[x > 0], "depends on data|mask"),
        (lambda x: torch.nonzero(x), "nonzero"),
        (lambda x: x.to(torch.complex64), "complex64"),
    ],
)
def test_dynamic_constructs_and_dtypes(model: Any, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        imported(Model(model), torch.randn(4))


def test_control_flow_on_data_is_an_error() -> None:
    def model(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))

    with pytest.raises(UnsupportedError, match="control flow"):
        imported(Model(model), torch.randn(4))


class Normed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.norm(x))


def test_locations_are_the_users_lines() -> None:
    module = imported(Normed(), torch.randn(4)).module
    lines = {op.name: str(op.location) for op in module.walk() if op.name.startswith("hlir.")}
    expected = f'"{__file__}":{Normed.forward.__code__.co_firstlineno + 1}:'
    assert expected in lines["hlir.relu"]
    assert expected in lines["hlir.layer_norm"]  # not the line inside torch


class Cached(nn.Module):
    count: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3))
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x: torch.Tensor, cache: torch.Tensor) -> Any:
        self.count += x[0]
        cache[:, 1:3] = x[:, :2]
        y = cache * 2
        return y, x.t(), y, x.shape[0]


def test_roles_mutations_and_outputs() -> None:
    graph = imported(Cached(), torch.randn(2, 3), torch.zeros(2, 4))
    text = str(graph.module)
    assert [(s.name, s.role) for s in graph.inputs] == [("count", "buffer"), ("x", "input"), ("cache", "input")]
    assert graph.mutated == (0, 2)
    assert 'hlir.role = "buffer", hlir.name = "count"' in text
    assert '{kind = "mutation", input = 0 : i64}' in text
    assert '{kind = "output", alias = 1 : i64}' in text
    results = [slot.result for slot in graph.outputs]
    assert results == [0, 1, 0, -1]  # the same value twice is one tensor for torch,
    assert len(graph.result_orders) == 3  # and two results of the program for others
    assert graph.outputs[1].alias == 1
    assert graph.outputs[3].value == 2 or str(graph.outputs[3].size) == "2"


def test_constants_are_literals_or_arguments() -> None:
    small, large = torch.arange(5.0), torch.randn(40, 40)
    graph = imported(Model(lambda x: x + small.sum() + (large @ large)[0, :4] + torch.tensor(2.5)), torch.randn(4))
    ops = list(graph.module.walk())
    assert sum(isinstance(op, LiteralOp) for op in ops) == 1
    assert any(isinstance(op, ConstantOp) and op.scalar.value == 2.5 for op in ops)
    assert [s.role for s in graph.inputs] == ["constant", "input"]


def test_empty_handlers_do_not_hide_each_other() -> None:
    assert len(HANDLERS) > 300
    names = [name for module in MODULES[1:] for name in module.HANDLERS]
    assert len(names) == len(set(names))


def test_a_value_excluded_inside_a_range_is_a_guard() -> None:
    def model(x: torch.Tensor) -> torch.Tensor:
        return x + 1 if x.shape[0] != 9 else x

    graph = imported(Model(model), torch.randn(4), dynamic_shapes={"args": ({0: Dim.DYNAMIC},)})
    assert 'sym.guard s0 - 9 "!="' in str(graph.module)


def test_a_condition_of_sizes_moves_the_range() -> None:
    def model(x: torch.Tensor) -> torch.Tensor:
        return x + 1 if x.shape[0] > 3 else x

    graph = imported(Model(model), torch.randn(4), dynamic_shapes={"args": ({0: Dim.DYNAMIC},)})
    assert "sym.symbol @s0 min 4" in str(graph.module)


def test_guards_of_a_saved_program_are_read_back(tmp_path: Any) -> None:
    def model(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.view(-1, 4) * y.view(-1, 4)

    class Pair(nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return model(x, y)

    dynamic = {"x": {0: Dim.DYNAMIC}, "y": {0: Dim.DYNAMIC}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(Pair(), (torch.randn(8), torch.randn(8)), dynamic_shapes=dynamic)
        torch.export.save(program, tmp_path / "pair.pt2")
        loaded = torch.export.load(tmp_path / "pair.pt2")
    for one in (program, loaded):
        text = str(import_exported(one).module)
        assert text.count("!hlir.tensor<[s1*4], f32>") + text.count("!hlir.tensor<[s0*4], f32>") >= 2
        assert "sym.guard" not in text
