"""Albumen: an MLIR-style ML compiler. Importing this loads nothing: `compile` and `load` fetch what they need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from .lowering.torch.compile import CompiledModel
    from .lowering.torch.report import Report
    from .runtime.artifact import Entry
    from .runtime.devices.device import Device
    from .runtime.program import Program

__version__ = "0.1.0"

__all__ = ["__version__", "check", "compile", "load"]


def compile(
    model: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    options: Mapping[str, Any] | None = None,
) -> CompiledModel:
    """Compile a `torch.nn.Module` called with `args` and `kwargs` into one program.

    `dynamic_shapes` is what `torch.export.export` takes; `options` are the fields of `CompileOptions`. The result is
    called like the model, and has `.save(path)`.
    """
    from .lowering.torch.compile import compile_model

    return compile_model(model, args, kwargs, dynamic_shapes=dynamic_shapes, options=options)


def check(
    model: Any,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
) -> Report:
    """What of a `torch.nn.Module` called with `args` and `kwargs`, or of a `torch.export.ExportedProgram`, cannot be
    compiled. The result has `ok` and `rows`, and prints as a table; nothing is compiled."""
    from .lowering.torch.report import check_model

    return check_model(model, args, kwargs, dynamic_shapes=dynamic_shapes)


def load(
    path: str | Path, *, device: str | Device | None = None, weights: str | Path | Mapping[str, Any] | None = None
) -> Program:
    """Load a saved program, without torch, xdsl or egglog. Load only files you trust: an artifact is a program."""
    from .runtime.program import load as load_program

    return load_program(path, device=device, weights=weights, recompile=_recompile)


def _recompile(entry: Entry, source: bytes) -> bytes:
    from .runtime.config import configuration
    from .runtime.errors import DeviceError

    try:
        from .lowering.recompile import recompile
    except ModuleNotFoundError as error:
        message = f"the program must be rebuilt for this processor, which needs the package {error.name}"
        raise DeviceError(message, hint=f"pip install {error.name}, or compile the model on this machine") from error
    return recompile(entry, source, configuration().cc)
