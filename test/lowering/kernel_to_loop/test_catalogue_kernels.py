"""Every op that a kernel may hold, on each of its valid samples, as a kernel of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block

from albumen.dialects.catalogue import catalogue
from albumen.dialects.hlir.arranging import ConcatOp, PadOp
from albumen.dialects.hlir.creation import LiteralOp, RandomBitsOp
from albumen.dialects.hlir.indexing import GatherOp, ScatterOp
from albumen.dialects.hlir.merging import MergeRunsOp
from albumen.dialects.hlir.ordering import ScanOp, SortOp
from albumen.dialects.hlir.pointwise import Elementwise
from albumen.dialects.kernel.body import YieldOp
from albumen.dialects.kernel.function import FuncOp
from albumen.dialects.kernel.launch import FusedOp, IrregularOp
from albumen.dialects.op import Kind, Sample, TensorOp

KINDS = (Kind.REDUCTION, Kind.VIEW, Kind.CREATION)
INLINE = (GatherOp, PadOp, ConcatOp)


IRREGULAR = (ScatterOp, ScanOp, SortOp, MergeRunsOp, RandomBitsOp)


def lowered() -> list[type[TensorOp]]:
    fusable = [op for op in catalogue() if op.KIND in KINDS or issubclass(op, (Elementwise, *INLINE))]
    return [*(op for op in fusable if op is not LiteralOp), *IRREGULAR]


def function_of(op_class: type[TensorOp], sample: Sample, name: str) -> FuncOp:
    body = Block(arg_types=sample.operands)
    op = op_class.make(list(body.args), sample.properties)
    body.add_ops([op, YieldOp(list(op.results))])
    outer = Block(arg_types=sample.operands)
    kernel_class = IrregularOp if op_class in IRREGULAR else FusedOp
    return FuncOp(name, kernel_class(list(outer.args), body))


def valid_samples(op_class: type[TensorOp]) -> Iterator[Sample]:
    return (sample for sample in op_class.SAMPLES if not sample.error)


@pytest.mark.parametrize("op_class", lowered(), ids=lambda op: op.name)
def test_samples(kernels: Callable[[ModuleOp], Any], rng: np.random.Generator, op_class: type[TensorOp]) -> None:
    samples = list(valid_samples(op_class))
    module = ModuleOp([function_of(op_class, sample, f"k{n}") for n, sample in enumerate(samples)])
    made = kernels(module)
    for number, sample in enumerate(samples):

        def draw(generator: np.random.Generator, kind: Any, shape: tuple[int, ...], sample: Sample = sample) -> Any:
            dtype = kind.dtype
            if dtype.is_bool:
                return generator.integers(0, 2, shape).astype(np.bool_)
            low, high = (
                (max(sample.low, 0.0), sample.high) if dtype.category == "unsigned" else (sample.low, sample.high)
            )
            values = generator.random(shape) * (high - low) + low
            return (np.floor(values) if dtype.is_integer else values).astype(dtype.numpy)

        made.check_one(number, rng, {}, draw)
