"""Run pytest, then lit, and close with one line `N passed, N failed` that adds both.

The suites of random and foreign programs run in a second pytest beside the first. Exits with 1 when a test failed, when
a runner broke, or when nothing ran.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SUITES = ("test/architectures", "test/cases", "test/opinfo", "test/properties", "test/training")
NOTHING_COLLECTED = 5
"""The status of a pytest that found no test, which is no failure where another one found some."""


def count(report: Path) -> tuple[int, int]:
    """Passed and failed tests of one JUnit XML report."""
    passed = failed = 0
    for suite in ElementTree.parse(report).getroot().iter("testsuite"):
        bad = int(suite.get("failures", "0")) + int(suite.get("errors", "0"))
        failed += bad
        passed += int(suite.get("tests", "0")) - bad - int(suite.get("skipped", "0"))
    return passed, failed


def run(command: list[str], report: Path, output: Path | None = None) -> tuple[int, int]:
    """Run one test runner that writes `report`; one that breaks or writes none counts as a failed test."""
    with output.open("w") if output is not None else nullcontext() as file:
        status = subprocess.run(command, cwd=ROOT, check=False, stdout=file, stderr=file).returncode
    if not report.exists():
        return 0, 1
    passed, failed = count(report)
    return passed, max(failed, 1) if status not in (0, NOTHING_COLLECTED) else failed


def run_pytest(arguments: list[str], folder: Path) -> list[tuple[int, int]]:
    """Everything but the suites, and the suites beside it; one run where the arguments name what to run."""
    pytest = [sys.executable, "-m", "pytest", *arguments]
    suites = [suite for suite in SUITES if (ROOT / suite).is_dir()]
    if any((ROOT / argument.partition("::")[0]).exists() for argument in arguments if not argument.startswith("-")):
        return [run([*pytest, f"--junitxml={folder / 'pytest.xml'}"], folder / "pytest.xml")]
    with ThreadPoolExecutor(1) as beside:
        report, output = folder / "suites.xml", folder / "suites.txt"
        second = beside.submit(run, [*pytest, f"--junitxml={report}", *suites], report, output)
        left_out = [f"--ignore={suite}" for suite in suites]
        first = run([*pytest, f"--junitxml={folder / 'pytest.xml'}", *left_out], folder / "pytest.xml")
        counts = second.result()
    print(output.read_text(), flush=True)
    return [first, counts]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--gpu", action="store_true", help="run the tests that need a CUDA device, and no others")
    only.add_argument("--lit", action="store_true", help="run the lit tests alone")
    options, rest = parser.parse_known_args()

    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        if not options.lit:
            mark = "gpu" if options.gpu else "not gpu"
            for counts in run_pytest(["-m", mark, *rest], Path(folder)):
                passed, failed = passed + counts[0], failed + counts[1]
        if not options.gpu:
            report = Path(folder, "lit.xml")
            lit = [sys.executable, "-c", "from lit.main import main; main()", f"--xunit-xml-output={report}"]
            counts = run([*lit, "-j2", *(rest if options.lit else ["-q"]), "test/filecheck"], report)
            passed, failed = passed + counts[0], failed + counts[1]
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
