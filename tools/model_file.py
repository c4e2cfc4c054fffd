"""Reading models for the commands: `.pt2` files of torch.export, and `.mlir` text at the graph level."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.utils.exceptions import ParseError

from ..dialects.errors import CompileError, OptionError
from .diagnostics import from_compile_error, from_parse_error, verify
from .located_parser import LocatedParser
from .registry import make_context

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ..lowering.options import CompileOptions
    from ..lowering.progress import Progress
    from ..lowering.toolchain.object_cache import ObjectCache
    from ..runtime.artifact import Artifact


def check_suffix(path: Path, suffixes: Sequence[str]) -> None:
    """Refuse a file that is no model of these kinds, or is not there."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "a folder, not a file", str(path))
    if path.suffix not in suffixes:
        kinds = {".pt2": "a .pt2 file that torch.export.save wrote", ".mlir": "IR text in an .mlir file"}
        hint = "pass " + " or ".join(kinds[suffix] for suffix in suffixes)
        raise OptionError(f"a name that ends in {path.suffix!r} is no model", hint=hint)
    if not path.exists():
        raise FileNotFoundError(errno.ENOENT, "no such file", str(path))


def import_exported(path: Path) -> ModuleOp:
    """The graph-level module of a .pt2 file."""
    from ..lowering.torch.exported_file import import_file

    return import_file(path)


def check_exported(path: Path) -> tuple[bool, str]:
    """Whether a .pt2 file can be compiled, and a table of what in it cannot."""
    from ..lowering.torch.exported_file import check_file

    report = check_file(path)
    return report.ok, str(report)


def compile_exported(path: Path, options: CompileOptions, progress: Progress, cache: ObjectCache | None) -> Artifact:
    """The artifact of a .pt2 file, with its weights."""
    from ..lowering.torch.exported_file import compile_file

    return compile_file(path, options, progress, cache)


def decode(data: bytes, name: str) -> str:
    """The content of a file as text; `name` is the file's, for the error that it is none."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        hint = "pass IR text; `albumen run` takes an artifact, `albumen import` a .pt2 file"
        raise OptionError("the file is not UTF-8 text", where=f"{name}:{line}", hint=hint) from error


def read_module(path: Path) -> ModuleOp:
    """Parse and verify a file of IR text."""
    module = LocatedParser(make_context(), decode(path.read_bytes(), str(path)), str(path)).parse_module()
    verify(module)
    return module


def reporting(work: Callable[[], None], path: Path) -> int:
    """Run the work of a command; print an error of the model the way albumen-opt does. The exit code."""
    try:
        work()
    except ParseError as error:
        print(from_parse_error(error), file=sys.stderr)
    except CompileError as error:
        print(from_compile_error(error, str(path)), file=sys.stderr)
    else:
        return 0
    return 1
