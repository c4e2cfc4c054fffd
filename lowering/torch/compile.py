"""`albumen.compile`: a whole model through torch.export as one program, called without guards."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind, TensorArgument
from torch.utils import _pytree as pytree

from ...dialects.errors import UnsupportedError
from ...runtime.artifact import Artifact, write_artifact
from ...runtime.errors import LaunchError, LayoutError
from ...runtime.program import Program
from ..options import CompileOptions
from ..progress import SILENT, Progress
from .calling import LoadedGraph
from .compilation import compile_imported, device_of, resolved_options
from .exported import import_exported, state_names, weights_of
from .function import ImportedGraph
from .fx import graph_tensors
from .input_memory import refusing_overlap
from .model_state import ModelState
from .report import exported, require_model, tensors_without_counterpart
from .unsupported import UnsupportedProgramError
from .weight_memory import in_memory_order
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
    require_model("albumen.compile", model, args)
    tensors = [t for t in pytree.tree_leaves((args, kwargs or {})) if isinstance(t, torch.Tensor)]
    tensors += [*model.parameters(), *model.buffers()]
    device = device_of(tensors)
    places = list(dict.fromkeys(str(t.device) for t in tensors))
    if len(places) > 1:
        message = "the model and its arguments lie on several devices"
        raise UnsupportedError(message, places, hint="move them to one", stage="import")
    chosen = resolved_options(options, device)
    findings = tensors_without_counterpart(model, args, kwargs or {})
    if findings:
        raise UnsupportedProgramError(findings)
    examples, named = without_shared_memory((tuple(args), dict(kwargs or {})))
    program = exported(model, examples, named, dynamic_shapes)
    placed = device if tensors else device_of(graph_tensors(program.graph))
    chosen = chosen if placed == device else resolved_options(options, placed)
    return compile_program(program, chosen, placed, progress, model)


def compile_program(
    program: ExportedProgram,
    options: CompileOptions,
    device: torch.device,
    progress: Progress = SILENT,
    model: torch.nn.Module | None = None,
) -> CompiledModel:
    """Compile an exported program, which uses the tensors of the `model` that it was made from, if that is given."""
    imported = import_exported(program, options.random or "philox")
    artifact = compile_imported(imported, options, progress)
    weights = weights_of(program, imported)
    state = None if model is None else ModelState(model, state_names(program, imported))
    if state is not None:
        weights |= state.tensors()
    name = "albumen" if model is None else f"albumen {type(model).__name__}"
    return CompiledModel(program, imported, artifact, device, weights, state, name)


class CompiledModel:
    """A compiled model: call it like the model it came from, and `save` it."""

    def __init__(
        self,
        exported: ExportedProgram,
        imported: ImportedGraph,
        artifact: Artifact,
        device: torch.device,
        weights: Mapping[str, torch.Tensor],
        state: ModelState | None = None,
        name: str = "albumen",
    ):
        specs = exported.graph_signature.input_specs
        first = sum(spec.kind is not InputKind.USER_INPUT for spec in specs)
        self._loaded = LoadedGraph(imported, artifact, device, weights, first, name)
        self._run = self._loaded.runner()
        self._state = state
        self._modes = None if state is None else state.modes
        self._changed = [False] if state is None else state.changed
        self._weights = dict(weights)
        self._check_memory = _memory_check(imported, first)
        self._in_spec: Any = exported.call_spec.in_spec
        self._out_spec: Any = exported.call_spec.out_spec
        arguments = [spec.arg for spec in specs[first:]]
        self._fixed = [(i, a.value) for i, a in enumerate(arguments) if isinstance(a, ConstantArgument)]
        self._tensors = [i for i, a in enumerate(arguments) if isinstance(a, TensorArgument)]
        self._count = len(arguments)
        self._plain_arguments = not self._fixed and _is_flat(self._in_spec)
        self._plain_result = bool(self._out_spec.is_leaf())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The model's result, in fresh tensors but for those that eager returns as views of arguments or weights.

        Raises:
            LaunchError: the arguments, or the model's weights, are not of the form that the model was compiled for.
        """
        if self._plain_arguments and not kwargs and len(args) == self._count:
            values: list[Any] = list(args)
        else:
            values = self._flattened(args, kwargs)
        if self._changed[0]:
            self._take_replaced()
        if self._modes is not None:
            self._modes.check()
        try:
            if torch.is_grad_enabled() and any(values[i].requires_grad for i in self._tensors):
                raise LaunchError(
                    "an argument requires a gradient, which a compiled program does not compute", hint=_GRADIENT
                )
            if self._check_memory is not None:
                self._check_memory(values)
            results = self._run(values)
        except LayoutError:  # a weight may have been moved to memory that is laid out otherwise
            self._bind({})
            results = self._run(values)
        except AttributeError:  # what is no tensor has no strides; looking before every call would cost each of them
            self._check_tensors(values)
            raise
        return results[0] if self._plain_result else pytree.tree_unflatten(list(results), self._out_spec)

    def _take_replaced(self) -> None:
        """Bind the tensors that were put in the place of others in the model."""
        assert self._state is not None
        fresh = self._state.replaced()
        if fresh:
            self._bind(fresh)

    def _bind(self, fresh: Mapping[str, torch.Tensor]) -> None:
        self._weights |= fresh
        self._loaded.rebind(fresh)
        self._run = self._loaded.runner()

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

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a compiled model cannot be pickled or copied, since it uses the memory of the model it came from: "
            "save(path) writes it to a file for albumen.load; or copy the model, and compile the copy"
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
        if self._changed[0]:
            self._take_replaced()
        slots = {slot.name: slot for slot in self._loaded.imported.inputs}
        ordered = {name: in_memory_order(value, slots[name]) for name, value in self._weights.items()}
        write_artifact(path, with_weights(self._loaded.artifact, ordered))


_GRADIENT = "call it under torch.no_grad(), or compile the model with torch.compile(backend='albumen')"


def without_shared_memory(values: Any) -> Any:
    """The values with a copy of each tensor that lies in the memory of one before: torch.export takes no aliases."""
    seen: set[int] = set()

    def apart(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage().data_ptr()
        if storage not in seen or not tensor.numel():
            seen.add(storage)
            return tensor
        copy = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)
        return copy.copy_(tensor.detach()).requires_grad_(tensor.requires_grad)

    return pytree.tree_map_only(torch.Tensor, apart, values)


def _memory_check(imported: ImportedGraph, offset: int) -> Callable[[list[Any]], None] | None:
    """What looks for shared memory before each call, if the model writes into its arguments."""
    given = [
        (slot.placeholder - offset, slot) for slot in imported.inputs if slot.role == "input" and slot.draw is None
    ]
    written = {imported.inputs[index].name for index in imported.mutated}
    return refusing_overlap(given, written) if any(slot.name in written for _, slot in given) else None


def _is_flat(in_spec: Any) -> bool:
    """Whether the model takes only positional tensors, so that a call needs no flattening."""
    args, kwargs = in_spec.children()
    return not kwargs.children() and all(child.is_leaf() for child in args.children())
