"""Runs CUDA and Metal text on the CPU: the exact text, one fiber per GPU thread; what a GPU would hide is an error.

`ShimModule.compile(text, "cuda", {"softmax": ["ptr", "ptr", "i32"]})`, then
`module.launch("softmax", (64, 1, 1), (256, 1, 1), 0, [x, y, 1000])`.

Reported with the kernel, the thread, and most often the line: divergent barriers and warp operations, accesses outside
an argument or the dynamic shared memory, writes to a read-only array, misaligned accesses, indices outside an array of
known size, division by zero. Shared memory holds NaN (-1) before each block; asynchronous copies land when they are
waited for. Not run: inline PTX, and what has no body in albumen_nv_cpu.h (wgmma, TMA, mbarriers).
"""

from __future__ import annotations

import ctypes
import re
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal

from ...dialects.errors import EvaluationError, ToolchainError
from .cc import Compiler, find_cxx_compiler
from .command import refused, run_command
from .cuda_headers import directories_for, header_contents
from .cuda_source import cuda_translation_unit, launch_bound
from .device_prelude import SHIM_DIRECTORY, shim_headers
from .kernel_arguments import ALIGNMENT, POINTER, SCALARS, Argument, Region, array_regions, kind_size, pack
from .launch_record import LaunchConfig, Report, launch_error, overrun_error
from .metal_source import metal_translation_unit
from .object_cache import ObjectCache, content_key

Language = Literal["cuda", "metal"]
Order = Literal["forward", "reverse"]

