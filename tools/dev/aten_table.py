"""Write docs/aten.md: every ATen overload that the importer takes, where its handler is, and what of core ATen is
missing.

`--check` writes nothing and exits with 1 when the page is out of date. What is missing is said for one version of
torch, which the page names; with another one only the handlers are compared.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import torch

from albumen.dialects.catalogue import catalogue
from albumen.lowering.torch.backend import decompositions
from albumen.lowering.torch.exported import KEPT_WHOLE
from albumen.lowering.torch.handlers.table import HANDLERS, MODULES

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/aten.md"

HEAD = """# ATen coverage

Written by `tools/dev/aten_table.py` (`make docs`); a test says when it is out of date.

{count} overloads have a handler in `lowering/torch/handlers/`. An overload without one is an error that lists all such
nodes of the graph at once, each with the line of the model. `torch.export` and `torch.compile` decompose most other
overloads into these before the importer sees them.

`albumen.compile` keeps these whole, which torch would decompose: {whole}.

| overload | handler | the op that is exactly this |
|---|---|---|
{rows}

"""
MISSING = """## Core ATen without a handler (torch {version})

Of the {core} overloads on tensors that torch tags as core, {with_handler} have a handler. The decompositions that
`torch.compile` applies here take apart: {decomposed}.

Missing: {missing}.
"""


def torch_version() -> str:
    return str(torch.__version__).partition("+")[0]


def core_overloads() -> Iterator[str]:
    """Every overload that torch tags as core, but for those that give a size, which is known without a handler."""
    # The dispatcher's own list: `dir(torch.ops.aten)` holds only what this process has used.
    names: list[str] = sorted(torch._C._dispatch_get_all_op_names())  # pyright: ignore[reportPrivateUsage]
    for name in names:
        namespace, _, full = name.partition("::")
        packet, _, overload = full.partition(".")
        if namespace != "aten" or packet.startswith("sym_"):
            continue
        found: Any = getattr(getattr(torch.ops.aten, packet), overload or "default")
        if torch.Tag.core in found.tags:
            yield str(found)


def quoted(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def handlers() -> str:
    """The part of the page that no version of torch changes."""
    named = {overload: op.name for op in catalogue() for overload in op.ATEN}
    home = {name: module.__name__.rsplit(".", 1)[1] for module in MODULES for name in module.HANDLERS}
    rows = [f"| `{name}` | {home[name]} | {named.get(name, '')} |" for name in sorted(HANDLERS)]
    return HEAD.format(count=len(HANDLERS), whole=quoted([str(op) for op in KEPT_WHOLE]), rows="\n".join(rows))


def missing() -> str:
    """What this version of torch has beyond the handlers."""
    core = sorted(core_overloads())
    rest = [name for name in core if name not in HANDLERS]
    taken_apart = {str(overload) for overload in decompositions()}
    return MISSING.format(
        version=torch_version(),
        core=len(core),
        with_handler=len(core) - len(rest),
        decomposed=quoted([name for name in rest if name in taken_apart]),
        missing=quoted([name for name in rest if name not in taken_apart]),
    )


def is_current(text: str) -> bool:
    """Whether a page says what is found; the missing overloads count if it is about this version of torch."""
    known = handlers()
    same_torch = f"(torch {torch_version()})" in text
    return text == known + missing() if same_torch else text.startswith(known)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether the page is up to date")
    if cast(bool, parser.parse_args().check):
        good = PAGE.exists() and is_current(PAGE.read_text())
        print(f"{PAGE.name} is {'up to date' if good else 'out of date: run make docs'}")
        return 0 if good else 1
    PAGE.write_text(handlers() + missing())
    return 0


if __name__ == "__main__":
    sys.exit(main())
