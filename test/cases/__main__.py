"""Run the cases: `python -m cases [BACKEND] [-k REGEX]` prints a line for each and the number that equal eager."""

from __future__ import annotations

import argparse
import re
import sys

from .catalogue import CASES
from .judge import verdict


def main() -> int:
    parser = argparse.ArgumentParser(prog="cases", description=__doc__)
    parser.add_argument("backend", nargs="?", default="albumen")
    parser.add_argument("-k", default="", help="regular expression that finds the names of cases")
    options = parser.parse_args()
    found = {case.name: verdict(case, options.backend) for case in CASES if re.search(options.k, case.name)}
    for name, difference in found.items():
        print(f"{name}: {difference or 'equal'}")
    equal = sum(not difference for difference in found.values())
    print(f"{equal} of {len(found)} equal eager")
    return int(equal < len(found))


if __name__ == "__main__":
    sys.exit(main())
