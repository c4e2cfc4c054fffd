"""simt: thread-level code of CUDA and Metal. Its meaning is running its printed text, on the CPU shim or on a
device."""

from xdsl.ir import Dialect

from .ids import Id, IdAttr, IdOp
from .kernel import OP_BUDGET, KernelOp, kernels_of
from .memory import AtomicAddOp, Hint, HintAttr, LoadOp, OffsetOp, SharedOp, StoreOp
from .registers import RegLoadOp, RegsOp, RegStoreOp, part_extent
from .sync import (
    WARP,
    AssertOp,
    BarrierOp,
    Combiner,
    CombinerAttr,
    GridReleaseOp,
    GridWaitOp,
    ReduceBlockOp,
    ReduceWarpOp,
    Scope,
    ScopeAttr,
    ShuffleMode,
    ShuffleModeAttr,
    ShuffleOp,
)
from .types import PtrType, RegType, Space, SpaceAttr, element_bytes, is_scalar, vector_lanes

SIMT = Dialect(
    "simt",
    [
        AssertOp,
        AtomicAddOp,
        BarrierOp,
        GridReleaseOp,
        GridWaitOp,
        IdOp,
        KernelOp,
        LoadOp,
        OffsetOp,
        ReduceBlockOp,
        ReduceWarpOp,
        RegLoadOp,
        RegStoreOp,
        RegsOp,
        SharedOp,
        ShuffleOp,
        StoreOp,
    ],
    [CombinerAttr, HintAttr, IdAttr, PtrType, RegType, ScopeAttr, ShuffleModeAttr, SpaceAttr],
)

__all__ = [
    "OP_BUDGET",
    "SIMT",
    "WARP",
    "AssertOp",
    "AtomicAddOp",
    "BarrierOp",
    "Combiner",
    "CombinerAttr",
    "GridReleaseOp",
    "GridWaitOp",
    "Hint",
    "HintAttr",
    "Id",
    "IdAttr",
    "IdOp",
    "KernelOp",
    "LoadOp",
    "OffsetOp",
    "PtrType",
    "ReduceBlockOp",
    "ReduceWarpOp",
    "RegLoadOp",
    "RegStoreOp",
    "RegType",
    "RegsOp",
    "Scope",
    "ScopeAttr",
    "SharedOp",
    "ShuffleMode",
    "ShuffleModeAttr",
    "ShuffleOp",
    "Space",
    "SpaceAttr",
    "StoreOp",
    "element_bytes",
    "is_scalar",
    "kernels_of",
    "part_extent",
    "vector_lanes",
]
