"""Runs a case in eager and compiled, three times each, and says how the compiled one differs.

Equal means: the same values (within a relative 1e-5 and an absolute 1e-6 in any floating type, NaN and infinities at
the same places, zeros with the same sign), element types, shapes and strides; the same inputs after the call; the same
memory shared; or an error of the same class (or of one below it). The function is compiled with `fullgraph=True`, and a
refusal to compile is not eager's error.
"""

from __future__ import annotations

# pyright: basic
import warnings
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from opinfo.comparison import Difference, compare_form, compare_memory, compare_zeros
from torch._dynamo.exc import TorchDynamoException, TorchRuntimeError
from torch.utils import _pytree as pytree

from albumen.dialects.errors import CompileError

from .case import Case

CALLS = 3


@dataclass
class Outcome:
    """What one call returned and left in its inputs, or what it raised."""

    outputs: Any = None
    inputs: tuple[Any, ...] = ()
    error: Exception | None = None


def verdict(case: Case, backend: str = "albumen", device: str = "cpu") -> str:
    """Empty where the case equals eager in each call, else the first difference.

    Inputs are made on the CPU, whose generator cases use, and moved to the device; the function makes its own there.
    """
    torch._dynamo.reset()
    function = torch.compile(case.function, backend=backend, fullgraph=True, dynamic=case.dynamic)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcomes = [[outcome_of(case, run, device) for run in (case.function, function)] for _ in range(CALLS)]
    for number, (eager, compiled) in enumerate(outcomes, 1):  # after all calls: earlier results have to survive
        try:
            compare(eager, compiled)
        except Difference as difference:
            return f"call {number}: {difference}"
    return ""


def outcome_of(case: Case, function: Any, device: str) -> Outcome:
    inputs = pytree.tree_map_only(torch.Tensor, lambda tensor: moved(tensor, device), case.inputs())
    try:
        with nullcontext() if device == "cpu" else torch.device(device):
            outputs = function(*inputs)
        if case.gradient:
            outputs = torch.autograd.grad(outputs, inputs[0])
    except Exception as error:  # its class is what is compared
        return Outcome(error=error)
    return Outcome(outputs, inputs)


def moved(tensor: torch.Tensor, device: str) -> torch.Tensor:
    """The tensor on the device, a leaf of the graph again."""
    return tensor if device == "cpu" else tensor.detach().to(device).requires_grad_(tensor.requires_grad)


def compare(eager: Outcome, compiled: Outcome) -> None:
    """Raise `Difference` unless the two outcomes are equal."""
    if eager.error is not None or compiled.error is not None:
        compare_errors(eager.error, compiled.error)
        return
    compare_values(compiled.outputs, eager.outputs, "output")
    compare_values(compiled.inputs, eager.inputs, "input")
    compare_memory("", (compiled.outputs, compiled.inputs), (eager.outputs, eager.inputs))


def compare_errors(eager: Exception | None, compiled: Exception | None) -> None:
    """The same class. Dynamo hands on what its own run of the call raised, as a cause or, without one, by name."""
    if compiled is None:
        raise Difference(f"no error, eager raises {described(eager)}")
    if eager is None:
        raise Difference(described(compiled))
    if not same_class(eager, compiled):
        raise Difference(f"{described(compiled)}, eager raises {described(eager)}")


def same_class(eager: Exception, compiled: Exception) -> bool:
    """Whether the error is one of eager's class, or reports that torch's trace of the call raised one.

    An error of the compiler is none, though dynamo's classes are RuntimeErrors.
    """
    if isinstance(compiled, TorchRuntimeError):
        return f"got {type(eager).__name__}(" in str(compiled)
    refusal = isinstance(compiled, TorchDynamoException | CompileError)
    return isinstance(compiled, type(eager)) and not refusal


def described(error: BaseException | None) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


def compare_values(found: Any, expected: Any, what: str) -> None:
    found_leaves, found_structure = pytree.tree_flatten(found)
    leaves, structure = pytree.tree_flatten(expected)
    if found_structure != structure:
        raise Difference(f"{what}: a structure {found_structure}, not {structure}")
    for i, (ours, eager) in enumerate(zip(found_leaves, leaves, strict=True)):
        if not isinstance(ours, torch.Tensor) or not isinstance(eager, torch.Tensor):
            if ours != eager:
                raise Difference(f"{what} {i}: {ours!r}, not {eager!r}")
            continue
        compare_form(ours, eager, f"{what} {i}")
        try:
            torch.testing.assert_close(ours, eager, rtol=1e-5, atol=1e-6, equal_nan=True, check_stride=False)
        except AssertionError as error:
            raise Difference(f"{what} {i}: {' '.join(str(error).split())}") from None
        compare_zeros(ours, eager, f"{what} {i}")
