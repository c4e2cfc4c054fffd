"""Run the architectures: `make architectures ARGS="-k '^(bert|llama)$' -j 2"`.

Each architecture runs in a process of its own. Every result is one JSON line; with `--out FILE` it is appended to the
file as it comes, and what the file already holds is not run again.
"""

# pyright: basic

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from .architecture import Architecture
from .registry import ARCHITECTURES
from .worker import DTYPES, cases

HOME = Path(__file__).resolve().parents[1]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="architectures", description=__doc__)
    parser.add_argument("-k", default="", help="regular expression that finds the names of architectures")
    parser.add_argument("-d", default=",".join(DTYPES), help="element types")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1, help="worker processes")
    parser.add_argument("--use", default="", help="only these uses, separated by commas")
    parser.add_argument("--device", default="cpu", help="where the models lie: cpu (target c) or cuda")
    parser.add_argument("--limit", type=float, default=900, help="seconds that one architecture may take")
    parser.add_argument("--budget", type=float, default=1e9, help="seconds after which no further one is started")
    parser.add_argument("--out", type=Path, help="file of results; what it holds is skipped")
    parser.add_argument("--again", default="", help="run those again whose status in the file is one of these")
    return parser.parse_args()


def known(path: Path | None, again: str) -> list[dict[str, Any]]:
    """The results that a file holds and that need no second run."""
    if path is None or not path.exists():
        return []
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [row for row in rows if row["status"] not in again.split(",")]


def run(architecture: Architecture, left: list[tuple[str, str]], options: argparse.Namespace) -> list[dict[str, Any]]:
    """The results of one architecture's cases; one that its process does not survive is a crash."""
    done: list[dict[str, Any]] = []
    while len(done) < len(left):
        wanted = [f"{use}:{dtype}" for use, dtype in left[len(done) :]]
        command = [sys.executable, "-m", "architectures.worker", architecture.name, *wanted]
        command += ["--device", options.device]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HOME), os.environ.get("PYTHONPATH", "")])}
        environment.setdefault("OMP_NUM_THREADS", "1")
        try:
            ended = subprocess.run(
                command, check=False, capture_output=True, text=True, env=environment, timeout=options.limit
            )
            output, why = ended.stdout, f"the process ended with {ended.returncode}: {ended.stderr[-500:]}"
        except subprocess.TimeoutExpired as error:
            output = error.stdout.decode() if isinstance(error.stdout, bytes) else error.stdout or ""
            why = f"no end within {options.limit:.0f} s"
        done += [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        if len(done) < len(left):
            use, dtype = left[len(done)]
            done.append({**architecture.row(use, dtype), "status": "crash", "why": why})
    return done


def main() -> int:
    options = arguments()
    start = time.monotonic()
    results = known(options.out, options.again)
    seen = {(row["name"], row["use"], row["dtype"]) for row in results}
    if options.out is not None and options.out.exists():
        options.out.write_text("".join(json.dumps(row) + "\n" for row in results))
    work: list[tuple[Architecture, list[tuple[str, str]]]] = []
    for name, architecture in ARCHITECTURES.items():
        uses = [use for use in architecture.uses if not options.use or use in options.use.split(",")]
        left = [case for case in cases(uses, options.d.split(",")) if (name, *case) not in seen]
        if left and re.search(options.k, name):
            work.append((architecture, left))

    def one(item: tuple[Architecture, list[tuple[str, str]]]) -> list[dict[str, Any]]:
        return run(*item, options) if time.monotonic() - start < options.budget else []

    counts: Counter[str] = Counter()
    with ThreadPoolExecutor(options.j) as pool:
        for rows in pool.map(one, work):
            for row in rows:
                counts[row["status"]] += 1
                facts = row.get("why") or f"{row['ratio']} of the bound"
                print(f"{row['status']:12} {row['name']} {row['use']} {row['dtype']} {facts[:600]}", flush=True)
                if options.out is not None:
                    with options.out.open("a") as file:
                        file.write(json.dumps(row) + "\n")
    print(", ".join(f"{count} {status}" for status, count in sorted(counts.items())) or "nothing to run")
    return 1 if counts["wrong"] or counts["crash"] else 0


if __name__ == "__main__":
    sys.exit(main())
