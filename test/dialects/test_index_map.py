"""The algebra of index maps against numpy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from albumen.dialects.errors import TypeRuleError
from albumen.dialects.hlir import index_map as maps
from albumen.dialects.hlir.index_map import IndexMap
from albumen.dialects.hlir.view import apply_map
from albumen.dialects.op import Array, Environment
from albumen.dialects.sym.expr import Expr, constant, index, lift, symbol

s = symbol("s")
SIZES = st.lists(st.sampled_from([1, 2, 3, 4, 6]), min_size=0, max_size=4)


def dims(shape: list[int]) -> tuple[Expr, ...]:
    return tuple(lift(n) for n in shape)


def numbered(shape: list[int]) -> Array:
    return np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape)


@st.composite
def reshapes(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Two shapes with the same number of elements."""
    factors = draw(st.lists(st.sampled_from([1, 2, 3, 5]), max_size=5))

    def group() -> list[int]:
        shape = [1] * draw(st.integers(1, 4))
        for factor in draw(st.permutations(factors)):
            shape[draw(st.integers(0, len(shape) - 1))] *= factor
        return shape

    return group(), group()


@given(reshapes())
@settings(max_examples=200, deadline=None)
def test_reshape_and_back_is_the_identity(shapes: tuple[list[int], list[int]]) -> None:
    source, result = shapes
    there = maps.reshape(dims(source), dims(result))
    x = numbered(source)
    np.testing.assert_array_equal(apply_map(x, there, tuple(result), Environment()), x.reshape(result))
    back = maps.reshape(dims(result), dims(source))
    assert maps.is_identity(maps.compose(back, there, dims(source)), dims(source), dims(source))


@given(SIZES, st.randoms())
@settings(max_examples=100, deadline=None)
def test_compose_is_view_of_view(shape: list[int], random: "np.random.Generator") -> None:
    order = list(range(len(shape)))
    random.shuffle(order)  # pyright: ignore[reportArgumentType]
    middle = [shape[i] for i in order]
    inner = maps.permutation(order)
    outer = maps.reshape(dims(middle), dims([int(np.prod(middle, dtype=np.int64))]))
    both = maps.compose(outer, inner, dims([int(np.prod(middle, dtype=np.int64))]))
    x = numbered(shape)
    expected = x.transpose(order).reshape(-1)
    np.testing.assert_array_equal(apply_map(x, both, expected.shape, Environment()), expected)


def test_symbolic_reshape_needs_no_values() -> None:
    merged = maps.reshape((s, lift(12), lift(32)), (s, lift(384)))
    assert str(merged) == "(d0, d1) -> (d0, floordiv(d1, 32), d1 - floordiv(d1, 32)*32)"
    split = maps.reshape((s, lift(384)), (s, lift(12), lift(32)))
    assert str(split) == "(d0, d1, d2) -> (d0, d1*32 + d2)"
    assert maps.is_identity(
        maps.compose(split, merged, (s, lift(12), lift(32))), (s, lift(12), lift(32)), (s, lift(12), lift(32))
    )


def test_extent_one_has_one_spelling() -> None:
    assert maps.canonical(IndexMap(2, (index(0), index(1))), (lift(1), lift(3))).exprs[0].as_int() == 0


@given(SIZES, SIZES)
@settings(max_examples=100, deadline=None)
def test_broadcast_is_numpys(a: list[int], b: list[int]) -> None:
    try:
        result = np.broadcast_shapes(tuple(a), tuple(b))
    except ValueError:
        return
    x = numbered(a)
    got = apply_map(x, maps.broadcast(dims(a), dims(list(result))), result, Environment())
    np.testing.assert_array_equal(got, np.broadcast_to(x, result))


def test_slicing_flips_and_steps() -> None:
    x = numbered([7])
    np.testing.assert_array_equal(apply_map(x, maps.slicing([6], [-2]), (4,), Environment()), x[::-2])


def test_linear_coefficients() -> None:
    found = maps.linear_coefficients(index(0) * s + index(1) * 2 + 3, 2)
    assert found is not None
    assert found[0] == (s, constant(2)) and found[1].as_int() == 3
    assert maps.linear_coefficients(index(0) // 2, 1) is None
    assert maps.linear_coefficients(index(0) * index(1), 2) is None


def test_flat_address_is_simplified() -> None:
    merged = maps.reshape((s, lift(12), lift(32)), (s, lift(384)))
    strides = maps.row_major_strides((s, lift(12), lift(32)))
    assert maps.flat_address(merged, strides, (s, lift(384))) is index(0) * 384 + index(1)


def test_a_map_uses_only_its_indices() -> None:
    with pytest.raises(TypeRuleError, match="uses d2"):
        IndexMap(2, (index(2),))
