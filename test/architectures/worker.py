"""`python -m architectures.worker NAME`: one architecture in its uses and dtypes, one JSON line each.

A process of its own, so that a crash of one leaves the others alone.
"""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

import argparse
import copy
import json
import logging
import time
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

import torch

from albumen.dialects.errors import CompileError, UnsupportedError
from albumen.lowering.torch.backend import albumen_backend

from .architecture import GENERATE, Architecture
from .comparison import Mismatch, worst_ratio
from .registry import ARCHITECTURES
from .uses import USES

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


class EagerFails(Exception):
    """The model does not run in this dtype, compiled or not."""


class Graphs:
    """The backend, counting the graphs it is given, their nodes, and the seconds that compiling them took."""

    def __init__(self) -> None:
        self.graphs = 0
        self.nodes = 0
        self.seconds = 0.0

    def __call__(self, graph_module: Any, inputs: Sequence[Any], **options: Any) -> Any:
        self.graphs += 1
        self.nodes += len(graph_module.graph.nodes)
        start = time.perf_counter()
        try:
            return albumen_backend(graph_module, inputs, **options)
        finally:
            self.seconds += time.perf_counter() - start


def measure(architecture: Architecture, use: str, dtype: str, device: str = "cpu") -> dict[str, Any]:
    """One line of the results: what became of it, and why."""
    row: dict[str, Any] = architecture.row(use, dtype)
    backend = Graphs()
    start = time.perf_counter()
    try:
        with torch.no_grad():
            row.update(status="pass", ratio=round(compared(architecture, use, DTYPES[dtype], device, backend), 3))
        if row["ratio"] > 1:
            row.update(status="wrong", why=f"the error is {row['ratio']} times its bound")
    except EagerFails as error:
        row.update(status="eager", why=str(error))
    except Mismatch as error:
        row.update(status="wrong", why=str(error))
    except Exception as error:
        status, why = classified(error)
        row.update(status=status, why=why)
    row.update(graphs=backend.graphs, nodes=backend.nodes)
    row.update(compile_s=round(backend.seconds, 1), seconds=round(time.perf_counter() - start, 1))
    return row


def compared(architecture: Architecture, use: str, dtype: torch.dtype, device: str, backend: Graphs) -> float:
    """The largest error over its bound."""
    try:
        model, run = architecture.build().to(device), USES[use]
    except Exception as error:
        raise EagerFails(f"{type(error).__name__}: {error}") from error
    inputs = {k: v.to(device) if isinstance(v, torch.Tensor) else v for k, v in architecture.arguments().items()}

    def results(kind: torch.dtype, compiled: bool = False) -> list[torch.Tensor]:
        own = copy.deepcopy(model).to(kind)
        call = own.forward if use == GENERATE else own  # generation calls the forward of the model itself
        if compiled:
            call = torch.compile(call, backend=backend, fullgraph=True)
        return run(own, call, converted(inputs, kind))

    torch.compiler.reset()
    try:
        eager = results(dtype)
    except Exception as error:
        raise EagerFails(f"{type(error).__name__}: {error}") from error
    return worst_ratio(results(dtype, compiled=True), eager, exact(results, dtype))


def exact(results: Any, dtype: torch.dtype) -> list[torch.Tensor] | None:
    """The results of a wider run: in float64, or where the model refuses that in float32."""
    try:
        return results(torch.float64)
    except RuntimeError:  # "expected Float but found Double": the model's code names a dtype
        return results(torch.float32) if dtype != torch.float32 else None


def converted(inputs: dict[str, Any], dtype: torch.dtype) -> dict[str, Any]:
    """Inputs of their own, floating ones in the dtype."""

    def one(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        return value.to(dtype) if value.is_floating_point() else value.clone()

    return {name: one(value) for name, value in inputs.items()}


def classified(error: BaseException) -> tuple[str, str]:
    """`unsupported` is our refusal, `break` one of dynamo's, else `crash`."""
    cause = innermost(error)
    found = next((e for e in chain(error) if isinstance(e, CompileError)), None)
    if isinstance(found, UnsupportedError):
        return "unsupported", str(found)
    if found is not None:
        return "crash", f"{type(found).__name__}: {found}"
    names = [type(e).__module__ + "." + type(e).__name__ for e in chain(error)]
    if any("BackendCompilerFailed" in name for name in names) or not any("_dynamo" in name for name in names):
        frame = traceback.extract_tb(cause.__traceback__)[-1]
        return "crash", f"{type(cause).__name__}: {cause} ({frame.filename.split('/')[-1]}:{frame.lineno})"
    return "break", f"{type(error).__name__}: {str(error)[:600]}"


def chain(error: BaseException) -> list[BaseException]:
    """The error and what caused it, outermost first."""
    found: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in found:
        found.append(current)
        current = getattr(current, "inner_exception", None) or current.__cause__ or current.__context__
    return found


def innermost(error: BaseException) -> BaseException:
    return chain(error)[-1]


def cases(uses: Sequence[str], dtypes: Sequence[str]) -> list[tuple[str, str]]:
    """The uses with the dtypes in which they mean something: greedy choices in bfloat16 hang on its rounding."""
    return [(use, dtype) for use in uses for dtype in dtypes if use != GENERATE or dtype == "float32"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", help="the architecture")
    parser.add_argument("case", nargs="*", help="uses and dtypes, such as forward:float32 (default: all)")
    parser.add_argument("--device", default="cpu", help="where the model lies")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)
    architecture = ARCHITECTURES[chosen.name]
    given = [tuple(case.split(":")) for case in chosen.case]
    for use, dtype in given or cases(architecture.uses, list(DTYPES)):
        print(json.dumps(measure(architecture, use, dtype, chosen.device)), flush=True)


if __name__ == "__main__":
    main()
