"""What a call costs besides the work: a program with 65 inputs that do not change, called with a launch that does
nothing."""

# torch's own types are partly unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch

import albumen
from albumen.lowering.torch.adapter import TorchAdapter
from albumen.runtime.program import Program

from .harness import Case
from .peers import OURS, candidates

WEIGHTS = 64


class ManyWeights(torch.nn.Module):
    """x plus the sum of many small parameters."""

    def __init__(self, count: int = WEIGHTS) -> None:
        super().__init__()
        self.weights = torch.nn.ParameterList([torch.nn.Parameter(torch.randn(4)) for _ in range(count)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.stack(list(self.weights)).sum(0)


class NullDevice:
    """A device whose launches do nothing: what remains of a call is the Python around the launch."""

    targets = ("c", "cuda")
    dlpack = (1, 0)

    def __init__(self, name: str):
        self.name = name

    def load(self, artifact: Any, recompile: Any = None) -> NullDevice:
        """The program; nothing is loaded."""
        return self

    def bind(self, pointers: Sequence[int], changing: Sequence[int], memory: Any) -> NullDevice:
        """The binding; nothing is kept."""
        return self

    def specialise(self, symbols: tuple[int, ...]) -> Callable[..., None]:
        """A launch of nothing."""
        return _nothing

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"a null device has no {name}")


def _nothing(*_: object) -> None:
    return None


def cases(device: torch.device, peers: Sequence[str], options: Mapping[str, Any]) -> Iterator[Case]:
    """The null launch alone, then the same module through every peer."""
    torch.manual_seed(0)
    model, x = ManyWeights().eval().to(device), torch.randn(4, device=device)
    compiled = albumen.compile(model, (x,), options=options)
    program = Program(compiled.artifact, NullDevice(str(x.device)))  # pyright: ignore
    bound = {item.name: value for item, value in zip(_parameters(compiled.artifact), model.parameters(), strict=True)}
    null = program.caller(TorchAdapter(), {name: value.detach() for name, value in bound.items()})
    facts = {"inputs": WEIGHTS + 1, **options}
    yield Case("overhead null launch", {"albumen": lambda: null([x])}, "albumen", float("inf"), facts=facts)
    calls, seconds = candidates(model, (x,), ["eager", *peers, *OURS], options)
    yield Case("overhead whole call", calls, compile_seconds=seconds, facts=facts)


def _parameters(artifact: Any) -> list[Any]:
    return [item for item in artifact.program.inputs if item.role == "parameter"]
