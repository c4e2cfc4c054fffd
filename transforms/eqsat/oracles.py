"""What rules ask: pure functions of attributes, answered between iterations. None is no answer, so the rule does not
match."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from math import frexp, isfinite
from types import MappingProxyType
from typing import TypeVar

from xdsl.dialects.builtin import DenseArrayBase, StringAttr
from xdsl.ir import Attribute

from ...dialects.dtype import FLOATS, dtype_of
from ...dialects.hlir import index_map as maps
from ...dialects.hlir.index_map import IndexMap, canonical, extent_bounds
from ...dialects.hlir.types import MapAttr, ScalarAttr, ShapeAttr, axes_attr, axes_of
from ...dialects.kernel import EPILOGUES
from ...dialects.sym.bounds import Bounds, proves_nonnegative
from ...dialects.sym.expr import Expr, constant, index
from ...dialects.sym.substitute import index_numbers, substitute_indices
from ..gemm_form import gemm_form

Function = Callable[..., Attribute | None]
A = TypeVar("A", bound=Attribute)


@dataclass(frozen=True)
class Oracle:
    """A named function of `arity` attributes."""

    name: str
    arity: int
    function: Function


def compose(outer: MapAttr, inner: MapAttr, shape: ShapeAttr) -> MapAttr | None:
    """The map of a view by `outer` at `shape` of a view by `inner`; none if it divides by more than there are elements.

    A tensor of equal rows is a view of itself by every shuffle of its rows. Powers of a shuffle are finitely many, but
    written with powers of its divisor they would never end.
    """
    composed = maps.compose(outer.data, inner.data, shape.data)
    new = _divisors(composed) - _divisors(outer.data) - _divisors(inner.data)
    if new:
        size, bounds = _size(shape.data), Bounds(extent_bounds(shape.data).symbols)
        if not all(proves_nonnegative(size - divisor, bounds) for divisor in new):
            return None
    return MapAttr(composed)


def _divisors(index_map: IndexMap) -> set[Expr]:
    return {atom.args[1] for e in index_map.exprs for atom in e.atoms() if atom.kind == "floordiv"}


def _size(dims: Iterable[Expr]) -> Expr:
    return reduce(lambda a, b: a * b, dims, constant(1))


def is_identity(index_map: MapAttr, shape: ShapeAttr, source: ShapeAttr) -> ShapeAttr | None:
    """The shape, if the view is its source."""
    return shape if maps.is_identity(index_map.data, source.data, shape.data) else None


def replicates(index_map: IndexMap, shape: ShapeAttr, source: tuple[Expr, ...]) -> bool:
    """Whether a view has, or may have, more elements than its source, or does not depend on one of its indices."""
    used = {n for e in index_map.exprs for n in index_numbers(e)}
    if any(i not in used for i, extent in enumerate(shape.data) if extent.as_int() != 1):
        return True
    ours, theirs = _size(shape.data), _size(source)
    return not (ours is theirs or proves_nonnegative(theirs - ours, Bounds(extent_bounds(shape.data).symbols)))


def _without(dims: tuple[Expr, ...], axes: tuple[int, ...]) -> tuple[Expr, ...]:
    return tuple(d for i, d in enumerate(dims) if i not in axes)


def _sources(outer: IndexMap, rank: int, axes: tuple[int, ...]) -> dict[int, Expr]:
    """For each index of a space of `rank`, what it is for a view of the result: the reduced ones come after the
    view's."""
    kept = iter(outer.exprs)
    reduced = iter(range(outer.rank, outer.rank + len(axes)))
    return {i: index(next(reduced)) if i in axes else next(kept) for i in range(rank)}


def reduced_shape(outer: MapAttr, shape: ShapeAttr, axes: DenseArrayBase, space: ShapeAttr) -> ShapeAttr | None:
    """The space of the reduction that gives a view of a reduction; none for a view that replicates."""
    numbers = axes_of(axes)
    if replicates(outer.data, shape, _without(space.data, numbers)):
        return None
    return ShapeAttr.get((*shape.data, *(space.data[a] for a in numbers)))


def reduced_axes(shape: ShapeAttr, axes: DenseArrayBase) -> DenseArrayBase:
    """The axes of the reduction that gives a view of a reduction: its last ones."""
    return axes_attr(range(shape.rank, shape.rank + len(axes_of(axes))))


def reduced_map(
    outer: MapAttr, shape: ShapeAttr, inner: MapAttr, axes: DenseArrayBase, space: ShapeAttr
) -> MapAttr | None:
    """How an operand of the reduction is read in the space of `reduced_shape`; `inner` says how it was read before."""
    new = reduced_shape(outer, shape, axes, space)
    if new is None:
        return None
    sources = _sources(outer.data, space.rank, axes_of(axes))
    exprs = tuple(substitute_indices(e, sources) for e in inner.data.exprs)
    return MapAttr(canonical(IndexMap(new.rank, exprs), new.data))


def reduced_view(outer: MapAttr, shape: ShapeAttr, axes: DenseArrayBase, space: ShapeAttr) -> MapAttr | None:
    """`reduced_map` for an operand that was read as it is."""
    return reduced_map(outer, shape, MapAttr(maps.identity(space.rank)), axes, space)


def is_row(index_map: MapAttr, shape: ShapeAttr, source: ShapeAttr) -> ShapeAttr | None:
    """The shape, if the view repeats the whole of a vector along the last dimension."""
    last = canonical(IndexMap(shape.rank, (index(shape.rank - 1),)), shape.data) if shape.rank else None
    return shape if index_map.data == last and source.data == shape.data[-1:] else None


