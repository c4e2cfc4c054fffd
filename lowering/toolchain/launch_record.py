"""The records that a launch on the CPU shim exchanges with its module, and the text of a failed launch."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from ...dialects.errors import EvaluationError
from .kernel_arguments import Region

GUARD_BYTES = 1 << 20  # as in buffers.h


class LaunchConfig(ctypes.Structure):
    """Mirrors `LaunchConfig` of machine.h."""

    _fields_ = (
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared_bytes", ctypes.c_uint64),
        ("reverse", ctypes.c_uint32),
        ("exits_count", ctypes.c_uint32),
    )


class Report(ctypes.Structure):
    """Mirrors `Report` of machine.h."""

    _fields_ = (
        ("code", ctypes.c_int32),
        ("line", ctypes.c_int32),
        ("block", ctypes.c_uint32 * 3),
        ("thread", ctypes.c_uint32 * 3),
        ("address", ctypes.c_uint64),
        ("shared", ctypes.c_uint64),
        ("is_write", ctypes.c_int32),
        ("message", ctypes.c_char * 340),
    )

    code: int
    line: int
    block: Sequence[int]
    thread: Sequence[int]
    address: int
    shared: int
    is_write: int
    message: bytes


DIVERGENT, BAD_ADDRESS, MISALIGNED, BAD_INDEX, ARITHMETIC, SHARED_OVERRUN, TRAP, NO_MEMORY = range(1, 9)

_HINTS = {
    DIVERGENT: "every thread of the block (of the mask) must reach the same barrier or warp operation",
    BAD_ADDRESS: "guard the access, or check the offset and the launch geometry",
    MISALIGNED: "a vector access needs a pointer aligned to its size: use scalar accesses for this pointer",
    BAD_INDEX: "check the index against the size of the array",
    SHARED_OVERRUN: "check the offsets into shared memory against the shared_bytes of the launch",
    NO_MEMORY: "launch fewer threads or smaller buffers",
}


def _place_of(address: int, regions: Sequence[Region], shared: int, shared_bytes: int) -> str:
    """Which argument an address belongs to or lies beside."""
    places = [(region.copy, region.size, _names(region)) for region in regions]
    places.append((shared, shared_bytes, "the dynamic shared memory"))
    for start, size, name in places:
        offset = address - start
        if 0 <= offset < size:
            return f"at byte {offset} of {name} ({size} bytes)"
        if -GUARD_BYTES <= offset < size + GUARD_BYTES:
            distance = (
                f"{offset - size} bytes behind the end" if offset >= size else f"{-offset} bytes before the start"
            )
            return f"{distance} of {name} ({size} bytes)"
    return f"at address {address:#x}, which belongs to no argument"


def _names(region: Region) -> str:
    return " and ".join(f"argument {index}" for index in region.arguments)


def _what(report: Report, regions: Sequence[Region], shared_bytes: int) -> str:
    found = report.message.decode(errors="replace")
    if report.code == BAD_ADDRESS:
        access = {1: "write", 0: "read"}.get(report.is_write, "access")
        if report.address == 0:
            return f"{access} through a null or malformed pointer"
        return f"{access} {_place_of(report.address, regions, report.shared, shared_bytes)}"
    if report.code == MISALIGNED and report.address:
        return f"misaligned access, {found}: {_place_of(report.address, regions, report.shared, shared_bytes)}"
    texts = {
        DIVERGENT: f"divergent barrier: {found}",
        MISALIGNED: f"misaligned access, {found}",
        BAD_INDEX: f"index out of bounds, {found}",
        ARITHMETIC: "integer division by zero",
        SHARED_OVERRUN: f"write behind the dynamic shared memory ({shared_bytes} bytes)",
        TRAP: found or "the kernel trapped (a failed assertion, or an instruction the processor refuses)",
        NO_MEMORY: "no memory for the stacks or the shared memory",
    }
    return texts[report.code]


def launch_error(kernel: str, report: Report, regions: Sequence[Region], shared_bytes: int) -> EvaluationError:
    """The error of a launch that did not end well: the kernel, which thread found it, what, and what to do."""
    block, thread = (",".join(map(str, index)) for index in (report.block, report.thread))
    where = f"block ({block})" if report.code in (SHARED_OVERRUN, NO_MEMORY) else f"block ({block}) thread ({thread})"
    if report.line > 0:
        where += f", line {report.line} of its text"
    what = _what(report, regions, shared_bytes)
    return EvaluationError(f"kernel {kernel}: {what}", where=where, hint=_HINTS.get(report.code, ""), stage="shim")


def overrun_error(kernel: str, region: Region) -> EvaluationError:
    """The error of a write close beside an argument, seen after the launch."""
    message = f"kernel {kernel}: write just outside {_names(region)} ({region.size} bytes)"
    return EvaluationError(message, hint=_HINTS[BAD_ADDRESS], stage="shim")
