"""A counted loop over a region: what roll-loops makes of a repeated body."""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from ..op import Kind
from .types import TensorType


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends the body of a loop: the next values of what is carried, then the collected values of this iteration."""

    name = "hlir.yield"
    values = var_operand_def(TensorType)
    traits = traits_def(IsTerminator(), Pure())
    assembly_format = "($values^ `:` type($values))? attr-dict"

    def __init__(self, values: Sequence[SSAValue]):
        super().__init__(operands=[list(values)])


@irdl_op_definition
class LoopOp(IRDLOperation):
    """`trips` runs of an isolated body with the arguments carried..., streams..., invariants....

    `carried` are the first values of what the body yields first. `streams` holds, stream after stream, one value for
    each
    iteration. `invariants` are the same in every iteration. Results: the last carried values, then for each collected
    value
    of the body one result an iteration.
    """

    name = "hlir.loop"
    KIND: ClassVar[Kind] = Kind.REGION

    carried = var_operand_def(TensorType)
    streams = var_operand_def(TensorType)
    invariants = var_operand_def(TensorType)
    trips = prop_def(IntAttr)
    outs = var_result_def(TensorType)
    body = region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure(), IsolatedFromAbove())

    @property
    def trip_count(self) -> int:
        return self.trips.data

    @property
    def stream_count(self) -> int:
        """Number of streams, each with one value an iteration."""
        return len(self.streams) // self.trip_count if self.trip_count else 0

    def stream_values(self, stream: int) -> tuple[SSAValue, ...]:
        """The values of one stream in the order of the iterations."""
        return tuple(self.streams[stream * self.trip_count : (stream + 1) * self.trip_count])

    @property
    def terminator(self) -> YieldOp:
        last = self.body.block.last_op
        assert isinstance(last, YieldOp)
        return last

    def verify_(self) -> None:
        if self.trip_count < 1:
            raise VerifyException(f"a loop has at least one iteration, found {self.trip_count}")
        if len(self.streams) % self.trip_count:
            raise VerifyException(f"{len(self.streams)} stream values do not divide into {self.trip_count} iterations")
        if not isinstance(self.body.block.last_op, YieldOp):
            raise VerifyException("the body ends with hlir.yield")
        firsts = [self.stream_values(j)[0] for j in range(self.stream_count)]
        expected = [v.type for v in (*self.carried, *firsts, *self.invariants)]
        found = [a.type for a in self.body.block.args]
        if expected != found:
            raise VerifyException(f"the body takes ({_text(found)}), the operands are ({_text(expected)})")
        for j in range(self.stream_count):
            if len({v.type for v in self.stream_values(j)}) != 1:
                raise VerifyException(f"the values of stream {j} have several types")
        self._verify_results()

    def _verify_results(self) -> None:
        yielded = [v.type for v in self.terminator.values]
        carried = [v.type for v in self.carried]
        if yielded[: len(carried)] != carried:
            raise VerifyException(f"the body yields ({_text(yielded)}), carried are ({_text(carried)})")
        collected = [t for t in yielded[len(carried) :] for _ in range(self.trip_count)]
        if [r.type for r in self.outs] != carried + collected:
            raise VerifyException(f"the results must be ({_text(carried + collected)})")

    @classmethod
    def build_loop(
        cls,
        trips: int,
        carried: Sequence[SSAValue],
        streams: Sequence[Sequence[SSAValue]],
        invariants: Sequence[SSAValue],
        body: Block,
    ) -> "LoopOp":
        """The loop over a finished body block."""
        last = body.last_op
        assert isinstance(last, YieldOp)
        types = [v.type for v in carried]
        types += [v.type for v in list(last.values)[len(carried) :] for _ in range(trips)]
        return cls(
            operands=[list(carried), [v for stream in streams for v in stream], list(invariants)],
            result_types=[types],
            properties={"trips": IntAttr(trips)},
            regions=[Region(body)],
        )

    @classmethod
    def parse(cls, parser: Parser) -> "LoopOp":
        trips = parser.parse_integer()
        groups: list[list[SSAValue]] = []
        for keyword in ("carried", "streams", "invariants"):
            parser.parse_keyword(keyword)
            names = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
            parser.parse_punctuation(":")
            types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
            groups.append(list(parser.resolve_operands(names, types, parser.pos)))
        parser.parse_punctuation("->")
        results = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        region = parser.parse_region()
        return cls(operands=groups, result_types=[results], properties={"trips": IntAttr(trips)}, regions=[region])

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.trip_count}")
        for keyword, values in (("carried", self.carried), ("streams", self.streams), ("invariants", self.invariants)):
            printer.print_string(f" {keyword} (")
            printer.print_list(values, printer.print_operand)
            printer.print_string(") : (")
            printer.print_list([v.type for v in values], printer.print_attribute)
            printer.print_string(")")
        printer.print_string(" -> (")
        printer.print_list([r.type for r in self.outs], printer.print_attribute)
        printer.print_string(") ")
        printer.print_region(self.body)


def _text(types: Sequence[Attribute]) -> str:
    return ", ".join(map(str, types))
