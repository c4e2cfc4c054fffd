"""Every op that a row program may hold, on each of its valid samples, lowered for GPUs and run on the CPU shim."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block

from albumen.dialects.catalogue import catalogue
from albumen.dialects.evaluate import evaluate_block
from albumen.dialects.hlir.arranging import ConcatOp, PadOp
from albumen.dialects.hlir.creation import LiteralOp
from albumen.dialects.hlir.indexing import GatherOp
from albumen.dialects.hlir.pointwise import Elementwise
from albumen.dialects.hlir.types import TensorType
from albumen.dialects.kernel.body import YieldOp
from albumen.dialects.kernel.function import FuncOp
from albumen.dialects.kernel.launch import FusedOp
from albumen.dialects.op import Environment, Kind, Sample, TensorOp
from albumen.dialects.simt import KernelOp, kernels_of
from albumen.lowering.emit.simt_runner import Language, compile_for_shim, run_on_shim
from albumen.lowering.kernel_to_loop.lower_kernels import LowerKernelsPass
from albumen.lowering.loop_to_simt.map_threads import MapThreadsPass
from albumen.lowering.toolchain.shim import ShimModule

KINDS = (Kind.REDUCTION, Kind.VIEW, Kind.CREATION)
INLINE = (GatherOp, PadOp, ConcatOp)
EPSILON = {"float32": 2**-23, "float64": 2**-52, "float16": 2**-10, "bfloat16": 2**-7}
NOT_ON_METAL = ("f64", "f8E4M3FN", "f8E5M2")


def fusable() -> list[type[TensorOp]]:
    return [
        op for op in catalogue() if (op.KIND in KINDS or issubclass(op, (Elementwise, *INLINE))) and op is not LiteralOp
    ]


def function_of(op_class: type[TensorOp], sample: Sample, name: str) -> FuncOp:
    body = Block(arg_types=sample.operands)
    op = op_class.make(list(body.args), sample.properties)
    body.add_ops([op, YieldOp(list(op.results))])
    outer = Block(arg_types=sample.operands)
    return FuncOp(name, FusedOp(list(outer.args), body))


def samples_for(op_class: type[TensorOp], target: str) -> Iterator[Sample]:
    for sample in op_class.SAMPLES:
        if sample.error:
            continue
        types = [str(kind) for kind in (*sample.operands, *op_class.infer(sample.operands, sample.properties))]
        if target == "cuda" or not any(f", {dtype}>" in kind for kind in types for dtype in NOT_ON_METAL):
            yield sample


def draw(rng: np.random.Generator, kind: TensorType, sample: Sample) -> np.ndarray[Any, Any]:
    dtype, shape = kind.dtype, kind.shape.concrete({})
    if dtype.is_bool:
        return rng.integers(0, 2, shape).astype(np.bool_)
    low, high = (max(sample.low, 0.0), sample.high) if dtype.category == "unsigned" else (sample.low, sample.high)
    values = rng.random(shape) * (high - low) + low
    return (np.floor(values) if dtype.is_integer else values).astype(dtype.numpy)


def assert_close(found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any], size: int) -> None:
    if expected.dtype.kind in "biu":
        np.testing.assert_array_equal(found, expected)
        return
    a, b = found.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_array_equal(np.isnan(a), np.isnan(b))
    scale = max(1.0, float(np.abs(b[np.isfinite(b)]).max(initial=0.0)))
    tolerance = EPSILON.get(str(expected.dtype), 2**-3) * (2 + np.sqrt(size) / 4) * scale
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance)


@dataclass(frozen=True)
class Case:
    """A kernel of one sample, as a function and as thread-level code."""

    sample: Sample
    function: FuncOp
    kernel: KernelOp


@dataclass(frozen=True)
class Cases:
    """The kernels of all samples for a target, compiled together: most of the time goes into the headers."""

    by_op: dict[str, list[Case]]
    shim: ShimModule


@pytest.fixture(scope="module", params=["cuda", "metal"])
def cases(request: pytest.FixtureRequest) -> Cases:
    target = cast(Language, request.param)
    samples = [(op, sample) for op in fusable() for sample in samples_for(op, target)]
    functions = [function_of(op, sample, f"k{number}") for number, (op, sample) in enumerate(samples)]
    module = ModuleOp([function.clone() for function in functions])
    LowerKernelsPass(target=target).apply(Context(), module)
    MapThreadsPass(target=target).apply(Context(), module)
    module.verify()
    kernels = list(kernels_of(module))
    by_op: dict[str, list[Case]] = {}
    for (op, sample), function, kernel in zip(samples, functions, kernels, strict=True):
        by_op.setdefault(op.name, []).append(Case(sample, function, kernel))
    return Cases(by_op, compile_for_shim(kernels, target))


@pytest.mark.parametrize("op_class", fusable(), ids=lambda op: op.name)
def test_samples(rng: np.random.Generator, cases: Cases, op_class: type[TensorOp]):
    for case in cases.by_op[op_class.name]:
        inputs = [draw(rng, kind, case.sample) for kind in case.sample.operands]
        expected = evaluate_block(case.function.body.block, inputs, Environment({}))
        results = [np.zeros_like(value) for value in expected]
        arrays = [np.ascontiguousarray(array) for array in (*inputs, *results)]
        run_on_shim(cases.shim, case.kernel, arrays, {})
        size = max([array.size for array in inputs], default=1)
        for found, wanted in zip(arrays[len(inputs) :], expected, strict=True):
            assert_close(found, np.asarray(wanted), size)
