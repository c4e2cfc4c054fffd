"""Run PyTorch's operator database: `make opinfo ARGS="-k atan2 -d float32,int64"`.

Prints a line for each pair that does not pass (with -v for each), then the counts. With `--out FILE` each result is
appended to the file as it comes, and pairs that it already holds are not run again.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from pathlib import Path

from . import results
from .checks import Setting
from .pairs import DTYPES, ERRORS, Pair, all_pairs, chosen, error_pairs
from .pool import run_all
from .states import CRASHED, PASSED, STATES, WRONG, Result


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="opinfo", description=__doc__)
    parser.add_argument("-k", default="", help="regular expression that finds the names of entries")
    parser.add_argument("-d", default="", help=f"of {','.join(DTYPES)}, errors (the error inputs); or all")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1, help="worker processes")
    parser.add_argument("-v", action="store_true", help="print every pair, and all of each reason")
    parser.add_argument("--max", type=int, default=4, help="samples of a pair")
    parser.add_argument("--device", default="cpu", help="where the inputs lie: cpu (target c) or cuda")
    parser.add_argument("--backend", default="albumen", help="the backend of torch.compile, such as inductor")
    parser.add_argument("--limit", type=float, default=180, help="seconds that a pair may take")
    parser.add_argument("--budget", type=float, help="seconds after which no further pair is started")
    parser.add_argument("--out", type=Path, help="file of results; pairs in it are skipped")
    parser.add_argument("--again", default="", help="run pairs again whose state in the file is one of these")
    parser.add_argument("--write", type=Path, help="write what the file --out holds in order and without times")
    parser.add_argument("--count", type=int, help="run only so many pairs, chosen by --seed")
    parser.add_argument("--seed", default="0", help="what the choice of pairs depends on")
    parser.add_argument("--shard", default="0/1", help="I/N: every N-th pair from the I-th")
    return parser.parse_args()


def selected(options: argparse.Namespace) -> list[Pair]:
    """The pairs that the options name."""
    everything = [*DTYPES, ERRORS]
    dtypes: list[str] = everything if options.d == "all" else options.d.split(",") if options.d else [*DTYPES]
    unknown = set(dtypes) - set(everything)
    if unknown:
        raise SystemExit(f"unknown element types: {', '.join(sorted(unknown))}")
    pairs = all_pairs(options.device) if set(dtypes) - {ERRORS} else []
    pairs += error_pairs() if ERRORS in dtypes else []
    pairs = [pair for pair in pairs if pair[1] in dtypes and re.search(options.k, pair[0])]
    if not pairs:
        raise SystemExit(f"no entry has a name like {options.k!r} and these element types")
    if options.count is not None:
        pairs = chosen(pairs, options.count, options.seed)
    part, parts = map(int, options.shard.split("/"))
    return pairs[part::parts]


class Progress:
    """Prints what comes in, and keeps it."""

    def __init__(self, total: int, *, verbose: bool, out: Path | None):
        self.total = total
        self.verbose = verbose
        self.out = out
        self.found: list[Result] = []
        self.started = time.monotonic()

    def report(self, result: Result) -> None:
        self.found.append(result)
        if self.out is not None:
            self.out.parent.mkdir(parents=True, exist_ok=True)
            with self.out.open("a") as file:
                file.write(result.to_json() + "\n")
        if self.verbose or result.state != PASSED:
            by = f" by {result.by}" if result.by else ""
            why = result.why if self.verbose else " ".join(result.why.split())[:300]
            counts = f"{result.passed}/{result.samples}"
            print(f"{result.state + by:22} {result.op} {result.dtype} {counts} {result.seconds} s {why}", flush=True)
        if len(self.found) % 50 == 0:
            seconds = time.monotonic() - self.started
            print(f"-- {len(self.found)} of {self.total} pairs, {seconds:.0f} s", flush=True)


def main() -> int:
    options = arguments()
    again: list[str] = options.again.split(",") if options.again else []
    if unknown := set(again) - set(STATES):
        raise SystemExit(f"unknown states: {', '.join(sorted(unknown))}")
    pairs = selected(options)
    known = results.read(options.out) if options.out else {}
    kept = {key: result for key, result in known.items() if result.state not in again}
    setting = Setting(options.backend, options.device, options.max)
    waiting = [pair for pair in pairs if pair not in kept]
    progress = Progress(len(waiting), verbose=options.v, out=options.out)
    try:
        run_all(waiting, setting, options.j, options.limit, progress.report, options.budget)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        return 130
    finally:
        held = [kept[pair] for pair in pairs if pair in kept]
        print(results.summary([*held, *progress.found]), flush=True)
    if options.write is not None:
        results.write(options.write, [*held, *progress.found], [*all_pairs(options.device), *error_pairs()])
    failed = any(result.state in (WRONG, CRASHED) for result in [*held, *progress.found])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
