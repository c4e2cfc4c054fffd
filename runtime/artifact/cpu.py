"""The instruction sets of this machine's processor, in the names that artifacts of target c record and compare."""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path

# What compilers may use for floating point and vector code; other flags of the kernel's list do not change generated
# code.
_X86 = (
    "sse4_1 sse4_2 popcnt movbe f16c fma avx avx2 bmi1 bmi2 abm avx512f avx512dq avx512cd avx512bw avx512vl avx512ifma "
    "avx512vbmi avx512_vbmi2 avx512_vnni avx512_bitalg avx512_vpopcntdq avx512_bf16 avx512_fp16 avx512_vp2intersect "
    "avx_vnni gfni vaes vpclmulqdq pclmulqdq adx sha_ni amx_tile amx_bf16 amx_int8"
)
_ARM = "asimd asimdhp asimddp asimdfhm fphp atomics sve sve2 svebf16 svei8mm bf16 i8mm sha3"
_KNOWN = frozenset(f"{_X86} {_ARM}".split())


@cache
def cpu_features() -> tuple[str, ...]:
    """Operating system, machine, then the instruction sets in alphabetical order."""
    head = (platform.system().lower(), platform.machine().lower())
    return (*head, *sorted(_flags()))


def missing_features(needed: tuple[str, ...]) -> tuple[str, ...]:
    """What of `needed` this machine lacks, in order."""
    here = frozenset(cpu_features())
    return tuple(feature for feature in needed if feature not in here)


def _flags() -> frozenset[str]:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return frozenset()
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("flags", "Features"):
            return frozenset(value.split()) & _KNOWN
    return frozenset()
