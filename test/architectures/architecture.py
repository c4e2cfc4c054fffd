"""What one architecture of the suite is, and how its random model is made: from a config class, small sizes and a seed,
without any download."""

# torch's and transformers' own types are partly unknown.
# pyright: basic

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

FORWARD = "forward"
DYNAMIC_CACHE = "dynamic-cache"
STATIC_CACHE = "static-cache"
GENERATE = "generate"

Inputs = Callable[[], dict[str, Any]]


@dataclass(frozen=True)
class Architecture:
    """One model class with small sizes; `uses` are the ways in which it is run (see uses.py).

    `config` and `model` name classes of transformers; `sizes` are the config's arguments, in which a value `Nested`
    is a config of its own. `inputs` gives the keyword arguments of one forward call.
    """

    name: str
    family: str
    config: str
    model: str
    sizes: Mapping[str, Any]
    inputs: Inputs
    uses: tuple[str, ...] = (FORWARD,)

    def build(self) -> nn.Module:
        """The model in evaluation mode, with weights drawn from a seed that the name gives."""
        import transformers

        seed = int.from_bytes(hashlib.sha256(self.name.encode()).digest()[:4], "little")
        torch.manual_seed(seed)
        config = getattr(transformers, self.config)(**resolved(self.sizes))
        model = getattr(transformers, self.model)(config).eval()
        randomize(model)
        return model

    def arguments(self) -> dict[str, Any]:
        """The inputs, the same at every call."""
        torch.manual_seed(len(self.name))
        return self.inputs()

    def row(self, use: str, dtype: str) -> dict[str, Any]:
        """What a line of results begins with."""
        return {"name": self.name, "family": self.family, "use": use, "dtype": dtype}


@dataclass(frozen=True)
class Nested:
    """A config within a config."""

    config: str
    sizes: Mapping[str, Any]


def resolved(sizes: Mapping[str, Any]) -> dict[str, Any]:
    """The sizes with every nested config made."""
    import transformers

    values: dict[str, Any] = {}
    for name, value in sizes.items():
        nested = isinstance(value, Nested)
        values[name] = getattr(transformers, value.config)(**resolved(value.sizes)) if nested else value
    return values


def randomize(model: nn.Module) -> None:
    """Weights of the size at which signals keep their size, so that attention is not uniform and errors show.

    A trained model's weights are about 1/sqrt(inputs); transformers draws them with a deviation of 0.02, with which a
    tiny model computes next to nothing. Routers are drawn four times as large, which keeps their choices apart by far
    more than rounding moves them. Vectors (scales, biases) keep their initial values and get some noise; running
    statistics become those of some data.
    """
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if not parameter.is_floating_point():
                continue
            if parameter.dim() < 2:
                parameter.add_(torch.randn_like(parameter), alpha=0.1)
                continue
            inputs = parameter.shape[-1] if parameter.dim() == 3 else math.prod(parameter.shape[1:])
            parameter.normal_(0, min(1.0, (4 if is_router(name) else 1) / math.sqrt(max(inputs, 1))))
        for name, buffer in model.named_buffers():
            if name.endswith("running_mean"):
                buffer.normal_(0, 0.3)
            elif name.endswith("running_var"):
                buffer.uniform_(0.5, 1.5)


def is_router(name: str) -> bool:
    """Whether a parameter chooses experts."""
    return name.endswith(("gate.weight", "router.weight", "router.layer.weight", "router.classifier.weight"))


def ids(*shape: int, vocabulary: int = 64) -> torch.Tensor:
    """Random token numbers above the special ones."""
    return torch.randint(4, vocabulary, shape)


def padding_mask(batch: int, length: int) -> torch.Tensor:
    """A mask whose last row ends early."""
    mask = torch.ones(batch, length, dtype=torch.int64)
    mask[-1, length - 3 :] = 0
    return mask
