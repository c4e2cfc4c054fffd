"""The border to torch.fx, whose attributes are untyped: what nodes call, and what the trace says about them."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import torch
from torch._ops import OpOverload
from torch.fx import Graph, Node


def overload_of(node: Node) -> Any:
    """The ATen overload that a node calls, or None."""
    target: Any = node.target
    called = node.op == "call_function" and isinstance(target, OpOverload)
    return cast(Any, target) if called else None


def overload_name(node: Node) -> str:
    """Its full name, like aten.add.Tensor, or an empty text."""
    overload = overload_of(node)
    return "" if overload is None else str(overload)


def schema_arguments(node: Node) -> Mapping[str, Any]:
    """The arguments of the overload's schema by name."""
    return {argument.name: argument for argument in overload_of(node)._schema.arguments}


def given_arguments(node: Node) -> dict[str, Any]:
    """The values that the node passes, by the names of the schema."""
    given: dict[str, Any] = dict(zip(schema_arguments(node), node.args, strict=False))
    given.update(node.kwargs)
    return given


def traced(node: Node) -> Any:
    """The fake value of the trace: a tensor, a size, a tuple of tensors, or None."""
    return node.meta.get("val")


def traced_results(node: Node) -> list[Any]:
    """The fake values of a call's results, in order."""
    value: Any = traced(node)
    return list(cast("Sequence[Any]", value)) if isinstance(value, tuple | list) else [value]


def traced_tensors(node: Node) -> list[torch.Tensor]:
    """The fake tensors among the results of a node."""
    return [part for part in traced_results(node) if isinstance(part, torch.Tensor)]


def graph_tensors(graph: Graph) -> list[torch.Tensor]:
    """The fake tensors of all nodes of a graph."""
    return [tensor for node in graph.nodes for tensor in traced_tensors(node)]


def known_size(size: torch.SymInt | torch.SymFloat) -> int | float | None:
    """The value of a size, or of a float computed from sizes, that the trace has fixed."""
    node: Any = cast(Any, size).node
    return node.maybe_as_int() if isinstance(size, torch.SymInt) else node.maybe_as_float()


def sympy_of(size: torch.SymInt | torch.SymFloat | torch.SymBool) -> Any:
    """The sympy expression of a size or a condition, with torch's own replacements applied."""
    return cast(Any, size).node.expr


def shape_environment(nodes: Iterable[Node]) -> Any:
    """The shape environment of the trace, or None for one without symbols."""
    for node in nodes:
        value: Any = traced(node)
        mode: Any = getattr(value, "fake_mode", None)
        if mode is not None and mode.shape_env is not None:
            return mode.shape_env
        if isinstance(value, torch.SymInt):
            return cast(Any, value).node.shape_env
    return None


def viewed(node: Node) -> Node | None:
    """The first argument of a call that returns a view of it (or views, of which the node takes one), else None."""
    call = node.args[0] if node.target is operator.getitem else node
    overload = overload_of(call) if isinstance(call, Node) else None
    source = call.args[0] if isinstance(call, Node) and call.args else None
    if overload is None or not isinstance(source, Node):
        return None
    returns: Sequence[Any] = overload._schema.returns
    alias: Any = returns[0].alias_info if len(returns) == 1 else None
    return source if alias is not None and not alias.is_write else None
