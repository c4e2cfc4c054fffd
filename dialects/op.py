"""The base of Albumen's tensor ops: each class carries all facets of what the op is; machinery is written once per
kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

from numpy.typing import NDArray
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .dtype import DType
from .errors import EvaluationError, InternalError, TypeRuleError
from .hlir.types import ShapeAttr, TensorType

if TYPE_CHECKING:
    from .hlir.builder import GraphBuilder

Array: TypeAlias = NDArray[Any]


class Kind(StrEnum):
    """How machinery treats an op; most stages are written per kind and never name an op."""

    ELEMENTWISE = "elementwise"
    REDUCTION = "reduction"
    VIEW = "view"
    CONTRACTION = "contraction"
    CREATION = "creation"
    IRREGULAR = "irregular"
    COMPOSITE = "composite"
    REGION = "region"
    LIBRARY = "library"


@dataclass(frozen=True)
class Environment:
    """Values of the symbols while a program is evaluated."""

    symbols: Mapping[str, int] = field(default_factory=dict[str, int])

    def shape(self, type_: TensorType | ShapeAttr) -> tuple[int, ...]:
        """The extents as integers.

        Raises:
            EvaluationError: a symbol has no value.
        """
        shape = type_.shape if isinstance(type_, TensorType) else type_
        try:
            return shape.concrete(self.symbols)
        except KeyError as error:
            raise EvaluationError(f"the symbol {error.args[0]!r} has no value", hint="pass it in `symbols`") from None


@dataclass(frozen=True)
class Sample:
    """One use of an op for the catalogue tests: operand types and properties; `error` is a part of the message of an
    invalid one."""

    operands: tuple[TensorType, ...]
    properties: Mapping[str, Attribute] = field(default_factory=dict[str, Attribute])
    error: str = ""
    low: float = -2.0
    high: float = 2.0


class TensorOp(IRDLOperation):
    """An op on tensor values. Facets are class constants; types come from `infer`, values from `reference`."""

    KIND: ClassVar[Kind]
    ATEN: ClassVar[tuple[str, ...]] = ()
    """ATen overloads that mean exactly this op on their tensor arguments."""
    SPELLING: ClassVar[str] = ""
    """Name of the scalar function that targets spell; for a composite, a direct spelling of it."""
    ULP: ClassVar[float] = 0.0
    """Bound in ulp of the result dtype between an op and its expansion; with ABSOLUTE 0 too, they are the same bits."""
    ABSOLUTE: ClassVar[float] = 0.0
    """Bound in units of the dtype's eps times the largest magnitude among operands and results; either bound
    suffices."""
    SAMPLES: ClassVar[tuple[Sample, ...]] = ()

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        """Result types from operand types and properties.

        Raises:
            TypeRuleError: the operands or properties do not fit the op.
        """
        raise InternalError(f"{cls.name} has no type rule")

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        """The results for numpy inputs of the operand types, in the result dtypes."""
        raise InternalError(f"{self.name} has no reference")

    def expand(self, b: GraphBuilder) -> tuple[SSAValue, ...]:
        """Builds the definition of a composite with `b` and returns its results."""
        raise InternalError(f"{self.name} has no expansion")

    @classmethod
    def make(
        cls,
        operands: Sequence[SSAValue],
        properties: Mapping[str, Attribute | None] | None = None,
        *,
        location: Attribute | None = None,
        regions: Sequence[Region] = (),
    ) -> Self:
        """The op with inferred result types.

        Raises:
            TypeRuleError: as `infer`.
        """
        kept = {key: value for key, value in (properties or {}).items() if value is not None}
        types = cls.infer([tensor_of(operand) for operand in operands], kept)
        op = cls.create(operands=list(operands), result_types=types, properties=kept, regions=list(regions))
        if location is not None:
            op.location = location  # pyright: ignore[reportAttributeAccessIssue]
        return op

    @property
    def operand_types(self) -> list[TensorType]:
        return [tensor_of(operand) for operand in self.operands]

    @property
    def result_type(self) -> TensorType:
        """The type of the only result."""
        return tensor_of(self.results[0])

    def verify_(self) -> None:
        try:
            expected = self.infer(self.operand_types, self.properties)
        except TypeRuleError as error:
            raise VerifyException(error.message) from error
        found = tuple(result.type for result in self.results)
        if found != expected:
            raise VerifyException(
                f"result types {_types(found)} do not follow from the operands, expected {_types(expected)}"
            )

    # Syntax, the same for every op: name, operands, properties in braces, then one type if all are equal, else
    # (operand types) -> result types. Ops with something better override the two property hooks.

    @classmethod
    def parse_properties(cls, parser: Parser) -> dict[str, Attribute]:
        return dict(parser.parse_optional_dictionary_attr_dict())

    def print_properties(self, printer: Printer) -> None:
        if self.properties:
            printer.print_string(" ")
            printer.print_attr_dict(self.properties)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        names = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        properties = cls.parse_properties(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        at = parser.pos
        parser.parse_punctuation(":")
        operand_types, result_types = parse_signature(parser, len(names or []))
        operands = parser.resolve_operands(names or [], operand_types, at)
        return cls.create(
            operands=operands,
            result_types=result_types,
            properties=properties,
            attributes=dict(attributes.data) if attributes else {},
        )

    def print(self, printer: Printer) -> None:
        if self.operands:
            printer.print_string(" ")
            printer.print_list(self.operands, printer.print_operand)
        self.print_properties(printer)
        if self.attributes:
            printer.print_string(" attributes ")
            printer.print_attr_dict(self.attributes)
        printer.print_string(" : ")
        print_signature(printer, [o.type for o in self.operands], [r.type for r in self.results])


def parse_signature(parser: Parser, operands: int) -> tuple[list[Attribute], list[Attribute]]:
    """Operand and result types: `T` for all of them, or `(T, ...) -> T` or `(T, ...) -> (T, ...)`."""
    if parser.parse_optional_punctuation("("):
        inputs: list[Attribute] = []
        if not parser.parse_optional_punctuation(")"):
            inputs.append(parser.parse_type())
            while parser.parse_optional_punctuation(","):
                inputs.append(parser.parse_type())
            parser.parse_punctuation(")")
        parser.parse_punctuation("->")
        results = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        return inputs, list(results) if results is not None else [parser.parse_type()]
    shared = parser.parse_type()
    return [shared] * operands, [shared]


def print_signature(printer: Printer, operands: Sequence[Attribute], results: Sequence[Attribute]) -> None:
    """The inverse of `parse_signature`."""
    if len(results) == 1 and all(type_ == results[0] for type_ in operands):
        printer.print_attribute(results[0])
        return
    printer.print_string("(")
    printer.print_list(operands, printer.print_attribute)
    printer.print_string(") -> ")
    if len(results) == 1:
        printer.print_attribute(results[0])
        return
    printer.print_string("(")
    printer.print_list(results, printer.print_attribute)
    printer.print_string(")")


def tensor_of(value: SSAValue) -> TensorType:
    """The tensor type of a value.

    Raises:
        TypeRuleError: the value is not a tensor.
    """
    if not isinstance(value.type, TensorType):
        raise TypeRuleError(f"expected a tensor operand, found {value.type}")
    return value.type


def require(condition: bool, message: str) -> None:
    """Raises TypeRuleError with `message` unless the condition holds."""
    if not condition:
        raise TypeRuleError(message)


def require_operands(operands: Sequence[TensorType], count: int) -> None:
    """Raises TypeRuleError unless there are `count` operands."""
    require(len(operands) == count, f"takes {count} operands, found {len(operands)}")


def require_dtype(type_: TensorType, allowed: Sequence[DType], what: str) -> None:
    """Raises TypeRuleError unless the element type is one of `allowed`."""
    require(
        type_.dtype in allowed, f"{what} must be one of {' '.join(d.name for d in allowed)}, found {type_.dtype.name}"
    )


def _types(types: Sequence[Attribute]) -> str:
    return ", ".join(map(str, types)) or "none"
