"""`python -m bench SUITE --vs inductor,eager`: run one suite, print its table, append its results to bench/results."""

from __future__ import annotations

import argparse
import importlib

import torch

from .harness import measure
from .machine import machine_facts
from .peers import BUILDERS, OURS
from .report import print_table, write_results

SUITES = ("overhead", "minilm")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("--vs", default="inductor", help=f"peers, separated by commas: {', '.join(BUILDERS)}")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu", choices=("cpu", "cuda"))
    parser.add_argument("--numerics", default="fused", help="eager, fused or fast (default: fused, as Inductor rounds)")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds (default: 5)")
    parser.add_argument("--calls", type=int, default=20, help="calls a round (default: 20)")
    return parser.parse_args()


def main() -> None:
    """Run one suite."""
    chosen = arguments()
    peers = [name for name in chosen.vs.split(",") if name and name != "eager" and name not in OURS]
    unknown = [name for name in peers if name not in BUILDERS]
    if unknown:
        raise SystemExit(f"unknown peer {unknown[0]!r}; use {', '.join(BUILDERS)}")
    device = torch.device(chosen.device, 0) if chosen.device == "cuda" else torch.device("cpu")
    suite = importlib.import_module(f".{chosen.suite}", __package__)
    facts = machine_facts(device)
    print(f"{facts['device']}, torch {facts['torch']}, numerics {chosen.numerics}")
    path = None
    for case in suite.cases(device, peers, {"numerics": chosen.numerics}):
        results = measure(case, device, chosen.rounds, chosen.calls)
        print_table(case, results)
        path = write_results(chosen.suite, case, results, facts)
    print(f"results in {path}")


if __name__ == "__main__":
    main()
