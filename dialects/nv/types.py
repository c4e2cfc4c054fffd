"""Enumerations of the NVIDIA matrix and copy instructions."""

from __future__ import annotations

from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.str_enum import StrEnum


class MmaKind(StrEnum):
    """Shape and operand type of a warp matrix multiply; the accumulator is f32."""

    M16N8K16Bf16 = "m16n8k16_bf16"
    M16N8K16F16 = "m16n8k16_f16"
    M16N8K8Tf32 = "m16n8k8_tf32"


@irdl_attr_definition
class MmaKindAttr(EnumAttribute[MmaKind], SpacedOpaqueSyntaxAttribute):
    """`#nv<mma_kind m16n8k16_bf16>`."""

    name = "nv.mma_kind"


MMA_WORDS = {"acc": 4, "lhs": 4, "rhs": 2}
"""32-bit registers a thread gives to each operand, the same for all kinds above."""
