"""Write docs/architectures.md: which of transformers' architectures compile whole and equal eager.

Read from test/architectures/results/c.jsonl, which `make test-full` writes. `--check` writes nothing and exits with 1
when the page is out of date.
"""

# pyright: basic

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test"))

from architectures.expected import EXPECTED  # noqa: E402
from architectures.registry import ARCHITECTURES  # noqa: E402

PAGE = ROOT / "docs/architectures.md"
RESULTS = ROOT / "test/architectures/results/c.jsonl"

HEAD = """# Architectures

Written by `tools/dev/architectures_table.py` (`make docs`) from test/architectures/results/c.jsonl, which
`make test-full` writes.

Model classes of transformers with small random configs, through `torch.compile(backend="albumen", fullgraph=True)` on
target `c`. The tolerance: with the results of the same model in float64 as the exact ones, the error of compiled code
is at most twice eager's own and four units in the last place of the tensor's scale, in the root mean square and in the
largest element (test/architectures/comparison.py). A number is the largest share of that bound that a run used; below 1
passes. The uses are one call without a cache (`forward`), a prompt and three single tokens with a cache that grows
(`dynamic-cache`) or is written in place (`static-cache`), and greedy generation of eight tokens (`generate`).

{passed} of {all} architectures compile whole and equal eager in every use and element type that was run.

| architecture | family | use | float32 | bfloat16 | nodes | compile |
|---|---|---|---|---|---|---|
{rows}

## Expected refusals

| architecture | why |
|---|---|
{expected}
"""

Row = Mapping[str, Any]


def field(row: Row | None) -> str:
    """What one run came to."""
    if row is None:
        return ""
    return f"{row['ratio']:.2f}" if row["status"] == "pass" else row["status"]


def lines(rows: Sequence[Row]) -> list[str]:
    """One line for each architecture and use that was run, in the order of the registry."""
    found = {(row["name"], row["use"], row["dtype"]): row for row in rows}
    text: list[str] = []
    for name, one in ARCHITECTURES.items():
        for use in one.uses:
            runs = [found.get((name, use, dtype)) for dtype in ("float32", "bfloat16")]
            first = next((run for run in runs if run is not None), None)
            if first is not None:
                facts = [name, one.family, use, *map(field, runs), first.get("nodes", ""), first.get("compile_s", "")]
                text.append(f"| {' | '.join(map(str, facts))}{' s' if first.get('compile_s') else ''} |")
    return text


def page() -> str:
    """The whole page."""
    rows: list[Row] = [json.loads(line) for line in RESULTS.read_text().splitlines()]
    names = {row["name"] for row in rows}
    bad = {row["name"] for row in rows if row["status"] != "pass"}
    expected = [f"| {name} | {why} |" for name, why in EXPECTED.items()]
    return HEAD.format(
        passed=len(names - bad), all=len(names), rows="\n".join(lines(rows)), expected="\n".join(expected)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit with 1 when the page is out of date")
    text = page()
    if parser.parse_args().check:
        return 0 if PAGE.exists() and PAGE.read_text() == text else 1
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
