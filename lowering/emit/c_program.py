"""A whole program as one C file: the interface, what the kernels need from the prelude, the kernels, and one entry."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...dialects.loop import KernelOp
from ...runtime.abi import ENTRY_DECLARATION, header
from .c import C
from .c_kernel import CPrinter, function_name
from .c_pack import TRANSPOSE
from .prelude import device_functions

HERE = Path(__file__).parent
INCLUDES = "#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n#include <string.h>\n"
CHECK = "  if (host->version != ALBUMEN_ABI_VERSION) return ALBUMEN_VERSION;\n"


def prelude(body: str) -> str:
    """The functions of the math and storage headers that the text uses."""
    types = device_functions(HERE / "c_types.h", body)
    return INCLUDES + device_functions(HERE / "c_math.h", "ALB_INLINE " + types + body) + types


def threads() -> str:
    """The thread pool and the scratch memory of threads."""
    return (HERE / "c_pool.h").read_text(encoding="utf-8")


def program_source(kernels: Sequence[KernelOp], entry: str) -> str:
    """The C text of the kernels, each once, and of the entry whose body is `entry`."""
    printers = [CPrinter(C, kernel) for kernel in kernels]
    texts = [printer.kernel_text() for printer in printers]
    vectors = {name: text for printer in printers for name, text in printer.vectors.items()}
    packers = {name: text for printer in printers for name, text in printer.packers.items()}
    parts = [*vectors.values(), *([TRANSPOSE] if packers else []), *packers.values(), *texts]
    body = "\n".join([*parts, f"{ENTRY_DECLARATION} {{\n{entry}}}\n"])
    return "\n".join([header(), prelude(body), threads(), body])


def kernel_source(kernel: KernelOp) -> str:
    """A program of one kernel: its buffers in the order of its pointers, its symbols in the order of its indices."""
    arguments = [f"buffers[{position}]" for position in range(len(kernel.pointers))]
    arguments += [f"symbols[{position}]" for position in range(len(kernel.symbols))]
    call = ", ".join(["host", *arguments])
    lines = [
        "  (void)arena;",
        "  (void)symbols;",
        "  if (host->version != ALBUMEN_ABI_VERSION) return ALBUMEN_VERSION;",
    ]
    return program_source([kernel], "\n".join([*lines, f"  return {function_name(kernel)}({call});", ""]))
