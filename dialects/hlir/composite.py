"""Composite ops: each declares an expansion into other ops and a bound between the two."""

from abc import ABC
from collections.abc import Callable, Sequence
from typing import ClassVar

from xdsl.ir import SSAValue
from xdsl.irdl import traits_def
from xdsl.traits import Pure

from ..dtype import FLOATS
from ..op import Kind, Sample, TensorOp, tensor_of
from .builder import GraphBuilder
from .pointwise import Binary, Elementwise, Unary, samples


class Composite(TensorOp, ABC):
    """An op with an expansion; ULP and ABSOLUTE bound the difference between the two."""

    KIND: ClassVar[Kind] = Kind.COMPOSITE
    traits = traits_def(Pure())


class ElementwiseComposite(Elementwise, Composite, ABC):
    """A composite scalar function. Narrow floats expand through f32, rounding once, as the op itself does."""

    KIND: ClassVar[Kind] = Kind.COMPOSITE

    def define(self, b: GraphBuilder, *args: SSAValue) -> SSAValue:
        """The expansion on operands of the compute dtype."""
        raise NotImplementedError(self.name)  # abstract: every concrete class defines it

    def expand(self, b: GraphBuilder) -> tuple[SSAValue, ...]:
        return (widened(b, self, self.operands, self.define),)


class UnaryComposite(ElementwiseComposite, Unary, ABC):
    """A composite y = f(x)."""

    KIND: ClassVar[Kind] = Kind.COMPOSITE
    SAMPLES: ClassVar[tuple[Sample, ...]] = samples(FLOATS[:4], 1)


class BinaryComposite(ElementwiseComposite, Binary, ABC):
    """A composite y = f(a, b)."""

    KIND: ClassVar[Kind] = Kind.COMPOSITE


def widened(b: GraphBuilder, op: TensorOp, operands: Sequence[SSAValue], define: Callable[..., SSAValue]) -> SSAValue:
    """`define` on the operands cast to their compute dtype, cast to the result dtype of `op` where that is a float."""
    compute = tensor_of(operands[0]).dtype.compute
    wide = [b.cast(x, compute) if tensor_of(x).dtype.is_float else x for x in operands]
    return b.cast(define(b, *wide), op.result_type.dtype)
