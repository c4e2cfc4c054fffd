"""The sizes of a call: ranges and multiples of single symbols, and the guards between them.

Evaluated when the shapes of a call are new; the texts say which inputs the sizes come from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .artifact import Guard, HostProgram, Symbol
from .errors import ShapeError
from .expression import all_names, compile_expressions, linear_form


class SizeChecker:
    """What a program demands of the values of its symbols."""

    def __init__(self, program: HostProgram) -> None:
        self.inputs = program.inputs
        self.symbols = program.symbols
        self.guards = program.guards
        self._forms = [self._form(symbol) for symbol in program.symbols]
        names = [symbol.name for symbol in program.symbols]
        self._sides = [compile_expressions((guard.expression,), names) for guard in program.guards]

    def _form(self, symbol: Symbol) -> tuple[int, int]:
        """(a, b): what the caller gives is a times the symbol, plus b."""
        if symbol.dim == -1:
            return 1, 0
        form = linear_form(self.inputs[symbol.input_index].shape[symbol.dim], symbol.name)
        assert form is not None  # check_program refuses such a program
        return form

    def solve(self, index: int, found: int, where: str) -> int:
        """The value of symbol number `index` when the caller gives `found`; ShapeError when it may not have it."""
        symbol = self.symbols[index]
        scale, offset = self._forms[index]
        value, rest = divmod(found - offset, scale)
        too_large = symbol.maximum is not None and value > symbol.maximum
        if not (rest or too_large or value < symbol.minimum or value % symbol.multiple_of):
            return value
        text = "" if symbol.dim == -1 else f"{self.inputs[symbol.input_index].shape[symbol.dim]} with "
        text += range_text(symbol)
        step = abs(scale) * symbol.multiple_of
        if (found - offset) % step == 0:
            raise ShapeError(f"{where}, expected {text}", hint="compile the model with a wider range for this size")
        if offset % step:
            text += f": {offset % step} more than a multiple of {step}"
        elif step != symbol.multiple_of:
            text += f": a multiple of {step}"
        raise ShapeError(
            f"{where}, expected {text}",
            hint="pad or cut the input to such a size, or compile the model for sizes like this one",
        )

    def check(self, values: Sequence[int]) -> None:
        """Raise ShapeError for the first guard that the values of all symbols break."""
        for guard, side in zip(self.guards, self._sides, strict=True):
            if not _holds(guard, side, values):
                found = self.found((guard.expression,), values)
                raise ShapeError(
                    f"the sizes of the inputs do not fit together: {guard.message}, found {found}",
                    hint="pass inputs with sizes for which this holds, or compile the model with example inputs and "
                    "dynamic shapes like those of this call",
                )

    def found(self, texts: Sequence[str], values: Sequence[int]) -> str:
        """The symbols that expressions depend on, with their values and where these come from."""
        used = all_names(texts)
        parts = [
            f"{symbol.name} = {value} ({self._origin(index, value)})"
            for index, (symbol, value) in enumerate(zip(self.symbols, values, strict=True))
            if symbol.name in used
        ]
        return " and ".join(parts)

    def _origin(self, index: int, value: int) -> str:
        symbol = self.symbols[index]
        item = self.inputs[symbol.input_index]
        if symbol.dim == -1:
            return f"input {item.name!r}"
        scale, offset = self._forms[index]
        text = item.shape[symbol.dim]
        size = "" if text == symbol.name else f", which is {text} = {scale * value + offset}"
        return f"dim {symbol.dim} of input {item.name!r}{size}"


def _holds(guard: Guard, side: Callable[..., tuple[int, ...]], values: Sequence[int]) -> bool:
    try:
        (value,) = side(*values)
    except ZeroDivisionError:
        return False  # a size that something is divided by is 0, which the kernels rely on not to be
    if guard.relation == "!=":
        return value != 0
    return value == 0 if guard.relation == "==" else value >= 0


def range_text(symbol: Symbol) -> str:
    """The values that a symbol may have: "s in 1..64, multiple of 8"."""
    step = f", multiple of {symbol.multiple_of}" if symbol.multiple_of > 1 else ""
    most = "" if symbol.maximum is None else symbol.maximum
    return f"{symbol.name} in {symbol.minimum}..{most}{step}"
