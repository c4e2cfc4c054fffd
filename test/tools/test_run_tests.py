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


def test_a_runner_that_found_nothing_is_no_failure(script: ModuleType, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    assert script.run(writes('<testsuites><testsuite tests="0"/></testsuites>', report, 5), report) == (0, 0)


def test_output_may_go_to_a_file(script: ModuleType, tmp_path: Path) -> None:
    report, output = tmp_path / "report.xml", tmp_path / "output.txt"
    assert script.run([sys.executable, "-c", "print('said')"], report, output) == (0, 1)
    assert output.read_text() == "said\n"


def test_suites_run_beside_the_rest(script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test is in exactly one of the two runs; a path in the arguments makes it one."""
    commands: list[list[str]] = []

    def run(command: list[str], report: Path, output: Path | None = None) -> tuple[int, int]:
        commands.append(command)
        if output is not None:
            output.write_text("")
        return 1, 0

    monkeypatch.setattr(script, "run", run)
    assert script.run_pytest(["-m", "not gpu", "-x"], tmp_path) == [(1, 0), (1, 0)]
    suites = sorted(argument for command in commands for argument in command if argument in script.SUITES)
    ignored = sorted(a.removeprefix("--ignore=") for c in commands for a in c if a.startswith("--ignore="))
    assert suites == ignored != []
    commands.clear()
    assert script.run_pytest(["-m", "gpu", "test/tools/test_run_tests.py::test_counts"], tmp_path) == [(1, 0)]
    assert len(commands) == 1
