"""apple: simdgroup matrices of Apple GPUs, used beside simt by the matrix templates."""

from xdsl.ir import Dialect

from .simdgroup import SimdgroupFillOp, SimdgroupLoadOp, SimdgroupMmaOp, SimdgroupStoreOp
from .types import MatrixType

APPLE = Dialect("apple", [SimdgroupFillOp, SimdgroupLoadOp, SimdgroupMmaOp, SimdgroupStoreOp], [MatrixType])

__all__ = ["APPLE", "MatrixType", "SimdgroupFillOp", "SimdgroupLoadOp", "SimdgroupMmaOp", "SimdgroupStoreOp"]
