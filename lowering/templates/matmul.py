"""Chooses and builds the thread-level kernel of a kernel.matmul.

Schedule keys: `template` is "skinny" (at most eight rows, both operands with the depth innermost), "mma" (CUDA, bf16
and f16) or "simt"; `tile` names one of the template's tiles by rows and columns of a block, as "128x64". Without a
template the first of these that takes the problem is used, without a tile the one that a cost model chooses.
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
from .skinny import Skinny, SkinnySizes, skinny_rows

UNKNOWN_EXTENT = 4096
"""Taken for the largest value of an extent without a maximum."""


@dataclass(frozen=True)
class Candidate:
    """Tile sizes and the part of the machine's arithmetic that such tiles reach when there are enough of them."""

    sizes: TileSizes | MmaSizes | SkinnySizes
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
    Candidate(TileSizes(16, 64, 16, 4, 4), 0.4),
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


def templates_for(problem: MatmulProblem, target: str) -> dict[str, tuple[Candidate, ...]]:
    """The templates that take a problem, with their tiles; the one to prefer comes first."""
    found: dict[str, tuple[Candidate, ...]] = {}
    rows = skinny_rows(problem)
    if rows is not None:
        # A warp holds the totals of all its results, at most one a lane.
        columns = [4 * n for n in (4, 2, 1) if rows * n <= 16]
        found["skinny"] = tuple(Candidate(SkinnySizes(rows, n), 1.0) for n in columns)
    if target == "cuda" and takes(problem):
        found["mma"] = MMA
    # f64 accumulators take twice the registers, so half the tile.
    found["simt"] = SIMT if problem.accumulator.bytes == 4 else SIMT[2:]
    return found


def matmul_kernel(function: FuncOp, module: ModuleOp, target: str, arch: str = "") -> simt.KernelOp:
    """The simt.kernel of a kernel.func that holds a kernel.matmul, with the arguments that kernel_to_loop documents.

    Raises:
        LoweringError: the body or the schedule holds what no template can do.
    """
    problem = MatmulProblem(function, module)
    templates = templates_for(problem, target)
    template = _chosen(function, "template", templates, next(iter(templates)))
    named = {candidate.name: candidate for candidate in templates[template]}
    cheapest = min(named.values(), key=lambda one: _cost(problem, one, CORES[target]))
    sizes = named[_chosen(function, "tile", named, cheapest.name)].sizes
    if isinstance(sizes, SkinnySizes):
        return Skinny(problem, sizes).build()
    if isinstance(sizes, MmaSizes):
        return MmaTile(problem, sizes).build()
    return SimtTile(problem, sizes).build()


def _chosen(function: FuncOp, key: str, known: Mapping[str, object], otherwise: str) -> str:
    """A word of the kernel's schedule."""
    value = function.kernel.schedule.data.get(key)
    word = value.data if isinstance(value, StringAttr) else otherwise
    if word not in known:
        raise LoweringError(
            f"no {key} {word!r} for this matmul",
            op=function.kernel,
            stage="lower-kernels",
            hint=f"choose one of {', '.join(known)}",
        )
    return word


def matmul_schedules(function: FuncOp, module: ModuleOp, target: str) -> Iterator[DictionaryAttr]:
    """Every schedule that `matmul_kernel` takes for this kernel, for a search to try."""
    for template, candidates in templates_for(MatmulProblem(function, module), target).items():
        yield from (_schedule(template, candidate) for candidate in candidates)


def _schedule(template: str, candidate: Candidate) -> DictionaryAttr:
    return DictionaryAttr({"template": StringAttr(template), "tile": StringAttr(candidate.name)})


def _cost(problem: MatmulProblem, candidate: Candidate, cores: int) -> float:
    """Time in units of one result element a core, from how many tiles the busiest core gets."""

    def tiles(extent: Expr, size: int) -> int:
        most = problem.indices.largest(extent)
        return -(-(most if most is not None else UNKNOWN_EXTENT) // size)

    sizes = candidate.sizes
    count = tiles(problem.rows.extent, sizes.rows) * tiles(problem.columns.extent, sizes.columns)
    count *= tiles(problem.batch.extent, 1)
    return -(-count // cores) * sizes.rows * sizes.columns / candidate.efficiency
