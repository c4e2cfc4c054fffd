"""How the threads of a block and the kernels of a stream work together: barriers, shuffles, reductions, grid
dependency."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import (
    I64,
    AnyFloatConstr,
    Float32Type,
    Float64Type,
    IntegerAttr,
    IntegerType,
    UnitAttr,
    i1,
    i32,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    base,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from .types import PtrType

WARP = 32
"""Threads that run in step: a warp of CUDA, a simdgroup of Metal."""

SCALAR = AnyFloatConstr | base(IntegerType)


class Scope(StrEnum):
    """Which threads a barrier holds."""

    Block = "block"
    Warp = "warp"


@irdl_attr_definition
class ScopeAttr(EnumAttribute[Scope], SpacedOpaqueSyntaxAttribute):
    """`#simt<scope block>`."""

    name = "simt.scope"


class ShuffleMode(StrEnum):
    """From which lane a shuffle reads: lane ^ n, lane - n, lane + n, or lane n."""

    Xor = "xor"
    Up = "up"
    Down = "down"
    Idx = "idx"


@irdl_attr_definition
class ShuffleModeAttr(EnumAttribute[ShuffleMode], SpacedOpaqueSyntaxAttribute):
    """`#simt<shuffle_mode xor>`."""

    name = "simt.shuffle_mode"


class Combiner(StrEnum):
    """How a reduction joins two values; max and min return NaN where either operand is NaN; and, or join bits of
    integers."""

    Add = "add"
    Mul = "mul"
    Max = "max"
    Min = "min"
    And = "and"
    Or = "or"


@irdl_attr_definition
class CombinerAttr(EnumAttribute[Combiner], SpacedOpaqueSyntaxAttribute):
    """`#simt<combiner add>`."""

    name = "simt.combiner"


def _verify_width(width: int) -> None:
    if width not in (1, 2, 4, 8, 16, WARP):
        raise VerifyException(f"width must be a power of two up to {WARP}, found {width}")


def _verify_reduction(combiner: Combiner, value: Attribute) -> None:
    if value not in (Float32Type(), Float64Type(), i32, i64):
        raise VerifyException(f"threads reduce f32, f64, i32 or i64, found {value}")
    if combiner in (Combiner.And, Combiner.Or) and value not in (i32, i64):
        raise VerifyException(f"{combiner} is for integers, found {value}")


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """`simt.barrier block`: every thread of the block (or warp) arrives before any goes on; their memory writes are
    visible."""

    name = "simt.barrier"
    scope = prop_def(ScopeAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "$scope attr-dict"

    def __init__(self, scope: Scope = Scope.Block):
        super().__init__(properties={"scope": ScopeAttr(scope)})


@irdl_op_definition
class ShuffleOp(IRDLOperation):
    """`%r = simt.shuffle xor %v, %n width 32 : f32`: the value of another lane of the same group of `width` lanes.

    Up and down keep the own value where the source lane lies outside the group. All lanes of the warp take part.
    """

    name = "simt.shuffle"
    T: ClassVar = VarConstraint("T", SCALAR)
    mode = prop_def(ShuffleModeAttr)
    value = operand_def(T)
    lane = operand_def(i32)
    width = prop_def(IntegerAttr[I64])
    result = result_def(T)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "$mode $value `,` $lane `width` $width attr-dict `:` type($value)"

    def __init__(self, mode: ShuffleMode, value: SSAValue, lane: SSAValue, width: int = WARP):
        super().__init__(
            operands=[value, lane],
            properties={"mode": ShuffleModeAttr(mode), "width": IntegerAttr(width, i64)},
            result_types=[value.type],
        )

    def verify_(self) -> None:
        _verify_width(self.width.value.data)


@irdl_op_definition
class ReduceWarpOp(IRDLOperation):
    """`%r = simt.reduce_warp add %v width 32 : f32`: every lane gets the reduction over its group of `width` lanes."""

    name = "simt.reduce_warp"
    T: ClassVar = VarConstraint("T", SCALAR)
    combiner = prop_def(CombinerAttr)
    value = operand_def(T)
    width = prop_def(IntegerAttr[I64])
    result = result_def(T)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "$combiner $value `width` $width attr-dict `:` type($value)"

    def __init__(self, combiner: Combiner, value: SSAValue, width: int = WARP):
        super().__init__(
            operands=[value],
            properties={"combiner": CombinerAttr(combiner), "width": IntegerAttr(width, i64)},
            result_types=[value.type],
        )

    def verify_(self) -> None:
        _verify_width(self.width.value.data)
        _verify_reduction(self.combiner.data, self.value.type)


@irdl_op_definition
class ReduceBlockOp(IRDLOperation):
    """`%r = simt.reduce_block add %v, %scratch : f32, !simt.ptr<f32, shared>`: every thread gets the block's reduction.

    `scratch` has one element a warp of the block, which consists of whole warps. Contains block barriers: all threads
    of the block take part. `fresh` promises that no thread can still be reading the scratch of an earlier reduction,
    which saves a barrier.
    """

    name = "simt.reduce_block"
    T: ClassVar = VarConstraint("T", SCALAR)
    combiner = prop_def(CombinerAttr)
    value = operand_def(T)
    scratch = operand_def(PtrType)
    fresh = opt_prop_def(UnitAttr)
    result = result_def(T)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "$combiner $value `,` $scratch (`fresh` $fresh^)? attr-dict `:` type($value) `,` type($scratch)"

    def __init__(self, combiner: Combiner, value: SSAValue, scratch: SSAValue, *, fresh: bool = False):
        super().__init__(
            operands=[value, scratch],
            properties={"combiner": CombinerAttr(combiner), "fresh": UnitAttr() if fresh else None},
            result_types=[value.type],
        )

    def verify_(self) -> None:
        _verify_reduction(self.combiner.data, self.value.type)
        scratch = self.scratch.type
        assert isinstance(scratch, PtrType)
        if not scratch.is_shared or scratch.element != self.value.type:
            raise VerifyException(f"scratch must be a shared pointer to {self.value.type}, found {scratch}")


@irdl_op_definition
class AssertOp(IRDLOperation):
    """`simt.assert %c`: ends the launch with an error where the condition is false. Metal cannot, and goes on."""

    name = "simt.assert"
    condition = operand_def(i1)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$condition attr-dict"

    def __init__(self, condition: SSAValue):
        super().__init__(operands=[condition])


@irdl_op_definition
class GridWaitOp(IRDLOperation):
    """`simt.grid_wait`: waits until the kernels before this one in the stream have finished or released it.

    Nothing that an earlier kernel writes may be read before. Without programmatic launch it does nothing.
    """

    name = "simt.grid_wait"
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class GridReleaseOp(IRDLOperation):
    """`simt.grid_release`: the kernel after this one in the stream may be launched now; its `grid_wait` still waits
    for all."""

    name = "simt.grid_release"
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()
