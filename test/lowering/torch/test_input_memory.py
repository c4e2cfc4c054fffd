"""Inputs that a program refuses as they lie are copied, unless an output is a view whose strides would be others."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from albumen.lowering.torch.function import InputSlot
from albumen.lowering.torch.input_memory import ALIGNMENT, with_copies
from albumen.runtime.errors import LayoutError

pytestmark = pytest.mark.torch

SLOT = InputSlot("x", "input", 0, (0, 1))


def program_of_a_gpu(args: list[Any]) -> tuple[Any, ...]:
    """Twice the input, which must be contiguous at an aligned address."""
    (x,) = args
    if x.data_ptr() % ALIGNMENT or not x.is_contiguous():
        raise LayoutError("input 'x' lies otherwise")
    return (2 * x,)


def elsewhere() -> torch.Tensor:
    return torch.arange(13.0)[1:].reshape(3, 4)


@pytest.mark.parametrize("viewed", [(), (0,)])
def test_an_input_that_starts_elsewhere(viewed: tuple[int, ...]) -> None:
    call = with_copies(program_of_a_gpu, [SLOT], (), viewed)
    assert torch.equal(call([elsewhere()])[0], 2 * elsewhere())


def test_an_input_in_another_order() -> None:
    transposed = torch.arange(12.0).reshape(4, 3).t()
    assert torch.equal(with_copies(program_of_a_gpu, [SLOT], (), ())([transposed])[0], 2 * transposed)
    with pytest.raises(LayoutError):
        with_copies(program_of_a_gpu, [SLOT], (), (0,))([transposed])


def test_what_is_written_into_a_copy() -> None:
    def writes(args: list[Any]) -> tuple[Any, ...]:
        program_of_a_gpu(args)
        args[0].add_(1)
        return ()

    x = elsewhere()
    with_copies(writes, [SLOT], (0,), ())([x])
    assert torch.equal(x, elsewhere() + 1)
