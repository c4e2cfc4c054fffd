"""How long work tells what it is doing: the tools show it, a library call by default does not."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """A listener. It may raise KeyboardInterrupt's kin from any call; the work must leave nothing half-written then."""

    def stage(self, name: str, number: int, total: int) -> None:
        """Stage `name`, the `number`-th (from 1) of `total`, begins."""
        ...

    def step(self, text: str, done: int, total: int) -> None:
        """Within the stage, `done` of `total` parts are finished; `text` says which kind or which came out best."""
        ...

    def finished(self) -> None:
        """All stages are done."""
        ...


class Silent:
    """Progress that nobody watches."""

    def stage(self, name: str, number: int, total: int) -> None:
        """Ignore it."""

    def step(self, text: str, done: int, total: int) -> None:
        """Ignore it."""

    def finished(self) -> None:
        """Ignore it."""


SILENT = Silent()
