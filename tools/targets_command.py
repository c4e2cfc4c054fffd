"""`albumen targets`: the targets, and what this machine has for each."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

ROW = "{:7} {:12} {:5} {}"
DEVICE_TARGET = {"cpu": "c"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("--compiler", metavar="CC", help="C compiler (default: ALBUMEN_CC, else on PATH)")


@dataclass(frozen=True)
class Line:
    """One thing a target needs: whether it is here, what was found, and what to do if it is not."""

    target: str
    needs: str
    found: bool
    detail: str
    hint: str = ""

    def __str__(self) -> str:
        text = ROW.format(self.target, self.needs, "yes" if self.found else "no", self.detail)
        return text if self.found or not self.hint else text + "\n" + ROW.format("", "", "", f"to do: {self.hint}")


def lines(compiler: str | None) -> Iterator[Line]:
    """What this machine has, target by target."""
    from ..lowering.toolchain.cc import compiler_report
    from ..lowering.toolchain.nvrtc import nvrtc_report
    from ..runtime.config import configuration
    from ..runtime.devices.registry import report_devices

    found = compiler_report(compiler, configuration().cc)
    yield Line("c", "compiler", found.found, found.detail, found.hint)
    found = nvrtc_report()
    yield Line("cuda", "compiler", found.found, found.detail, found.hint)
    yield Line("metal", "compiler", False, "the text is written, and run on the CPU by tests; never run on a device")
    for device in report_devices():
        target = DEVICE_TARGET.get(device.kind, device.kind)
        yield Line(target, f"device {device.kind}", device.available, device.detail, device.hint)


def run(options: argparse.Namespace) -> int:
    """Print the list."""
    print(ROW.format("target", "needs", "here", "what"))
    for line in sorted(lines(options.compiler), key=lambda line: line.target):
        print(line)
    return 0
