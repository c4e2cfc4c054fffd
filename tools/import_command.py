"""`albumen import`: a torch.export file (.pt2) as IR text."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("model", type=Path, metavar="MODEL.pt2", help="a file that torch.export.save wrote")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.mlir", help="where the text goes (standard output)")


def run(options: argparse.Namespace) -> int:
    """Import one model."""
    from ..lowering.reproducer import module_text, write_atomically
    from .model_file import check_suffix, import_exported, reporting

    def work() -> None:
        check_suffix(options.model, (".pt2",))
        text = module_text(import_exported(options.model))
        if options.output is None:
            sys.stdout.write(text)
        else:
            write_atomically(options.output, text)

    return reporting(work, options.model)
