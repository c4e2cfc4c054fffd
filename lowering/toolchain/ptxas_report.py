"""What ptxas says about each kernel in NVRTC's log: registers, stack, spills, shared memory, repaired wgmma."""

from __future__ import annotations

import re
from dataclasses import dataclass

_KERNEL = re.compile(r"Compiling entry function '([^']+)' for '([^']+)'")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")
_BARRIERS = re.compile(r"used (\d+) barriers")
_CONSTANT = re.compile(r"(\d+) bytes cmem\[\d+\]")
_INJECTED = re.compile(r"C7517|warpgroup\.wait is injected")


@dataclass(frozen=True)
class KernelResources:
    """Resources of one kernel in bytes and per thread; `shared` counts static shared memory only."""

    name: str
    arch: str
    registers: int
    stack: int
    spill_stores: int
    spill_loads: int
    shared: int
    barriers: int
    constant: int
    injected_waits: bool = False

    @property
    def problems(self) -> tuple[str, ...]:
        """Why this kernel must not be used; empty when it may."""
        found: list[str] = []
        if self.spill_stores or self.spill_loads:
            found.append(f"kernel {self.name} spills {self.spill_stores} bytes (loads {self.spill_loads} bytes)")
        if self.injected_waits:
            found.append(f"kernel {self.name} reads a wgmma accumulator too early: warpgroup.wait is injected (C7517)")
        return tuple(found)


def _number(pattern: re.Pattern[str], text: str) -> int:
    return sum(int(match) for match in pattern.findall(text))


def parse_ptxas_log(log: str) -> tuple[KernelResources, ...]:
    """One record for each kernel, in the order of the log, which a compile with `--ptxas-options=-v` wrote."""
    starts = list(_KERNEL.finditer(log))
    kernels: list[KernelResources] = []
    # A C7517 line stands outside the record of the kernel it names; if it names none, any kernel may be meant.
    notes = [line for line in log.splitlines() if _INJECTED.search(line)]
    ends = [*(start.start() for start in starts[1:]), len(log)]
    for start, end in zip(starts, ends, strict=False):  # without kernels there is one end too many
        part = log[start.start() : end]
        frame = _FRAME.search(part)
        stack, stores, loads = (int(value) for value in frame.groups()) if frame else (0, 0, 0)
        name = start[1]
        named = [note for note in notes if "function '" in note]
        injected = any(f"'{name}'" in note for note in named) or len(named) < len(notes)
        kernels.append(
            KernelResources(
                name=name,
                arch=start[2],
                registers=_number(_USED, part),
                stack=stack,
                spill_stores=stores,
                spill_loads=loads,
                shared=_number(_SHARED, part),
                barriers=_number(_BARRIERS, part),
                constant=_number(_CONSTANT, part),
                injected_waits=injected,
            )
        )
    return tuple(kernels)
