"""The `sym` dialect: expressions as attributes, declarations of symbols, and facts the module relies on."""

from collections.abc import Sequence

from xdsl.dialects.builtin import IntAttr, StringAttr, SymbolNameConstraint
from xdsl.ir import Data, Dialect, Operation
from xdsl.irdl import IRDLOperation, irdl_attr_definition, irdl_op_definition, opt_prop_def, prop_def, traits_def
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from .bounds import Bounds, Interval
from .expr import Expr, IntLike, lift
from .syntax import parse_expr


@irdl_attr_definition
class ExprAttr(Data[Expr]):
    """An integer expression over symbols: `#sym.expr<s*2 + 1>`."""

    name = "sym.expr"

    @classmethod
    def get(cls, value: IntLike) -> "ExprAttr":  # pyright: ignore[reportIncompatibleMethodOverride]
        return cls(lift(value))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Expr:
        with parser.in_angle_brackets():
            return parse_expr(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(str(self.data))


@irdl_op_definition
class SymbolOp(IRDLOperation):
    """Declares a symbol of the module and what is true of it: minimum <= s <= maximum and s % multiple_of == 0.

    `sym.symbol @s min 1 max 4096 multiple_of 8`; without `max` it is unbounded.
    """

    name = "sym.symbol"

    sym_name = prop_def(SymbolNameConstraint())
    minimum = prop_def(IntAttr)
    maximum = opt_prop_def(IntAttr)
    multiple_of = prop_def(IntAttr)

    traits = traits_def(SymbolOpInterface())

    def __init__(self, name: str, minimum: int = 0, maximum: int | None = None, multiple_of: int = 1):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "minimum": IntAttr(minimum),
                "maximum": None if maximum is None else IntAttr(maximum),
                "multiple_of": IntAttr(multiple_of),
            }
        )

    def verify_(self) -> None:
        if self.multiple_of.data < 1:
            raise VerifyException(f"multiple_of must be positive, found {self.multiple_of.data}")
        if self.maximum is not None and self.maximum.data < self.minimum.data:
            raise VerifyException(f"empty range: min {self.minimum.data}, max {self.maximum.data}")

    @property
    def range(self) -> Interval:
        """The declared range."""
        return Interval(self.minimum.data, None if self.maximum is None else self.maximum.data)

    @classmethod
    def parse(cls, parser: Parser) -> "SymbolOp":
        name = parser.parse_symbol_name().data
        minimum = parser.parse_integer() if parser.parse_optional_keyword("min") else 0
        maximum = parser.parse_integer() if parser.parse_optional_keyword("max") else None
        multiple = parser.parse_integer() if parser.parse_optional_keyword("multiple_of") else 1
        return cls(name, minimum, maximum, multiple)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(f" min {self.minimum.data}")
        if self.maximum is not None:
            printer.print_string(f" max {self.maximum.data}")
        if self.multiple_of.data != 1:
            printer.print_string(f" multiple_of {self.multiple_of.data}")


RELATIONS = ("==", ">=", "!=")
"""How the expression of a guard is compared with 0."""


def relation_holds(value: int, relation: str) -> bool:
    """Whether `value relation 0` is true."""
    if relation == "!=":
        return value != 0
    return value == 0 if relation == "==" else value >= 0


@irdl_op_definition
class GuardOp(IRDLOperation):
    """A fact that the program checks when called: `sym.guard s - t*2 "=="` is s - t*2 == 0; or ">=", or "!="."""

    name = "sym.guard"

    expr = prop_def(ExprAttr)
    relation = prop_def(StringAttr)

    def __init__(self, expr: IntLike, relation: str):
        super().__init__(properties={"expr": ExprAttr.get(expr), "relation": StringAttr(relation)})

    def verify_(self) -> None:
        if self.relation.data not in RELATIONS:
            raise VerifyException(f"the relation is '==', '>=' or '!=', found {self.relation.data!r}")

    @classmethod
    def parse(cls, parser: Parser) -> "GuardOp":
        expr = parse_expr(parser)
        relation = parser.parse_str_literal(" as the relation of a guard")
        return cls(expr, relation)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.expr.data} ")
        printer.print_string_literal(self.relation.data)


def declared_bounds(module: Operation, extents: Sequence[Expr] = ()) -> Bounds:
    """The ranges that the `sym.symbol` ops directly inside `module` declare."""
    ranges = {
        op.sym_name.data: op.range for block in module.regions[0].blocks for op in block.ops if isinstance(op, SymbolOp)
    }
    return Bounds(ranges, tuple(extents))


SYM = Dialect("sym", [SymbolOp, GuardOp], [ExprAttr])

__all__ = ["RELATIONS", "SYM", "ExprAttr", "GuardOp", "SymbolOp", "declared_bounds", "relation_holds"]
