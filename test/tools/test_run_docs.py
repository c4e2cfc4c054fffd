"""The script behind `make docs` runs blocks in order, and compares excerpts with what they are from."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "tools/dev/run_docs.py"
PAGE = """```sh
echo 'first line'; printf 'module {\\n  a 1\\n  b 2\\n}\\n' > out.mlir
```
```mlir from out.mlir
module {
  ...
  b ...
```
```text
not run
```
```python
# not run: says why
raise SystemExit(1)
```
"""


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_docs", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "run_docs", module)
    spec.loader.exec_module(module)
    return module


def test_blocks_and_excerpts(script: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    assert script.main([str(page)]) == 0
    output = capfd.readouterr().out
    assert "first line" in output
    assert output.endswith("2 passed, 0 failed\n")


def test_an_excerpt_that_is_out_of_date(script: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.replace("  b ...", "  b 3"))
    assert script.main([str(page)]) == 1
    assert "out.mlir does not have this line there: b 3" in capfd.readouterr().out


def test_lines_of_an_excerpt_stand_in_order(script: ModuleType) -> None:
    assert script.missing_line("a\n\nb", "xa\nb") == ""
    assert script.missing_line("b\na", "a\nb") == "a"
    assert script.missing_line("a ... c", "a b c") == ""
    assert script.missing_line("a (b)", "a [b]") == "a (b)"
