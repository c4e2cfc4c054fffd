"""CUDA text as a C++ unit of the CPU shim. The text stays as NVRTC gets it, dynamic shared memory apart."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ...dialects.errors import ToolchainError
from .cuda_headers import included_headers

# `extern __shared__ __align__(16) float tile[];` declares nothing that C++ could define later.
_DYNAMIC_SHARED = re.compile(r"\bextern\b([^;{}\[]*?)\b__shared__\b([^;{}\[]*?)\b(\w+)\s*\[\s*\]\s*;")
_ALIGNMENT = re.compile(r"(?:__align__|alignas)\s*\([^)]*\)")


def _dynamic_shared(match: re.Match[str]) -> str:
    before = match.string[: match.start()]
    if before.count("{") == before.count("}"):
        raise ToolchainError(
            f"dynamic shared memory {match[3]} is declared outside a function",
            hint="declare it in the kernel: the CPU shim gives each launch its own",
        )
    element = " ".join(_ALIGNMENT.sub("", match[1] + match[2]).split())
    lines = "\n" * match[0].count("\n")
    return f"{element} *{match[3]} = reinterpret_cast<{element} *>(albumen_shim::machine.dynamic_shared);{lines}"


def cuda_translation_unit(text: str, kernels: Mapping[str, Sequence[str]], name: str) -> str:
    """The shim, the text under its own line numbers, and the entry of every kernel."""
    # NVIDIA's headers come first: they define the words that the shim then gives another meaning.
    headers = "".join(f"#include <{header}>\n" for header in included_headers(text))
    body = _DYNAMIC_SHARED.sub(_dynamic_shared, text)
    entries = "".join(
        f"static void albumen_entry_{kernel}(void **arguments) {{ albumen_shim::call({kernel}, arguments); }}\n"
        f"ALBUMEN_SIGNATURE({kernel}, {kernel})\n"
        f"ALBUMEN_LAUNCH({kernel})\n"
        for kernel in kernels
    )
    return f'{headers}#include "cuda_cpu.h"\n#include "entry.h"\n#line 1 "{name}"\n{body}\n#line 1 "entries"\n{entries}'


def launch_bound(text: str, kernel: str) -> int | None:
    """The most threads a block of `kernel` may have by its __launch_bounds__, or None where it has none."""
    head = re.search(rf"__global__([^;{{}}]*?)\b{re.escape(kernel)}\s*\(", text)
    bound = re.search(r"__launch_bounds__\s*\(\s*(\d+)", head[1]) if head else None
    return int(bound[1]) if bound else None
