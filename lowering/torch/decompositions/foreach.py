"""`_foreach_` ops, which optimizers use: the op of each tensor, as eager runs them on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import torch

aten = torch.ops.aten

PREFIX = "_foreach_"
RENAMED = {"maximum": "clamp_min", "minimum": "clamp_max"}
"""What eager calls for each tensor where that is not the op of the same name."""
APART = ("norm", "powsum", "zero", "copy")
"""Ops whose arguments are not those of the op of each tensor."""
PER_TENSOR = ("List[Tensor]", "List[number]")


def _each(overload: Any, function: Callable[..., torch.Tensor]) -> Callable[..., list[torch.Tensor]]:
    """A function with the arguments of the overload: lists give one argument a tensor, all else is the same for
    each."""
    names = [argument.name for argument in overload._schema.arguments]
    listed = {a.name for a in overload._schema.arguments if str(a.type) in PER_TENSOR}
    keywords = {a.name for a in overload._schema.arguments if a.kwarg_only or a.name == "value"}

    def decomposition(*args: Any, **kwargs: Any) -> list[torch.Tensor]:
        given: dict[str, Any] = {**dict(zip(names, args, strict=False)), **kwargs}
        (count,) = {len(value) for name, value in given.items() if name in listed}
        results: list[torch.Tensor] = []
        for index in range(count):
            values = {name: value[index] if name in listed else value for name, value in given.items()}
            plain = [value for name, value in values.items() if name not in keywords]
            if "scalars" in values and "tensor1" in values:  # addcmul and addcdiv take their factor by name
                values["value"] = plain.pop()
            named = {name: value for name, value in values.items() if name in keywords or name == "value"}
            results.append(function(*plain, **named))
        return results

    return decomposition


def _norms(tensors: list[torch.Tensor], order: float = 2, dtype: torch.dtype | None = None) -> list[torch.Tensor]:
    return [aten.linalg_vector_norm.default(tensor, order, dtype=dtype) for tensor in tensors]


def _of_each_tensor() -> dict[Any, Callable[..., Any]]:
    found: dict[Any, Callable[..., Any]] = {}
    for full in sorted(dir(torch)):
        name = full.removeprefix(PREFIX)
        if not full.startswith(PREFIX) or full.endswith("_") or name in APART:
            continue
        packet: Any = getattr(aten, full)
        function: Callable[..., torch.Tensor] = getattr(torch, RENAMED.get(name, name))
        for overload_name in packet.overloads():
            overload = getattr(packet, overload_name)
            scalars = [a for a in overload._schema.arguments if a.name == "scalars"]
            if "out" not in overload_name and not any(str(a.type) == "Tensor" for a in scalars):
                found[overload] = _each(overload, function)
    return found


DECOMPOSITIONS: Mapping[Any, Callable[..., Any]] = MappingProxyType(
    {**_of_each_tensor(), aten._foreach_norm.Scalar: _norms}
)
