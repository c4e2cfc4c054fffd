"""Reproducers: one .mlir file a failure, whose first line is the command that replays it."""

from __future__ import annotations

import contextlib
import os
import shlex
import tempfile
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.printer import Printer

from ..dialects.errors import CompileError, InternalError
from ..transforms.eqsat.egraph_ops import copy_of


class ModulePrinter(Printer):
    """Prints a location only where an op ends. xDSL repeats it after the types in the middle of scf.while, which its
    parser does not take."""

    def print_operation_type(self, op: Operation) -> None:
        """The types of operands and results; in the generic form the op ends with them."""
        if self.print_generic_format or type(op).print is Operation.print:
            super().print_operation_type(op)
        else:
            self.print_function_type(op.operand_types, op.result_types)


def module_text(module: ModuleOp, *, locations: bool = True) -> str:
    """A module as text that parses back."""
    stream = StringIO()
    ModulePrinter(stream, print_debuginfo=locations).print_op(module)
    return stream.getvalue() + "\n"


def pipeline_text(passes: Sequence[ModulePass]) -> str:
    """Passes as the argument of `-p`."""
    return ",".join(str(one.spec()) for one in passes)


def write_atomically(path: Path, text: str) -> None:
    """Write a file so that a reader sees all of it or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w") as stream:
            stream.write(text)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def as_compile_error(error: Exception, stage: str) -> CompileError:
    """The error as one of the family, with its stage; an exception of another kind is a bug of ours."""
    if not isinstance(error, CompileError):
        wrapped = InternalError(f"{type(error).__name__}: {error}", stage=stage)
        wrapped.__cause__ = error
        return wrapped
    error.stage = error.stage or stage
    return error


def replay(context: Context, start: ModuleOp, passes: Sequence[ModulePass]) -> tuple[ModuleOp, Sequence[ModulePass]]:
    """The module before the last of `passes` and that pass; or, if the way there fails, the start and all of them."""
    module = copy_of(start)
    try:
        for one in passes[:-1]:
            one.apply(context, module)
    except Exception:
        # The failing pass does not fail alone: whatever happened here, the whole pipeline shows it.
        return start, passes
    return module, passes[-1:]


def write_reproducer(
    path: Path, context: Context, start: ModuleOp, passes: Sequence[ModulePass], error: CompileError, flags: str = ""
) -> None:
    """Write the module on which the last of `passes` fails, under the command that replays it and the error.

    The error's text names the file afterwards.
    """
    module, remaining = replay(context, start, passes)
    command = f"albumen-opt {shlex.quote(str(path))} -p {shlex.quote(pipeline_text(remaining))}{flags}"
    comment = "".join(f"// {line}\n" for line in str(error).splitlines())
    write_atomically(path, f"// {command}\n{comment}{module_text(module)}")
    error.hint = f"{error.hint}\n  reproducer: {path}" if error.hint else f"replay it with the reproducer: {path}"
