"""Fixtures that import something from torch, evaluate it on numpy, and compare with eager torch."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import Graph, GraphModule, Node
from torch.utils import _pytree

from albumen.dialects.dtype import dtype_named
from albumen.dialects.evaluate import evaluate_function
from albumen.lowering.torch.binding import SymbolBinding, evaluated
from albumen.lowering.torch.exported import import_exported, weights_of
from albumen.lowering.torch.function import ImportedGraph
from albumen.lowering.torch.traced import import_traced

pytestmark = pytest.mark.torch

TOLERANCE = {torch.float64: 1e-12, torch.float32: 2e-6, torch.bfloat16: 8e-3, torch.float16: 1e-3}
"""Relative to the size of the expected values; a few units in the last place."""


def to_numpy(x: torch.Tensor, order: Sequence[int] | None = None) -> np.ndarray:
    """The tensor in the memory order that a program takes it, bfloat16 included."""
    x = x.detach().permute(tuple(order)) if order else x.detach()
    x = x.contiguous()
    if x.dtype in (torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2):
        name = {torch.bfloat16: "bf16", torch.float8_e4m3fn: "f8E4M3FN", torch.float8_e5m2: "f8E5M2"}[x.dtype]
        dtype = dtype_named(name)
        return x.reshape(-1).view(torch.uint8).numpy().view(dtype.numpy).reshape(tuple(x.shape))
    return x.numpy()


def assert_close(found: np.ndarray, expected: torch.Tensor, tolerance: float | None = None) -> None:
    """Equal shape and dtype, and values within the tolerance of the dtype; NaN and infinities at the same places."""
    wanted = to_numpy(expected)
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    if expected.dtype not in TOLERANCE:
        np.testing.assert_array_equal(found, wanted)
        return
    limit = TOLERANCE[expected.dtype] if tolerance is None else tolerance
    a, b = found.astype(np.float64), wanted.astype(np.float64)
    finite = np.abs(b[np.isfinite(b)])
    scale = max(float(finite.max()) if finite.size else 0.0, 1e-30)
    np.testing.assert_allclose(a, b, rtol=limit * 4, atol=limit * min(scale, 1.0))


def evaluate(
    imported: ImportedGraph, tensors: Sequence[Any], weights: dict[str, torch.Tensor] | None = None
) -> list[Any]:
    """What the imported graph returns for the values of its placeholders, in torch's order of outputs."""
    values = weights or {}
    arrays: list[np.ndarray] = []
    symbols = SymbolBinding(imported).symbols(tensors)
    for slot in imported.inputs:
        value = slot.constant if slot.constant is not None else values.get(slot.name)
        value = tensors[slot.placeholder] if value is None else value
        arrays.append(np.array(value) if isinstance(value, int) else to_numpy(value, slot.order))
    imported.module.verify()
    results = evaluate_function(imported.module, "main", arrays, symbols)
    plain = results[len(imported.mutated) :]
    outputs: list[Any] = []
    for slot in imported.outputs:
        if slot.result < 0:
            outputs.append(slot.size if slot.size is not None else slot.value)
        else:
            value = np.transpose(plain[slot.result], [slot.order.index(i) for i in range(len(slot.order))])
            if slot.geometry is not None and slot.alias is None:
                sizes, strides, (start,) = (
                    evaluated(part, symbols) for part in (*slot.geometry[:2], slot.geometry[2:])
                )
                steps = [stride * value.itemsize for stride in strides]
                flat = plain[slot.result].reshape(-1)[start:]
                value = np.lib.stride_tricks.as_strided(flat, sizes, steps)
            outputs.append(value)
    return outputs


def call_graph(overload: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[GraphModule, list[torch.Tensor]]:
    """A graph of one call, with the trace's fake values, and the tensors of its placeholders."""
    mode = FakeTensorMode()
    graph, tensors, fakes = Graph(), [], {}

    def placeholder(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            node = graph.placeholder(f"x{len(tensors)}")
            tensors.append(value)
            node.meta["val"] = fakes[node] = mode.from_tensor(value)
            return node
        return [placeholder(v) for v in value] if isinstance(value, list | tuple) else value

    nodes, named = [placeholder(a) for a in args], {k: placeholder(v) for k, v in kwargs.items()}
    call = graph.call_function(overload, tuple(nodes), named)

    def fake(value: Any) -> Any:
        if isinstance(value, Node):
            return fakes[value]
        return [fake(v) for v in value] if isinstance(value, list | tuple) else value

    with mode:
        result = overload(*map(fake, nodes), **{k: fake(v) for k, v in named.items()})
    call.meta["val"] = result
    outputs: list[Node] = [call]
    if isinstance(result, list | tuple):
        outputs = []
        for i, part in enumerate(result):
            item = graph.call_function(operator.getitem, (call, i))
            item.meta["val"] = part
            outputs.append(item)
    graph.output(tuple(outputs))
    return GraphModule(torch.nn.Module(), graph), tensors


@pytest.fixture
def check_call() -> Callable[..., None]:
    """`check_call("aten.add.Tensor", x, y, alpha=2)`: one overload, imported and evaluated, against itself."""

    def check(name: str, *args: Any, tolerance: float | None = None, **kwargs: Any) -> None:
        namespace, op, overload = name.split(".")
        target = getattr(getattr(getattr(torch.ops, namespace), op), overload)
        graph, tensors = call_graph(target, args, kwargs)
        found = evaluate(import_traced(graph, views_outside=False), tensors)
        expected = target(*args, **kwargs)
        wanted = list(expected) if isinstance(expected, list | tuple) else [expected]
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            assert_close(a, b, tolerance)

    return check


@pytest.fixture
def check_model() -> Callable[..., ImportedGraph]:
    """`check_model(model, args, kwargs, dynamic_shapes=..., also=[(args, kwargs)])`: a module through torch.export,
    against eager."""

    def check(
        model: torch.nn.Module,
        args: Sequence[Any],
        kwargs: dict[str, Any] | None = None,
        *,
        dynamic_shapes: Any = None,
        also: Sequence[tuple[Sequence[Any], dict[str, Any]]] = (),
        tolerance: float = 5e-6,
    ) -> ImportedGraph:
        program = export(model, args, kwargs, dynamic_shapes)
        imported = import_exported(program)
        weights = weights_of(program, imported)
        for more_args, more_kwargs in [(args, kwargs or {}), *also]:
            offset = len(program.graph_signature.input_specs) - len(flat := leaves((more_args, more_kwargs)))
            found = evaluate(imported, [None] * offset + flat, weights)
            with torch.no_grad():
                expected = leaves(model(*more_args, **more_kwargs))
            assert len(found) == len(expected)
            for a, b in zip(found, expected, strict=True):
                assert_close(a, b, tolerance)
        return imported

    return check


def export(model: torch.nn.Module, args: Sequence[Any], kwargs: Any = None, dynamic_shapes: Any = None) -> Any:
    """torch.export in evaluation mode; its own deprecation warnings are not ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.export.export(model.eval(), tuple(args), kwargs or {}, dynamic_shapes=dynamic_shapes)


def leaves(value: Any) -> list[Any]:
    """The tensors in a nest of containers."""
    return [v for v in _pytree.tree_leaves(value) if isinstance(v, torch.Tensor)]
