"""`torch.compile(model, backend="albumen")`: AOTAutograd's graphs, forward and backward, compiled and called without
copies."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import torch
from torch._decomp import core_aten_decompositions, get_decompositions  # pyright: ignore[reportUnknownVariableType]
from torch._functorch import config as functorch_config
from torch._functorch.aot_autograd import aot_module_simplified
from torch._guards import TracingContext
from torch._inductor import config as inductor_config
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import GraphModule, Node

from ...dialects.errors import OptionError
from .calling import LoadedGraph, Run
from .compilation import compile_imported, device_of, resolved_options
from .decompositions.table import DECOMPOSITIONS
from .exported import KEPT_WHOLE
from .function import placeholders_of
from .fx import graph_tensors
from .interpolation import substitute
from .recompiles import frame_name, tell_recompile
from .report import nested_arguments
from .traced import import_traced
from .unsupported import EagerRaisesError, UnsupportedProgramError

aten = torch.ops.aten

KEPT = (
    *KEPT_WHOLE,
    aten._softmax_backward_data.default,  # torch takes it apart as CUDA computes it
    aten._scaled_dot_product_flash_attention_for_cpu.default,
    aten._scaled_dot_product_flash_attention.default,
    aten._scaled_dot_product_efficient_attention.default,
    aten._scaled_dot_product_cudnn_attention.default,
    aten.bernoulli.default,  # torch's decomposition draws f32 numbers for f64 probabilities, eager f64
    aten.native_layer_norm.default,
    aten.native_group_norm.default,
    aten.embedding_dense_backward.default,
    aten.silu_backward.default,
    aten.sigmoid_backward.default,
    aten.tanh_backward.default,
    aten.threshold_backward.default,
)
"""What AOTAutograd leaves whole because a handler takes it so."""


TAKEN_APART = (
    aten._native_batch_norm_legit_functional,
    aten._native_batch_norm_legit,
    aten._batch_norm_with_update_functional,
    aten._batch_norm_with_update,
    aten._batch_norm_no_update,
    aten.batch_norm_backward,
    aten.native_batch_norm,
    aten.native_batch_norm_backward,
    aten.native_layer_norm_backward,
    aten.gelu_backward,
    aten.triu_indices,
    aten.tril_indices,
)
"""What training needs and torch's core table leaves whole."""


MODES = ("default", "reduce-overhead")
"""A program on a GPU is always launched as one graph, so the second is what the first does anyway."""


def decompositions() -> dict[Any, Callable[..., Any]]:
    """torch's core decompositions without the ops that are imported whole."""
    table: dict[Any, Callable[..., Any]] = dict(core_aten_decompositions())
    table.update(cast(Any, get_decompositions)(TAKEN_APART))
    table.update(DECOMPOSITIONS)
    for overload in KEPT:
        table.pop(overload, None)
    return table


