"""Every pass by its name, as data: nothing is imported before a pass is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from xdsl.passes import ModulePass

from ..dialects.errors import CompileError, OptionError
from .options import closest

PASSES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "canonicalize": ("transforms.canonicalize", "CanonicalizePass"),
        "simplify-dims": ("transforms.simplify_dims", "SimplifyDimsPass"),
        "simplify-positions": ("transforms.simplify_positions", "SimplifyPositionsPass"),
        "roll-loops": ("transforms.roll_loops", "RollLoopsPass"),
        "eqsat": ("transforms.eqsat.eqsat", "EqsatPass"),
        "extract": ("lowering.search.extract", "ExtractPass"),
        "cover": ("lowering.search.cover", "CoverPass"),
        "schedule": ("lowering.search.schedule", "SchedulePass"),
        "plan-memory": ("lowering.plan_memory", "PlanMemoryPass"),
        "lower-kernels": ("lowering.kernel_to_loop.lower_kernels", "LowerKernelsPass"),
        "map-threads": ("lowering.loop_to_simt.map_threads", "MapThreadsPass"),
        "emit": ("lowering.emit.emit", "EmitPass"),
    }
)
"""Pass name -> (module under the package, class)."""


def load(what: str, module_name: str, attribute: str) -> object:
    """The attribute of a module that a table names; says which entry is wrong when there is none."""
    root = __name__.rsplit(".", 2)[0]
    full_name = f"{root}.{module_name}"
    registered = f"{what} is registered as {full_name}:{attribute}"
    try:
        module = importlib.import_module(full_name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        package = missing.split(".")[0]
        if package == root:
            raise CompileError(f"{registered}, but there is no module {missing}") from error
        raise CompileError(f"{what} needs the package {package}", hint=f"pip install {package}") from error
    if not hasattr(module, attribute):
        raise CompileError(f"{registered}, but that module has no such name")
    return getattr(module, attribute)


def load_pass(name: str) -> type[ModulePass]:
    """The class of a pass."""
    if name not in PASSES:
        raise OptionError(f"no pass is called {name!r}", hint=closest(name, PASSES))
    cls = load(f"pass {name!r}", *PASSES[name])
    assert isinstance(cls, type) and issubclass(cls, ModulePass)
    return cls


def pass_loaders() -> dict[str, Callable[[], type[ModulePass]]]:
    """Name -> loader of every pass, as xDSL's drivers take them."""
    return {name: partial(load_pass, name) for name in PASSES}
