"""The script behind `make test` counts what ran, and takes a runner that broke for a failure."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "tools/dev/run_tests.py"
REPORT = """<testsuites><testsuite tests="5" failures="1" errors="1" skipped="1"/>
<testsuite tests="2" failures="0" skipped="0"/></testsuites>"""


@pytest.fixture
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_tests", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def writes(text: str, report: Path, status: int) -> list[str]:
    return [sys.executable, "-c", f"open({str(report)!r}, 'w').write({text!r}); raise SystemExit({status})"]


def test_counts(script: ModuleType, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    assert script.run(writes(REPORT, report, 1), report) == (4, 2)


def test_a_runner_without_a_report_is_a_failure(script: ModuleType, tmp_path: Path) -> None:
    assert script.run([sys.executable, "-c", ""], tmp_path / "none.xml") == (0, 1)


def test_a_bad_status_is_a_failure(script: ModuleType, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    good = '<testsuites><testsuite tests="2"/></testsuites>'
    assert script.run(writes(good, report, 0), report) == (2, 0)
    assert script.run(writes(good, report, 3), report) == (2, 1)
