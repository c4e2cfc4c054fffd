"""`albumen compile`: a model (.pt2 or .mlir) to an artifact (.alb)."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..lowering.options import CompileOptions

SETTINGS = ("target", "arch", "numerics", "compiler", "dump_ir")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("model", type=Path, metavar="MODEL", help="a .pt2 file of torch.export, or .mlir text")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.alb", help="the artifact to write")
    parser.add_argument("--target", default="c", help="c, cuda or metal (default: c)")
    parser.add_argument("--arch", default="", help="architecture (default: this machine's for c, sm_90a for cuda)")
    parser.add_argument("--numerics", default="eager", help="eager, fused or fast (default: eager)")
    parser.add_argument("--compiler", default="", metavar="CC", help="C compiler (default: ALBUMEN_CC, else on PATH)")
    parser.add_argument("--dump-ir", default="", metavar="DIR", help="folder for the IR of every stage")
    parser.add_argument("--cache-dir", type=Path, metavar="DIR", help="folder of the compile cache")
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")


def compile_options(arguments: argparse.Namespace) -> CompileOptions:
    """The options of the compile: the command line, then the environment, then the defaults."""
    from ..lowering.options import CompileOptions
    from ..runtime.config import configuration

    settings = configuration()
    values = {name: getattr(arguments, name) for name in SETTINGS}
    values["compiler"] = values["compiler"] or settings.cc or ""
    values["dump_ir"] = values["dump_ir"] or str(settings.dump_ir or "")
    return CompileOptions.from_mapping(values)


def run(options: argparse.Namespace) -> int:
    """Compile one model."""
    from ..lowering.pipeline import compile_module
    from ..lowering.progress import SILENT
    from ..runtime.artifact import write_artifact
    from ..runtime.cache import DiskCache
    from ..runtime.config import configuration
    from .model_file import check_suffix, compile_exported, read_module, reporting
    from .progress import StreamProgress

    bar = StreamProgress()
    progress = SILENT if options.quiet else bar

    def compile_and_write() -> None:
        check_suffix(options.model, (".pt2", ".mlir"))
        chosen = compile_options(options)
        settings = configuration()
        cache = DiskCache(options.cache_dir or settings.cache_dir, settings.cache_limit)
        if options.model.suffix == ".pt2":
            artifact = compile_exported(options.model, chosen, progress, cache)
        else:
            artifact = compile_module(read_module(options.model), chosen, progress, cache)
        write_artifact(options.output, artifact)

    def work() -> None:
        try:
            compile_and_write()
        finally:
            bar.clear()

    return reporting(work, options.model)
