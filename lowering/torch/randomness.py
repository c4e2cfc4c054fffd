"""Where the random numbers of a graph come from: from torch before the program runs, exactly as eager draws them, or
from Philox inside the program, under a seed that torch draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol, Self

import torch
from xdsl.ir import SSAValue

from ...dialects.dtype import I64
from ...dialects.hlir.builder import GraphBuilder
from ...dialects.hlir.types import tensor_type
from .draws import Distribution, Draw
from .element_types import element_type
from .philox import SAMPLERS, Stream

MODES = ("eager", "philox")
SEED_NAME = "seed"
COUNTERS = 2**40
"""Counters that one draw of a call may use; each of them gives four words."""

Add = Callable[[Draw, str], SSAValue]
"""Makes a draw an argument of the program."""


class Randomness(Protocol):
    """The source of random tensors of one graph."""

    is_eager: bool
    """Whether values and generator states must be eager's."""

    def draw(self, b: GraphBuilder, draw: Draw) -> SSAValue:
        """A tensor of the draw's sizes and dtype."""
        ...

    def state(self, draw: Draw) -> SSAValue:
        """The generator's state at this place, as the draw describes its tensor."""
        ...

    def alone(self, state: int | None) -> Randomness:
        """The source for one call that can be repeated: under the state that placeholder `state` holds, or (None) under
        the one that was just saved."""
        ...


class _Drawn:
    """What both sources have in common."""

    def __init__(self, add: Add):
        self._add = add

    def state(self, draw: Draw) -> SSAValue:
        """See Randomness."""
        return self._add(draw, "random.state")

    def alone(self, state: int | None) -> Self:
        """See Randomness: a source like this one that begins anew."""
        add = self._add
        return type(self)(lambda draw, name: add(replace(draw, state=state), name))


class DrawnByTorch(_Drawn):
    """Every tensor is drawn by torch, in the order of the graph: values and generator states are eager's."""

    is_eager = True

    def draw(self, b: GraphBuilder, draw: Draw) -> SSAValue:
        """See Randomness."""
        return self._add(draw, f"random.{draw.distribution}")


class DrawnByPhilox(_Drawn):
    """The program computes its numbers: one seed a call, and for each draw counters of its own."""

    is_eager = False

    def __init__(self, add: Add):
        super().__init__(add)
        self._seed: SSAValue | None = None
        self._count = 0

    def draw(self, b: GraphBuilder, draw: Draw) -> SSAValue:
        """See Randomness."""
        if self._seed is None:
            whole = (-(2**63), 2**63 - 1)
            self._seed = self._add(Draw(Distribution.INTEGERS, (), (), torch.int64, draw.device, whole), SEED_NAME)
        offset = b.constant(self._count * COUNTERS, tensor_type([], I64))
        self._count += 1
        type_ = tensor_type(draw.dims, element_type(draw.dtype))
        return SAMPLERS[draw.distribution](Stream(b, self._seed, offset), type_, *draw.parameters)


def randomness(mode: str, add: Add) -> Randomness:
    """The source that a mode names."""
    return DrawnByTorch(add) if mode == "eager" else DrawnByPhilox(add)
