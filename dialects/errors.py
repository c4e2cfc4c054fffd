"""The one family of compile errors: each says at which stage, on which op, where in the user's model, what was found
and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, FileLineColLoc, FusedLoc, NameLoc, UnknownLoc
from xdsl.ir import Attribute, Operation


def location_text(location: Attribute) -> str:
    """The source lines in a location attribute, most specific first; empty for an unknown location."""
    if isinstance(location, FileLineColLoc):
        return f"{location.filename.data}:{location.line.data}"
    if isinstance(location, FusedLoc):
        inner = location.locations
        assert isinstance(inner, ArrayAttr)
        parts = [location_text(part) for part in cast(ArrayAttr[Attribute], inner)]
        return ", ".join(dict.fromkeys(part for part in parts if part))
    if isinstance(location, NameLoc):
        return location.desc.data
    if isinstance(location, UnknownLoc):
        return ""
    return str(location)


class CompileError(Exception):
    """A program or a request that cannot be compiled.

    `message` says what was found (and what was expected), `hint` what to do. `op` names the operation and gives the
    location
    unless one is passed; `stage` is filled in by the pipeline when the raiser did not know it.
    """

    stage: str
    op_name: str
    where: str
    message: str
    hint: str

    def __init__(
        self,
        message: str,
        *,
        op: Operation | None = None,
        op_name: str = "",
        where: str = "",
        hint: str = "",
        stage: str = "",
    ):
        self.message = message
        self.hint = hint
        self.stage = stage
        self.op_name = op_name or (op.name if op is not None else "")
        self.where = where or (location_text(op.location) if op is not None else "")
        super().__init__(message)

    def __str__(self) -> str:
        head = ": ".join(part for part in (self.stage, self.op_name) if part)
        text = f"{head}: {self.message}" if head else self.message
        if self.where:
            text += f"\n  at: {self.where}"
        if self.hint:
            text += f"\n  to do: {self.hint}"
        return text


class UnsupportedError(CompileError):
    """Something of the user's program that Albumen does not implement; lists every such thing found, not the first."""

    def __init__(self, what: str, items: Sequence[str], *, hint: str = "", stage: str = ""):
        self.items = tuple(items)
        lines = "".join(f"\n    {item}" for item in self.items)
        super().__init__(f"{what}:{lines}", hint=hint, stage=stage)


class TypeRuleError(CompileError):
    """Operands or attributes that the type rule of an op refuses."""


class ContractError(CompileError):
    """A module that is not at the level it should be at."""


class RuleError(CompileError):
    """A rewrite rule that united two values which are not equal (types differ, or the member check failed)."""


class LoweringError(CompileError):
    """An op that a lowering cannot take in the form it has."""


class OptionError(CompileError):
    """An unknown option or a value outside its range."""


class EvaluationError(CompileError):
    """A program that cannot be evaluated on the given inputs (shape, dtype or count mismatch)."""


class ToolchainError(CompileError):
    """A compiler that is missing or refused its input; keeps the command and what it printed."""

    def __init__(self, message: str, *, command: str = "", output: str = "", hint: str = ""):
        self.command = command
        self.output = output
        detail = f"\n  command: {command}" if command else ""
        detail += f"\n  output: {output.strip()[:4000]}" if output.strip() else ""
        super().__init__(message + detail, hint=hint, stage="compile")


class InternalError(CompileError):
    """A broken invariant of Albumen itself."""

    def __init__(self, message: str, *, op: Operation | None = None, stage: str = ""):
        super().__init__(
            message, op=op, stage=stage, hint="this is a bug in Albumen; please report it with the reproducer file"
        )
