"""The sizes of a call: where the symbols of a program get their values, and what must hold of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import IntAttr, ModuleOp, StringAttr
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, opt_prop_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..sym.bounds import Interval
from ..sym.dialect import RELATIONS, ExprAttr, relation_holds
from ..sym.dialect import GuardOp as FactOp
from ..sym.dialect import SymbolOp as DeclarationOp
from ..sym.expr import IntLike
from ..sym.substitute import evaluate_int, symbol_names
from ..sym.syntax import parse_expr
from .buffers import InputOp
from .types import BufferType, parse_buffer


@irdl_op_definition
class SymbolOp(IRDLOperation):
    """Where a symbol of the module gets its value, and the values that a call may give it.

    `host.symbol "s" of %x dim 0 min 1 max 4096 multiple_of 8`; the extent is linear in that symbol alone. Without `dim`
    the input is a scalar and the value itself. Without `max` the symbol is unbounded.
    """

    name = "host.symbol"
    symbol = prop_def(StringAttr)
    input = operand_def(BufferType)
    dim = opt_prop_def(IntAttr)
    minimum = prop_def(IntAttr)
    maximum = opt_prop_def(IntAttr)
    multiple_of = prop_def(IntAttr)

    def __init__(
        self,
        name: str,
        input: SSAValue,
        dim: int | None,
        *,
        minimum: int = 0,
        maximum: int | None = None,
        multiple_of: int = 1,
    ):
        super().__init__(
            operands=[input],
            properties={
                "symbol": StringAttr(name),
                "dim": None if dim is None else IntAttr(dim),
                "minimum": IntAttr(minimum),
                "maximum": None if maximum is None else IntAttr(maximum),
                "multiple_of": IntAttr(multiple_of),
            },
        )

    @property
    def range(self) -> Interval:
        """The values that a call may give."""
        return Interval(self.minimum.data, None if self.maximum is None else self.maximum.data)

    def holds(self, values: Mapping[str, int]) -> bool:
        """Whether a call may give the symbol its value."""
        value, high = values[self.symbol.data], self.range.high
        return self.minimum.data <= value and (high is None or value <= high) and value % self.multiple_of.data == 0

    def verify_(self) -> None:
        if self.multiple_of.data < 1:
            raise VerifyException(f"multiple_of must be positive, found {self.multiple_of.data}")
        if self.minimum.data < 0 or (self.maximum is not None and self.maximum.data < self.minimum.data):
            raise VerifyException(f"no range of sizes: {range_text(self.range)}")
        source = self.input.owner
        if not isinstance(source, InputOp):
            raise VerifyException("a symbol comes from a host.input")
        if self.dim is None:
            if source.role.data != "scalar":
                raise VerifyException("a symbol without a dim comes from a scalar")
            return
        assert isinstance(self.input.type, BufferType)
        dims = self.input.type.dims
        if self.dim.data >= len(dims) or symbol_names(dims[self.dim.data]) != [self.symbol.data]:
            raise VerifyException(f"dim {self.dim.data} of {self.input.type} does not give {self.symbol.data!r}")

    @classmethod
    def parse(cls, parser: Parser) -> SymbolOp:
        name = parser.parse_str_literal()
        parser.parse_keyword("of")
        operand = parse_buffer(parser)
        dim = parser.parse_integer() if parser.parse_optional_keyword("dim") else None
        minimum = parser.parse_integer() if parser.parse_optional_keyword("min") else 0
        maximum = parser.parse_integer() if parser.parse_optional_keyword("max") else None
        multiple = parser.parse_integer() if parser.parse_optional_keyword("multiple_of") else 1
        return cls(name, operand, dim, minimum=minimum, maximum=maximum, multiple_of=multiple)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.symbol.data)
        printer.print_string(" of ")
        printer.print_operand(self.input)
        if self.dim is not None:
            printer.print_string(f" dim {self.dim.data}")
        printer.print_string(f" {range_text(self.range, self.multiple_of.data)}")


@irdl_op_definition
class GuardOp(IRDLOperation):
    """What a call checks once its symbols have values: `host.guard s - t*2 "=="`, which is s - t*2 == 0.

    The module's fact of the same form, sym.guard, says what kernels rely on; this op is what makes it true. The symbols
    are those that a host.symbol before it gives.
    """

    name = "host.guard"
    expr = prop_def(ExprAttr)
    relation = prop_def(StringAttr)

    def __init__(self, expr: IntLike, relation: str):
        super().__init__(properties={"expr": ExprAttr.get(expr), "relation": StringAttr(relation)})

    def holds(self, values: Mapping[str, int]) -> bool:
        """Whether the guard is true of these values of the symbols."""
        return relation_holds(evaluate_int(self.expr.data, values), self.relation.data)

    def verify_(self) -> None:
        if self.relation.data not in RELATIONS:
            raise VerifyException(f"the relation is '==', '>=' or '!=', found {self.relation.data!r}")

    @classmethod
    def parse(cls, parser: Parser) -> GuardOp:
        expr = parse_expr(parser)
        return cls(expr, parser.parse_str_literal(" as the relation of a guard"))

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.expr.data} ")
        printer.print_string_literal(self.relation.data)


def range_text(range_: Interval, multiple_of: int = 1) -> str:
    """`min 1 max 4096 multiple_of 8`, without what says nothing."""
    text = f"min {range_.low or 0}"
    if range_.high is not None:
        text += f" max {range_.high}"
    return text if multiple_of == 1 else f"{text} multiple_of {multiple_of}"


def check_facts(module: ModuleOp, symbols: Sequence[SymbolOp], guards: Sequence[GuardOp]) -> None:
    """Checks that a call of a program makes true what its module declares of the program's symbols.

    Raises:
        VerifyException: a declared range, multiple or guard is not checked, or a guard uses a symbol without a value.
    """
    given = {op.symbol.data: op for op in symbols}
    for guard in guards:
        missing = [name for name in symbol_names(guard.expr.data) if name not in given]
        if missing:
            raise VerifyException(f"the guard on {guard.expr.data} uses {missing[0]!r}, which no host.symbol gives")
    checked = {(guard.expr, guard.relation) for guard in guards}
    for op in module.ops:
        if isinstance(op, FactOp) and (op.expr, op.relation) not in checked:
            raise VerifyException(
                f"the module relies on {op.expr.data} {op.relation.data} 0, which no host.guard checks"
            )
        if isinstance(op, DeclarationOp) and op.sym_name.data in given:
            _check_range(op, given[op.sym_name.data])


def _check_range(declared: DeclarationOp, given: SymbolOp) -> None:
    allowed, checked = declared.range, given.range
    too_low = (checked.low or 0) < (allowed.low or 0)
    too_high = allowed.high is not None and (checked.high is None or checked.high > allowed.high)
    if too_low or too_high or given.multiple_of.data % declared.multiple_of.data:
        expected, found = (
            range_text(range_, multiple.data)
            for range_, multiple in ((allowed, declared.multiple_of), (checked, given.multiple_of))
        )
        raise VerifyException(f"{given.symbol.data!r} is checked for {found}, the module declares {expected}")
