"""Runs a property on examples that a seed chooses, and prints one that breaks it."""

from __future__ import annotations

# pyright: basic
import hashlib
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st


def holds(
    check: Callable[[Any], None],
    examples: st.SearchStrategy[Any],
    count: int,
    chosen_by: str,
    name: str,
    *,
    shrink: bool = False,
) -> None:
    """Check `count` examples; the same seed gives the same ones. To `shrink` one that fails takes minutes."""
    number = int.from_bytes(hashlib.sha256(f"{chosen_by}:{name}".encode()).digest()[:8], "little")

    def one(example: Any) -> None:
        try:
            check(example)
        except Exception as error:
            error.add_note(repr(example))
            raise

    run = given(examples)(one)
    limits = settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink) if shrink else (Phase.generate,),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
        print_blob=False,
        verbosity=Verbosity.quiet,  # it would print every element of the inputs
    )
    seed(number)(limits(run))()
