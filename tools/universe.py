"""The entry point `xdsl.universe`: shows our dialects and passes to stock xdsl-opt."""

from __future__ import annotations

from xdsl.universe import Universe

from ..lowering.passes import pass_loaders
from .registry import dialect_loaders

# Stock tools refuse two passes of one name; there `canonicalize` is xDSL's own.
ALBUMEN = Universe(
    all_dialects=dict(dialect_loaders()),
    all_passes={name: loader for name, loader in pass_loaders().items() if name != "canonicalize"},
)
