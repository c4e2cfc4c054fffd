"""The spelling record of a target with threads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.ir import Attribute

from ...dialects.errors import LoweringError
from ...dialects.simt import Id, PtrType, RegType, Space
from .printer import TextPrinter
from .target import Target

SMEM = "alb_smem"
"""The name of the block's shared memory, an array of bytes."""


@dataclass(frozen=True)
class SimtTarget(Target):
    """Spellings of a target with threads. Formats take operand texts like `functions`."""

    spaces: Mapping[Space, str] = field(default_factory=dict[Space, str])
    """Address space words before a pointer's element type, with the blank after them."""
    ids: Mapping[Id, str] = field(default_factory=dict[Id, str])
    barriers: Mapping[str, str] = field(default_factory=dict[str, str])
    shuffles: Mapping[str, str] = field(default_factory=dict[str, str])
    """By mode: {0} value, {1} lane, {2} width."""
    reduce_warp: str = ""
    """{0} value, {combiner} a function of two, {width}."""
    reduce_block: str = ""
    """{0} value, {1} scratch, {combiner}, {threads}, {fresh}."""
    atomic_add: str = ""
    """{0} address, {1} value, {t} element spelled."""
    load_stream: str = "*{0}"
    store_stream: str = "*{0} = {1};"
    trap: str = ""
    """Ends the launch with an error."""
    grid_wait: str = ""
    grid_release: str = ""

    def scalar_type(self, attribute: Attribute) -> str:
        if isinstance(attribute, PtrType):
            return f"{self.spaces[attribute.space.data]}{self.scalar_type(attribute.element)} *"
        if isinstance(attribute, RegType):
            raise LoweringError(f"{attribute} is an array in place and cannot be copied", stage="emit")
        return super().scalar_type(attribute)


def simt_target(printer: TextPrinter) -> SimtTarget:
    assert isinstance(printer.target, SimtTarget)
    return printer.target
