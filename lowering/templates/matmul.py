"""Chooses and builds the thread-level kernel of a kernel.matmul.

Schedule keys: `template` is "mma" (CUDA, bf16 and f16) or "simt"; `tile` names one of the template's tiles by rows and
columns of a block, as "128x64". Where a key is missing a cost model chooses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr

from ...dialects import simt
from ...dialects.errors import LoweringError
from ...dialects.kernel import FuncOp
from ...dialects.sym.expr import Expr
from .mma_tile import MmaSizes, MmaTile, takes
from .problem import MatmulProblem
from .simt_tile import SimtTile, TileSizes

UNKNOWN_EXTENT = 4096
"""Taken for the largest value of an extent without a maximum."""


@dataclass(frozen=True)
class Candidate:
    """Tile sizes and the part of the machine's arithmetic that such tiles reach when there are enough of them."""

    sizes: TileSizes | MmaSizes
    efficiency: float

    @property
    def name(self) -> str:
        return f"{self.sizes.rows}x{self.sizes.columns}"


SIMT = (
    Candidate(TileSizes(128, 128, 8, 8, 8, min_blocks=2), 1.0),
    Candidate(TileSizes(128, 64, 8, 8, 4), 0.85),
    Candidate(TileSizes(64, 64, 16, 8, 4), 0.8),
    Candidate(TileSizes(32, 64, 16, 4, 4), 0.6),
    Candidate(TileSizes(32, 32, 16, 4, 4), 0.5),
    Candidate(TileSizes(16, 64, 32, 4, 4), 0.4),
)
MMA = (
    Candidate(MmaSizes(128, 128, 64, 3, 2, 2, min_blocks=2), 1.0),
    Candidate(MmaSizes(64, 128, 64, 3, 2, 2, min_blocks=2), 0.85),
    Candidate(MmaSizes(64, 64, 64, 3, 2, 2), 0.75),
    Candidate(MmaSizes(32, 64, 64, 4, 2, 2), 0.5),
    Candidate(MmaSizes(16, 64, 64, 4, 1, 4), 0.35),
    Candidate(MmaSizes(16, 32, 64, 4, 1, 2), 0.25),
)
"""The largest first."""

CORES: Mapping[str, int] = MappingProxyType({"cuda": 132, "metal": 40})
"""Multiprocessors of an H200; of a large Apple GPU."""


def matmul_kernel(function: FuncOp, module: ModuleOp, target: str, arch: str = "") -> simt.KernelOp:
    """The simt.kernel of a kernel.func that holds a kernel.matmul, with the arguments that kernel_to_loop documents.

    Raises:
        LoweringError: the body or the schedule holds what no template can do.
    """
    problem = MatmulProblem(function, module)
    schedule = problem.kernel.schedule
    on_tensor_cores = target == "cuda" and takes(problem) and _word(schedule, "template") != "simt"
    if _word(schedule, "template") == "mma" and not on_tensor_cores:
        raise LoweringError(
            f"no matrix units of target {target} multiply {problem.lhs.dtype.name}",
            op=function.kernel,
            stage="lower-kernels",
            hint='choose template = "simt"',
        )
    candidates = MMA if on_tensor_cores else _fitting(problem)
    tile = _word(schedule, "tile")
    named = {candidate.name: candidate for candidate in candidates}
    if tile and tile not in named:
        raise LoweringError(
            f"no tile {tile} in this template",
            op=function.kernel,
            stage="lower-kernels",
            hint=f"choose one of {', '.join(named)}",
        )
    chosen = named[tile] if tile else min(candidates, key=lambda one: _cost(problem, one, CORES[target]))
    if isinstance(chosen.sizes, MmaSizes):
        return MmaTile(problem, chosen.sizes).build()
    return SimtTile(problem, chosen.sizes).build()


def matmul_schedules(function: FuncOp, module: ModuleOp, target: str) -> Iterator[DictionaryAttr]:
    """Every schedule that `matmul_kernel` takes for this kernel, for a search to try."""
    problem = MatmulProblem(function, module)
    if target == "cuda" and takes(problem):
        yield from (_schedule("mma", candidate) for candidate in MMA)
    yield from (_schedule("simt", candidate) for candidate in _fitting(problem))


def _schedule(template: str, candidate: Candidate) -> DictionaryAttr:
    return DictionaryAttr({"template": StringAttr(template), "tile": StringAttr(candidate.name)})


def _word(schedule: DictionaryAttr, key: str) -> str:
    value = schedule.data.get(key)
    return value.data if isinstance(value, StringAttr) else ""


def _fitting(problem: MatmulProblem) -> tuple[Candidate, ...]:
    """Tiles for the general cores; f64 accumulators take twice the registers, so half the tile."""
    return SIMT if problem.accumulator.bytes == 4 else SIMT[2:]


def _cost(problem: MatmulProblem, candidate: Candidate, cores: int) -> float:
    """Time in units of one result element a core, from how many tiles the busiest core gets."""

    def tiles(extent: Expr, size: int) -> int:
        most = problem.indices.largest(extent)
        return -(-(most if most is not None else UNKNOWN_EXTENT) // size)

    sizes = candidate.sizes
    count = tiles(problem.rows.extent, sizes.rows) * tiles(problem.columns.extent, sizes.columns)
    count *= tiles(problem.batch.extent, 1)
    return -(-count // cores) * sizes.rows * sizes.columns / candidate.efficiency
