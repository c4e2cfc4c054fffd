"""nv: instructions of NVIDIA GPUs, used beside simt by the matrix templates."""

from xdsl.ir import Dialect

from .copy import CpAsyncCommitOp, CpAsyncOp, CpAsyncWaitOp
from .matrix import LdmatrixOp, MmaOp
from .types import MMA_WORDS, MmaKind, MmaKindAttr

NV = Dialect("nv", [CpAsyncCommitOp, CpAsyncOp, CpAsyncWaitOp, LdmatrixOp, MmaOp], [MmaKindAttr])

__all__ = [
    "MMA_WORDS",
    "NV",
    "CpAsyncCommitOp",
    "CpAsyncOp",
    "CpAsyncWaitOp",
    "LdmatrixOp",
    "MmaKind",
    "MmaKindAttr",
    "MmaOp",
]
