"""Run pyright over the working tree and make sure that it looked at every Python file git knows.

A wrong `include` checks nothing and reports no errors, so the number of files is compared.
"""

from __future__ import annotations

import json
import subprocess
import sys


def tracked_python_files() -> list[str]:
    """The Python files of the working tree that git tracks or would track, without those a deletion removed."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "*.py"]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    deleted = subprocess.run(["git", "ls-files", "--deleted", "-z"], check=True, capture_output=True, text=True).stdout
    return sorted(set(listing.split("\0")) - set(deleted.split("\0")) - {""})


def main() -> int:
    command = [sys.executable, "-m", "pyright", "--outputjson"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if not result.stdout.lstrip().startswith("{"):
        print(result.stdout, result.stderr, sep="\n")
        return 1
    report = json.loads(result.stdout)
    for found in report["generalDiagnostics"]:
        place = found.get("range", {}).get("start", {})
        rule = f" ({found['rule']})" if "rule" in found else ""
        print(f"{found['file']}:{place.get('line', 0) + 1}: {found['severity']}: {found['message']}{rule}")
    summary = report["summary"]
    analyzed, errors, expected = summary["filesAnalyzed"], summary["errorCount"], len(tracked_python_files())
    print(f"pyright: {analyzed} files, {errors} errors")
    if analyzed != expected:
        print(f"pyright looked at {analyzed} files but git lists {expected}: see `include` in pyproject.toml")
    return 1 if errors or analyzed != expected else 0


if __name__ == "__main__":
    sys.exit(main())
