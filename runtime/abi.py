"""The binary interface between a program of target c and the runtime that calls it.

One table of fields makes both the C header that the emitter prints into every program and the ctypes structure that the
runtime fills, so the two sides cannot disagree.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

ABI_VERSION = 1
"""Raised by every change of the entry's signature or of `albumen_host`; a program refuses a host of another version."""

ENTRY = "albumen_run"
"""Symbol of the one entry that a program's shared object exports."""

ARENA_ALIGNMENT = 64
"""The arena starts at a multiple of this many bytes."""

OUTPUT_ALIGNMENT = 16
"""Fresh outputs start at a multiple of this many bytes; an input at a multiple of what the program declares for it."""

STATUS_OK = 0
STATUS_VERSION = 1
STATUS_MEMORY = 2
STATUS_THREADS = 3
STATUS_INDEX = 4
STATUS_MISSING = 5
STATUS_VALUE = 6

STATUS = {
    STATUS_OK: ("OK", "done"),
    STATUS_VERSION: ("VERSION", "the host structure has another version than the program was compiled for"),
    STATUS_MEMORY: ("MEMORY", "scratch memory could not be allocated"),
    STATUS_THREADS: ("THREADS", "worker threads could not be started"),
    STATUS_INDEX: ("INDEX", "an index operand was out of range"),
    STATUS_MISSING: ("MISSING", "the program needs a host function that was not given"),
    STATUS_VALUE: ("VALUE", "a value of an operand was out of range"),
}
"""Code -> (suffix of the C constant ALBUMEN_..., meaning). The entry returns one of these codes."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of `albumen_host`: its C declaration, its ctypes type, and what it means."""

    name: str
    declaration: str
    type: type
    meaning: str


# Row-major callers pass order 101, transposition 111 (no) or 112 (yes): the ILP64 interface of CBLAS, so that a BLAS
# library's own function can be given without a trampoline.
Gemm = ctypes.CFUNCTYPE(
    None,
    *[ctypes.c_int32] * 3,
    *[ctypes.c_int64] * 3,
    ctypes.c_float,
    ctypes.c_void_p,
    ctypes.c_int64,
    ctypes.c_void_p,
    ctypes.c_int64,
    ctypes.c_float,
    ctypes.c_void_p,
    ctypes.c_int64,
)

# body(context, begin, end) over [0, count) in pieces of at least `grain`; returns when all pieces are done.
Body = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
ParallelFor = ctypes.CFUNCTYPE(None, ctypes.c_void_p, Body, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)

FIELDS = (
    Field("version", "int32_t version", ctypes.c_int32, "ALBUMEN_ABI_VERSION of the caller"),
    Field("threads", "int32_t threads", ctypes.c_int32, "threads that one call may use, at least 1"),
    Field(
        "gemm",
        "void (*gemm)(int32_t order, int32_t trans_a, int32_t trans_b, int64_t m, int64_t n, int64_t k, float alpha, "
        "const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc)",
        Gemm,
        "cblas_sgemm with 64-bit integers, or NULL",
    ),
    Field("pool", "void *pool", ctypes.c_void_p, "first argument of parallel_for"),
    Field(
        "parallel_for",
        "void (*parallel_for)(void *pool, void (*body)(void *context, int64_t begin, int64_t end), void *context, "
        "int64_t count, int64_t grain)",
        ParallelFor,
        "the caller's thread pool, or NULL: the program uses its own",
    ),
)


class Host(ctypes.Structure):
    """`albumen_host`: what the caller lends to a program for one call."""

    _fields_ = [(field.name, field.type) for field in FIELDS]


Entry = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)

ENTRY_DECLARATION = f"int {ENTRY}(void *const *buffers, const int64_t *symbols, void *arena, const albumen_host *host)"
"""buffers: inputs, then outputs, in the program's order (NULL for a scalar input and for an output that is a view of
an input); symbols: their values in the program's order; arena: `arena_bytes` bytes, undefined content."""


def header() -> str:
    """The C text that declares the interface; stands before everything else in a program's source (C and C++)."""
    codes = "\n".join(f"#define ALBUMEN_{name} {code} /* {meaning} */" for code, (name, meaning) in STATUS.items())
    fields = "\n".join(f"  {field.declaration}; /* {field.meaning} */" for field in FIELDS)
    return f"""\
#include <stddef.h>
#include <stdint.h>
#define ALBUMEN_ABI_VERSION {ABI_VERSION}
{codes}
typedef struct albumen_host {{
{fields}
}} albumen_host;
#ifdef __cplusplus
extern "C"
#endif
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
{ENTRY_DECLARATION};
"""
