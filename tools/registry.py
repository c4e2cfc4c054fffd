"""Every dialect of Albumen by its name, as data: nothing is imported before it is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.ir import Dialect

from ..lowering.passes import load

DIALECTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "apple": ("dialects.apple", "APPLE"),
        "hlir": ("dialects.hlir.dialect", "HLIR"),
        "host": ("dialects.host", "HOST"),
        "kernel": ("dialects.kernel", "KERNEL"),
        "loop": ("dialects.loop", "LOOP"),
        "nv": ("dialects.nv", "NV"),
        "simt": ("dialects.simt", "SIMT"),
        "sym": ("dialects.sym.dialect", "SYM"),
    }
)
"""Dialect name -> (module under the package, constant)."""


def load_dialect(name: str) -> Dialect:
    """The dialect object of a name."""
    dialect = load(f"dialect {name!r}", *DIALECTS[name])
    assert isinstance(dialect, Dialect)
    return dialect


def dialect_loaders() -> dict[str, Callable[[], Dialect]]:
    """Name -> loader of every dialect, as xDSL's contexts take them."""
    return {name: partial(load_dialect, name) for name in DIALECTS}


def make_context() -> Context:
    """A context that knows xDSL's dialects and ours, and loads each when its first op is parsed."""
    context = Context()
    for name, loader in {**get_all_dialects(), **dialect_loaders()}.items():
        context.register_dialect(name, loader)
    return context
