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
from opinfo.comparison import compare_form, compare_memory
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


def traced_alone(program: TorchProgram) -> Any:
    """The program as torch's trace runs it, without Albumen."""
    return torch.compile(program, backend="aot_eager", fullgraph=True, dynamic=False)(copied(program.inputs))


def check(program: TorchProgram) -> None:
    """Raise unless two calls equal eager; a clear refusal is no defect."""
    torch._dynamo.reset()
    function = torch.compile(program, backend="albumen", fullgraph=True, dynamic=False)
    inputs = copied(program.inputs)
    outputs = program(inputs)
    for _ in range(2):
        given = copied(program.inputs)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = function(given)
        except Exception as error:
            if explained(error, lambda: traced_alone(program))[0] == UNSUPPORTED:
                return
            raise
        for i, (ours, eager) in enumerate(zip([*found, *given], [*outputs, *inputs], strict=True)):
            compare_form(ours, eager, f"value {i}")
        compare_memory("", (found, given), (outputs, inputs))

        def meaning(arrays: Sequence[np.ndarray[Any, Any]]) -> Sequence[np.ndarray[Any, Any]]:
            moved = [as_tensor(x, like) for x, like in zip(arrays, program.inputs, strict=True)]
            return [as_array(x) for x in (*program(moved), *moved)]

        arrays = [as_array(x) for x in program.inputs]
        text = difference(meaning, arrays, [as_array(x) for x in (*found, *given)], np.random.default_rng(0))
        assert not text, text


@pytest.mark.slow
def test_torch_programs(slice_seed: str, full: bool) -> None:
    holds(check, torch_programs(), COUNTS[full], slice_seed, "torch", shrink=full)
