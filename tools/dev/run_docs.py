"""Run the ```python and ```sh blocks of Markdown files, each file's blocks in order in a folder of its own.

A block whose first line begins with `# not run:` is skipped; the rest of that line says why. A block that opens with
```LANGUAGE from FILE is an excerpt: its lines must stand in that file of the folder in this order, where `...` leaves
something out of a line, and a line of `...` alone leaves out lines.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(python|sh|\w+ from \S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SKIP = "# not run:"


@dataclass(frozen=True)
class CodeBlock:
    """One fenced block: its language (and the file that it is from), text and first line in the file."""

    language: str
    text: str
    line: int


def blocks_of(page: Path) -> list[CodeBlock]:
    """The blocks of a page that can be run."""
    text = page.read_text()
    found = [CodeBlock(m[1], m[2], text.count("\n", 0, m.start()) + 2) for m in FENCE.finditer(text)]
    return [block for block in found if not block.text.startswith(SKIP)]


def missing_line(excerpt: str, text: str) -> str:
    """The first line of an excerpt that the text does not have behind those before it, or nothing."""
    lines = iter(text.splitlines())
    for line in (line.strip() for line in excerpt.splitlines()):
        pattern = re.compile(".*".join(map(re.escape, line.split("..."))))
        if line not in ("", "...") and not any(pattern.search(other) for other in lines):
            return line
    return ""


def stands_in_its_file(block: CodeBlock, folder: Path) -> bool:
    """Check an excerpt; says which line is missing."""
    name = block.language.split()[-1]
    missing = missing_line(block.text, (folder / name).read_text())
    if missing:
        print(f"{name} does not have this line there: {missing}")
    return not missing


def run(block: CodeBlock, folder: Path) -> bool:
    """Run one block; its output goes where ours goes."""
    if " from " in block.language:
        return stands_in_its_file(block, folder)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    environment["PYTHONPATH"] = str(ROOT / "src")
    shell = ["bash", "-euo", "pipefail", "-c"]
    command = [sys.executable, "-c", block.text] if block.language == "python" else [*shell, block.text]
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode == 0


def main(pages: list[str]) -> int:
    passed = failed = 0
    for page in map(Path, pages):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("examples", "test", "docs"):
                if (ROOT / name).exists():
                    Path(folder, name).symlink_to(ROOT / name)
            for block in blocks_of(page):
                print(f"{page}:{block.line}: {block.language}", flush=True)
                good = run(block, Path(folder))
                passed, failed = passed + good, failed + (not good)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
