"""A C program is rebuilt from the source in its artifact."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from albumen.dialects.errors import ToolchainError
from albumen.lowering.recompile import recompile
from albumen.runtime.artifact import Entry

ENTRY = Entry(
    symbol="albumen_run", source="0" * 64, binary="1" * 64, command=("cc",), cpu_features=("no-such-feature",)
)


def test_the_result_can_be_called(tmp_path: Path) -> None:
    path = tmp_path / "program.so"
    path.write_bytes(recompile(ENTRY, b"int albumen_run(void) { return 42; }\n", None))
    assert ctypes.CDLL(str(path)).albumen_run() == 42


def test_refusals_are_toolchain_errors() -> None:
    with pytest.raises(ToolchainError, match="albumen_run"):
        recompile(ENTRY, b"int albumen_run(void) { return }\n", None)
    with pytest.raises(ToolchainError, match="/nowhere/cc"):
        recompile(ENTRY, b"", "/nowhere/cc")
