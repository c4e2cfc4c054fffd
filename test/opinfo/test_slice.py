"""A slice of the operator database, chosen by the commit: nothing wrong, nothing crashed, nothing lost that passed."""

# pyright: basic
from __future__ import annotations

import os
from pathlib import Path

import pytest

from . import results
from .checks import Setting
from .pairs import Pair, all_pairs, chosen, error_pairs
from .pool import run_all
from .states import CRASHED, NO_SAMPLE, PASSED, WRONG, Result

pytestmark = pytest.mark.torch

PAIRS = 90
"""About a minute on two cores."""
ERRORS = 20
DEVICE_PAIRS = 240
DEVICE_SECONDS = 150.0
LIMIT = 300.0
KNOWN = Path(__file__).with_name("results") / "c.jsonl"


def run(pairs: list[Pair], device: str, seconds: float | None = None) -> list[Result]:
    found: list[Result] = []
    run_all(pairs, Setting(device=device), os.cpu_count() or 1, LIMIT, found.append, seconds)
    return found


def bad(found: list[Result]) -> list[str]:
    return [f"{r.state}: {r.op} {r.dtype}: {r.why}" for r in found if r.state in (WRONG, CRASHED)]


def test_slice(slice_seed: str) -> None:
    """Pairs that passed when the whole suite last ran still pass."""
    found = run([*chosen(all_pairs("cpu"), PAIRS, slice_seed), *chosen(error_pairs(), ERRORS, slice_seed)], "cpu")
    known = results.read(KNOWN)
    before = [r for r in found if r.key in known and known[r.key].state == PASSED]
    lost = [f"{r.op} {r.dtype}: {r.why}" for r in before if r.state not in (PASSED, NO_SAMPLE)]
    assert bad(found) == [] and lost == []


@pytest.mark.gpu
def test_slice_on_a_device(slice_seed: str) -> None:
    """As many pairs as fit the time, with inputs on the device."""
    found = run(chosen(all_pairs("cuda"), DEVICE_PAIRS, slice_seed), "cuda", DEVICE_SECONDS)
    assert found, "no pair ran"
    assert bad(found) == []