# Frames that could not fit a fiber's stack are refused; no contraction, as on the device; checks that call faults.h.
_COMPILE_FLAGS = (
    *("-std=gnu++17", "-O1", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-fno-exceptions", "-fno-weak"),
    *("-fsanitize=alignment,bounds", "-fno-sanitize-recover=all", "-Werror=frame-larger-than=49152"),
    *("-Wframe-larger-than=49152", "-Wno-attributes", "-Wno-unknown-pragmas", "-Wno-literal-suffix"),
)
_MAX_THREADS = 1024
_MAX_SHARED_BYTES = {"cuda": 227 << 10, "metal": 32 << 10}  # of a block on sm_90, on every Apple GPU
_MAX_GRID = (2**31 - 1, 65535, 65535)


class ShimModule:
    """Compiled kernels. A launch runs to its end on the calling thread; launches wait for each other, as each holds the
    process's signal handlers while it runs."""

    _LAUNCHING: ClassVar = threading.Lock()

    def __init__(
        self, code: bytes, language: Language, kernels: Mapping[str, Sequence[str]], bounds: Mapping[str, int]
    ):
        self._kernels = {name: tuple(kinds) for name, kinds in kernels.items()}
        self._bounds = dict(bounds)
        self._exits_count = language == "cuda"
        self._max_shared_bytes = _MAX_SHARED_BYTES[language]
        with tempfile.TemporaryDirectory(prefix="albumen-shim-") as directory:
            path = Path(directory) / "kernels.so"
            path.write_bytes(code)
            self._library = ctypes.CDLL(str(path))
        self._buffer_new = self._library.albumen_buffer_new
        self._buffer_new.restype = ctypes.c_void_p
        for name, kinds in self._kernels.items():
            self._check_signature(name, kinds)

    @classmethod
    def compile(
        cls,
        text: str,
        language: Language,
        kernels: Mapping[str, Sequence[str]],
        cache: ObjectCache | None = None,
        *,
        compiler: Compiler | None = None,
    ) -> ShimModule:
        """Compile `text` with the kinds of each kernel's parameters: `ptr`, or a scalar type such as `i32` and `bf16`.

        In Metal text the kinds are those of the buffers in the order of their indices, a `constant T &` being a scalar.
        Only the named kernels can be launched. ToolchainError if the text is refused or a kind does not fit."""
        _check_kinds(kernels)
        compiler = compiler or find_cxx_compiler()
        name = "kernel.cu" if language == "cuda" else "kernel.metal"
        unit = (cuda_translation_unit if language == "cuda" else metal_translation_unit)(text, kernels, name)
        headers = header_contents(text) if language == "cuda" else ()
        key = content_key("shim", [unit, compiler.version, *_COMPILE_FLAGS, shim_headers(), *headers])
        code = cache.get(key) if cache is not None else None
        if code is None:
            code = _build(compiler, unit, text, name, language)
            if cache is not None:
                cache.put(key, code)
        bounds = {kernel: bound for kernel in kernels if (bound := launch_bound(text, kernel)) is not None}
        return cls(code, language, kernels, bounds)

    def launch(
        self,
        kernel: str,
        grid: Sequence[int],
        block: Sequence[int],
        shared_bytes: int,
        args: Sequence[Argument],
        *,
        order: Order = "forward",
        guard: bool = True,
    ) -> None:
        """Run `kernel` on `grid` blocks of `block` threads. Arrays are updated in place.

        Between barriers each thread runs as far as it can, in ascending order; in the reverse order descending, and
        asynchronous copies land at once: a kernel that lacks a barrier gives wrong results in one of the two. With
        `guard` it works on copies of the arrays that end where nothing is mapped. EvaluationError if anything fails."""
        if kernel not in self._kernels:
            raise EvaluationError(f"no kernel {kernel} in this module (it has: {', '.join(self._kernels)})")
        self._check_geometry(kernel, grid, block, shared_bytes)
        config = LaunchConfig(
            grid=_triple(grid),
            block=_triple(block),
            shared_bytes=shared_bytes,
            reverse=order == "reverse",
            exits_count=self._exits_count,
        )
        regions = array_regions(args)
        with self._LAUNCHING:
            try:
                self._place(regions, guard)
                packed = pack(self._kernels[kernel], args, regions, kernel)
                report = Report()
                entry = getattr(self._library, f"albumen_launch_{kernel}")
                if entry(ctypes.byref(config), packed.pointers(), ctypes.byref(report)) != 0:
                    raise launch_error(kernel, report, regions, shared_bytes)
                if guard:
                    self._copy_back(kernel, regions)
            finally:
                self._release(regions)

    def _place(self, regions: list[Region], guard: bool) -> None:
        for region in regions:
            if not guard:
                region.copy = region.low
                continue
            data = ctypes.c_void_p()
            handle = self._buffer_new(
                ctypes.c_uint64(region.size), ctypes.c_uint32(region.low % ALIGNMENT), ctypes.byref(data)
            )
            if handle is None or data.value is None:
                raise EvaluationError(f"no memory for an argument of {region.size} bytes", stage="shim")
            region.handle, region.copy = handle, data.value
            ctypes.memmove(region.copy, region.low, region.size)
            if not region.writeable:
                self._library.albumen_buffer_protect(ctypes.c_void_p(handle))

    def _copy_back(self, kernel: str, regions: list[Region]) -> None:
        for region in regions:
            if not self._library.albumen_buffer_intact(ctypes.c_void_p(region.handle)):
                raise overrun_error(kernel, region)
        for region in regions:
            if region.writeable:
                ctypes.memmove(region.low, region.copy, region.size)

    def _release(self, regions: list[Region]) -> None:
        for region in regions:
            if region.handle:
                self._library.albumen_buffer_delete(ctypes.c_void_p(region.handle))

    def _check_signature(self, kernel: str, kinds: Sequence[str]) -> None:
        sizes = (ctypes.c_uint32 * (len(kinds) + 1))()
        count = getattr(self._library, f"albumen_sizes_{kernel}")(sizes, ctypes.c_uint(len(kinds)))
        if count != len(kinds):
            raise ToolchainError(f"kernel {kernel} has {count} parameters, but {len(kinds)} kinds are given")
        for index, (size, kind) in enumerate(zip(sizes, kinds, strict=False)):
            if size != kind_size(kind):
                raise ToolchainError(
                    f"kernel {kernel}: parameter {index} has {size} bytes, its kind {kind} has {kind_size(kind)}"
                )

    def _check_geometry(self, kernel: str, grid: Sequence[int], block: Sequence[int], shared_bytes: int) -> None:
        threads = block[0] * block[1] * block[2]
        limit = self._bounds.get(kernel, _MAX_THREADS)
        if min(block) < 1 or threads > limit:
            raise EvaluationError(f"kernel {kernel}: a block of {tuple(block)} threads, allowed are 1 to {limit}")
        if min(grid) < 1 or any(size > most for size, most in zip(grid, _MAX_GRID, strict=True)):
            raise EvaluationError(f"kernel {kernel}: a grid of {tuple(grid)} blocks, allowed are 1 to {_MAX_GRID}")
        if not 0 <= shared_bytes <= self._max_shared_bytes:
            raise EvaluationError(
                f"kernel {kernel}: {shared_bytes} bytes of shared memory, a block has at most {self._max_shared_bytes}"
            )


def _triple(sizes: Sequence[int]) -> ctypes.Array[ctypes.c_uint32]:
    return (ctypes.c_uint32 * 3)(*sizes)


def _check_kinds(kernels: Mapping[str, Sequence[str]]) -> None:
    for kernel, kinds in kernels.items():
        unknown = [kind for kind in kinds if kind != POINTER and kind not in SCALARS]
        if unknown:
            known = ", ".join((POINTER, *SCALARS))
            raise ToolchainError(f"kernel {kernel}: unknown parameter kinds {', '.join(unknown)} (known: {known})")


def _build(compiler: Compiler, unit: str, text: str, name: str, language: Language) -> bytes:
    includes = [f"-I{SHIM_DIRECTORY}"]
    if language == "cuda":
        includes += [f"-isystem{directory}" for directory in directories_for(text)]
    with tempfile.TemporaryDirectory(prefix="albumen-shim-") as directory:
        folder = Path(directory)
        (folder / "unit.cpp").write_text(unit)
        compile_command = [compiler.path, *_COMPILE_FLAGS, *includes, "-c", "unit.cpp", "-o", "unit.o"]
        status, output = run_command(compile_command, folder)
        if status != 0:
            raise refused(compiler.version, text, name, compile_command, _only_kernel_lines(output, name))
        # Linked without -fsanitize: the checks call the shim, not the compiler's runtime library.
        link_command = [compiler.path, "-shared", "unit.o", "-o", "kernels.so", "-lpthread", "-lm"]
        status, output = run_command(link_command, folder)
        if status != 0:
            raise refused(compiler.version, text, name, link_command, output)
        return (folder / "kernels.so").read_bytes()


def _only_kernel_lines(output: str, name: str) -> str:
    """The messages about the kernel's text first, since those about the shim's headers follow from them."""
    lines = output.splitlines()
    own = [line for line in lines if re.match(rf"{re.escape(name)}:\d+", line)]
    return "\n".join([*own, *(line for line in lines if line not in own)])
