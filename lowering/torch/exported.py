"""torch.export programs as graph-level modules."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, InputSpec, OutputKind

from ...dialects.errors import UnsupportedError
from . import interpolation
from .decompositions.table import DECOMPOSITIONS
from .function import FunctionImporter, ImportedGraph, placeholders_of, traced_symbols
from .guards import guards_of
from .symbols import SymbolTable
from .unsupported import UnsupportedNodeError

aten = torch.ops.aten

KEPT_WHOLE = (
    aten.linear.default,
    aten.index_add.default,
    aten.index_copy.default,
    aten.index_fill.int_Scalar,
    aten.index_fill.int_Tensor,
    aten.take.default,
    aten.select_scatter.default,
    aten.mv.default,
    aten.dot.default,
    aten.vdot.default,
    aten.baddbmm.default,
    aten.scaled_dot_product_attention.default,
    aten.silu.default,
    aten.gelu.default,
    aten.layer_norm.default,
    aten.rms_norm.default,
    aten.matmul.default,
    aten.softmax.int,
    aten.log_softmax.int,
    aten.conv1d.default,
    aten.conv2d.default,
    aten.conv3d.default,
    aten.max_pool2d.default,
    aten.avg_pool2d.default,
    aten.adaptive_avg_pool2d.default,
    aten.addcdiv.default,
    aten.addcmul.default,
    aten.addr.default,
    aten.linalg_cross.default,
    aten.logit.default,
)
"""Composite ops that torch would decompose, and hlir keeps."""

ROLES = {
    InputKind.PARAMETER: "parameter",
    InputKind.BUFFER: "buffer",
    InputKind.CONSTANT_TENSOR: "constant",
    InputKind.USER_INPUT: "input",
}


def decomposed(program: ExportedProgram) -> ExportedProgram:
    """The program in functional ATen ops, composites kept whole."""
    table: Any = torch.export.default_decompositions()
    table.update(DECOMPOSITIONS)
    table.update(interpolation.FOR_EXPORT)
    for overload in (*KEPT_WHOLE, *interpolation.WHOLE_IN_EXPORT):
        table.pop(overload, None)
    with warnings.catch_warnings():
        # torch 2.13 warns about its own use of this class while it copies the program.
        warnings.filterwarnings("ignore", message=".*LeafSpec", category=FutureWarning)
        run: Callable[[Any], ExportedProgram] = program.run_decompositions  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        return run(table)


def import_exported(program: ExportedProgram, random: str = "philox") -> ImportedGraph:
    """The module of an exported program. Values of parameters and buffers stay outside; see `weights_of`. `random`
    is one of `randomness.MODES`.

    Raises:
        UnsupportedError: with everything that cannot be imported.
    """
    guards = guards_of(program)  # those of the export; the decomposition of a loaded program adds some for its examples
    program = decomposed(program)
    placeholders = placeholders_of(program.graph)
    try:
        ranges = cast(Any, program).range_constraints
        found = traced_symbols(placeholders)
        numbers = set(found) - set(traced_symbols(placeholders, torch.Tensor))
        symbols = SymbolTable(found, ranges, guards, numbers)
    except UnsupportedNodeError as error:
        raise UnsupportedError("the sizes of the model", [error.reason], stage="import") from None
    symbols.guards += [(hole, "!=") for hole in dict.fromkeys(symbols.holes)]
    function = FunctionImporter(program.graph_module, symbols, random=random)
    tokens = 0  # that decomposing put before what a call passes
    for number, (node, spec) in enumerate(zip(placeholders, program.graph_signature.input_specs, strict=True)):
        position = number - tokens
        if spec.kind is InputKind.TOKEN:
            function.add_placeholder(node, position, "input", node.name)
            tokens += 1
            continue
        role = ROLES.get(spec.kind)
        constant = program.constants.get(spec.target or "")
        if role == "constant" and isinstance(constant, torch.Tensor) and function.add_literal(node, constant):
            continue
        if role is None:
            function.importer.failures.add(node, f"is an input of kind {spec.kind.name.lower()}")
        elif role == "input" or node.users or _is_mutated(program, spec):
            function.add_placeholder(node, position, role, spec.target or spec.arg.name)
    function.add_scalars(checked=True)
    function.add_constants(dict(program.graph_module.named_buffers()) | program.constants)
    function.run()
    return replace(_with_outputs(program, function), placeholders=len(placeholders) - tokens)


def _is_mutated(program: ExportedProgram, spec: InputSpec) -> bool:
    kinds = (OutputKind.BUFFER_MUTATION, OutputKind.USER_INPUT_MUTATION)
    return any(
        out.kind in kinds and out.target in (spec.target, spec.arg.name) for out in program.graph_signature.output_specs
    )


def _with_outputs(program: ExportedProgram, function: FunctionImporter) -> ImportedGraph:
    (returned,) = program.graph.output_node().args
    assert isinstance(returned, tuple | list)
    by_target = {spec.target or spec.arg.name: spec.arg.name for spec in program.graph_signature.input_specs}
    arguments = {node.name: index for node, index in function.argument_of.items()}
    outputs: list[Any] = []
    nodes = cast("Sequence[Any]", returned)
    for node, spec in zip(nodes, program.graph_signature.output_specs, strict=True):
        if spec.kind in (OutputKind.BUFFER_MUTATION, OutputKind.USER_INPUT_MUTATION):
            target = str(spec.target)
            function.add_mutation(node, arguments[by_target.get(target, target)])
        elif spec.kind is not OutputKind.TOKEN:
            outputs.append(node)
    return function.finish(function.add_outputs(outputs))


def weights_of(program: ExportedProgram, imported: ImportedGraph) -> dict[str, torch.Tensor]:
    """The values of the arguments that are not inputs of a call, by argument name."""
    state: dict[str, Any] = {**program.constants, **program.state_dict}
    specs = program.graph_signature.input_specs
    values: dict[str, torch.Tensor] = {}
    for slot in imported.inputs:
        if slot.constant is not None:
            values[slot.name] = slot.constant
        elif slot.role in ("parameter", "buffer", "constant"):
            values[slot.name] = state[str(specs[slot.placeholder].target)]
    return values


def state_names(program: ExportedProgram, imported: ImportedGraph) -> dict[str, str]:
    """The names in the model of the parameters and buffers of a program, by argument name."""
    specs = program.graph_signature.input_specs
    return {s.name: str(specs[s.placeholder].target) for s in imported.inputs if s.role in ("parameter", "buffer")}
