"""Run the cases: `python -m cases [BACKEND] [-k REGEX]` prints a line for each and the number that equal eager.

`--write` notes the result in results.json, of which `tools/dev/cases_table.py` makes docs/cases.md.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

from .catalogue import CASES
from .judge import verdict

RESULTS = Path(__file__).with_name("results.json")


def main() -> int:
    parser = argparse.ArgumentParser(prog="cases", description=__doc__)
    parser.add_argument("backend", nargs="?", default="albumen")
    parser.add_argument("-k", default="", help="regular expression that finds the names of cases")
    parser.add_argument("--write", action="store_true", help="note the results of all cases in results.json")
    options = parser.parse_args()
    if options.k and options.write:
        parser.error("--write notes all cases: leave out -k")
    cases = [case for case in CASES if re.search(options.k, case.name)]
    if not cases:
        parser.error(f"no case has a name like {options.k!r}")
    found = {case.name: verdict(case, options.backend) for case in cases}
    for name, difference in found.items():
        print(f"{name}: {difference or 'equal'}")
    if options.write:
        known: dict[str, dict[str, str]] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        RESULTS.write_text(json.dumps(known | {options.backend: found}, indent=1) + "\n")
    equal = sum(not difference for difference in found.values())
    print(f"{equal} of {len(found)} equal eager")
    return int(equal < len(found))


if __name__ == "__main__":
    sys.exit(main())
