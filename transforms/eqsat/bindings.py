"""egglog's engine without its Python front: the compiled module alone loads in 25 ms, the package in 400."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from functools import cache
from typing import Any

from ...dialects.errors import CompileError

MODULE = "egglog.bindings"


@cache
def load_bindings() -> Any:
    """The module `egglog.bindings`.

    Raises:
        CompileError: egglog is not installed.
    """
    if MODULE in sys.modules:
        return sys.modules[MODULE]
    package = importlib.util.find_spec("egglog")
    spec = None
    if package is not None:
        spec = importlib.machinery.PathFinder.find_spec(MODULE, package.submodule_search_locations)
    if spec is None or spec.loader is None:
        raise CompileError("eqsat needs the package egglog", hint="pip install egglog==13.2.0", stage="eqsat")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[MODULE] = module
    return module
