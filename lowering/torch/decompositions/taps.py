"""Which elements of a dim each place of an interpolated one is made of, and with what weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Filter = Callable[[Array], Array]


@dataclass(frozen=True)
class Taps:
    """For each place of the result a row: elements of the input, their weights, and which of them count."""

    places: list[list[int]]
    weights: list[list[float]]
    present: list[list[bool]]

    @property
    def ragged(self) -> bool:
        """Whether some rows have fewer taps than others."""
        return not all(kept for row in self.present for kept in row)

    def as_integers(self) -> tuple[Taps, int]:
        """Weights in units of 2^-precision, for the largest precision at which they fit 16 bits; and that precision.

        Weights that fall on the same element are added before they are rounded.
        """
        places, weights = _merged(self)
        largest, precision = max(0.0, float(np.max(weights))), 0
        while precision < 22 and int(0.5 + largest * (1 << (precision + 1))) < 1 << 15:
            precision += 1
        scaled = weights * (1 << precision)
        whole = np.trunc(scaled + np.where(scaled < 0, -0.5, 0.5))
        return Taps(places, whole.tolist(), self.present), precision


def _merged(taps: Taps) -> tuple[list[list[int]], Array]:
    weights = np.array(taps.weights, np.float64)
    for row, places in zip(weights, taps.places, strict=True):
        for j, place in enumerate(places):
            first = places.index(place)
            if first != j:
                row[first] += row[j]
                row[j] = 0
    return taps.places, weights


def _table(places: Array, weights: Array, present: Array | None = None) -> Taps:
    counted = np.ones(places.shape, np.bool_) if present is None else present
    rows = [[bool(kept) for kept in row] for row in counted]
    return Taps(places.astype(np.int64).tolist(), weights.astype(np.float64).tolist(), rows)


def _identity(size: int) -> Taps:
    return _table(np.arange(size)[:, None], np.ones((size, 1)))


def scale_of(size: int, output: int, align: bool, given: float | None, real: type[np.floating[Any]]) -> Any:
    """Elements of the input for one of the result."""
    if align:
        return real(size - 1) / real(output - 1) if output > 1 else real(0)
    return real(1.0 / given) if given is not None and given > 0 else real(size) / real(output)


def _sources(size: int, output: int, align: bool, given: float | None, double: bool) -> Array:
    """Where each place of the result lies in the input, in elements."""
    real = np.float64 if double else np.float32
    scale, place = scale_of(size, output, align, given, real), np.arange(output, dtype=real)
    return scale * place if align else scale * (place + real(0.5)) - real(0.5)


def linear(size: int, output: int, align: bool, given: float | None, double: bool) -> Taps:
    """The two neighbours, weighted by nearness; a size that stays is copied, whatever the scale."""
    if size == output:
        return _identity(size)
    source = np.maximum(_sources(size, output, align, given, double), 0)
    below = np.minimum(source.astype(np.int64), size - 1)
    part = np.clip(source - below, 0, 1)
    return _table(np.stack([below, np.minimum(below + 1, size - 1)], 1), np.stack([1 - part, part], 1))


def cubic(size: int, output: int, align: bool, given: float | None, double: bool) -> Taps:
    """Four neighbours under Keys' kernel with a = -0.75; those outside are the outermost element."""
    source = _sources(size, output, align, given, double)
    below = np.minimum(np.floor(source).astype(np.int64), size - 1)
    part = np.clip(source - below, 0, 1)
    offsets = np.arange(-1, 3)
    weights = _keys(-0.75)(offsets[None, :] - part[:, None])
    return _table(np.clip(below[:, None] + offsets[None, :], 0, size - 1), weights)


def nearest(size: int, output: int, align: bool, given: float | None, double: bool) -> Taps:
    """The element at floor(place scale), in single precision; a size that stays is copied, whatever the scale."""
    if size == output:
        return _identity(size)
    return _single(size, output, given, 0.0)


def nearest_exact(size: int, output: int, align: bool, given: float | None, double: bool) -> Taps:
    """The element at floor((place + 0.5) scale), in single precision."""
    return _single(size, output, given, 0.5)


def _single(size: int, output: int, given: float | None, shift: float) -> Taps:
    scale = scale_of(size, output, False, given, np.float32)
    place: Array = np.floor((np.arange(output, dtype=np.float32) + np.float32(shift)) * scale)
    places: Array = np.minimum(place.astype(np.int64), size - 1)[:, None]
    return _table(places, np.ones((output, 1)))


def _keys(a: float) -> Filter:
    def weight(distance: Array) -> Array:
        d = np.abs(distance)
        near = ((a + 2) * d - (a + 3)) * d * d + 1
        far = (((d - 5) * d + 8) * d - 4) * a
        return np.where(d < 1, near, np.where(d < 2, far, 0))

    return weight


def _triangle(distance: Array) -> Array:
    return np.maximum(1 - np.abs(distance), 0)


def antialiased(kind: str) -> Callable[[int, int, bool, float | None, bool], Taps]:
    """Filters as wide as the result's elements are in the input: a triangle, or Keys' kernel with a = -0.5."""
    reach, kernel = (1, _triangle) if kind == "linear" else (2, _keys(-0.5))

    def taps(size: int, output: int, align: bool, given: float | None, double: bool) -> Taps:
        real = np.float64 if double else np.float32
        scale = scale_of(size, output, align, given, real)
        support = real(reach) * scale if scale >= 1 else real(reach)
        inverse = real(1) / scale if scale >= 1 else real(1)
        count = ceil(float(support)) * 2 + 1
        centre = scale * (np.arange(output, dtype=real) + real(0.5))
        first = np.maximum((centre - support + real(0.5)).astype(np.int64), 0)
        length = np.clip(np.minimum((centre + support + real(0.5)).astype(np.int64), size) - first, 0, count)
        places = first[:, None] + np.arange(count)[None, :]
        present = np.arange(count)[None, :] < length[:, None]
        distance = (places.astype(real) - centre[:, None] + real(0.5)) * inverse
        weights: Array = np.where(present, kernel(distance), 0)
        total: Array = weights.sum(1, keepdims=True)
        shares: Array = weights / np.where(total == 0, 1, total)
        return _table(np.minimum(places, size - 1), shares, np.asarray(present))

    return taps