def albumen_backend(
    graph_module: GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> Any:
    """The backend that the entry point of `torch_dynamo_backends` names. `options` are the fields of `CompileOptions`.

    Raises:
        OptionError: an unknown option, or a `mode` that asks for what is never done.
    """
    if mode not in (None, *MODES):
        hint = f"use one of {', '.join(MODES)}, and options={{...}} for anything else"
        raise OptionError(f"mode={mode!r} has no counterpart: no kernels are timed", hint=hint)
    device = device_of([*_tensors(example_inputs), *_tensors(_examples(graph_module))])
    names = source_names(graph_module)
    nested = nested_arguments(dict(zip(names, example_inputs, strict=True)))
    if nested:
        raise UnsupportedProgramError(nested)
    resolved_options(options, device)  # a wrong option is an error before anything is traced
    tell_recompile()
    substitute(graph_module)
    return aot_functions(graph_module, example_inputs, GraphCompiler(options, names))


def _tensors(values: Iterable[Any]) -> list[torch.Tensor]:
    return [value for value in values if isinstance(value, torch.Tensor)]


def _examples(graph_module: GraphModule) -> list[Any]:
    """The fake values in dynamo's graph, which show where the tensors lie that it makes."""
    return [node.meta.get("example_value") for node in graph_module.graph.nodes]


def aot_functions(graph_module: GraphModule, example_inputs: Sequence[Any], compiler: GraphCompiler) -> Any:
    """What dynamo calls: AOTAutograd's wrapper around the functions that the compiler makes of its graphs."""
    forward: Any = compiler.forward
    # The backward graph is compiled when it first runs, which may be inside a frame that dynamo looks at.
    backward: Any = cast(Any, torch.compiler).disable(compiler.backward, reason="compiles the backward graph")
    with _traced_as_eager_runs():
        return aot_module_simplified(
            graph_module,
            list(example_inputs),
            fw_compiler=forward,
            bw_compiler=backward,
            inference_compiler=forward,
            decompositions=decompositions(),
            keep_inference_input_mutations=True,
        )


@contextmanager
def _traced_as_eager_runs() -> Generator[None]:
    """Settings of torch under which AOTAutograd's graphs mean what eager does.

    Backward runs outside of the autocast that forward ran in; a checkpointed layer on a GPU takes the generator's state
    as a tensor; and random numbers that nobody reads are drawn all the same.
    """
    functorch: Any = functorch_config
    inductor: Any = inductor_config
    with (
        functorch.patch(backward_pass_autocast="off", graphsafe_rng_functionalization=False),
        inductor.patch(fallback_random=True),
    ):
        yield


def source_names(graph_module: GraphModule) -> list[str]:
    """What the placeholders of dynamo's graph are called in the user's program: layer.weight, x, ..."""
    names: list[str] = []
    for node in placeholders_of(graph_module.graph):
        argument: Any = node.meta.get("grapharg")
        source = str(getattr(getattr(argument, "source", None), "name", "") or "")
        parts = [p for p in _NAME_PARTS.findall(source) if p not in _CONTAINERS]
        names.append(".".join(parts) or node.name)
    return names


_NAME_PARTS = re.compile(r"[A-Za-z_]\w*|\d+")
_CONTAINERS = ("L", "G", "self", "_modules", "_parameters", "_buffers", "args", "kwargs")


class GraphCompiler:
    """Compiles the graphs that AOTAutograd makes of one dynamo graph."""

    def __init__(self, options: Mapping[str, Any] | None, names: Sequence[str]):
        self.options = options
        self.names = names
        self._graphs = 0
        self._frame = frame_name()

    def forward(self, graph_module: GraphModule, example_inputs: Sequence[Any]) -> Any:
        """The forward or inference graph."""
        context = TracingContext.try_get()
        metadata = None if context is None else context.fw_metadata
        fixed: Sequence[int] = () if metadata is None else metadata.static_input_indices
        with unset_fake_temporarily():  # AOTAutograd's trace is still on; constants and weights are real tensors
            return self.compile(graph_module, fixed, self.names)

    def backward(self, graph_module: GraphModule, example_inputs: Sequence[Any]) -> Any:
        """The backward graph; its weights are saved values like the others."""
        graph_module.graph.eliminate_dead_code(is_impure_node=_stays_in_backward)
        with unset_fake_temporarily():
            function = self.compile(graph_module, (), ())
        return cast(Any, torch.compiler).disable(function, reason="runs the backward graph")

    def _next_name(self) -> str:
        """What the profiler calls a graph: the function that dynamo compiles, and which of its graphs it is."""
        self._graphs += 1
        return f"albumen {self._frame} graph {self._graphs - 1}"

    def compile(self, graph_module: GraphModule, static_inputs: Sequence[int], names: Sequence[str]) -> Any:
        """A boxed function: it takes a list and empties it, which frees the inputs that nobody else holds."""
        device = device_of(graph_tensors(graph_module.graph))
        options = resolved_options(self.options, device)
        random = options.random or "eager"
        try:
            imported = import_traced(graph_module, names=names, static_inputs=static_inputs, random=random)
        except EagerRaisesError as error:
            return _boxed(_raising(error.error))
        if options.dump_ir:
            options = replace(options, dump_ir=str(_free_folder(Path(options.dump_ir))))
        loaded = LoadedGraph(imported, compile_imported(imported, options), device, {}, name=self._next_name())
        return _boxed(loaded.runner())


def _stays_in_backward(node: Node) -> bool:
    """Whether a node of the backward graph counts though nobody reads it.

    Where random numbers are drawn even if unread, torch's partitioner copies the forward pass's draws into the backward
    graph: drawn twice, they would move the generator on. What the backward pass itself draws stays.
    """
    draws = node.meta.get("partitioner_tag") in ("is_backward", "must_be_in_backward")
    return node.is_impure(impure_random=draws)


def _boxed(run: Run) -> Any:
    def call(values: list[Any]) -> Sequence[Any]:
        results = run(values)
        values.clear()
        return results

    call._boxed_call = True  # pyright: ignore[reportFunctionMemberAccess]
    return call


def _raising(error: Exception) -> Run:
    """What runs in the place of a program on which eager raises: each call raises an error of its own."""

    def run(values: Sequence[Any]) -> Sequence[Any]:
        raise type(error)(*error.args)

    return run


def _free_folder(parent: Path) -> Path:
    """The first of graph0, graph1, ... that is not there: each graph of a model gets its own dump."""
    number = 0
    while (parent / f"graph{number}").exists():
        number += 1
    return parent / f"graph{number}"
