"""Samples as thread-level text of CUDA or Metal, run on the CPU shim and compared with what their graphs mean."""

from __future__ import annotations

# pyright: basic
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from albumen.dialects.errors import UnsupportedError
from albumen.dialects.evaluate import evaluate_function
from albumen.dialects.hlir.types import TensorType
from albumen.dialects.host.interpreter import run_program
from albumen.dialects.simt import KernelOp, kernels_of
from albumen.lowering.emit.simt_runner import Language, compile_for_shim, run_on_shim
from albumen.lowering.options import CompileOptions
from albumen.lowering.pipeline import run_stage, stages_for
from albumen.lowering.torch.backend import GraphCompiler, aot_functions
from albumen.lowering.torch.function import ImportedGraph
from albumen.lowering.torch.traced import import_traced

from .samples import SEED, Sample

Array = np.ndarray[Any, Any]


@dataclass
class Graph:
    """A graph of a sample with the values that one call gives it."""

    imported: ImportedGraph
    values: list[Any]

    @property
    def module(self) -> ModuleOp:
        return self.imported.module

    def inputs(self) -> list[Array]:
        """The arguments of @main in the order in which their elements lie in memory."""
        arguments = next(op for op in self.module.ops if isinstance(op, FuncOp)).body.block.args
        return [
            self._input(slot, argument.type) for slot, argument in zip(self.imported.inputs, arguments, strict=True)
        ]

    def _input(self, slot: Any, type_: Any) -> Array:
        if slot.draw is not None:
            return array(slot.draw.make({}, None).permute(slot.order))
        value = slot.constant if slot.constant is not None else self.values[slot.placeholder]
        if isinstance(value, torch.Tensor):
            return array(value.permute(slot.order) if slot.dense else value)
        assert isinstance(type_, TensorType)
        return np.asarray(value, type_.dtype.numpy)


def array(tensor: torch.Tensor) -> Array:
    """A copy of the elements, dense and row-major, in numpy's or ml_dtypes' type of the same bits."""
    dense = tensor.detach().contiguous().clone()
    if dense.dtype is torch.bfloat16:
        import ml_dtypes

        return dense.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return dense.numpy()


class Recorder(GraphCompiler):
    """Keeps the graphs instead of compiling them; a call runs torch's own trace."""

    def __init__(self) -> None:
        super().__init__({}, ())
        self.graphs: list[Graph] = []

    def compile(self, graph_module: Any, static_inputs: Sequence[int], names: Sequence[str]) -> Any:
        imported = import_traced(graph_module, random="eager")

        def call(values: list[Any]) -> Any:
            self.graphs.append(Graph(imported, [v.clone() if isinstance(v, torch.Tensor) else v for v in values]))
            results = graph_module(*values)
            values.clear()
            return results

        call._boxed_call = True  # pyright: ignore[reportFunctionMemberAccess]
        return call


def graphs_of(sample: Sample) -> list[Graph]:
    """The graphs that a call of the sample runs.

    Raises:
        UnsupportedError: something of it is not imported.
    """
    recorder = Recorder()

    def backend(graph_module: Any, example_inputs: Sequence[Any]) -> Any:
        return aot_functions(graph_module, example_inputs, recorder)

    torch._dynamo.reset()
    torch.manual_seed(SEED)
    try:
        torch.compile(sample.call, backend=backend, fullgraph=True, dynamic=False)(sample.tensors())
    except Exception as error:
        reason = _unsupported(error)
        if reason is None:
            raise
        raise reason from None
    return recorder.graphs


def _unsupported(error: BaseException | None) -> UnsupportedError | None:
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        if isinstance(error, UnsupportedError):
            return error
        seen.append(error)
        error = getattr(error, "inner_exception", None) or error.__cause__ or error.__context__
    return None


@dataclass
class Text:
    """A graph lowered to threads; `kernels` are copies under names that are unlike those of other graphs."""

    graph: Graph
    inputs: list[Array]
    expected: list[Array]
    module: ModuleOp
    kernels: dict[str, KernelOp]

    @classmethod
    def of(cls, graph: Graph, language: Language, prefix: str) -> Text:
        """The whole pipeline as far as `map-threads`."""
        inputs = graph.inputs()
        with np.errstate(all="ignore"):
            expected = evaluate_function(graph.module, "main", inputs)
        module = graph.module.clone()
        options = CompileOptions(target=language)
        for stage in stages_for(options):
            if stage.name != "emit":
                run_stage(stage, stage.make(options), Context(), module)
        kernels: dict[str, KernelOp] = {}
        for kernel in kernels_of(module):
            copy = kernel.clone()
            copy.properties["sym_name"] = StringAttr(f"{prefix}_{kernel.sym_name.data}")
            kernels[kernel.sym_name.data] = copy
        return cls(graph, inputs, [np.asarray(x) for x in expected], module, kernels)

    def run(self, launch: Callable[[KernelOp, Sequence[Any], Mapping[str, int]], None]) -> list[Array]:
        def launcher(kernel: Operation, buffers: Sequence[Any], symbols: Mapping[str, int]) -> None:
            assert isinstance(kernel, KernelOp)
            launch(self.kernels[kernel.sym_name.data], buffers, symbols)

        return run_program(self.module, "main", self.inputs, None, launcher)


@dataclass
class Batch:
    """Graphs whose kernels are compiled together: most of the time goes into the compiler's headers."""

    language: Language
    texts: list[Text] = field(default_factory=list)

    def add(self, graph: Graph) -> Text:
        text = Text.of(graph, self.language, f"t{len(self.texts)}")
        self.texts.append(text)
        return text

    def results(self) -> list[list[Array]]:
        """What the text of each graph gives."""
        kernels = [kernel for text in self.texts for kernel in text.kernels.values()]
        shim = compile_for_shim(kernels, self.language)

        def launch(kernel: KernelOp, buffers: Sequence[Any], symbols: Mapping[str, int]) -> None:
            run_on_shim(shim, kernel, buffers, symbols)

        return [text.run(launch) for text in self.texts]


def assert_close(found: Sequence[Array], expected: Sequence[Array]) -> None:
    """Equal integers; floats within torch's tolerance of their element type, NaN and infinities at the same places."""
    assert len(found) == len(expected)
    for ours, wanted in zip(found, expected, strict=True):
        assert ours.dtype == wanted.dtype and ours.shape == wanted.shape
        torch.testing.assert_close(_tensor(ours), _tensor(wanted), equal_nan=True)


def _tensor(x: Array) -> torch.Tensor:
    x = np.array(x, order="C")
    if x.dtype.kind == "V" and x.dtype.itemsize == 2:
        return torch.from_numpy(x.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(x)
