"""How a handler says that it cannot import a node; the importer collects these and reports all of them at once."""

from __future__ import annotations


class UnsupportedNodeError(Exception):
    """One node that cannot be imported; `reason` completes the sentence "<op> ... <reason>"."""

    def __init__(self, reason: str):
        self.reason = reason
        super().__init__(reason)
