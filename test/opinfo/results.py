"""Files of results: one JSON line a pair, the last line of a pair counts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from .states import STATES, Result


def read(path: Path) -> dict[tuple[str, str], Result]:
    """What a file holds; a last line that an interrupt cut off is left out."""
    found: dict[tuple[str, str], Result] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        if line.endswith("}"):
            result = Result.of(json.loads(line))
            found[result.key] = result
    return found


def write(path: Path, results: Iterable[Result], order: Sequence[tuple[str, str]]) -> None:
    """All results in the given order, without what differs from run to run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    place = {key: i for i, key in enumerate(order)}
    ordered = sorted(results, key=lambda result: (place.get(result.key, len(place)), result.key))
    path.write_text("".join(result.lasting().to_json() + "\n" for result in ordered))


def summary(results: Sequence[Result]) -> str:
    """`N passed, N unsupported, N wrong, N crashed, N no sample` and what is worth knowing beside."""
    counts = Counter(result.state for result in results)
    text = ", ".join(f"{counts[state]} {state}" for state in STATES)
    torch_refused = sum(result.by == "torch" for result in results)
    nearer = sum(bool(result.nearer) for result in results if result.state == "passed")
    traced = sum(bool(result.traced) for result in results if result.state == "passed")
    passed = f"{nearer} of the passed nearer than eager, {traced} as torch's trace"
    return f"{text} ({torch_refused} of the unsupported by torch, {passed})"
