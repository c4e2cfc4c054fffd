"""Who refused a program: Albumen, with an error that says what is missing, or torch, whose tracing failed."""

from __future__ import annotations

# pyright: basic
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch._dynamo.exc import TorchDynamoException

from albumen.dialects.errors import (
    CompileError,
    ContractError,
    EvaluationError,
    InternalError,
    RuleError,
    ToolchainError,
    TypeRuleError,
)

from .states import ALBUMEN, CRASHED, TORCH, UNSUPPORTED

DEFECTS = (InternalError, ToolchainError, ContractError, RuleError, EvaluationError, TypeRuleError)
"""Compile errors that no user's program should lead to."""

Compiled = Callable[[Sequence[torch.Tensor]], Any]


def chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what caused it, the outermost first.

    What was being handled when another error was raised (`__context__`) caused it only where torch raised that: a
    KeyError of ours while an UnsupportedError is handled is no refusal.
    """
    seen: list[BaseException] = []
    pending: list[BaseException | None] = [error]
    while pending:
        found = pending.pop(0)
        if found is None or found in seen:
            continue
        seen.append(found)
        yield found
        pending += [getattr(found, "inner_exception", None), found.__cause__]
        if isinstance(found, TorchDynamoException):
            pending.append(found.__context__)


def explained(error: Exception, with_aot_eager: Callable[[], Any]) -> tuple[str, str, str]:
    """(state, who, why) of a program that raised; `with_aot_eager` runs it without Albumen.

    What fails in the same way with torch's own `aot_eager` backend never reached Albumen.
    """
    for found in chain(error):
        if isinstance(found, DEFECTS):
            return CRASHED, "", line_of(found)
        if isinstance(found, CompileError):
            return UNSUPPORTED, ALBUMEN, str(found)
    torch._dynamo.reset()
    try:
        with_aot_eager()
    except Exception as other:  # whatever it is, torch raised it
        return UNSUPPORTED, TORCH, line_of(other)
    return CRASHED, "", line_of(list(chain(error))[-1] if error.__cause__ is None else error)


def line_of(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:600]
