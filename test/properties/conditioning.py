"""How far a result may be from its reference: as far as tiny changes of the inputs move it.

A random program may divide by nearly nothing or floor a number that is nearly whole. So the reference is computed again
from inputs that are moved by a few units in the last place; where that changes an element, a compiled program may
change it by a multiple of as much, and what these runs do not agree on (NaN, an integer) is not compared.
"""

from __future__ import annotations

# pyright: basic
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Run = Callable[[Sequence[Array]], Sequence[Array]]

RUNS = 5
FACTOR = 16.0
"""A compiled program may move a result by so many times what the largest of the moved runs does."""
UNITS = 16.0
"""And by so many units in the last place of the largest element of the result."""


def moved(inputs: Sequence[Array], rng: np.random.Generator) -> list[Array]:
    """The inputs with each float changed by up to two units in the last place."""
    return [moved_array(x, rng) if x.dtype.kind not in "biu" else x for x in inputs]


def moved_array(x: Array, rng: np.random.Generator) -> Array:
    steps = rng.integers(-2, 3, x.shape)
    scale = 1.0 + steps * unit(x.dtype)
    with np.errstate(all="ignore"):
        return (x.astype(np.float64) * scale).astype(x.dtype)


def unit(dtype: np.dtype[Any]) -> float:
    """The gap between 1 and the next number."""
    one, step = np.ones((), dtype), 1.0
    while (one + np.asarray(step / 2, dtype)).astype(np.float64) > 1.0:
        step /= 2
    return step


def difference(run: Run, inputs: Sequence[Array], found: Sequence[Array], rng: np.random.Generator) -> str:
    """How the results differ from what `run` gives for the inputs, or an empty text."""
    expected = [np.asarray(x) for x in run(inputs)]
    if [(x.dtype, x.shape) for x in expected] != [(x.dtype, x.shape) for x in found]:
        return f"{[(x.dtype, x.shape) for x in found]}, not {[(x.dtype, x.shape) for x in expected]}"
    if all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in zip(found, expected, strict=True)):
        return ""
    others = [[np.asarray(x) for x in run(moved(inputs, rng))] for _ in range(RUNS)]
    for number, (ours, wanted) in enumerate(zip(found, expected, strict=True)):
        wrong = ~allowed(ours, wanted, [other[number] for other in others])
        if wrong.any():
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            return f"result {number} at {list(at)}: {ours[at]}, not {wanted[at]} ({int(wrong.sum())} of {wrong.size})"
    return ""


def allowed(found: Array, expected: Array, others: Sequence[Array]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Elementwise: equal, or within what the other runs of the reference allow."""
    if expected.dtype.kind in "biu":
        steady = np.logical_and.reduce([other == expected for other in others])
        return (found == expected) | ~steady
    ours, wanted = found.astype(np.float64), expected.astype(np.float64)
    wide = [other.astype(np.float64) for other in others]
    with np.errstate(all="ignore"):
        same = (ours == wanted) | (np.isnan(ours) & np.isnan(wanted))
        special = np.logical_or.reduce([np.isfinite(x) != np.isfinite(wanted) for x in wide])
        moved_by = np.max([np.abs(x - wanted) for x in wide], axis=0)
        moved_by = np.where(np.isfinite(moved_by), moved_by, 0.0)
        scale = max(float(np.max(np.abs(wanted), where=np.isfinite(wanted), initial=0.0)), 1e-30)
        limit = FACTOR * moved_by + UNITS * unit(expected.dtype) * scale
        near = np.isfinite(wanted) & (np.abs(ours - wanted) <= limit)
    return same | near | special
