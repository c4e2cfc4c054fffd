"""schedule: how each kernel is run, where the lowering's own choice would not know enough; by the cost model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, i64
from xdsl.passes import ModulePass

from ...dialects.kernel import MatmulOp
from ...runtime.artifact import cpu_features
from .cost import machine_of, representative

SCALES = (1, 8, 32, 128)
"""Values of the symbols at which a choice must do well; each is clipped to the symbol's range."""


@dataclass(frozen=True)
class SchedulePass(ModulePass):
    """Fills in the schedules that are empty.

    Matmuls of a GPU get the tile that loses least to the best one over small and large values of the symbols. Matmuls
    of target c get the vector size `simd` in bits (0: that of this machine). Row programs are left to their lowering.
    """

    name: ClassVar[str] = "schedule"
    target: str = "c"
    simd: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine_of(self.target)
        sizes = samples(op)
        for kernel in op.walk():
            if isinstance(kernel, MatmulOp) and not kernel.schedule.data:
                kernel.properties["schedule"] = self._matmul(kernel, op, sizes)

    def _matmul(self, kernel: MatmulOp, module: ModuleOp, sizes: Sequence[dict[str, int]]) -> DictionaryAttr:
        if self.target == "c":
            return DictionaryAttr({"simd": IntegerAttr(self.simd or vector_bits(), i64)})
        from .tiles import matmul_schedule

        return matmul_schedule(kernel, module, self.target, sizes)


def vector_bits() -> int:
    """The size of this machine's vector registers."""
    features = cpu_features()
    if "avx512f" in features:
        return 512
    return 256 if "avx2" in features else 128


def samples(module: ModuleOp) -> list[dict[str, int]]:
    """Values of the symbols, small and large, each inside the symbol's range and a multiple of its step."""
    found: list[dict[str, int]] = []
    for scale in SCALES:
        values = representative(module, scale)
        if values not in found:
            found.append(values)
    return found
