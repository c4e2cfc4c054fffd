"""Every tensor op of every dialect, for the tests and tables that walk them all."""

from __future__ import annotations

from .hlir.dialect import HLIR
from .op import TensorOp


def catalogue() -> tuple[type[TensorOp], ...]:
    """All op classes with facets, in the order of their dialects."""
    return tuple(op for op in HLIR.operations if issubclass(op, TensorOp))
