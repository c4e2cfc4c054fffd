"""The parameters and buffers of a live model: a compiled one uses the tensors that the model holds now."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any, cast

import torch
from torch import nn
from torch.nn.modules import module as registration

from ...runtime.errors import LaunchError
from .module_modes import ModuleModes


class ModelState:
    """Reads parameters and buffers of a model by name, and notices when one, or a module, is put in another's place.

    torch tells of every tensor or module that any model registers; only then is the model looked through.
    """

    def __init__(self, model: nn.Module, names: Mapping[str, str]):
        """`names` are the names in the model of the tensors that are asked for, by the names of the program."""
        self.names = dict(names)
        self._model = model
        self._modules = _modules(model)
        self._ties = _ties(model)
        self._known = self.tensors()
        self.modes = ModuleModes(model)
        self.changed = [False]
        _notice(self, self.changed)

    def tensors(self) -> dict[str, torch.Tensor]:
        """The tensors that the model holds, by the names of the program."""
        state = {**dict(self._model.named_parameters(remove_duplicate=False)), **_buffers(self._model)}
        missing = [path for path in self.names.values() if path not in state]
        if missing:
            raise LaunchError(
                f"the model has no {missing[0]!r} any more, which it had when it was compiled",
                hint="compile the model again",
            )
        return {name: state[path] for name, path in self.names.items()}

    def replaced(self) -> dict[str, torch.Tensor]:
        """The tensors that took another's place since the last call of this.

        Raises:
            LaunchError: one has another shape, dtype or device, or a module became another one.
        """
        self.changed[0] = False
        try:
            modules = _modules(self._model)
            if modules != self._modules:
                changed = sorted({path for path, _ in set(modules.items()) ^ set(self._modules.items())})
                message = f"the module {changed[0]!r} is not what it was when the model was compiled"
                raise LaunchError(message, hint="compile the model again")
            found = self.tensors()
            fresh = {name: tensor for name, tensor in found.items() if tensor is not self._known[name]}
            for name, tensor in fresh.items():
                _check(self.names[name], tensor, self._known[name])
            if _ties(self._model) != self._ties:
                message = "tensors of the model that were one when it was compiled are two, or the other way round"
                raise LaunchError(message, hint="compile the model again")
        except LaunchError:
            self.changed[0] = True  # the next call says so again
            raise
        self._known = found
        self.modes.watch(self._model)
        return fresh


def _buffers(model: nn.Module) -> dict[str, torch.Tensor]:
    return dict(model.named_buffers(remove_duplicate=False))


def _modules(model: nn.Module) -> dict[str, tuple[type[nn.Module], str]]:
    """Class and settings of every module by its path: what decides which operations a model is made of."""
    named: dict[str, nn.Module] = dict(cast(Any, model).named_modules(remove_duplicate=False))
    return {path: (type(module), module.extra_repr()) for path, module in named.items()}


def _ties(model: nn.Module) -> dict[str, str]:
    """For each name of a tensor the first name of the same one."""
    first: dict[int, str] = {}
    named = [*model.named_parameters(remove_duplicate=False), *_buffers(model).items()]
    return {path: first.setdefault(id(tensor), path) for path, tensor in named}


def _check(path: str, found: torch.Tensor, known: torch.Tensor) -> None:
    for what in ("shape", "dtype", "device"):
        a, b = getattr(found, what), getattr(known, what)
        if a != b:
            spelled = [str(list(v) if isinstance(v, torch.Size) else v) for v in (a, b)]
            message = f"{path!r} was replaced by a tensor of {what} {spelled[0]}, expected {spelled[1]}"
            raise LaunchError(message, hint="compile the model again for it")


def _notice(owner: object, changed: list[bool]) -> None:
    """Sets the flag at each registration in any model, for as long as the owner lives."""

    def note(*_: Any) -> None:
        changed[0] = True

    handles = [
        registration.register_module_parameter_registration_hook(note),
        registration.register_module_buffer_registration_hook(note),
        registration.register_module_module_registration_hook(note),
    ]
    for handle in handles:
        weakref.finalize(owner, handle.remove)
