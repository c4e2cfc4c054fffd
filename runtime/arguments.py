"""Checks the inputs of a call against what the program was compiled for, and finds the values of its symbols."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .adapter import TensorFacts
from .array import ArrayFacts, DeviceArray
from .artifact import HostProgram, Input
from .errors import LaunchError, LayoutError, ShapeError
from .expression import all_names, compile_expressions
from .numpy_dtype import accepts
from .sizes import SizeChecker, range_text

_ARRAYS = ArrayFacts()


def facts_of(tensor: Any, adapter: TensorFacts[Any]) -> TensorFacts[Any]:
    """What reads this tensor: a value that the runtime holds is a DeviceArray, everything else the adapter's."""
    return _ARRAYS if isinstance(tensor, DeviceArray) else adapter


class ArgumentChecker:
    """The declared inputs of one program, ready to be compared with tensors."""

    def __init__(self, program: HostProgram) -> None:
        self.inputs = program.inputs
        self.symbols = program.symbols
        self.sizes = SizeChecker(program)
        texts = [text for item in program.inputs for text in (*item.shape, *item.strides)]
        self._extents = compile_expressions(texts, [symbol.name for symbol in program.symbols])

    def check(self, adapter: TensorFacts[Any], tensors: Sequence[Any], device: str) -> tuple[int, ...]:
        """The values of the symbols; raises LaunchError or ShapeError at the first input that does not fit.

        `tensors` are all inputs in order. Addresses are not looked at (see `check_alignment`).
        """
        for item, tensor in zip(self.inputs, tensors, strict=True):
            self._check_kind(item, tensor, facts_of(tensor, adapter), device)
        values = tuple(self._solve(index, adapter, tensors) for index in range(len(self.symbols)))
        extents = iter(self._extents(*values))
        for item, tensor in zip(self.inputs, tensors, strict=True):
            shape = tuple(next(extents) for _ in item.shape)
            strides = tuple(next(extents) for _ in item.strides)
            if item.role != "scalar":
                facts = facts_of(tensor, adapter)
                self._check_shape(item, facts.shape(tensor), shape, values)
                self._check_strides(item, tensor, facts, shape, strides)
        self.sizes.check(values)
        return values

    def _check_kind(self, item: Input, tensor: Any, adapter: TensorFacts[Any], device: str) -> None:
        if item.role == "scalar":
            if type(tensor) is not int:
                raise LaunchError(f"input {item.name!r}: expected an int, found {type(tensor).__name__}")
            return
        if type(tensor) is int:
            raise LaunchError(f"input {item.name!r}: expected a tensor, found an int")
        found = adapter.dtype(tensor)
        if not accepts(item.dtype, found):
            raise LaunchError(
                f"input {item.name!r}: expected dtype {item.dtype}, found {found or 'another type'}",
                hint="cast the input, or compile the model for this dtype",
            )
        place = adapter.device(tensor)
        if place != device:
            raise LaunchError(
                f"input {item.name!r}: lies on {place}, but the program runs on {device}", hint="move the input"
            )

    def _solve(self, index: int, adapter: TensorFacts[Any], tensors: Sequence[Any]) -> int:
        symbol = self.symbols[index]
        item, tensor = self.inputs[symbol.input_index], tensors[symbol.input_index]
        if symbol.dim == -1:
            found, where = tensor, f"input {item.name!r} is {tensor}"
        else:
            shape = facts_of(tensor, adapter).shape(tensor)
            if len(shape) != len(item.shape):
                self._check_shape(item, shape, (-1,) * len(item.shape), None)
            found = shape[symbol.dim]
            where = f"input {item.name!r}: dim {symbol.dim} of {list(shape)} is {found}"
        return self.sizes.solve(index, found, where)

    def _check_shape(
        self, item: Input, found: Sequence[int], expected: tuple[int, ...], values: tuple[int, ...] | None
    ) -> None:
        if tuple(found) == expected:
            return
        spelled = f"[{', '.join(item.shape)}]"
        used = all_names(item.shape)
        if used and values is not None:
            spelled += f" = {list(expected)} where {self.sizes.found(item.shape, values)}"
        elif used:
            spelled += f" ({'; '.join(range_text(symbol) for symbol in self.symbols if symbol.name in used)})"
        raise ShapeError(
            f"input {item.name!r}: shape {list(found)}, expected {spelled}",
            hint="pass an input of this shape, or compile the model for the one you have",
        )

    def _check_strides(
        self,
        item: Input,
        tensor: Any,
        adapter: TensorFacts[Any],
        shape: tuple[int, ...],
        expected: tuple[int, ...],
    ) -> None:
        try:
            found = adapter.strides(tensor)
        except ValueError as error:
            raise ShapeError(f"input {item.name!r}: {error}", hint="pass a contiguous copy") from error
        if found == expected or 0 in shape:
            return
        if any(extent != 1 and a != b for extent, a, b in zip(shape, found, expected, strict=True)):
            raise LayoutError(
                f"input {item.name!r}: strides {list(found)} for shape {list(shape)}, expected {list(expected)}",
                hint="pass a contiguous copy, or compile the model for this layout",
            )


def check_alignment(item: Input, address: int, shape: Sequence[int]) -> None:
    """Raise LayoutError when an input with elements starts at an address that its kernels cannot take."""
    if address % item.align and math.prod(shape):
        raise LayoutError(
            f"input {item.name!r}: address {address:#x} is not {item.align}-byte aligned",
            hint="pass a copy, which starts at an aligned address",
        )
