"""The whole compile as one readable list of stages, and the function that runs it.

Each stage is a pass that `albumen-opt` runs alone under the same name. It takes a module at one level and leaves one at
another; both are checked.
"""

from __future__ import annotations

import dataclasses
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from .levels import check_level
from .options import TARGETS, CompileOptions
from .passes import load_pass
from .progress import SILENT, Progress
from .reproducer import as_compile_error, module_text, write_atomically, write_reproducer

if TYPE_CHECKING:
    from ..runtime.artifact import Artifact
    from .artifact.alternatives import Alternatives
    from .toolchain.object_cache import ObjectCache


@dataclass(frozen=True)
class Stage:
    """One pass of the compile, the levels before and after it, and the targets that need it."""

    name: str
    level_before: str
    level_after: str
    targets: tuple[str, ...] = TARGETS

    def make(self, options: CompileOptions) -> ModulePass:
        """The pass. A field of it named as a compile option takes that option's value unless that is empty."""
        cls = load_pass(self.name)
        shared = {field.name for field in dataclasses.fields(cls)} & {f.name for f in dataclasses.fields(options)}
        values = {name: getattr(options, name) for name in sorted(shared)}
        return cls(**{name: value for name, value in values.items() if value})


STAGES: tuple[Stage, ...] = (
    Stage("canonicalize", "graph", "graph"),
    Stage("simplify-dims", "graph", "graph"),
    Stage("simplify-positions", "graph", "graph"),
    Stage("roll-loops", "graph", "graph"),
    Stage("eqsat", "graph", "e-graph"),
    Stage("extract", "e-graph", "selection"),
    Stage("cover", "selection", "kernel"),
    Stage("schedule", "kernel", "kernel"),
    Stage("plan-memory", "kernel", "program"),
    Stage("lower-kernels", "program", "loop"),
    Stage("map-threads", "loop", "simt", targets=("cuda", "metal")),
    Stage("emit", "simt", "source", targets=("cuda", "metal")),
    Stage("emit", "loop", "source", targets=("c",)),
)


def stages_for(options: CompileOptions) -> list[Stage]:
    """The stages of a compile, in order."""
    return [stage for stage in STAGES if options.target in stage.targets]


class Dump:
    """Writes the IR of each stage into a folder: 00-import.mlir, 01-canonicalize.mlir, ..."""

    def __init__(self, folder: str):
        self.folder = Path(folder) if folder else None
        self.number = 0

    def write(self, name: str, module: ModuleOp) -> None:
        if self.folder is not None:
            write_atomically(self.folder / f"{self.number:02}-{name}.mlir", module_text(module))
        self.number += 1

    def reproducer_path(self, stage: str) -> Path:
        """Where the reproducer of a failing stage goes: the dump folder, or a new folder for temporary files."""
        folder = self.folder or Path(tempfile.mkdtemp(prefix="albumen-"))
        return folder / f"reproduce-{stage}.mlir"


def lower_module(module: ModuleOp, options: CompileOptions, progress: Progress = SILENT) -> Alternatives | None:
    """Run every stage on a graph-level module, in place, up to source text. A failing stage leaves a reproducer.

    For target cuda, gives the matmuls as they were at the program level: `build_artifact` takes another schedule of
    one whose code does not fit the device.
    """
    context = Context()
    dump = Dump(options.dump_ir)
    dump.write("import", module)
    start = module.clone()
    stages = stages_for(options)
    passes: list[ModulePass] = []
    alternatives: Alternatives | None = None
    for number, stage in enumerate(stages, 1):
        progress.stage(stage.name, number, len(stages) + 1)
        passes.append(stage.make(options))
        if stage.level_before == "program" and options.target == "cuda":
            alternatives = _alternatives(module)
        try:
            run_stage(stage, passes[-1], context, module)
        except Exception as error:
            path = dump.reproducer_path(stage.name)
            known = as_compile_error(error, stage.name)
            write_reproducer(path, context, start, passes, known)
            if known is error:
                raise
            raise known from error
        dump.write(stage.name, module)
    return alternatives


def _alternatives(module: ModuleOp) -> Alternatives:
    from .artifact.alternatives import Alternatives

    return Alternatives(module)


def run_stage(stage: Stage, one: ModulePass, context: Context, module: ModuleOp) -> None:
    """Run one stage between the checks of its levels."""
    check_level(module, stage.level_before, stage=stage.name)
    one.apply(context, module)
    module.verify()
    check_level(module, stage.level_after, stage=stage.name)


def compile_module(
    module: ModuleOp, options: CompileOptions, progress: Progress = SILENT, cache: ObjectCache | None = None
) -> Artifact:
    """Compile a graph-level module to an artifact. The module given is left as it was."""
    from .build_artifact import build_artifact

    working = module.clone()
    alternatives = lower_module(working, options, progress)
    total = len(stages_for(options)) + 1
    progress.stage("compile", total, total)
    artifact = build_artifact(working, options, cache, alternatives)
    progress.finished()
    return artifact
