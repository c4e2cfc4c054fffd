"""Whole models against eager, each in a process of its own: all of them with --full, else a few that the slice seed
chooses."""

# pyright: basic

from __future__ import annotations

import argparse
import random

import pytest
import torch

pytest.importorskip("transformers")

from .__main__ import run
from .architecture import FORWARD
from .comparison import Mismatch, ratio
from .expected import EXPECTED, REFUSED
from .registry import ARCHITECTURES
from .worker import DTYPES, cases

pytestmark = pytest.mark.torch

SLICE = ("text encoder", "decoder", "vision")
"""The families of which one model each is run in every test run."""

LIMIT = argparse.Namespace(device="cpu", limit=900.0)


def check(name: str, chosen: list[tuple[str, str]]) -> None:
    """Each case passes, or is refused where that is expected of the architecture."""
    allowed = ("pass", *REFUSED) if name in EXPECTED else ("pass",)
    for row in run(ARCHITECTURES[name], chosen, LIMIT):
        assert row["status"] in allowed, f"{name} {row['use']} {row['dtype']}: {row.get('why', row['status'])}"


@pytest.mark.slow
@pytest.mark.parametrize("family", SLICE)
def test_one_of_each_family(family: str, slice_seed: str) -> None:
    names = [name for name, one in ARCHITECTURES.items() if one.family == family and name not in EXPECTED]
    check(random.Random(f"{slice_seed} {family}").choice(names), [(FORWARD, "float32")])


@pytest.mark.full
@pytest.mark.parametrize("name", list(ARCHITECTURES))
def test_architecture(name: str) -> None:
    check(name, cases(ARCHITECTURES[name].uses, list(DTYPES)))


def test_what_the_comparison_calls_different() -> None:
    """Our error may be twice eager's and a little more; other forms and other places of NaN are no question of size."""
    exact = torch.linspace(1, 2, 9, dtype=torch.float64)
    eager = (exact + 1e-3).float()
    assert ratio((exact - 1.9e-3).float(), eager, exact) < 1
    assert ratio((exact - 2.1e-3).float(), eager, exact) > 1
    assert ratio(exact.float() + 1e-4, exact.float(), None) > 1
    nan = eager.clone()
    nan[3] = float("nan")
    for wrong in (nan, eager.double(), eager[:8], eager.view(3, 3), eager.repeat_interleave(2)[::2]):
        with pytest.raises(Mismatch):
            ratio(wrong, eager, exact)
