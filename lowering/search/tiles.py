"""Choosing the tile of a GPU matmul that does well at small and at large sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr

from ...dialects.errors import LoweringError
from ...dialects.kernel import FuncOp, MatmulOp
from ...dialects.sym.expr import Expr
from ...dialects.sym.substitute import evaluate_int
from ..templates.matmul import CORES, Candidate, templates_for
from ..templates.problem import MatmulProblem

START: Mapping[str, float] = MappingProxyType({"mma": 5e6, "simt": 3e5, "skinny": 3e5})
"""Products that a core of a data-centre GPU adds up in about the 2 us in which a kernel starts, fills its pipeline and
ends; by template."""


def matmul_schedule(kernel: MatmulOp, module: ModuleOp, target: str, sizes: Sequence[dict[str, int]]) -> DictionaryAttr:
    """The template and tile for a matmul; the schedule that it has where no template computes it in this form."""
    try:
        problem = MatmulProblem(FuncOp("scheduled", kernel), module)
    except LoweringError:
        return kernel.schedule
    template, candidates = next(iter(templates_for(problem, target).items()))
    chosen = choose_tile(problem, candidates, CORES[target], sizes, START[template])
    return DictionaryAttr({"template": StringAttr(template), "tile": StringAttr(chosen.name)})


def choose_tile(
    problem: MatmulProblem,
    candidates: Sequence[Candidate],
    cores: int,
    sizes: Sequence[dict[str, int]],
    start: float = 0.0,
) -> Candidate:
    """The tile whose time, relative to the best tile's, is least when added up over the sizes; `start` is the time that
    every kernel takes, in products of one core, so that tiles are hardly told apart where there is little to do."""
    regret = dict.fromkeys(range(len(candidates)), 0.0)
    for symbols in sizes:
        fixed = start / max(1, evaluate_int(problem.depth.extent, symbols))
        costs = [tile_cost(problem, c, cores, symbols) + fixed for c in candidates]
        best = min(costs)
        for position, cost in enumerate(costs):
            regret[position] += cost / best
    return candidates[min(regret, key=lambda position: (regret[position], position))]


def tile_cost(problem: MatmulProblem, candidate: Candidate, cores: int, symbols: dict[str, int]) -> float:
    """Result elements that the busiest core computes, at the rate that such tiles reach."""

    def tiles(extent: Expr, size: int) -> int:
        return max(1, -(-evaluate_int(extent, symbols) // size))

    sizes = candidate.sizes
    count = tiles(problem.rows.extent, sizes.rows) * tiles(problem.columns.extent, sizes.columns)
    count *= tiles(problem.batch.extent, 1)
    return -(-count // cores) * sizes.rows * sizes.columns / candidate.efficiency
