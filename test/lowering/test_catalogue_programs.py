"""Whole programs of single ops, run as text on every target: what the kernels' own catalogue tests leave out.

Those run each sample of what one kernel takes as it is. Here are the composites and contractions, which become several
kernels or are expanded first, the irregular ops on GPU targets, and every op in the element types that its samples
leave out. All uses are one program, since most of the time goes into the compiler.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from albumen.dialects.catalogue import catalogue, cells
from albumen.dialects.evaluate import evaluate_function, random_array
from albumen.dialects.hlir.arranging import ConcatOp, PadOp
from albumen.dialects.hlir.creation import LiteralOp
from albumen.dialects.hlir.indexing import GatherOp
from albumen.dialects.hlir.pointwise import Elementwise
from albumen.dialects.host.interpreter import run_program
from albumen.dialects.op import Environment, Kind, TensorOp
from albumen.dialects.simt import kernels_of
from albumen.lowering.emit.cuda import cuda_source
from albumen.lowering.toolchain.nvrtc import compile_cuda
from albumen.lowering.toolchain.object_cache import MemoryCache
from albumen.tools.support import Use, lower_without_search, program_of, refusal
from albumen.tools.text_launcher import TextLauncher

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, Any]
FUSED = (Kind.REDUCTION, Kind.VIEW, Kind.CREATION)
EPSILON = {"float32": 2**-23, "float64": 2**-52, "float16": 2**-10, "bfloat16": 2**-7}


def runs_as_one_kernel(op_class: type[TensorOp], target: str) -> bool:
    """Whether a catalogue test of kernels runs the samples of the op."""
    if op_class is LiteralOp:
        return False
    fused = op_class.KIND in FUSED or issubclass(op_class, (Elementwise, GatherOp, PadOp, ConcatOp))
    return fused or (target == "c" and op_class.KIND is Kind.IRREGULAR)


def uses(target: str) -> Iterator[Use]:
    """The uses that the target takes; what it refuses is in docs/support.md, which a test keeps up to date."""
    for op_class in catalogue():
        for cell in cells(op_class):
            if cell.derived or not runs_as_one_kernel(op_class, target):
                yield from ((op_class, s) for s in cell.samples if not refusal(op_class, s, target))


@dataclass(frozen=True)
class Results:
    """By op: what its uses gave, and what they mean."""

    found: dict[str, list[Array]]
    expected: dict[str, list[Array]]


@pytest.fixture(scope="module", params=["c", "cuda", "metal"])
def results(request: pytest.FixtureRequest) -> Results:
    chosen = list(uses(request.param))
    module = program_of(chosen)
    rng = np.random.default_rng(0)
    inputs: list[Array] = []
    for _, sample in chosen:
        inputs += [random_array(kind, Environment(), rng, sample.low, sample.high) for kind in sample.operands]
    expected = evaluate_function(module, "main", inputs)
    lower_without_search(module, request.param, "emit" if request.param == "c" else "map-threads")
    found = run_program(module, "main", inputs, {}, TextLauncher(module, MemoryCache()))
    made = Results({}, {})
    position = 0
    for op_class, sample in chosen:
        end = position + len(op_class.infer(sample.operands, sample.properties))
        made.found.setdefault(op_class.name, []).extend(found[position:end])
        made.expected.setdefault(op_class.name, []).extend(expected[position:end])
        position = end
    return made


def assert_close(found: Array, expected: Array) -> None:
    assert found.dtype == expected.dtype and found.shape == expected.shape
    if expected.dtype.kind in "biu":
        np.testing.assert_array_equal(found, expected)
        return
    a, b = found.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(b)
    np.testing.assert_array_equal(a[~finite], b[~finite])
    scale = max(1.0, float(np.abs(b[finite]).max(initial=0.0)))
    tolerance = EPSILON.get(str(expected.dtype), 2**-3) * scale * 3
    np.testing.assert_allclose(a[finite], b[finite], rtol=0, atol=tolerance)


@pytest.mark.parametrize("op_class", catalogue(), ids=lambda op: op.name)
def test_uses(results: Results, op_class: type[TensorOp]) -> None:
    pairs = zip(results.found.get(op_class.name, ()), results.expected.get(op_class.name, ()), strict=True)
    for found, expected in pairs:
        assert_close(found, np.asarray(expected))


def test_the_device_compiler_takes_every_op_in_every_element_type() -> None:
    """NVRTC refuses what the host's compiler converts, such as a warp's exchange of narrow integers."""
    every = [(op_class, cell.samples[0]) for op_class in catalogue() for cell in cells(op_class)]
    module = program_of([(op_class, sample) for op_class, sample in every if not refusal(op_class, sample, "cuda")])
    lower_without_search(module, "cuda", "map-threads")
    kernels = list(kernels_of(module))
    assert len(kernels) > 500
    for start in range(0, len(kernels), 100):
        binary = compile_cuda(cuda_source(kernels[start : start + 100]), reject=False)
        assert len(binary.kernels) == len(kernels[start : start + 100])
