"""Write docs/opinfo.md: what is passed, refused, wrong and crashed of PyTorch's operator database.

Read from test/opinfo/results/c.jsonl, which `make test-full` writes. `--check` writes nothing and exits with 1 when the
page is out of date.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/opinfo.md"
RESULTS = ROOT / "test/opinfo/results/c.jsonl"
STATES = ("passed", "unsupported", "wrong", "crashed", "no sample")
DTYPES = ("float32", "float64", "bfloat16", "float16", "int64", "int32", "uint8", "bool")
MARKS: Mapping[str, str] = {"passed": "+", "wrong": "WRONG", "crashed": "CRASH", "no sample": "0"}

HEAD = """# PyTorch's operator database

Written by `tools/dev/opinfo_table.py` (`make docs`) from test/opinfo/results/c.jsonl, which `make test-full` writes.

PyTorch tests its own operators with a database of sample inputs (`torch.testing`, `op_db`). Each pair of an entry and
an element type runs here through `torch.compile(backend="albumen", fullgraph=True)`, up to four samples in one program,
called twice, on target `c`. A pair passes if every sample equals eager: values, element types, shapes, strides, which
outputs share memory with which inputs, and what is left in the inputs. test/opinfo/comparison.py states the tolerance.

| element type | {states} | pairs |
|---|{rules}---|
{counts}

Of the pairs that pass, {nearer} have a sample that is beyond the tolerance and nearer to the value in double
precision than eager, or than what one last place of the inputs changes, {traced} equal torch's own trace of the call
where that differs from eager, and {random} draw other random numbers than eager from the same distribution. Of the
unsupported pairs, torch refuses {torch} before any backend sees them. {core} of the {core_all} pairs ({share:.1%}) of
operators that torch tags as core ATen pass.

Eager's own errors (`error_inputs`): of {errors} entries, {errors_passed} raise an error of eager's class for each of
their inputs.

## What is missing

| reason | pairs |
|---|---|
{missing}

## Entries

`+` passes, `-` is refused, `t` is refused by torch, `0` has no sample that eager accepts; an empty field is an element
type that torch does not support. A number is the share of samples that pass although the pair does not. Core operators
are in bold.

| entry | {dtypes} |
|---|{columns}|
{rows}
"""


def read() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The results of pairs, and those of error inputs."""
    rows = [json.loads(line) for line in RESULTS.read_text().splitlines()]
    return [row for row in rows if row["dtype"] != "errors"], [row for row in rows if row["dtype"] == "errors"]


def mark(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return ""
    if row["state"] in MARKS:
        return MARKS[row["state"]]
    share = f" {row['passed']}/{row['samples']}" if row.get("passed") else ""
    return ("t" if row.get("by") == "torch" else "-") + share


def counts(rows: Sequence[Mapping[str, Any]]) -> str:
    """A line for each element type, and their sum."""
    lines: list[str] = []
    for dtype in (*DTYPES, "all"):
        states = Counter(row["state"] for row in rows if dtype in ("all", row["dtype"]))
        numbers = " | ".join(str(states[state]) for state in STATES)
        lines.append(f"| {dtype} | {numbers} | {states.total()} |")
    return "\n".join(lines)


def missing(rows: Sequence[Mapping[str, Any]]) -> str:
    """Why pairs are refused, most frequent first: the operators named, or torch's own words."""
    found: Counter[str] = Counter()
    for row in rows:
        if row["state"] == "unsupported":
            found.update({reason[:100] for reason in str(row["why"]).split("\n")})
    ordered = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return "\n".join(f"| {' '.join(reason.replace('|', '/').split())[:160]} | {count} |" for reason, count in ordered)


def page() -> str:
    rows, errors = read()
    by_entry: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        by_entry.setdefault(row["op"], {})[row["dtype"]] = row
    core = [row for row in rows if row.get("core")]
    core_passed = sum(row["state"] == "passed" for row in core)
    passed = [row for row in rows if row["state"] == "passed"]
    lines: list[str] = []
    for name, found in by_entry.items():
        title = f"**`{name}`**" if any(row.get("core") for row in found.values()) else f"`{name}`"
        lines.append(f"| {title} | " + " | ".join(mark(found.get(dtype)) for dtype in DTYPES) + " |")
    return HEAD.format(
        states=" | ".join(STATES),
        rules="---|" * len(STATES),
        counts=counts(rows),
        nearer=sum(bool(row.get("nearer")) for row in passed),
        traced=sum(bool(row.get("traced")) for row in passed),
        random=sum(bool(row.get("random")) for row in passed),
        torch=sum(row.get("by") == "torch" for row in rows),
        core=core_passed,
        core_all=len(core),
        share=core_passed / max(len(core), 1),
        errors=len(errors),
        errors_passed=sum(row["state"] == "passed" for row in errors),
        missing=missing(rows),
        dtypes=" | ".join(DTYPES),
        columns="|".join("---" for _ in DTYPES),
        rows="\n".join(lines),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether the page is what this would write")
    check = parser.parse_args().check
    text = page()
    if check:
        outdated = not PAGE.exists() or PAGE.read_text() != text
        print(f"{PAGE}: {'out of date' if outdated else 'up to date'}")
        return int(outdated)
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
