"""Progress off a terminal is one plain line an event; on one it is a bar that is redrawn and taken away."""

from __future__ import annotations

import io

from albumen.tools.progress import StreamProgress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def report(stream: io.StringIO) -> None:
    progress = StreamProgress(stream)
    progress.stage("eqsat", 1, 2)
    progress.step("views", 3, 4)
    progress.stage("emit", 2, 2)
    progress.finished()


def test_plain_lines() -> None:
    stream = io.StringIO()
    report(stream)
    lines = stream.getvalue().splitlines()
    assert lines[:3] == ["[1/2] eqsat", "[1/2] eqsat: 3/4 views", "[2/2] emit"]
    assert lines[3].startswith("done in ")
    assert len(lines) == 4


def test_bar() -> None:
    stream = Terminal()
    report(stream)
    drawn = stream.getvalue().split("\r\x1b[K")
    assert drawn[0] == ""
    assert drawn[1].startswith("[" + "." * 24 + "] 1/2 eqsat")
    assert drawn[2].startswith("[" + "#" * 9 + "." * 15 + "] 1/2 eqsat: views")
    assert drawn[3].startswith("[" + "#" * 12 + "." * 12 + "] 2/2 emit")
    assert drawn[4].startswith("done in ")
