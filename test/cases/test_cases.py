"""Every case equals eager, but for the exceptions, which are refused and never wrong."""

# pyright: basic
from __future__ import annotations

import pytest

from .case import Case
from .catalogue import CASES, EXCEPTIONS
from .judge import verdict

pytestmark = pytest.mark.torch


STOP_THE_DEVICE = ("indexing.embedding_of_a_negative_index", "indexing.rows_added_at_a_negative_index")
"""Eager's kernel stops the device for the whole process."""


NO_KERNEL = ("integers.average_pool_of_integers", "promotion.product_of_byte_matrices")
"""Eager has no kernel for these element types on a device; compiled code computes them there as on the CPU."""


def on_a_device() -> list[Case]:
    return [case for case in CASES if case.name not in (*EXCEPTIONS, *STOP_THE_DEVICE, *NO_KERNEL)]


@pytest.mark.parametrize("case", [case for case in CASES if case.name not in EXCEPTIONS], ids=lambda case: case.name)
def test_equals_eager(case: Case) -> None:
    assert verdict(case) == ""


@pytest.mark.parametrize("case", [case for case in CASES if case.name in EXCEPTIONS], ids=lambda case: case.name)
def test_exceptions_are_refused(case: Case) -> None:
    """The first call raises what eager does not: no wrong value."""
    difference = verdict(case)
    assert difference.startswith("call 1: BackendCompilerFailed"), difference


@pytest.mark.gpu
@pytest.mark.parametrize("case", on_a_device(), ids=lambda case: case.name)
def test_equals_eager_on_a_device(case: Case) -> None:
    assert verdict(case, device="cuda") == ""


def test_names() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names) == 85
    assert set(EXCEPTIONS) <= set(names)
    assert all(case.stake for case in CASES)
