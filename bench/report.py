"""Results as a table for people and as JSON lines for machines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .harness import NOISY, Case, Result, Timing

FOLDER = Path(__file__).resolve().parent / "results"


def write_results(suite: str, case: Case, results: Sequence[Result], facts: dict[str, Any]) -> Path:
    """Append one line a candidate to the suite's file."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{suite}.jsonl"
    with path.open("a") as file:
        for result in results:
            line = {
                "suite": suite,
                "case": result.case,
                "candidate": result.candidate,
                "wall_us": _micros(result.wall),
                "wall_spread": round(result.wall.spread, 4),
                "gpu_us": None if result.gpu is None else _micros(result.gpu),
                "gpu_spread": None if result.gpu is None else round(result.gpu.spread, 4),
                "max_abs_diff": result.difference,
                "compile_s": None if result.compile_seconds is None else round(result.compile_seconds, 2),
                **case.facts,
                **facts,
            }
            file.write(json.dumps(line) + "\n")
    return path


def _micros(timing: Timing) -> float:
    return round(timing.median * 1e6, 3)


def print_table(case: Case, results: Sequence[Result]) -> None:
    """Times of each candidate, their ratio to the reference, and a mark where the rounds disagree."""
    base = next(result for result in results if result.candidate == case.reference)
    print(case.name)
    for result in results:
        columns = [f"  {result.candidate:<24}", _column("wall", result.wall, base.wall)]
        if result.gpu is not None and base.gpu is not None:
            columns.append(_column("gpu", result.gpu, base.gpu))
        columns.append(f"diff {result.difference:.1e}")
        if result.compile_seconds is not None:
            columns.append(f"compile {result.compile_seconds:.1f} s")
        print("  ".join(columns), flush=True)


def _column(name: str, timing: Timing, base: Timing) -> str:
    mark = " noisy" if timing.spread > NOISY else ""
    return f"{name} {timing.median * 1e6:10.2f} us x{timing.median / base.median:<5.2f} +-{timing.spread:.0%}{mark}"
