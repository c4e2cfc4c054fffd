"""The `loop` dialect: one loop nest per kernel over pointers, without threads; printed as C, interpreted on numpy."""

from xdsl.ir import Dialect

from .apply import ApplyOp
from .kernel import KernelOp
from .memory import AllocOp, CheckIndexOp, LoadOp, OffsetOp, PackOp, StoreOp
from .nest import Combine, CombineAttr, Mapping, MappingAttr, ParallelOp, ReduceOp, YieldOp
from .types import PtrType

LOOP = Dialect(
    "loop",
    [KernelOp, ParallelOp, ReduceOp, YieldOp, AllocOp, OffsetOp, LoadOp, StoreOp, PackOp, CheckIndexOp, ApplyOp],
    [PtrType, MappingAttr, CombineAttr],
)

__all__ = [
    "LOOP",
    "AllocOp",
    "ApplyOp",
    "CheckIndexOp",
    "Combine",
    "CombineAttr",
    "KernelOp",
    "LoadOp",
    "Mapping",
    "MappingAttr",
    "OffsetOp",
    "PackOp",
    "ParallelOp",
    "PtrType",
    "ReduceOp",
    "StoreOp",
    "YieldOp",
]
