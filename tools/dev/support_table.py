"""Write docs/support.md: which target takes which op in which element type, and how that is tested.

Everything in it is found by lowering a program of one op to text, for each op of the catalogue, each element type that
it takes and each target. `--check` writes nothing and exits with 1 when the page is out of date.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from albumen.dialects.catalogue import Cell, catalogue, cells
from albumen.dialects.dtype import DTYPES, DType
from albumen.dialects.hlir.conversion import CastOp
from albumen.dialects.op import Sample
from albumen.lowering.options import TARGETS
from albumen.tools.support import refusal

PAGE = Path(__file__).resolve().parents[2] / "docs/support.md"
LETTERS: Mapping[str, str] = {"c": "C", "cuda": "G", "metal": "M"}
REFUSED = "-"

TESTED: Mapping[str, tuple[str, str]] = {
    "c": (
        "compiled and run",
        "every mark: compiled by the machine's C compiler, run, compared with the evaluator",
    ),
    "cuda": (
        "NVRTC + CPU shim; device tests",
        "every mark: the text runs on a CPU shim and is compared with the evaluator, and NVRTC compiles one kernel of "
        "it for sm_90a; on a device `make test-gpu` runs what is under test/lowering/device, test/runtime and "
        "test/lowering/torch/test_cuda.py: row programs, matrix products in f32 and bf16, whole models",
    ),
    "metal": (
        "CPU shim only: emitted, never run on a device",
        "every mark: the text runs on a CPU shim and is compared with the evaluator; no Metal compiler has seen it",
    ),
}
"""Target -> how it is tested in a few words, and what tests do for each mark of the table."""

HEAD = """# Support

Written by `tools/dev/support_table.py` (`make docs`); a test says when it is out of date.

## Targets

| target | mark | how tested | what that means | marks |
|---|---|---|---|---|
{targets}

The tests of marks are test/lowering/kernel_to_loop/test_catalogue_kernels.py (C),
test/lowering/loop_to_simt/test_catalogue_kernels.py (CUDA and Metal) and test/lowering/test_catalogue_programs.py (all
three). They walk the catalogue, so an op that is added is tested without being named.

## Ops and element types

A row is an op of `hlir`, a column the element type that it is used in: that of its first operand, or of its result
where it has none. C, G and M are the targets above, in that order; {refused} is a target that refuses the op in this
type (the reasons stand below); an empty field is a type that the op itself does not take.

| op | {columns} |
|---|{rules}|
{rows}

Beside these, `hlir.loop` runs on every target: `plan-memory` unrolls it. `kernel.call_matmul` is a call of cuBLASLt
(target cuda, option `libraries`, f32 f64 f16 bf16); the other targets have no library calls.

## Refused

