"""Where a graph runs, and what is moved there and back; on fake tensors, so no GPU is needed."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import make_fx

from albumen.dialects.errors import UnsupportedError
from albumen.lowering.torch.compilation import device_of
from albumen.lowering.torch.fx import graph_tensors
from albumen.lowering.torch.traced import import_traced

pytestmark = pytest.mark.torch


def traced(function: Callable[..., Any], *places: str) -> GraphModule:
    with FakeTensorMode():
        tensors = [torch.empty(3, 4, device=place) for place in places]
        return make_fx(function, tracing_mode="fake")(*tensors)


@pytest.mark.parametrize(
    ("function", "places", "device"),
    [
        (lambda: torch.zeros(3), (), "cpu"),
        (lambda: torch.arange(3, device="cuda") * 2, (), "cuda:0"),
        (lambda x: torch.full_like(x, 2.0, device="cpu"), ("cuda",), "cuda:0"),
        (lambda x, y: x * y.sum(), ("cuda", "cpu"), "cuda:0"),
        (lambda x: x + 1, ("cpu",), "cpu"),
    ],
)
def test_the_device_of_a_graph(function: Callable[..., Any], places: tuple[str, ...], device: str) -> None:
    assert str(device_of(graph_tensors(traced(function, *places).graph))) == device


def test_inputs_and_outputs_keep_their_places() -> None:
    graph = traced(lambda x, y: (x + 1, x.cpu() * 2, torch.ones(2, device="cpu"), x * y.sum()), "cuda", "cpu")
    imported = import_traced(graph)
    assert [str(slot.device) for slot in imported.inputs] == ["cuda:0", "cpu"]
    assert [str(slot.device) for slot in imported.outputs] == ["cuda:0", "cpu", "cpu", "cuda:0"]


def test_several_accelerators_are_refused() -> None:
    graph = traced(lambda x, y: (x + 1, y + 1), "cuda:0", "cuda:1")
    with pytest.raises(UnsupportedError, match=r"several devices:\s+cuda:0\s+cuda:1"):
        device_of(graph_tensors(graph.graph))
