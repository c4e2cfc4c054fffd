"""Run pytest, then lit, and close with one line `N passed, N failed` that adds both.

Exits with 1 when a test failed, when a runner broke, or when nothing ran.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def count(report: Path) -> tuple[int, int]:
    """Passed and failed tests of one JUnit XML report."""
    passed = failed = 0
    for suite in ElementTree.parse(report).getroot().iter("testsuite"):
        bad = int(suite.get("failures", "0")) + int(suite.get("errors", "0"))
        failed += bad
        passed += int(suite.get("tests", "0")) - bad - int(suite.get("skipped", "0"))
    return passed, failed


def run(command: list[str], report: Path) -> tuple[int, int]:
    """Run one test runner that writes `report`; one that breaks or writes none counts as a failed test."""
    status = subprocess.run(command, cwd=ROOT, check=False).returncode
    if not report.exists():
        return 0, 1
    passed, failed = count(report)
    return passed, max(failed, 1) if status else failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--gpu", action="store_true", help="run the tests that need a CUDA device, and no others")
    only.add_argument("--lit", action="store_true", help="run the lit tests alone")
    options, rest = parser.parse_known_args()

    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        if not options.lit:
            report = Path(folder, "pytest.xml")
            mark = "gpu" if options.gpu else "not gpu"
            counts = run([sys.executable, "-m", "pytest", "-m", mark, f"--junitxml={report}", *rest], report)
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
