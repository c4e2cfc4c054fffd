"""Every op times every facet: a hole in the catalogue is a failure here, whoever adds the op."""

import io
import re

import numpy as np
import pytest
from _pytest.mark.structures import ParameterSet
from xdsl.context import Context
from xdsl.dialects import test as xdsl_test
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.ir import Block
from xdsl.parser import Parser
from xdsl.printer import Printer

from albumen.dialects.catalogue import catalogue
from albumen.dialects.errors import TypeRuleError
from albumen.dialects.evaluate import evaluate_block, random_array
from albumen.dialects.hlir.builder import GraphBuilder
from albumen.dialects.hlir.composite import Composite
from albumen.dialects.hlir.dialect import COMPOSITES, HLIR, PRIMITIVES
from albumen.dialects.hlir.loop import YieldOp
from albumen.dialects.op import Array, Environment, Kind, Sample, TensorOp
from albumen.dialects.sym.dialect import SYM

OPS = catalogue()


def cases(valid: bool, expandable: bool = False) -> list[ParameterSet]:
    return [
        pytest.param(op, sample, id=f"{op.name}-{position}")
        for op in OPS
        for position, sample in enumerate(op.SAMPLES)
        if bool(sample.error) != valid and (not expandable or op.KIND in (Kind.COMPOSITE, Kind.CONTRACTION))
    ]


def build(op_class: type[TensorOp], sample: Sample) -> tuple[TensorOp, Block]:
    block = Block(arg_types=sample.operands)
    op = op_class.make(list(block.args), sample.properties)
    block.add_op(op)
    return op, block


def inputs_of(op: TensorOp, sample: Sample, rng: np.random.Generator) -> list[Array]:
    return [random_array(t, Environment(), rng, sample.low, sample.high) for t in sample.operands]


def context() -> Context:
    ctx = Context()
    for dialect in (Builtin, xdsl_test.Test, HLIR, SYM):
        ctx.load_dialect(dialect)
    return ctx


@pytest.mark.parametrize("op_class", OPS, ids=lambda op: op.name)
def test_op_has_every_facet(op_class: type[TensorOp]) -> None:
    assert op_class.__doc__ and len(op_class.__doc__) > 5
    assert isinstance(op_class.KIND, Kind)
    assert any(not s.error for s in op_class.SAMPLES), "no valid sample"
    assert any(s.error for s in op_class.SAMPLES) or op_class.KIND is Kind.COMPOSITE, "no invalid sample"
    assert op_class.__name__ == "".join(p.title() for p in op_class.name.partition(".")[2].split("_")) + "Op"
    if op_class.KIND is Kind.ELEMENTWISE:
        assert op_class.SPELLING


def test_the_closed_set_and_the_composites_are_the_catalogue() -> None:
    assert set(OPS) == set(PRIMITIVES) | set(COMPOSITES)
    assert all(issubclass(op, Composite) for op in COMPOSITES)
    assert not any(issubclass(op, Composite) for op in PRIMITIVES)


@pytest.mark.parametrize(("op_class", "sample"), cases(valid=True))
def test_reference_has_the_inferred_types(op_class: type[TensorOp], sample: Sample, rng: np.random.Generator) -> None:
    op, _ = build(op_class, sample)
    op.verify()
    results = op.reference(inputs_of(op, sample, rng), Environment())
    for result, value in zip(op.results, results, strict=True):
        assert value.dtype == result.type.dtype.numpy  # pyright: ignore
        assert value.shape == Environment().shape(result.type)  # pyright: ignore


@pytest.mark.parametrize(("op_class", "sample"), cases(valid=False))
def test_invalid_sample_is_refused(op_class: type[TensorOp], sample: Sample) -> None:
    with pytest.raises(TypeRuleError, match=re.escape(sample.error)):
        op_class.infer(sample.operands, sample.properties)


@pytest.mark.parametrize(("op_class", "sample"), cases(valid=True))
@pytest.mark.parametrize("generic", [False, True], ids=["custom", "generic"])
def test_text_reads_back(op_class: type[TensorOp], sample: Sample, generic: bool) -> None:
    producer = xdsl_test.TestOp(result_types=sample.operands)
    op = op_class.make(list(producer.results), sample.properties)
    module = ModuleOp([producer, op])

    def text(m: ModuleOp) -> str:
        out = io.StringIO()
        Printer(out, print_generic_format=generic).print_op(m)
        return out.getvalue()

    first = text(module)
    again = Parser(context(), first).parse_module()
    again.verify()
    assert text(again) == first
    assert again.is_structurally_equivalent(module)


@pytest.mark.parametrize(("op_class", "sample"), cases(valid=True, expandable=True))
def test_expansion_agrees(op_class: type[TensorOp], sample: Sample, rng: np.random.Generator) -> None:
    op, block = build(op_class, sample)
    results = op.expand(GraphBuilder(block))
    assert [r.type for r in results] == [r.type for r in op.results]
    block.add_op(YieldOp(results))
    op.detach()
    inputs = inputs_of(op, sample, rng)
    expected = op.reference(inputs, Environment())
    for want, got in zip(expected, evaluate_block(block, inputs, Environment()), strict=True):
        assert_within_bound(op, inputs, want, got)


def assert_within_bound(op: TensorOp, inputs: list[Array], want: Array, got: Array) -> None:
    """|want - got| <= ULP ulp of want, or ABSOLUTE eps of the largest magnitude involved."""
    assert want.dtype == got.dtype and want.shape == got.shape
    dtype = op.result_type.dtype
    if not dtype.is_float or not want.size:
        np.testing.assert_array_equal(want, got)
        return
    eps = dtype.eps
    wide, other = want.astype(np.float64), got.astype(np.float64)
    scale = max(
        [float(np.abs(x.astype(np.float64)).max(initial=0)) for x in (*inputs, want) if x.dtype != np.bool_],
        default=1.0,
    )
    absolute = op.ABSOLUTE * eps * scale
    allowed = np.maximum(op.ULP * eps * np.abs(wide), absolute)
    same = (wide == other) | (np.isnan(wide) & np.isnan(other))
    assert (same | (np.abs(wide - other) <= allowed)).all(), f"{np.abs(wide - other).max()} > {allowed.max()}"
