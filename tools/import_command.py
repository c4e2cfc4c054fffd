"""`albumen import`: a torch.export file (.pt2) as IR text."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("model", type=Path, metavar="MODEL.pt2", help="a file that torch.export.save wrote")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.mlir", help="where the text goes (standard output)")
    parser.add_argument(
        "--check", action="store_true", help="only list what cannot be compiled, as a table; exit code 1 if anything"
    )


def run(options: argparse.Namespace) -> int:
    """Import one model."""
    from ..lowering.reproducer import module_text, write_atomically
    from .model_file import check_exported, check_suffix, import_exported, reporting

    unsupported = False

    def work() -> None:
        nonlocal unsupported
        check_suffix(options.model, (".pt2",))
        if options.check:
            ok, table = check_exported(options.model)
            unsupported = not ok
            print(table)
            return
        text = module_text(import_exported(options.model))
        if options.output is None:
            sys.stdout.write(text)
        else:
            write_atomically(options.output, text)

    return reporting(work, options.model) or int(unsupported)
