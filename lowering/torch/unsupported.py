"""How a handler says that it cannot import a node, or that eager raises on it; the importer collects the first kind and
reports all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...dialects.errors import CompileError, UnsupportedError


class UnsupportedNodeError(Exception):
    """One node that cannot be imported; `reason` completes the sentence "<op> ... <reason>"."""

    def __init__(self, reason: str):
        self.reason = reason
        super().__init__(reason)


class EagerRaisesError(CompileError):
    """A node on which eager raises `error` whatever the values are, although torch's trace of it does not.

    Under torch.compile the call raises the very error; what the program would have written before stays unwritten.
    """

    def __init__(self, error: Exception):
        self.error = error
        super().__init__(f"eager raises {type(error).__name__} here: {error}", stage="import")


@dataclass(frozen=True)
class Finding:
    """One thing of a program that is not supported: its name, why, and its line in the user's source if known."""

    name: str
    reason: str
    where: str

    def __str__(self) -> str:
        return f"{self.name}{f' at {self.where}' if self.where else ''}: {self.reason}"


class UnsupportedProgramError(UnsupportedError):
    """Everything of a program that is not supported; equal findings of several nodes are one item of the text."""

    def __init__(self, findings: Sequence[Finding]):
        self.findings = tuple(findings)
        hint = "change these lines of the model, or compile the parts around them"
        items = list(dict.fromkeys(map(str, findings)))
        super().__init__("the program uses what Albumen does not support", items, hint=hint, stage="import")
