"""How random programs are judged: roundings are allowed, errors are not, and a seed chooses the same programs again."""

# pyright: basic
from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import strategies as st

from .conditioning import difference, unit
from .hlir_graphs import programs
from .slices import holds

X = np.array([0.1, 2.5, -3.75], np.float32)


def differs(run, found, inputs=(X,)) -> str:
    return difference(run, list(inputs), [np.asarray(x) for x in found], np.random.default_rng(0))


def double(xs):
    return [xs[0] * np.float32(2)]


def test_roundings_are_allowed() -> None:
    assert not differs(double, double([X]))
    assert not differs(double, [np.nextafter(X * 2, np.float32(np.inf))])


@pytest.mark.parametrize(
    "found",
    [
        X * np.float32(2.001),
        (X * 2).astype(np.float64),
        (X * 2)[:2],
        np.array([0.2, np.nan, -7.5], np.float32),
        np.array([0.2, np.inf, -7.5], np.float32),
    ],
)
def test_errors_are_found(found: np.ndarray) -> None:
    assert differs(double, [found])


def test_integers_are_equal() -> None:
    numbers = np.array([3, 4])
    assert differs(lambda xs: [xs[0] + 1], [np.array([4, 6])], [numbers])
    assert not differs(lambda xs: [xs[0] + 1], [np.array([4, 5])], [numbers])


def test_what_the_inputs_do_not_decide_is_not_compared() -> None:
    """The floor of a number that is nearly whole, and a quotient by nearly nothing; elsewhere errors are found."""
    whole = np.array([3.0, 3.5], np.float32)
    run = lambda xs: [np.floor(xs[0])]  # noqa: E731
    assert not differs(run, [np.array([2.0, 3.0], np.float32)], [whole])
    assert differs(run, [np.array([3.0, 4.0], np.float32)], [whole])
    near = lambda xs: [1 / (xs[0] - np.float32(0.1))]  # noqa: E731
    close = np.array([0.1000001, 0.5], np.float32)
    assert not differs(near, [near([close])[0] * np.array([1.01, 1.0], np.float32)], [close])
    assert differs(near, [near([close])[0] * np.array([1.0, 0.0], np.float32) + 1e9], [close])


def test_units() -> None:
    assert unit(np.dtype(np.float32)) == 2**-23
    assert unit(np.dtype(ml_dtypes.bfloat16)) == 2**-7


def test_a_seed_chooses_the_same_examples() -> None:
    drawn: list[list[int]] = []
    for seed in ("a", "a", "b"):
        drawn.append([])
        holds(drawn[-1].append, st.integers(0, 10**9), 10, seed, "numbers")
    assert drawn[0] == drawn[1] != drawn[2]


def test_programs_are_valid_and_use_many_ops() -> None:
    names: set[str] = set()

    def look(program) -> None:
        program.module.verify()
        names.update(op.name for op in program.module.walk() if op.name.startswith("hlir."))

    holds(look, programs(), 60, "0", "look")
    assert len(names) > 40
