"""What a case is: a function, its inputs, and where the difference was reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

Inputs = Callable[[], tuple[Any, ...]]
Function = Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """`function(*inputs())`; the docstring of the function says what is at stake.

    `report` names the public report, as `pytorch#1`. `dynamic` is passed on to `torch.compile`. With `gradient` the
    result of the function is one number, and what counts is its gradient for the first input.
    """

    function: Function
    inputs: Inputs
    report: str
    dynamic: bool | None
    gradient: bool

    @property
    def name(self) -> str:
        return f"{self.function.__module__.rpartition('.')[2]}.{self.function.__name__}"

    @property
    def stake(self) -> str:
        return " ".join((self.function.__doc__ or "").split())


def case(
    inputs: Inputs = tuple, *, report: str = "", dynamic: bool | None = None, gradient: bool = False
) -> Callable[[Function], Case]:
    """Makes a case of a function."""
    return lambda function: Case(function, inputs, report, dynamic, gradient)


def cases_of(module: ModuleType) -> list[Case]:
    """The cases that a module defines, in its order."""
    defined: list[object] = list(vars(module).values())
    return [value for value in defined if isinstance(value, Case)]
