"""The type of a buffer: memory that holds one tensor, dense and row-major."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer

from ..dtype import DType
from ..hlir.types import TensorType
from ..sym.expr import Expr, constant


@irdl_attr_definition
class BufferType(ParametrizedAttribute, TypeAttribute):
    """Memory of one tensor, row-major without gaps: `!host.buffer<[s, 384], f32>`."""

    name = "host.buffer"

    tensor: TensorType = param_def()

    @property
    def dims(self) -> tuple[Expr, ...]:
        return self.tensor.dims

    @property
    def dtype(self) -> DType:
        return self.tensor.dtype

    @property
    def bytes(self) -> Expr:
        """Size in bytes."""
        total: Expr = constant(self.dtype.bytes)
        for extent in self.dims:
            total = total * extent
        return total

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        return [TensorType.new(TensorType.parse_parameters(parser))]

    def print_parameters(self, printer: Printer) -> None:
        self.tensor.print_parameters(printer)


def parse_buffer(parser: Parser) -> SSAValue:
    """`%x`, a buffer defined before: steps repeat no types."""
    at = parser.pos
    operand = parser.parse_unresolved_operand()
    values = parser.ssa_values.get(operand.operand_name, ())
    if operand.index >= len(values):
        parser.raise_error(f"the buffer %{operand.operand_name} is not defined before", at, parser.pos)
    return values[operand.index]
