"""Progress on the error stream: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import TextIO

WIDTH = 24


@dataclass
class StreamProgress:
    """Shows the stages of a compile, and within a stage how far it is."""

    stream: TextIO = field(default_factory=lambda: sys.stderr)
    _began: float = field(default_factory=time.perf_counter, init=False)
    _stage: str = field(default="", init=False)
    _number: int = field(default=0, init=False)
    _total: int = field(default=1, init=False)

    @property
    def _terminal(self) -> bool:
        return self.stream.isatty()

    def stage(self, name: str, number: int, total: int) -> None:
        self._stage, self._number, self._total = name, number, total
        if self._terminal:
            self._draw(number - 1, "")
        else:
            self._line(f"[{number}/{total}] {name}")

    def step(self, text: str, done: int, total: int) -> None:
        if self._terminal:
            self._draw(self._number - 1 + done / max(total, 1), text)
        else:
            self._line(f"[{self._number}/{self._total}] {self._stage}: {done}/{total} {text}")

    def finished(self) -> None:
        seconds = time.perf_counter() - self._began
        if self._terminal:
            self.clear()
        self._line(f"done in {seconds:.1f} s")

    def clear(self) -> None:
        """Take the bar off the terminal, before anything else is printed there."""
        if self._terminal:
            self.stream.write("\r\x1b[K")
            self.stream.flush()

    def _draw(self, done: float, text: str) -> None:
        full = round(WIDTH * done / self._total)
        seconds = time.perf_counter() - self._began
        bar = "#" * full + "." * (WIDTH - full)
        tail = f": {text}" if text else ""
        self.stream.write(f"\r\x1b[K[{bar}] {self._number}/{self._total} {self._stage}{tail} ({seconds:.0f} s)")
        self.stream.flush()

    def _line(self, text: str) -> None:
        self.stream.write(f"{text}\n")
        self.stream.flush()
