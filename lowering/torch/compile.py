"""`albumen.compile`: a whole model through torch.export as one program, called without guards."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, cast

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind, TensorArgument
from torch.utils import _pytree as pytree

from ...runtime.artifact import Artifact, write_artifact
from ...runtime.errors import LaunchError
from ...runtime.program import Program
from ..options import CompileOptions
from ..progress import SILENT, Progress
from .calling import LoadedGraph, in_memory_order
from .compilation import compile_imported, device_of, resolved_options
from .exported import import_exported, weights_of
from .function import ImportedGraph
from .weights import with_weights


def compile_model(
    model: torch.nn.Module,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress = SILENT,
) -> CompiledModel:
    """Compile a model for inference on inputs like `args` and `kwargs`.

    Its parameters are used where they lie: later changes of their values are seen, and so is `load_state_dict`.

    Raises:
        OptionError: an unknown option.
        UnsupportedError: with everything in the model that cannot be compiled.
        TypeError: what was given is no module, or its arguments are no sequence.
    """
    if not isinstance(cast(object, model), torch.nn.Module):
        raise TypeError(f"albumen.compile takes a torch.nn.Module, found {type(model).__name__}")
    if isinstance(cast(object, args), torch.Tensor):
        raise TypeError("albumen.compile takes the model's arguments as a sequence: write (x,) for one tensor")
    tensors = [t for t in pytree.tree_leaves((args, kwargs or {})) if isinstance(t, torch.Tensor)]
    tensors += [*model.parameters(), *model.buffers()]
    device = device_of(tensors)
    chosen = resolved_options(options, device)
    with torch.no_grad():
        program = torch.export.export(model, tuple(args), dict(kwargs or {}), dynamic_shapes=dynamic_shapes)
    return compile_program(program, chosen, device, progress, held=_state(model))


def _state(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """The model's own parameters and buffers, those that its state dict leaves out included."""
    return {**dict(model.named_parameters()), **dict(model.named_buffers())}


def compile_program(
    program: ExportedProgram,
    options: CompileOptions,
    device: torch.device,
    progress: Progress = SILENT,
    held: Mapping[str, torch.Tensor] | None = None,
) -> CompiledModel:
    """Compile an exported program; `held` are tensors to use in place of the copies that the export made."""
    imported = import_exported(program, options.random or "philox")
    values = weights_of(program, imported)
    weights = {name: (held or {}).get(_target(imported, program, name), value) for name, value in values.items()}
    artifact = compile_imported(imported, options, progress)
    return CompiledModel(program, imported, artifact, device, weights)


def _target(imported: ImportedGraph, program: ExportedProgram, name: str) -> str:
    (slot,) = (slot for slot in imported.inputs if slot.name == name)
    return str(program.graph_signature.input_specs[slot.placeholder].target) if slot.placeholder >= 0 else ""


class CompiledModel:
    """A compiled model: call it like the model it came from, and `save` it."""

    def __init__(
        self,
        exported: ExportedProgram,
        imported: ImportedGraph,
        artifact: Artifact,
        device: torch.device,
        weights: Mapping[str, torch.Tensor],
    ):
        specs = exported.graph_signature.input_specs
        first = sum(spec.kind is not InputKind.USER_INPUT for spec in specs)
        self._loaded = LoadedGraph(imported, artifact, device, weights, first)
        self._run = self._loaded.runner()
        slots = {slot.name: slot for slot in imported.inputs}
        self._weights = {name: in_memory_order(value, slots[name]) for name, value in weights.items()}
        self._in_spec: Any = exported.call_spec.in_spec
        self._out_spec: Any = exported.call_spec.out_spec
        arguments = [spec.arg for spec in specs[first:]]
        self._fixed = [(i, a.value) for i, a in enumerate(arguments) if isinstance(a, ConstantArgument)]
        self._tensors = [i for i, a in enumerate(arguments) if isinstance(a, TensorArgument)]
        self._count = len(arguments)
        self._plain_arguments = not self._fixed and _is_flat(self._in_spec)
        self._plain_result = bool(self._out_spec.is_leaf())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The model's result, in fresh tensors.

        Raises:
            LaunchError: the arguments are not of the structure that the model was compiled for.
        """
        if self._plain_arguments and not kwargs and len(args) == self._count:
            values: list[Any] = list(args)
        else:
            values = self._flattened(args, kwargs)
        try:
            results = self._run(values)
        except AttributeError:  # what is no tensor has no strides; looking before every call would cost each of them
            self._check_tensors(values)
            raise
        return results[0] if self._plain_result else pytree.tree_unflatten(list(results), self._out_spec)

    def _check_tensors(self, values: Sequence[Any]) -> None:
        for position in self._tensors:
            if not isinstance(values[position], torch.Tensor):
                found = type(values[position]).__name__
                raise LaunchError(f"argument {position}: expected a tensor, found {found}", hint="pass a torch.Tensor")

    def _flattened(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        values, spec = pytree.tree_flatten((args, kwargs))
        if spec != self._in_spec:
            values = self._reordered(args, kwargs)
        for position, value in self._fixed:
            if values[position] != value:
                raise LaunchError(
                    f"argument {position} is {values[position]!r}; the model was compiled for {value!r}",
                    hint="compile it again for this value, or pass a tensor",
                )
        return values

    def _reordered(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The arguments in the order of the compiled call, if keyword arguments only stand in another one."""
        expected: list[str] = list(self._in_spec.children()[1].context or [])
        if set(expected) == set(kwargs):
            flat, spec = pytree.tree_flatten((args, {name: kwargs[name] for name in expected}))
            if spec == self._in_spec:
                return flat
        raise LaunchError(
            f"the arguments have the structure {pytree.tree_structure((args, kwargs))}, expected {self._in_spec}",
            hint="call the model with the arguments it was compiled for",
        )

    @property
    def program(self) -> Program:
        """The loaded program beneath, which takes numpy and DLPack arrays too."""
        return self._loaded.program

    @property
    def artifact(self) -> Artifact:
        """What was compiled, without the values of the weights."""
        return self._loaded.artifact

    @property
    def report(self) -> Mapping[str, Any]:
        """What the compiler found and chose."""
        return self._loaded.artifact.report

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write program and weights to one file, which `albumen.load` reads without torch."""
        write_artifact(path, with_weights(self._loaded.artifact, self._weights))


def _is_flat(in_spec: Any) -> bool:
    """Whether the model takes only positional tensors, so that a call needs no flattening."""
    args, kwargs = in_spec.children()
    return not kwargs.children() and all(child.is_leaf() for child in args.children())
