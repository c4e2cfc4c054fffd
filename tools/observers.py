"""What albumen-opt can watch a pipeline with: printing the IR around passes, and timing them."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TextIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..lowering.reproducer import module_text


class Observer:
    """Is told of the module before the first pass, around each pass, and when a pass fails."""

    def start(self, module: ModuleOp) -> None:
        """No pass has run yet."""

    def before(self, one: ModulePass, module: ModuleOp) -> None:
        """A pass is about to run."""

    def after(self, one: ModulePass, module: ModuleOp) -> None:
        """A pass has run and the module verifies."""

    def failed(self, one: ModulePass, module: ModuleOp) -> None:
        """A pass has raised, or left a module that does not verify."""

    def finish(self) -> None:
        """No pass will run any more."""


@dataclass
class PrintIR(Observer):
    """Prints the module to the error stream, under the headings of mlir-opt."""

    names_before: Collection[str] = ()
    names_after: Collection[str] = ()
    before_all: bool = False
    after_all: bool = False
    after_change: bool = False
    after_failure: bool = False
    locations: bool = False
    _last: str = field(default="", init=False)

    def _show(self, module: ModuleOp, title: str) -> None:
        text = module_text(module, locations=self.locations)
        print(f"// -----// IR Dump {title} //----- //\n{text}", file=sys.stderr)

    def start(self, module: ModuleOp) -> None:
        if self.after_change:
            self._last = module_text(module)

    def before(self, one: ModulePass, module: ModuleOp) -> None:
        if self.before_all or one.name in self.names_before:
            self._show(module, f"Before {one.spec()}")

    def after(self, one: ModulePass, module: ModuleOp) -> None:
        changed = False
        if self.after_change:
            text = module_text(module)
            changed, self._last = text != self._last, text
        if self.after_all or changed or one.name in self.names_after:
            self._show(module, f"After {one.spec()}")

    def failed(self, one: ModulePass, module: ModuleOp) -> None:
        if self.after_failure:
            self._show(module, f"After {one.spec()} Failed")


@dataclass
class TimePasses(Observer):
    """Prints the seconds of each pass to the error stream."""

    _began: float = field(default=0.0, init=False)
    _times: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]], init=False)

    def before(self, one: ModulePass, module: ModuleOp) -> None:
        self._began = time.perf_counter()

    def after(self, one: ModulePass, module: ModuleOp) -> None:
        self._times.append((str(one.spec()), time.perf_counter() - self._began))

    def finish(self) -> None:
        self._report(sys.stderr)

    def _report(self, stream: TextIO) -> None:
        total = sum(seconds for _, seconds in self._times)
        print("// pass execution time, seconds", file=stream)
        for name, seconds in [*self._times, ("total", total)]:
            share = seconds / total if total else 0.0
            print(f"// {seconds:9.4f} {share:6.1%}  {name}", file=stream)