| target | why | ops and element types |
|---|---|---|
{refusals}
"""


@dataclass
class Support:
    """What is found: for each cell the reason of each target that refuses it."""

    reasons: dict[tuple[str, DType], dict[str, str]] = field(default_factory=dict[tuple[str, DType], dict[str, str]])

    def mark(self, op_name: str, dtype: DType) -> str:
        """The field of the table."""
        if (op_name, dtype) not in self.reasons:
            return ""
        refused = self.reasons[op_name, dtype]
        return "".join(REFUSED if target in refused else LETTERS[target] for target in TARGETS)

    def row(self, op_name: str, dtypes: Iterable[DType]) -> str:
        return f"| {op_name.removeprefix('hlir.')} | {' | '.join(self.mark(op_name, d) for d in dtypes)} |"


def representative(cell: Cell) -> Sample:
    """The sample that stands for all of a cell: the first that leaves something to do."""
    changing = (s for s in cell.samples if cell.op_class.infer(s.operands, s.properties) != s.operands)
    return next(changing, cell.samples[0]) if cell.op_class is CastOp else cell.samples[0]


def reasons_of(cell: Cell) -> dict[str, str]:
    """Target -> why it refuses the cell, where it does."""
    sample = representative(cell)
    found = {target: refusal(cell.op_class, sample, target) for target in TARGETS}
    return {target: reason for target, reason in found.items() if reason}


def find_support(dtypes: Iterable[DType] = DTYPES) -> Support:
    """The cells in these element types."""
    wanted, support = set(dtypes), Support()
    for op_class in catalogue():
        for cell in cells(op_class):
            if cell.dtype in wanted:
                support.reasons[op_class.name, cell.dtype] = reasons_of(cell)
    return support


def refusal_rows(support: Support) -> list[str]:
    """A line for each target and reason."""
    grouped: dict[tuple[str, str], dict[str, list[str]]] = {}
    for (name, dtype), refused in support.reasons.items():
        for target, reason in refused.items():
            ops = grouped.setdefault((target, reason), {})
            ops.setdefault(name.removeprefix("hlir."), []).append(dtype.name)
    ordered = sorted(grouped.items(), key=lambda item: (TARGETS.index(item[0][0]), item[0][1]))
    return [f"| {target} | {reason} | {op_list(support, ops)} |" for (target, reason), ops in ordered]


def op_list(support: Support, ops: Mapping[str, Sequence[str]]) -> str:
    """Ops with their element types; shorter where all but a few ops of one type are meant."""
    types = {tuple(dtypes) for dtypes in ops.values()}
    if len(types) == 1 and len(names := types.pop()) == 1:
        takers = [name.removeprefix("hlir.") for name, dtype in support.reasons if dtype.name == names[0]]
        others = [name for name in takers if name not in ops]
        if len(others) < len(ops):
            return f"every op in {names[0]}" + (f" but {' '.join(others)}" if others else "")
    return "; ".join(f"{op}: {' '.join(dtypes)}" for op, dtypes in ops.items())


def page() -> str:
    """The text of docs/support.md."""
    support = find_support()
    total = len(support.reasons)
    targets: list[str] = []
    for target in TARGETS:
        taken = sum(target not in refused for refused in support.reasons.values())
        short, long = TESTED[target]
        targets.append(f"| {target} | {LETTERS[target]} | {short} | {long} | {taken} of {total} |")
    return HEAD.format(
        targets="\n".join(targets),
        refused=REFUSED,
        columns=" | ".join(d.name for d in DTYPES),
        rules="---|" * (len(DTYPES) - 1) + "---",
        rows="\n".join(support.row(op.name, DTYPES) for op in catalogue()),
        refusals="\n".join(refusal_rows(support)),
    )


def fields(text: str) -> dict[tuple[str, str], str]:
    """(op, element type) -> field, as a page has them; empty fields are left out."""
    lines = [line.removeprefix("|").removesuffix("|").split("|") for line in text.splitlines() if line[:2] == "| "]
    names = [d.name for d in DTYPES]
    rows = [[word.strip() for word in line] for line in lines if len(line) == 1 + len(names)]
    return {(row[0], name): mark for row in rows[1:] for name, mark in zip(names, row[1:], strict=True) if mark}


def outdated_fields(text: str, dtypes: Collection[DType]) -> list[str]:
    """What a page says otherwise than is found, of these element types alone: a check that takes seconds."""
    support, names = find_support(dtypes), {d.name for d in dtypes}
    found = {(op.removeprefix("hlir."), d.name): support.mark(op, d) for op, d in support.reasons}
    given = {(op, name): mark for (op, name), mark in fields(text).items() if name in names}
    keys = [*found, *(key for key in given if key not in found)]
    wrong = [key for key in keys if given.get(key) != found.get(key)]
    return [f"{op} in {name}: {given.get((op, name))}, found {found.get((op, name))}" for op, name in wrong]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether the page is up to date")
    check: bool = parser.parse_args().check
    text = page()
    if check:
        good = PAGE.exists() and PAGE.read_text() == text
        print(f"{PAGE.name} is {'up to date' if good else 'out of date: run make docs'}")
        return 0 if good else 1
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