def is_product(lhs: MapAttr, rhs: MapAttr, axes: DenseArrayBase, space: ShapeAttr) -> ShapeAttr | None:
    """The space, if every reduced index is in both maps and some other index is in one of them only."""
    ours, theirs = ({n for e in m.data.exprs for n in index_numbers(e)} for m in (lhs, rhs))
    numbers = set(axes_of(axes))
    return space if numbers and numbers <= (ours & theirs) and (ours ^ theirs) else None


def is_wide(dtype: Attribute) -> Attribute | None:
    """The dtype, if its arithmetic is its own: not that of a wider float."""
    return dtype if dtype_of(dtype).compute == dtype_of(dtype) and not dtype_of(dtype).is_bool else None


def is_narrow(dtype: Attribute) -> Attribute | None:
    """The dtype, if its arithmetic is that of a wider float."""
    return dtype if dtype_of(dtype).compute != dtype_of(dtype) else None


def computes_in(dtype: Attribute, compute: Attribute) -> Attribute | None:
    """The second dtype, if arithmetic on the first, a narrower float, is done in it."""
    narrow = dtype_of(dtype)
    return compute if narrow.compute != narrow and narrow.compute == dtype_of(compute) else None


def library_epilogue(
    lhs: MapAttr, rhs: MapAttr, axes: DenseArrayBase, space: ShapeAttr, a: ShapeAttr, b: ShapeAttr, dtype: Attribute
) -> StringAttr | None:
    """The epilogue "none", if a library multiplies operands of these dims and maps as they lie."""
    if dtype_of(dtype) not in FLOATS:
        return None
    form = gemm_form(lhs.data, rhs.data, axes_of(axes), space.data, a.data, b.data)
    return StringAttr("none") if form is not None else None


def biased_library_epilogue(
    lhs: MapAttr, rhs: MapAttr, axes: DenseArrayBase, space: ShapeAttr, a: ShapeAttr, b: ShapeAttr, dtype: Attribute
) -> StringAttr | None:
    """The epilogue "bias", if the product is legal."""
    return StringAttr("bias") if library_epilogue(lhs, rhs, axes, space, a, b, dtype) is not None else None


def _then(epilogue: StringAttr, step: str) -> StringAttr | None:
    steps = (*EPILOGUES[epilogue.data], step)
    return next((StringAttr(name) for name, found in EPILOGUES.items() if found == steps), None)


def then_bias(epilogue: StringAttr) -> StringAttr | None:
    """The epilogue that adds a bias at the end."""
    return _then(epilogue, "bias")


def then_add(epilogue: StringAttr) -> StringAttr | None:
    """The epilogue that adds a tensor at the end."""
    return _then(epilogue, "add")


def then_relu(epilogue: StringAttr) -> StringAttr | None:
    """The epilogue that ends in relu."""
    return _then(epilogue, "relu")


def then_gelu(epilogue: StringAttr, approximate: StringAttr) -> StringAttr | None:
    """The epilogue that ends in gelu."""
    return _then(epilogue, "gelu") if approximate.data == "none" else None


def reciprocal(number: ScalarAttr) -> ScalarAttr | None:
    """1 / number, rounded."""
    scalar = number.data
    if not scalar.dtype.is_float or not isfinite(float(scalar.value)) or not float(scalar.value):
        return None
    value = 1.0 / float(scalar.value)
    return ScalarAttr.get(value, scalar.dtype) if isfinite(value) else None


def exact_reciprocal(number: ScalarAttr) -> ScalarAttr | None:
    """1 / number where the number is a power of two whose reciprocal is a normal number: no rounding."""
    scalar = number.data
    if not scalar.dtype.is_float or not isfinite(float(scalar.value)) or abs(frexp(float(scalar.value))[0]) != 0.5:
        return None
    value = 1.0 / float(scalar.value)
    there = ScalarAttr.get(value, scalar.dtype)
    small = 2.0 ** -(14 if scalar.dtype.bits == 16 and scalar.dtype.name == "f16" else 126)
    normal = isfinite(value) and abs(value) >= small and abs(float(scalar.value)) >= small
    return there if normal and float(there.data.value) == value else None


def times(a: ScalarAttr, b: ScalarAttr) -> ScalarAttr:
    """The product of two numbers of one dtype, rounded."""
    return ScalarAttr.get(float(a.data.value) * float(b.data.value), a.data.dtype)


ORACLES: Mapping[str, Oracle] = MappingProxyType(
    {
        name: Oracle(name, arity, function)
        for name, arity, function in (
            ("compose", 3, compose),
            ("is-identity", 3, is_identity),
            ("reduced-shape", 4, reduced_shape),
            ("reduced-axes", 2, reduced_axes),
            ("reduced-map", 5, reduced_map),
            ("reduced-view", 4, reduced_view),
            ("is-row", 3, is_row),
            ("is-product", 4, is_product),
            ("is-wide", 1, is_wide),
            ("is-narrow", 1, is_narrow),
            ("computes-in", 2, computes_in),
            ("library-epilogue", 7, library_epilogue),
            ("biased-library-epilogue", 7, biased_library_epilogue),
            ("then-bias", 1, then_bias),
            ("then-add", 1, then_add),
            ("then-relu", 1, then_relu),
            ("then-gelu", 2, then_gelu),
            ("reciprocal", 1, reciprocal),
            ("exact-reciprocal", 1, exact_reciprocal),
            ("times", 2, times),
        )
    }
)
