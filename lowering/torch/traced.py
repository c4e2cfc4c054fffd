"""Graphs of AOTAutograd, and any other functional fx graph of ATen calls, as graph-level modules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy
import torch
from torch.fx import GraphModule, Node

from ...dialects.errors import UnsupportedError
from .function import FunctionImporter, ImportedGraph, placeholders_of, traced_symbols
from .fx import overload_name, shape_environment
from .random_states import describe_states
from .symbols import SymbolTable
from .unsupported import UnsupportedNodeError

COPY = "aten.copy_.default"


def import_traced(
    module: GraphModule,
    *,
    names: Sequence[str] = (),
    static_inputs: Sequence[int] = (),
    views_outside: bool = True,
    random: str = "philox",
) -> ImportedGraph:
    """The module of a traced graph. `static_inputs` are the placeholders that hold weights.

    A trailing `copy_` into a placeholder is a mutation of that input. With `views_outside`, outputs that share memory
    with an input are left to the caller. `random` is one of `randomness.MODES`.

    Raises:
        UnsupportedError: with everything that cannot be imported.
    """
    describe_states(module.graph)
    placeholders = placeholders_of(module.graph)
    function = FunctionImporter(module, _symbols(placeholders), views_outside=views_outside, random=random)
    fixed = set(static_inputs)
    for position, node in enumerate(placeholders):
        name = names[position] if len(names) == len(placeholders) else str(node.target)
        function.add_placeholder(node, position, "parameter" if position in fixed else "input", name)
    function.add_scalars()
    function.add_constants(_attributes(module))
    function.run()
    for node in module.graph.nodes:
        if overload_name(node) == COPY:
            _add_mutation(function, node)
    (returned,) = module.graph.output_node().args
    values: Sequence[Any] = returned if isinstance(returned, tuple | list) else [returned]
    return function.finish(function.add_outputs(values))


def _symbols(placeholders: Sequence[Node]) -> SymbolTable:
    """The table of the trace's symbols; whoever calls the graph checks the guards of the trace."""
    environment = shape_environment(placeholders)
    if environment is None:
        return SymbolTable([], {})
    guards = [environment.replace(guard.expr) for guard in environment.guards]
    guards = [guard for guard in guards if not isinstance(guard, sympy.Or)]  # no kernel relies on one of several facts
    try:
        return SymbolTable(traced_symbols(placeholders), environment.var_to_range, guards)
    except UnsupportedNodeError as error:
        raise UnsupportedError("the sizes of the program", [error.reason], stage="import") from None


def _add_mutation(function: FunctionImporter, node: Node) -> None:
    target = node.args[0]
    assert isinstance(target, Node)
    if target not in function.argument_of:
        reason = "writes into a value that is no input of the graph"
        raise UnsupportedError("the graph is not functional", [f"{node.name} {reason}"], stage="import")
    function.add_mutation(node, function.argument_of[target])


def _attributes(module: GraphModule) -> Mapping[str, torch.Tensor]:
    """The tensors that `get_attr` nodes may name."""
    values: dict[str, Any] = {name: value for name, value in module.__dict__.items() if isinstance(value, torch.Tensor)}
    values.update(module.named_parameters())
    values.update(module.named_buffers())
    return values
