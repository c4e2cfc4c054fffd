"""What stock xdsl-opt and contexts see of us."""

from __future__ import annotations

import pytest
from xdsl.universe import XDSL_UNIVERSE

from albumen.tools.registry import DIALECTS, load_dialect, make_context
from albumen.tools.universe import ALBUMEN


@pytest.mark.parametrize("name", DIALECTS)
def test_every_dialect_is_what_the_table_says(name: str) -> None:
    dialect = load_dialect(name)
    assert dialect.name == name
    assert len(list(dialect.operations)) > 0


def test_no_name_clashes_with_upstream() -> None:
    assert not set(ALBUMEN.all_dialects) & set(XDSL_UNIVERSE.all_dialects)
    assert not set(ALBUMEN.all_passes) & set(XDSL_UNIVERSE.all_passes)


def test_a_context_knows_both() -> None:
    names = set(make_context().registered_dialect_names)
    assert {*DIALECTS, "arith", "func", "scf"} <= names
