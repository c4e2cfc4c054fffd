"""How a handler says that it cannot import a node, or that eager raises on it; the importer collects the first kind and
reports all of them at once."""

from __future__ import annotations

from ...dialects.errors import CompileError


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
