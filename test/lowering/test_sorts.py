"""Sorts on GPU targets: rows of one chunk, rows of several, along any axis and of unknown length, as text on the
shim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import BoolAttr, IntAttr, ModuleOp

from albumen.dialects.dtype import BF16, F32, F64, I1, I64, U8, DType
from albumen.dialects.hlir.merging import MergeRunsOp
from albumen.dialects.hlir.ordering import SortOp
from albumen.dialects.hlir.properties import int_property
from albumen.dialects.hlir.types import tensor_type
from albumen.dialects.host.interpreter import run_program
from albumen.dialects.op import Sample
from albumen.dialects.simt import kernels_of
from albumen.dialects.sym.dialect import SymbolOp
from albumen.dialects.sym.expr import IntLike, symbol
from albumen.lowering.emit.cuda import cuda_source
from albumen.lowering.search.cover import CoverPass
from albumen.lowering.toolchain.nvrtc import compile_cuda
from albumen.lowering.toolchain.object_cache import MemoryCache
from albumen.tools.support import Use, lower_without_search, program_of
from albumen.tools.text_launcher import TextLauncher

Array = np.ndarray[Any, Any]


def sort_of(dims: Sequence[IntLike], axis: int, dtype: DType, descending: bool) -> Use:
    properties = {"axis": IntAttr(axis), "descending": BoolAttr.from_bool(descending)}
    return SortOp, Sample((tensor_type(dims, dtype),), properties)


def draw(rng: np.random.Generator, shape: tuple[int, ...], dtype: DType) -> Array:
    """Few different values, so that most have equals; among floats NaN, infinities and both zeros."""
    x = rng.integers(0, 7, shape)
    if dtype.is_bool:
        return x > 3
    y = x.astype(dtype.numpy)
    if dtype.is_float:
        for value, step in ((np.nan, 5), (-0.0, 7), (np.inf, 11), (-np.inf, 13)):
            y.reshape(-1)[::step] = value
    return y


def expected(x: Array, axis: int, descending: bool) -> tuple[Array, Array]:
    """By the definition: NaN last, equal elements in the order in which they stand."""
    keys = np.moveaxis(x, axis, -1)
    order = np.empty(keys.shape, np.int64)
    for row in np.ndindex(keys.shape[:-1]):
        values = [float(v) for v in keys[row]]
        ranks = [(v != v, 0.0 if v != v else v) for v in values]
        order[row] = sorted(range(len(ranks)), key=ranks.__getitem__)
        if descending:
            order[row] = sorted(range(len(ranks)), key=lambda i: (not ranks[i][0], -ranks[i][1]))
    order = np.moveaxis(order, -1, axis)
    return np.take_along_axis(x, order, axis), order


def check(module: ModuleOp, target: str, uses: Sequence[Use], inputs: Sequence[Array]) -> None:
    lower_without_search(module, target, "map-threads")
    found = run_program(module, "main", inputs, None, TextLauncher(module, MemoryCache()))
    for number, ((_, sample), x) in enumerate(zip(uses, inputs, strict=True)):
        axis, descending = int_property(sample.properties, "axis"), sample.properties["descending"]
        wanted, order = expected(x, axis, descending == BoolAttr.from_bool(True))
        np.testing.assert_array_equal(found[2 * number + 1], order)
        assert found[2 * number].tobytes() == np.ascontiguousarray(wanted).tobytes()


SHAPES = [((7,), 0), ((1,), 0), ((2, 3), 0), ((0, 3), 0), ((3, 0), 1), ((3, 70, 2), 1), ((2, 1500), 1), ((5000,), 0)]
"""With the axis. A chunk of Metal is 1024 elements, one of CUDA 4096."""


@pytest.mark.parametrize("target", ["cuda", "metal"])
def test_shapes_and_element_types(rng: np.random.Generator, target: str) -> None:
    uses = [sort_of(shape, axis, F32, False) for shape, axis in SHAPES]
    uses += [sort_of(shape, axis, I64, True) for shape, axis in SHAPES]
    narrow = [dtype for dtype in (F64, BF16, U8, I1) if target == "cuda" or dtype is not F64]
    uses += [sort_of((4, 65), 1, dtype, descending) for dtype in narrow for descending in (False, True)]
    types = [sample.operands[0] for _, sample in uses]
    check(program_of(uses), target, uses, [draw(rng, type_.shape.concrete({}), type_.dtype) for type_ in types])


@pytest.mark.parametrize("length", [0, 1, 3000])
def test_a_length_that_only_a_call_knows(rng: np.random.Generator, length: int) -> None:
    use = sort_of((2, symbol("n")), 1, F32, False)
    module = program_of([use])
    first = module.body.block.first_op
    assert first is not None
    module.body.block.insert_op_before(SymbolOp("n", 0, 3000), first)
    check(module, "metal", [use], [draw(rng, (2, length), F32)])


@pytest.mark.parametrize(
    ("length", "target", "steps"),
    [
        (5, "c", []),
        (1, "cuda", [(1, 2)]),
        (5, "cuda", [(1, 8)]),
        (4096, "cuda", [(1, 4096)]),
        (5000, "cuda", [(1, 4096), (4096, 8192)]),
        (5000, "metal", [(1, 1024), (1024, 2048), (2048, 4096), (4096, 8192)]),
    ],
)
def test_the_steps_of_a_sort(length: int, target: str, steps: list[tuple[int, int]]) -> None:
    module = program_of([sort_of((2, length), 1, F32, False)])
    CoverPass(target=target).apply(Context(), module)
    found = [(op.run.data, op.to.data) for op in module.walk() if isinstance(op, MergeRunsOp)]
    assert found == steps


def test_nothing_spills() -> None:
    module = program_of([sort_of((3, 9000), 1, F64, False)])
    lower_without_search(module, "cuda", "map-threads")
    binary = compile_cuda(cuda_source(list(kernels_of(module))), reject=False)
    assert [kernel.spill_stores for kernel in binary.kernels] == [0, 0, 0]
