"""Device functions that emitted text needs, picked from a header by the names that the text uses."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_HEAD = re.compile(r"// ([\w, ]+): ")


@cache
def _blocks(header: Path) -> tuple[tuple[frozenset[str], str], ...]:
    """The blocks of a header and the names that their first lines give them; blank lines stand between blocks."""
    blocks: list[tuple[frozenset[str], str]] = []
    for block in header.read_text(encoding="utf-8").strip().split("\n\n")[1:]:
        head = _HEAD.match(block)
        assert head is not None, f"{header.name}: a block begins with `// names: what they do`"
        blocks.append((frozenset(head[1].split(", ")), block))
    return tuple(blocks)


def device_functions(header: Path, body: str) -> str:
    """The blocks with a name that the body uses, or that such a block uses, in the order of the header."""
    blocks = _blocks(header)
    wanted: set[int] = set()
    work = [body]
    while work:
        words = set(re.findall(r"\w+", work.pop()))
        for position, (names, text) in enumerate(blocks):
            if position not in wanted and names & words:
                wanted.add(position)
                work.append(text)
    return "".join(f"{blocks[position][1]}\n\n" for position in sorted(wanted))
