"""The matrix fragment type of Apple GPUs."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException


@irdl_attr_definition
class MatrixType(ParametrizedAttribute, TypeAttribute):
    """`!apple.matrix<f32>`: an 8x8 matrix spread over a simdgroup in a way the hardware does not tell; f32, f16 or
    bf16."""

    name = "apple.matrix"
    element: Attribute

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (parser.parse_type(),)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.element)

    def verify(self) -> None:
        if not isinstance(self.element, Float32Type | Float16Type | BFloat16Type):
            raise VerifyException(f"a simdgroup matrix holds f32, f16 or bf16, found {self.element}")
