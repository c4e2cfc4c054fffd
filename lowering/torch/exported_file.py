"""Files that `torch.export.save` wrote."""

from __future__ import annotations

import os
import zipfile

import torch
from torch.export import ExportedProgram
from xdsl.dialects.builtin import ModuleOp

from ...dialects.errors import CompileError
from ...runtime.artifact import Artifact
from ..options import CompileOptions
from ..progress import SILENT, Progress
from ..toolchain.object_cache import ObjectCache
from .artifact_layout import with_logical_layouts
from .compilation import compile_imported
from .exported import import_exported, weights_of
from .report import Report, check_program
from .weight_memory import in_memory_order
from .weights import with_weights


def read_program(path: str | os.PathLike[str]) -> ExportedProgram:
    """The program in a file. Loading runs torch's own reader: load only files you trust.

    Raises:
        CompileError: the file is none that this torch can read.
    """
    if not zipfile.is_zipfile(path):
        raise CompileError(
            f"{os.fspath(path)} is no file of torch.export", hint="write it with torch.export.save", stage="import"
        )
    try:
        return torch.export.load(os.fspath(path))
    except (RuntimeError, ValueError, KeyError, zipfile.BadZipFile) as error:
        message = f"{os.fspath(path)} cannot be read by torch {torch.__version__}: {error}"
        raise CompileError(message, hint="write it again with torch.export.save", stage="import") from error


def import_file(path: str | os.PathLike[str]) -> ModuleOp:
    """The graph-level module of a file."""
    return import_exported(read_program(path)).module


def check_file(path: str | os.PathLike[str]) -> Report:
    """What of the program in a file cannot be compiled."""
    return check_program(read_program(path))


def compile_file(
    path: str | os.PathLike[str],
    options: CompileOptions,
    progress: Progress = SILENT,
    cache: ObjectCache | None = None,
) -> Artifact:
    """The artifact of a file, with its weights."""
    program = read_program(path)
    imported = import_exported(program)
    artifact = compile_imported(imported, options, progress, cache)
    slots = {slot.name: slot for slot in imported.inputs}
    weights = {name: in_memory_order(value, slots[name]) for name, value in weights_of(program, imported).items()}
    return with_weights(with_logical_layouts(artifact, imported, weights), weights)
