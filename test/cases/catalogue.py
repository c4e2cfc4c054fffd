"""All cases, by theme, and those that are known to differ from eager, with the reason."""

from __future__ import annotations

from types import MappingProxyType

from . import (
    aliasing,
    arithmetic,
    division,
    empty,
    extremes,
    indexing,
    integers,
    promotion,
    reductions,
    softmax,
    views,
    windows,
)
from .case import Case, cases_of

THEMES = (
    division,
    extremes,
    integers,
    promotion,
    aliasing,
    views,
    empty,
    softmax,
    reductions,
    indexing,
    windows,
    arithmetic,
)

CASES: tuple[Case, ...] = tuple(case for theme in THEMES for case in cases_of(theme))

EXCEPTIONS = MappingProxyType(
    {
        "aliasing.absolute_value_in_overlapping_windows": "torch's functionalization, which runs before any backend, "
        "refuses a write into a view whose elements overlap; the error says so and names `clone()`",
    }
)
"""Case -> why it differs."""
