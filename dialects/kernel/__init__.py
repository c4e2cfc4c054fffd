"""The `kernel` dialect: device work on tensors, one op a launch or a library call; its meaning is hlir."""

from xdsl.ir import Dialect

from .body import YieldOp
from .function import FuncOp, ReturnOp, kernel_functions
from .launch import FusedOp, IrregularOp, KernelOp, MatmulOp
from .library import EPILOGUES, CallMatmulOp
from .literal import LiteralOp
from .placement import NotOneKernelError, Placement, Space, place

KERNEL = Dialect("kernel", [FusedOp, MatmulOp, IrregularOp, YieldOp, CallMatmulOp, LiteralOp, FuncOp, ReturnOp], [])

__all__ = [
    "EPILOGUES",
    "KERNEL",
    "CallMatmulOp",
    "FuncOp",
    "FusedOp",
    "IrregularOp",
    "KernelOp",
    "LiteralOp",
    "MatmulOp",
    "NotOneKernelError",
    "Placement",
    "ReturnOp",
    "Space",
    "YieldOp",
    "kernel_functions",
    "place",
]
