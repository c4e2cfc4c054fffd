"""The pages of docs/ that scripts write are what the scripts find."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from albumen.dialects.catalogue import catalogue, cells
from albumen.dialects.dtype import F32, I1, I32

ROOT = Path(__file__).resolve().parents[2]


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / f"tools/dev/{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_support_of_ops() -> None:
    """Three element types are lowered anew; of the others the ops that take them are compared."""
    table, text = script("support_table"), (ROOT / "docs/support.md").read_text()
    assert table.outdated_fields(text, (I1, I32, F32)) == [], "run make docs"
    every = {(op.name.removeprefix("hlir."), cell.dtype.name) for op in catalogue() for cell in cells(op)}
    assert set(table.fields(text)) == every, "run make docs"


@pytest.mark.torch
@pytest.mark.parametrize("name", ["aten_table", "opinfo_table", "cases_table"])
def test_pages_of_scripts(name: str) -> None:
    """In a process of its own: which overloads torch has depends on what else was imported."""
    command = [sys.executable, str(ROOT / f"tools/dev/{name}.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run make docs: {done.stdout}{done.stderr}"
