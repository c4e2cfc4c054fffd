"""The one family of run-time errors: each says what was found, what was expected and what to do.

The compiler has a family of its own (dialects/errors.py); the runtime is a leaf and knows nothing of it.
"""

from __future__ import annotations


class ExecutionError(Exception):
    """A compiled program that cannot be loaded or run. `message` says what was found, `hint` what to do."""

    message: str
    hint: str

    def __init__(self, message: str, *, hint: str = "") -> None:
        self.message = message
        self.hint = hint
        super().__init__(message)

    def __str__(self) -> str:
        return f"{self.message}\n  to do: {self.hint}" if self.hint else self.message


class ConfigurationError(ExecutionError):
    """A variable of the environment with a value that means nothing."""


class ExpressionError(ExecutionError):
    """A size expression outside the closed grammar, or without a value (division by zero, unknown name)."""


class ArtifactError(ExecutionError):
    """A file that is no artifact, is damaged, is newer than this reader, or needs a feature this reader lacks."""


class LaunchError(ExecutionError):
    """A call that cannot be carried out: wrong count, kind, dtype or alignment of an input, or a failed program."""


class IndexRangeError(LaunchError, IndexError):
    """An index that the program read from a tensor lies outside its axis, where eager raises IndexError."""


class ValueRangeError(LaunchError, RuntimeError):
    """A number that the program read from a tensor is outside its range, where eager raises RuntimeError."""


class ShapeError(LaunchError):
    """An input whose shape or strides are not what the program was compiled for."""


class LayoutError(ShapeError):
    """An input of the right shape at an address or with strides that the kernels cannot take; a copy would do."""


class DeviceError(ExecutionError):
    """A device that is missing, or whose driver refused a call; carries the driver's own name and text of the error."""

    call: str
    code: str

    def __init__(self, message: str, *, call: str = "", code: str = "", hint: str = "") -> None:
        self.call = call
        self.code = code
        super().__init__(message, hint=hint)
