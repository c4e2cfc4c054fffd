"""Metal text as a C++ unit of the CPU shim: attributes say what each parameter is fed, threadgroup variables become
shared ones, and the address spaces mean nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ...dialects.errors import ToolchainError
from .kernel_arguments import POINTER

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_ATTRIBUTE = re.compile(r"\[\[.*?\]\]", re.DOTALL)
_KERNEL_ATTRIBUTE = re.compile(r"\[\[\s*kernel\b[^\]]*\]\]")
_KERNEL = re.compile(r"\bkernel\s+void\s+(\w+)\s*\(")
_PARAMETER = re.compile(r"(.*?)\b(\w+)\s*\[\[\s*(\w+)\s*(?:\(\s*(\d+)\s*\)\s*)?\]\]", re.DOTALL)
_SPACES = re.compile(r"\b(?:device|constant|threadgroup|thread|const)\b")
# A declaration, not a pointer or reference into threadgroup memory; a `*` may stand in the size of an array.
_THREADGROUP_VARIABLE = re.compile(r"(^|[;{}])(\s*)threadgroup\b((?:[^;*&={}\[]|\[[^\]]*\])*;)")

_MACHINE = "albumen_shim::machine"
_BLOCK, _BLOCK_SIZE, _THREAD = f"{_MACHINE}.block", f"{_MACHINE}.block_size", f"{_MACHINE}.current->index"
_INDICES: Mapping[str, str] = MappingProxyType(
    {
        "thread_position_in_grid": f"{_BLOCK}.{{0}} * {_BLOCK_SIZE}.{{0}} + {_THREAD}.{{0}}",
        "threadgroup_position_in_grid": f"{_BLOCK}.{{0}}",
        "thread_position_in_threadgroup": f"{_THREAD}.{{0}}",
        "threads_per_threadgroup": f"{_BLOCK_SIZE}.{{0}}",
        "threadgroups_per_grid": f"{_MACHINE}.grid_size.{{0}}",
        "threads_per_grid": f"{_MACHINE}.grid_size.{{0}} * {_BLOCK_SIZE}.{{0}}",
    }
)
_NUMBERS: Mapping[str, str] = MappingProxyType(
    {
        "thread_index_in_threadgroup": f"{_MACHINE}.current->linear",
        "thread_index_in_simdgroup": "albumen_shim::lane()",
        "simdgroup_index_in_threadgroup": f"{_MACHINE}.current->linear / albumen_shim::WARP",
        "threads_per_simdgroup": "albumen_shim::WARP",
        "simdgroups_per_threadgroup": f"static_cast<unsigned>({_MACHINE}.warps.size())",
    }
)


@dataclass(frozen=True)
class MetalParameter:
    """One parameter of a kernel: its type as written, and the attribute that says what it is fed."""

    type: str
    name: str
    attribute: str
    index: int

    @property
    def value_type(self) -> str:
        """The type without address spaces and reference."""
        return _SPACES.sub("", self.type).replace("&", "").strip()


def metal_kernels(text: str) -> dict[str, tuple[MetalParameter, ...]]:
    """The kernels of a Metal text and their parameters. ToolchainError for a parameter without attribute."""
    found: dict[str, tuple[MetalParameter, ...]] = {}
    plain = _plain(text)
    for match in _KERNEL.finditer(plain):
        parameters: list[MetalParameter] = []
        for part in _split_parameters(plain, match.end()):
            parsed = _PARAMETER.fullmatch(part.strip())
            if parsed is None:
                raise ToolchainError(
                    f"kernel {match[1]}: parameter {' '.join(part.split())!r} has no attribute",
                    hint="give it [[buffer(n)]], [[threadgroup(0)]] or the attribute of a thread index",
                )
            parameters.append(MetalParameter(parsed[1].strip(), parsed[2], parsed[3], int(parsed[4] or 0)))
        found[match[1]] = tuple(parameters)
    return found


def metal_translation_unit(text: str, kernels: Mapping[str, Sequence[str]], name: str) -> str:
    """The shim, the text under its own line numbers, and the entry of every kernel."""
    parsed = metal_kernels(text)
    missing = [kernel for kernel in kernels if kernel not in parsed]
    if missing:
        raise ToolchainError(
            f"the Metal text has no kernel {', '.join(missing)} (it has: {', '.join(parsed) or 'none'})"
        )
    body = _ATTRIBUTE.sub(_keep_lines, _plain(text))
    body = _THREADGROUP_VARIABLE.sub(r'\1\2static __attribute__((section("albumen_shared")))\3', body)
    entries = "".join(_entry(kernel, parsed[kernel], kinds) for kernel, kinds in kernels.items())
    return f'#include "metal_cpu.h"\n#include "entry.h"\n#line 1 "{name}"\n{body}\n#line 1 "entries"\n{entries}'


def _keep_lines(match: re.Match[str]) -> str:
    return " " + "\n" * match[0].count("\n")


def _plain(text: str) -> str:
    """The text without comments, its kernels marked by the keyword; lines keep their numbers."""
    return _KERNEL_ATTRIBUTE.sub("kernel", _COMMENT.sub(_keep_lines, text))


def _split_parameters(text: str, start: int) -> list[str]:
    parts: list[str] = []
    depth, begin, position = 1, start, start
    while depth and position < len(text):
        character = text[position]
        depth += {"(": 1, "[": 1, "<": 1, ")": -1, "]": -1, ">": -1}.get(character, 0)
        if (character == "," and depth == 1) or depth == 0:
            parts.append(text[begin:position])
            begin = position + 1
        position += 1
    return [part for part in parts if part.strip()]


def _entry(kernel: str, parameters: Sequence[MetalParameter], kinds: Sequence[str]) -> str:
    buffers = sorted(parameter.index for parameter in parameters if parameter.attribute == "buffer")
    if buffers != list(range(len(kinds))):
        raise ToolchainError(f"kernel {kernel} takes buffers {buffers}, but {len(kinds)} parameter kinds are given")
    values = ", ".join(_value(kernel, parameter, kinds) for parameter in parameters)
    sizes = ["void *"] * len(kinds)
    for parameter in parameters:
        if parameter.attribute == "buffer" and kinds[parameter.index] != POINTER:
            sizes[parameter.index] = parameter.value_type
    return (
        f"static void albumen_entry_{kernel}([[maybe_unused]] void **arguments) {{ {kernel}({values}); }}\n"
        f"static void albumen_parameters_{kernel}({', '.join(sizes)}) {{}}\n"
        f"ALBUMEN_SIGNATURE({kernel}, albumen_parameters_{kernel})\n"
        f"ALBUMEN_LAUNCH({kernel})\n"
    )


def _value(kernel: str, parameter: MetalParameter, kinds: Sequence[str]) -> str:
    """The C++ expression that feeds one parameter."""
    kind = parameter.value_type
    if parameter.attribute == "buffer":
        return _buffer_value(kernel, parameter, kinds[parameter.index])
    if parameter.attribute == "threadgroup":
        if parameter.index != 0:
            raise ToolchainError(
                f"kernel {kernel}: only [[threadgroup(0)]] is supported, found index {parameter.index}"
            )
        return f"reinterpret_cast<{kind}>({_MACHINE}.dynamic_shared)"
    if parameter.attribute in _NUMBERS:
        return f"static_cast<{kind}>({_NUMBERS[parameter.attribute]})"
    if parameter.attribute not in _INDICES:
        raise ToolchainError(f"kernel {kernel}: the CPU shim does not know the attribute [[{parameter.attribute}]]")
    expression = _INDICES[parameter.attribute]
    width = int(kind[-1]) if kind[-1] in "23" else 1
    scalar = kind[:-1] if width > 1 else kind
    parts = ", ".join(f"static_cast<{scalar}>({expression.format(axis)})" for axis in "xyz"[:width])
    return f"{kind}({parts})" if width > 1 else parts


def _buffer_value(kernel: str, parameter: MetalParameter, kind: str) -> str:
    pointer = parameter.type.endswith("*")
    if pointer and kind != POINTER:
        raise ToolchainError(f"kernel {kernel}: buffer {parameter.index} is a pointer, its kind is {kind}")
    if not pointer and not parameter.type.endswith("&"):
        raise ToolchainError(f"kernel {kernel}: buffer {parameter.index} is neither a pointer nor a reference")
    source = f"arguments[{parameter.index}]"
    if pointer:
        return f"reinterpret_cast<{parameter.type}>(*static_cast<void **>({source}))"
    if kind == POINTER:
        return f"**static_cast<{parameter.value_type} **>({source})"
    return f"*static_cast<{parameter.value_type} *>({source})"
