"""No file over 300 lines without a reason and none over 400; no function over 45 without a reason and none over 60."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

FILE_LIMIT, FILE_MAXIMUM = 300, 400
FUNCTION_LIMIT, FUNCTION_MAXIMUM = 45, 60

# Between the limit and the maximum a reason is written down here.
LONG_FILES: dict[str, str] = {
    "lowering/emit/printer.py": "one printer for all targets, a short method for each construct",
    "test/lowering/emit/test_c_programs.py": "a case of a few lines for each construct",
}
LONG_FUNCTIONS: dict[str, str] = {}


def python_files() -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "*.py"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    return sorted({name for name in names if name and (ROOT / name).is_file()})


def function_lengths(name: str) -> list[tuple[int, str]]:
    """Lines and name of each function of a file, its docstring not counted."""
    lengths: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse((ROOT / name).read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if ast.get_docstring(node, clean=False) is not None:
                lines -= (node.body[0].end_lineno or 0) - node.body[0].lineno + 1
            lengths.append((lines, f"{name}:{node.name}"))
    return lengths


def report(capsys: pytest.CaptureFixture[str], title: str, lengths: list[tuple[int, str]]) -> None:
    with capsys.disabled():
        print(f"\nthe ten longest {title}:")
        for lines, name in sorted(lengths, reverse=True)[:10]:
            print(f"  {lines:4} {name}")


def too_long(lengths: list[tuple[int, str]], limit: int, maximum: int, reasons: dict[str, str]) -> list[str]:
    return [f"{n} lines: {name}" for n, name in lengths if n > maximum or (n > limit and name not in reasons)]


def test_files(capsys: pytest.CaptureFixture[str]) -> None:
    lengths = [(len((ROOT / name).read_text().splitlines()), name) for name in python_files()]
    report(capsys, "files", lengths)
    assert too_long(lengths, FILE_LIMIT, FILE_MAXIMUM, LONG_FILES) == []
    assert set(LONG_FILES) <= {name for lines, name in lengths if lines > FILE_LIMIT}


def test_functions(capsys: pytest.CaptureFixture[str]) -> None:
    lengths = [length for name in python_files() for length in function_lengths(name)]
    report(capsys, "functions", lengths)
    assert too_long(lengths, FUNCTION_LIMIT, FUNCTION_MAXIMUM, LONG_FUNCTIONS) == []
    assert set(LONG_FUNCTIONS) <= {name for lines, name in lengths if lines > FUNCTION_LIMIT}
