"""Types and attributes of hlir: tensors with symbolic shapes, shapes, index maps, axes and scalars."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ..dtype import DType, dtype_named, dtype_of
from ..errors import TypeRuleError
from ..sym.expr import Expr, IntLike, lift
from ..sym.substitute import evaluate_int, symbol_names
from ..sym.syntax import parse_expr
from .index_map import IndexMap
from .scalar import Scalar


def _parse_dims(parser: AttrParser) -> tuple[Expr, ...]:
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_expr(parser)))


def _dims_text(dims: Iterable[Expr]) -> str:
    return f"[{', '.join(map(str, dims))}]"


@irdl_attr_definition
class ShapeAttr(Data[tuple[Expr, ...]]):
    """Extents of a tensor: `#hlir.shape<[s, 4096]>`."""

    name = "hlir.shape"

    @classmethod
    def get(cls, dims: Iterable[IntLike]) -> "ShapeAttr":  # pyright: ignore[reportIncompatibleMethodOverride]
        return _shape(tuple(lift(d) for d in dims))

    @property
    def rank(self) -> int:
        return len(self.data)

    def concrete(self, symbols: Mapping[str, int]) -> tuple[int, ...]:
        """The extents as integers for given values of the symbols."""
        return tuple(evaluate_int(d, symbols) for d in self.data)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Expr, ...]:
        with parser.in_angle_brackets():
            return _parse_dims(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(_dims_text(self.data))


@cache
def _shape(dims: tuple[Expr, ...]) -> ShapeAttr:
    return ShapeAttr(dims)


@irdl_attr_definition
class TensorType(ParametrizedAttribute, TypeAttribute):
    """A tensor value: `!hlir.tensor<[s, 4096], bf16>`. Row-major has no meaning here: layout is a choice of later
    stages."""

    name = "hlir.tensor"

    shape: ShapeAttr = param_def()
    element: Attribute = param_def()

    @property
    def dims(self) -> tuple[Expr, ...]:
        return self.shape.data

    @property
    def rank(self) -> int:
        return len(self.shape.data)

    @property
    def dtype(self) -> DType:
        return dtype_of(self.element)

    def with_dims(self, dims: Iterable[IntLike]) -> "TensorType":
        return tensor_type(dims, self.dtype)

    def with_dtype(self, dtype: DType) -> "TensorType":
        return tensor_type(self.dims, dtype)

    def symbol_names(self) -> list[str]:
        """Names of the symbols in the shape, sorted."""
        return sorted({name for dim in self.dims for name in symbol_names(dim)})

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            dims = _parse_dims(parser)
            parser.parse_punctuation(",")
            at = parser.pos
            name = parser.parse_identifier()
            try:
                dtype = dtype_named(name)
            except TypeRuleError as error:
                parser.raise_error(str(error), at, parser.pos)
            return (_shape(dims), dtype.attr)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{_dims_text(self.dims)}, {self.dtype.name}")


@cache
def _tensor(dims: tuple[Expr, ...], dtype: DType) -> TensorType:
    return TensorType(_shape(dims), dtype.attr)


def tensor_type(dims: Iterable[IntLike], dtype: DType) -> TensorType:
    """The interned tensor type with these extents and this element type."""
    return _tensor(tuple(lift(d) for d in dims), dtype)


@irdl_attr_definition
class MapAttr(Data[IndexMap]):
    """Which source element each result element reads: `#hlir.map<(d0, d1) -> (d1, d0)>`."""

    name = "hlir.map"

    @classmethod
    def get(cls, rank: int, exprs: Iterable[IntLike]) -> "MapAttr":  # pyright: ignore[reportIncompatibleMethodOverride]
        return cls(IndexMap(rank, tuple(lift(e) for e in exprs)))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> IndexMap:
        with parser.in_angle_brackets():
            return parse_map(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(str(self.data))


def parse_map(parser: AttrParser) -> IndexMap:
    """`(d0, d1) -> (d1, d0 + 1)`."""
    names = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_identifier)
    if names != [f"d{i}" for i in range(len(names))]:
        parser.raise_error(f"the index variables of a map are d0, d1, ... in order, found {', '.join(names)}")
    parser.parse_punctuation("->")
    exprs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: parse_expr(parser, indices=True))
    return IndexMap(len(names), tuple(exprs))


@irdl_attr_definition
class ScalarAttr(Data[Scalar]):
    """A number of an element type, kept as its bit pattern: `#hlir.scalar<1.0 : f32>`, `#hlir.scalar<0x7FC00000 :
    f32>`."""

    name = "hlir.scalar"

    @classmethod
    def get(cls, value: float | int | bool, dtype: DType) -> "ScalarAttr":  # pyright: ignore[reportIncompatibleMethodOverride]
        return cls(Scalar(dtype.encode(value), dtype))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Scalar:
        with parser.in_angle_brackets():
            return parse_scalar(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(str(self.data))


def parse_scalar(parser: AttrParser) -> Scalar:
    """`value : dtype`, where the value is a number, true, false, or the bit pattern in hexadecimal."""
    at = parser.pos
    spelled = parse_spelled_number(parser)
    parser.parse_punctuation(":")
    return scalar_from(parser, spelled, parser.parse_identifier(), at)


def parse_spelled_number(parser: AttrParser) -> tuple[str, float | int, bool]:
    """The text of a number or boolean, its value without sign, and whether a minus sign stood before it."""
    negative = parser.parse_optional_punctuation("-") is not None
    start = parser.pos
    boolean = parser.parse_optional_boolean()
    number = int(boolean) if boolean is not None else parser.parse_number()
    spelled = parser.lexer.input.slice(start, parser.pos) or ""
    return spelled.strip(), number, negative


def scalar_from(parser: AttrParser, spelled: tuple[str, float | int, bool], dtype: str, at: int) -> Scalar:
    """The scalar of a spelled number, or a parse error at `at`."""
    try:
        return Scalar.from_text(*spelled, dtype_named(dtype))
    except TypeRuleError as error:
        parser.raise_error(error.message, at, parser.pos)


def axes_attr(axes: Iterable[int]) -> DenseArrayBase:
    """Axis numbers as `array<i64: ...>`, sorted."""
    return DenseArrayBase.from_list(i64, sorted(axes))


def axes_of(attr: Attribute) -> tuple[int, ...]:
    """The axis numbers of an `array<i64: ...>`."""
    assert isinstance(attr, DenseArrayBase)
    return tuple(int(a) for a in attr.get_values())
