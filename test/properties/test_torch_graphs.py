"""A torch program gives the same compiled and in eager: values, forms, shared memory, and what is left in inputs."""

# pyright: basic
from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from opinfo.comparison import Difference, compare_form, compare_memory
from opinfo.refusals import explained
from opinfo.samples import copied
from opinfo.states import UNSUPPORTED

from .conditioning import difference
from .slices import holds
from .torch_graphs import TorchProgram, torch_programs

pytestmark = pytest.mark.torch

COUNTS = (40, 1500)
"""Programs of a slice, and of the whole suite."""


def as_array(x: Any) -> np.ndarray[Any, Any]:
    """The elements; bfloat16 as ml_dtypes has it."""
    dense = x.detach().cpu().contiguous()
    if dense.dtype is torch.bfloat16:
        import ml_dtypes

        return dense.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return dense.numpy()


def as_tensor(x: np.ndarray[Any, Any], like: Any) -> Any:
    """A tensor of the elements with the strides of another."""
    flat = torch.from_numpy(np.ascontiguousarray(x).view(np.int16)) if like.dtype is torch.bfloat16 else None
    values = torch.from_numpy(np.ascontiguousarray(x)) if flat is None else flat.view(torch.bfloat16)
    (made,) = copied([like])
    return made.copy_(values.reshape(like.shape))


def compiled(program: TorchProgram, backend: str) -> Any:
    torch._dynamo.reset()
    return torch.compile(program, backend=backend, fullgraph=True, dynamic=False)


def differs(program: TorchProgram, reference: Any, outputs: Sequence[Any], given: Sequence[Any]) -> str:
    """How a call's outputs, and its inputs after it, differ from those of the reference; or an empty text."""
    inputs = copied(program.inputs)
    expected = reference(inputs)
    try:
        for i, (ours, eager) in enumerate(zip([*outputs, *given], [*expected, *inputs], strict=True)):
            compare_form(ours, eager, f"value {i}")
        compare_memory("", (outputs, given), (expected, inputs))
    except Difference as difference_of_form:
        return str(difference_of_form)

    def meaning(arrays: Sequence[np.ndarray[Any, Any]]) -> Sequence[np.ndarray[Any, Any]]:
        moved = [as_tensor(x, like) for x, like in zip(arrays, program.inputs, strict=True)]
        return [as_array(x) for x in (*reference(moved), *moved)]

    found = [as_array(x) for x in (*outputs, *given)]
    return difference(meaning, [as_array(x) for x in program.inputs], found, np.random.default_rng(0))


def check(program: TorchProgram) -> None:
    """Raise unless two calls equal eager, or torch's own trace of the program; a clear refusal is no defect."""
    function = compiled(program, "albumen")
    for _ in range(2):
        given = copied(program.inputs)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                outputs = function(given)
        except Exception as error:
            if explained(error, lambda: compiled(program, "aot_eager")(copied(program.inputs)))[0] == UNSUPPORTED:
                return
            raise
        text = differs(program, program, outputs, given)
        if text:
            assert not differs(program, compiled(program, "aot_eager"), outputs, given), text
            return


@pytest.mark.slow
def test_torch_programs(slice_seed: str, full: bool) -> None:
    holds(check, torch_programs(), COUNTS[full], slice_seed, "torch", shrink=full)
