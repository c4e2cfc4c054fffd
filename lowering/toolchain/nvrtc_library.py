"""The NVRTC library behind typed calls; a missing package or library is a ToolchainError that says what to install."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Literal

from ...dialects.errors import ToolchainError

Form = Literal["cubin", "ptx"]

MISSING_HINT = "pip install 'albumen[cuda]' (cuda-bindings and nvidia-cuda-nvrtc); the c target needs neither"


class NvrtcLibrary:
    """Opens the library; it needs no driver."""

    def __init__(self) -> None:
        try:
            self._module: Any = importlib.import_module("cuda.bindings.nvrtc")
        except ImportError as error:
            raise ToolchainError("the package cuda-bindings is not installed", hint=MISSING_HINT) from error
        try:
            self._module.nvrtcVersion()
        except RuntimeError as error:  # opened at the first call; some versions raise a subclass
            raise ToolchainError(f"the NVRTC library cannot be loaded: {error}", hint=MISSING_HINT) from error

    def version(self) -> str:
        """As `13.0`."""
        major, minor = self._call("nvrtcVersion")
        return f"{major}.{minor}"

    def architectures(self) -> tuple[int, ...]:
        """Compute capabilities it compiles for, as 90 for sm_90, ascending."""
        (listed,) = self._call("nvrtcGetSupportedArchs")
        return tuple(sorted(int(number) for number in listed if int(number)))

    def compile(self, source: str, name: str, options: Sequence[str], form: Form) -> tuple[bytes | None, str]:
        """The compiled form, or None where the text is refused, and the log."""
        (program,) = self._call("nvrtcCreateProgram", source.encode(), name.encode(), 0, [], [])
        try:
            encoded = [option.encode() for option in options]
            (status,) = self._module.nvrtcCompileProgram(program, len(encoded), encoded)
            log = self._read("nvrtcGetProgramLog", program).rstrip(b"\0").decode(errors="replace").strip()
            if status != self._module.nvrtcResult.NVRTC_SUCCESS:
                return None, log
            return self._read("nvrtcGetCUBIN" if form == "cubin" else "nvrtcGetPTX", program), log
        finally:
            self._module.nvrtcDestroyProgram(program)

    def _call(self, function: str, *arguments: object) -> tuple[Any, ...]:
        status, *results = getattr(self._module, function)(*arguments)
        if status != self._module.nvrtcResult.NVRTC_SUCCESS:
            raise ToolchainError(f"{function} failed: {status}")
        return tuple(results)

    def _read(self, function: str, program: object) -> bytes:
        (size,) = self._call(f"{function}Size", program)
        buffer = bytearray(size + 1)  # never empty, and written by the library
        target = bytes(buffer)
        self._call(function, program, target)
        return target[:size]
