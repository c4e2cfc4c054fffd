"""Modules that compute something else in training than in evaluation, and the mode that each was compiled in."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import Any, cast

from torch import nn

from ...runtime.errors import LaunchError

FLAG = "training"


class ModuleModes:
    """Notices that the mode of a module changed. Only modules count whose own code reads the flag, so that `eval()` and
    `train()` of a model without dropout, batch norm and the like change nothing."""

    def __init__(self, model: nn.Module):
        self._known = {path: module.training for path, module in _modules(model) if _reads_flag(type(module))}
        self.watch(model)

    def watch(self, model: nn.Module) -> None:
        """Look at the modules that the model has now."""
        modules = dict(_modules(model))
        self._settings = [vars(modules[path]) for path in self._known]
        self._modes = list(self._known.values())

    def check(self) -> None:
        """Raises LaunchError if a module is not in the mode that it was in when the model was compiled."""
        found = [settings[FLAG] for settings in self._settings]
        if found == self._modes:
            return
        path = next(p for p, now, then in zip(self._known, found, self._modes, strict=True) if now != then)
        name = f"the module {path!r}" if path else "the model"
        was, now = ("training", "evaluation") if self._known[path] else ("evaluation", "training")
        raise LaunchError(
            f"{name} is in {now} mode, and the model was compiled with it in {was} mode",
            hint=f"call {'train' if self._known[path] else 'eval'}() on it, or compile the model again",
        )


def _modules(model: nn.Module) -> Iterable[tuple[str, nn.Module]]:
    return cast(Any, model).named_modules(remove_duplicate=False)


def _reads_flag(cls: type[nn.Module]) -> bool:
    """Whether a method of the class, or of a base class below `nn.Module`, names the flag."""
    own = (c for c in cls.__mro__ if c is not object and c is not nn.Module)
    return any(FLAG in code.co_names for c in own for code in _codes(vars(c).values()))


def _codes(values: Iterable[object]) -> Iterator[CodeType]:
    """The code of the functions among the values, and of the functions inside them."""
    for value in values:
        found = value if isinstance(value, CodeType) else _code_of(value)
        if found is not None:
            yield found
            yield from _codes(found.co_consts)


def _code_of(value: object) -> CodeType | None:
    function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
    code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
    return code if isinstance(code, CodeType) else None
