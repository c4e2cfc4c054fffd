"""`albumen targets`: the targets, and what this machine has for each."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass


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
        text = f"{self.target:6} {self.needs:12} {'yes' if self.found else 'no':4} {self.detail}"
        return text if self.found or not self.hint else f"{text}\n{'':25}to do: {self.hint}"


def lines(compiler: str | None) -> Iterator[Line]:
    """What this machine has, target by target."""
    from ..lowering.toolchain.cc import compiler_report
    from ..lowering.toolchain.nvrtc import nvrtc_report
    from ..runtime.config import configuration
    from ..runtime.devices.registry import device_report

    found = compiler_report(compiler, configuration().cc)
    yield Line("c", "compiler", found.found, found.detail, found.hint)
    found = nvrtc_report()
    yield Line("cuda", "compiler", found.found, found.detail, found.hint)
    device = device_report("cuda")
    yield Line("cuda", "device", device.found, device.detail, device.hint)
    yield Line("metal", "compiler", False, "text is emitted and checked on the CPU, never run on a device")


def run(options: argparse.Namespace) -> int:
    """Print the list."""
    print(f"{'target':6} {'needs':12} {'here':4} what")
    for line in lines(options.compiler):
        print(line)
    return 0
