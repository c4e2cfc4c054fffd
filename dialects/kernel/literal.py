"""kernel.literal: a table of numbers as a stored value of its own, which the program gets as a constant input."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure

from ..hlir.creation import LiteralOp as GraphLiteralOp
from ..hlir.types import ShapeAttr, TensorType
from ..op import Array, Environment, Kind, Sample, TensorOp


@irdl_op_definition
class LiteralOp(TensorOp):
    """The value of an `hlir.literal`, in memory. `kernel.literal "0000803F00000040" : !hlir.tensor<[2], f32>`"""

    name = "kernel.literal"
    KIND: ClassVar[Kind] = Kind.CREATION
    SAMPLES: ClassVar[tuple[Sample, ...]] = GraphLiteralOp.SAMPLES

    data = prop_def(StringAttr)
    shape = prop_def(ShapeAttr)
    dtype = prop_def()
    result = result_def(TensorType)
    traits = traits_def(Pure(), ConstantLike())

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        return GraphLiteralOp.infer(operands, properties)

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        dtype = self.result_type.dtype.numpy
        return (np.frombuffer(bytes.fromhex(self.data.data), dtype).reshape(env.shape(self.result_type)),)

    @classmethod
    def parse(cls, parser: Parser) -> "LiteralOp":
        op = GraphLiteralOp.parse(parser)
        return cls.create(result_types=[op.result.type], properties=op.properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(f' "{self.data.data}" : ')
        printer.print_attribute(self.result_type)
