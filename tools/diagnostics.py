"""Errors as the tools print them, `file:line: error: what`, and the check of errors that a test file expects."""

from __future__ import annotations

import re
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import ParseError, VerifyException

from ..dialects.errors import CompileError


@dataclass(frozen=True)
class Diagnostic:
    """One error: where (`line` 0 if unknown), what, and lines of detail."""

    file: str
    line: int
    message: str
    details: tuple[str, ...] = ()

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return "\n".join([f"{place}: error: {self.message}", *self.details])


class VerifyError(CompileError):
    """An op that its own verifier refuses."""


def verify(module: ModuleOp) -> None:
    """Verify a module; raises VerifyError for the first op that does not verify."""
    try:
        module.verify()
    except VerifyException as error:
        op = _culprit(module)
        raise VerifyError(str(error), op=op) from error


def _culprit(module: ModuleOp) -> Operation:
    for op in module.walk():
        try:
            op.verify(verify_nested_ops=False)
        except VerifyException:
            return op
    return module


def _split_place(where: str, file: str) -> tuple[str, int]:
    """File and line of the first location in a text such as `model.py:12, block.py:7`."""
    match = re.match(r"([^,\n]*):(\d+)", where)
    return (match[1], int(match[2])) if match else (file, 0)


def from_parse_error(error: ParseError) -> Diagnostic:
    """A syntax error with the source line and a caret."""
    place = error.span.get_location()
    context = error.span.print_with_context().splitlines()[1:]
    return Diagnostic(place.file, place.line, error.msg.rstrip(), tuple(line for line in context if line.strip()))


def from_compile_error(error: CompileError, file: str) -> Diagnostic:
    """An error of the family; `file` is what is being compiled, named when the error has no place of its own."""
    path, line = _split_place(error.where, file)
    message = ": ".join(part for part in (error.stage, error.op_name, error.message) if part)
    details = [f"  at: {error.where}"] if error.where and ("," in error.where or not line) else []
    details += [f"  to do: {error.hint}"] if error.hint else []
    return Diagnostic(path, line, message, tuple(details))


EXPECTED = re.compile(r"//\s*expected-error\s*(?:@(above|below|unknown|[+-]?\d+))?\s*\{\{(.*?)\}\}")


@dataclass(frozen=True)
class Expectation:
    """An error that a comment announces; `line` 0 stands for an unknown line."""

    line: int
    text: str


def expectations(source: str, line_offset: int) -> list[Expectation]:
    """The `// expected-error@+1 {{part of the message}}` comments of a piece of a file."""
    found: list[Expectation] = []
    for number, line in enumerate(source.splitlines(), 1 + line_offset):
        for where, text in EXPECTED.findall(line):
            steps = {"": 0, "above": -1, "below": 1}
            if where == "unknown":
                found.append(Expectation(0, text))
            elif where in steps or where[0] in "+-":
                found.append(Expectation(number + (steps[where] if where in steps else int(where)), text))
            else:
                found.append(Expectation(int(where), text))
    return found


def unexpected(error: Diagnostic | None, expected: list[Expectation], file: str) -> list[Diagnostic]:
    """What differs between the one error that came up (a piece stops at its first) and those announced."""
    met = [e for e in expected if error is not None and e.line in (0, error.line) and e.text in error.message]
    unmet = [e for e in expected if e not in met]
    missing = [Diagnostic(file, e.line, f'expected error "{e.text}" was not produced') for e in unmet]
    return missing if met or error is None else [error, *missing]
