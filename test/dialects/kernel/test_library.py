"""kernel.call_matmul: type rule, values, expansion and text of every sample."""

from __future__ import annotations

import re

import numpy as np
import pytest
from xdsl.ir import Block

from albumen.dialects.errors import TypeRuleError
from albumen.dialects.evaluate import evaluate_block, random_array
from albumen.dialects.hlir.builder import GraphBuilder
from albumen.dialects.hlir.loop import YieldOp
from albumen.dialects.kernel import CallMatmulOp
from albumen.dialects.op import Environment, Sample

VALID = [sample for sample in CallMatmulOp.SAMPLES if not sample.error]
INVALID = [sample for sample in CallMatmulOp.SAMPLES if sample.error]


@pytest.mark.parametrize("sample", VALID, ids=range(len(VALID)))
def test_expansion_agrees(sample: Sample, rng: np.random.Generator) -> None:
    block = Block(arg_types=sample.operands)
    op = CallMatmulOp.make(list(block.args), sample.properties)
    results = op.expand(GraphBuilder(block))
    block.add_op(YieldOp(results))
    inputs = [random_array(t, Environment(), rng) for t in sample.operands]
    (want,) = op.reference(inputs, Environment())
    (got,) = evaluate_block(block, inputs, Environment())
    eps = {2: 2.0**-7, 4: 2.0**-23, 8: 2.0**-52}[want.dtype.itemsize]
    np.testing.assert_allclose(want.astype(np.float64), got.astype(np.float64), rtol=0, atol=16 * eps)


@pytest.mark.parametrize("sample", INVALID, ids=range(len(INVALID)))
def test_invalid_sample_is_refused(sample: Sample) -> None:
    with pytest.raises(TypeRuleError, match=re.escape(sample.error)):
        CallMatmulOp.infer(sample.operands, sample.properties)
