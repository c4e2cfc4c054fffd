"""kernel.fused, kernel.matmul and kernel.irregular: one launch each, whose meaning is an isolated region of hlir
ops."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Block, Region, SSAValue
from xdsl.irdl import (
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
from xdsl.traits import IsolatedFromAbove, Pure
from xdsl.utils.exceptions import VerifyException

from ..hlir.arranging import ConcatOp, PadOp
from ..hlir.contraction import ContractOp
from ..hlir.elementwise import Elementwise
from ..hlir.indexing import GatherOp
from ..hlir.types import TensorType
from ..op import Kind, TensorOp
from .body import (
    YieldOp,
    parse_bound_operands,
    parse_schedule,
    print_bound_operands,
    print_schedule,
    verify_body,
)
from .placement import NotOneKernelError, Placement, place

INLINE = (GatherOp, PadOp, ConcatOp)
"""Irregular ops that are a load at a computed place; a row program may hold them."""


class KernelOp(IRDLOperation, ABC):
    """One launch. The arguments of `body` are the operands, its `kernel.yield` lists the stored values, which are the
    results.

    Each stored value gets a buffer of its own, dense and row-major in the order of its dims; views are never stored,
    they are read through. `schedule` says how to run it, in keys that the lowering of the op documents; an empty one
    is legal.

    `%y = kernel.fused (%a = %x : T, %b = %w : T) -> (T) schedule {rows = 1 : i64} { ... kernel.yield %v : T }`
    """

    MEANING_IS_BODY: ClassVar[bool] = True

    inputs = var_operand_def(TensorType)
    outs = var_result_def(TensorType)
    schedule = prop_def(DictionaryAttr)
    body = region_def("single_block")

    def __init__(self, inputs: Sequence[SSAValue], body: Block, schedule: DictionaryAttr | None = None):
        last = body.last_op
        assert isinstance(last, YieldOp)
        super().__init__(
            operands=[list(inputs)],
            result_types=[[value.type for value in last.values]],
            properties={"schedule": schedule or DictionaryAttr({})},
            regions=[Region(body)],
        )

    @property
    def block(self) -> Block:
        return self.body.block

    @property
    def stored(self) -> tuple[SSAValue, ...]:
        """The values in the body that the kernel stores, one a result."""
        last = self.body.block.last_op
        assert isinstance(last, YieldOp)
        return tuple(last.values)

    @property
    def ops(self) -> list[TensorOp]:
        """The ops of the body, without the yield, in order."""
        return [op for op in self.body.block.ops if isinstance(op, TensorOp)]

    def placement(self) -> Placement:
        """Where each value of a row program or matmul is computed.

        Raises:
            NotOneKernelError: the body is neither.
        """
        return place(self.stored, lambda op: True)

    def verify_(self) -> None:
        verify_body(self.body.block, [o.type for o in self.inputs], [r.type for r in self.outs])
        self.verify_kind(self.ops)

    def verify_kind(self, ops: Sequence[TensorOp]) -> None:
        """Checks that the ops of the body make a kernel of this kind."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        arguments, operands = parse_bound_operands(parser)
        parser.parse_punctuation("->")
        results = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        schedule = parse_schedule(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region(arguments)
        return cls.create(
            operands=operands,
            result_types=results,
            properties={"schedule": schedule},
            attributes=dict(attributes.data) if attributes else {},
            regions=[region],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_bound_operands(printer, self.body.block, self.inputs)
        printer.print_string(" -> ")
        with printer.in_parens():
            printer.print_list([r.type for r in self.outs], printer.print_attribute)
        print_schedule(printer, self.schedule)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


def _refuse(ops: Sequence[TensorOp], kinds: Sequence[Kind], what: str) -> None:
    for op in ops:
        if op.KIND not in kinds and not isinstance(op, (Elementwise, *INLINE)):
            raise VerifyException(f"{op.name} cannot stand in {what}")


def _verify_placement(kernel: KernelOp) -> None:
    try:
        kernel.placement()
    except NotOneKernelError as error:
        raise VerifyException(f"the body is not one kernel: {error}") from error


_POINTWISE = (Kind.ELEMENTWISE, Kind.VIEW, Kind.CREATION)


@irdl_op_definition
class FusedOp(KernelOp):
    """A row program: parallel dims P, reduced dims R; every value is full (P x R), per row (P) or per column (R).

    The body holds elementwise ops (primitive or composite), views, creation ops, reductions, and the irregular ops
    that are a load at a computed place: gather (its source is read from memory through views), pad and concat (theirs
    too). Without reductions R is empty and the kernel is one elementwise loop nest over P.
    """

    name = "kernel.fused"
    traits = traits_def(Pure(), IsolatedFromAbove())

    def verify_kind(self, ops: Sequence[TensorOp]) -> None:
        _refuse(ops, (*_POINTWISE, Kind.REDUCTION), "a row program")
        _verify_placement(self)


@irdl_op_definition
class MatmulOp(KernelOp):
    """One contraction with views and elementwise ops before it (prologue) and after it (epilogue).

    The body holds exactly one `hlir.contract`. Before it: views and elementwise ops of the operands. After it:
    elementwise ops on its result, and on operands read through views at the same index; the stored values have the
    shape of the contraction's result, or are views of such values that store every element once.
    """

    name = "kernel.matmul"
    traits = traits_def(Pure(), IsolatedFromAbove())

    @property
    def contraction(self) -> ContractOp:
        (found,) = (op for op in self.ops if isinstance(op, ContractOp))
        return found

    def verify_kind(self, ops: Sequence[TensorOp]) -> None:
        count = sum(op.KIND is Kind.CONTRACTION for op in ops)
        if count != 1:
            raise VerifyException(f"the body holds exactly one contraction, found {count}")
        _refuse(ops, (*_POINTWISE, Kind.CONTRACTION), "a matmul")
        _verify_placement(self)


@irdl_op_definition
class IrregularOp(KernelOp):
    """One op in which order or computed places matter: scatter, scan, sort or random_bits, reading its operands
    through views.

    The body holds that op, views and constants before it; the stored values are its results.
    """

    name = "kernel.irregular"
    traits = traits_def(Pure(), IsolatedFromAbove())

    @property
    def core(self) -> TensorOp:
        """The one op that is no view and no constant."""
        (found,) = (op for op in self.ops if _is_core(op))
        return found

    def verify_kind(self, ops: Sequence[TensorOp]) -> None:
        cores = [op for op in ops if _is_core(op)]
        if len(cores) != 1:
            raise VerifyException(
                f"the body holds one irregular op, found {', '.join(op.name for op in cores) or 'none'}"
            )
        if any(value.owner is not cores[0] for value in self.stored):
            raise VerifyException(f"the stored values are the results of {cores[0].name}")
        for op in ops:
            if op is not cores[0] and op.KIND not in (Kind.VIEW, Kind.CREATION):
                raise VerifyException(f"{op.name} cannot stand beside {cores[0].name}")


def _is_core(op: TensorOp) -> bool:
    return op.KIND is Kind.IRREGULAR
