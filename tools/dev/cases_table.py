"""Write docs/cases.md: which of the cases of test/cases equal eager, with Albumen and with Inductor.

Read from test/cases/results.json, which `make test-full` writes. `--check` writes nothing and exits with 1 when the
page is out of date.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test"))

from cases.catalogue import CASES, EXCEPTIONS  # noqa: E402

PAGE = ROOT / "docs/cases.md"
RESULTS = ROOT / "test/cases/results.json"

HEAD = """# Cases

Written by `tools/dev/cases_table.py` (`make docs`) from test/cases/results.json, which `make test-full` writes.

Each case is a small program on which some compiler was reported to differ from eager. It is compiled with
`fullgraph=True` and called three times with new inputs. It equals eager if values (NaN, infinities and the sign of zero
included), element types, shapes, strides, shared memory and the inputs after each call are equal, or if it raises an
error of eager's class; a refusal to compile is not eager's error. The tests are test/cases/test_cases.py.

| | equal to eager |
|---|---|
| Albumen, target c | {albumen} of {all} |
| Inductor, CPU | {inductor} of {all} |

| case | what is at stake | report | Albumen | Inductor |
|---|---|---|---|---|
{rows}

## Exceptions

{exceptions}
"""


def short(text: str) -> str:
    return " ".join(text.replace("|", "/").split())[:110]


def page() -> str:
    found: dict[str, dict[str, str]] = json.loads(RESULTS.read_text())
    ours, inductor = found["albumen"], found["inductor"]
    rows: list[str] = []
    for case in CASES:
        states = [short(results.get(case.name, "not run")) or "equal" for results in (ours, inductor)]
        rows.append(f"| {case.name} | {case.stake} | {case.report} | {' | '.join(states)} |")
    return HEAD.format(
        all=len(CASES),
        albumen=sum(not ours[case.name] for case in CASES),
        inductor=sum(not inductor[case.name] for case in CASES),
        rows="\n".join(rows),
        exceptions="\n".join(f"- {name}: {reason}." for name, reason in EXCEPTIONS.items()),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether the page is what this would write")
    check = parser.parse_args().check
    text = page()
    if check:
        outdated = not PAGE.exists() or PAGE.read_text() != text
        print(f"{PAGE}: {'out of date' if outdated else 'up to date'}")
        return int(outdated)
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
