"""Calls that AOTAutograd wraps so that the backward graph can repeat what the forward graph drew (checkpointing)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch._prims.rng_prims import run_and_save_rng_state, run_with_rng_state
from torch.fx import Graph, Node
from torch.fx.node import map_arg

from .draws import Distribution, Draw, generator_state
from .fx import traced
from .symbols import SymbolTable


def describe_states(graph: Graph) -> None:
    """Notes on the wrappers what the trace would say of them, which torch leaves out or gives a symbolic size."""
    for node in graph.nodes:
        if _target(node) is run_and_save_rng_state:
            results: Mapping[Any, Node] = {user.args[1]: user for user in node.users}
            _describe_state(results[0], _device(traced(results[1])))
            node.meta["val"] = (traced(results[0]), traced(results[1]))
        elif _target(node) is run_with_rng_state:
            state = node.args[0]
            assert isinstance(state, Node)
            overload: Any = node.args[1]
            with traced(state).fake_mode:
                node.meta["val"] = overload(*map_arg(node.args[2:], traced), **map_arg(node.kwargs, traced))
            _describe_state(state, _device(traced(node)))


def _describe_state(node: Node, device: torch.device) -> None:
    node.meta["val"] = traced(node).fake_mode.from_tensor(generator_state(device), static_shapes=True)


def _device(drawn: Any) -> torch.device:
    first: torch.Tensor = drawn if isinstance(drawn, torch.Tensor) else drawn[0]
    return first.device


def _target(node: Node) -> Any:
    return node.target


@dataclass(frozen=True)
class RepeatedCall:
    """A wrapped call: `call` is a node of the call itself; `state` the node of the generator's state that it is made
    under, or None where the state is saved and returned before the call's results."""

    call: Node
    state: Node | None


def repeated_call(node: Node) -> RepeatedCall | None:
    """What a node of either wrapper means; None for any other node."""
    target = _target(node)
    if target is run_and_save_rng_state:
        return RepeatedCall(_inner(node, node.args, traced(node)[1]), None)
    if target is run_with_rng_state:
        state = node.args[0]
        assert isinstance(state, Node)
        return RepeatedCall(_inner(node, node.args[1:], traced(node)), state)
    return None


def _inner(node: Node, arguments: tuple[Any, ...], val: Any) -> Node:
    overload, *args = arguments
    inner = Node(node.graph, f"{node.name}_call", "call_function", overload, tuple(args), dict(node.kwargs))
    inner.meta = {**node.meta, "val": val}
    return inner


def state_of(node: Node, symbols: SymbolTable) -> Draw:
    """The state that a saving node returns, as something that is drawn."""
    state, drawn = traced(node)
    dims, strides = symbols.lift_all(state.shape), symbols.lift_all(state.stride())
    return Draw(Distribution.STATE, dims, strides, state.dtype, state.device, source=_device(drawn))
