"""C text to a shared object: finds the compiler, compiles with the flags the C target needs, caches by content."""

from __future__ import annotations

import functools
import os
import platform
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ...dialects.errors import ToolchainError
from ...runtime.artifact import cpu_features
from .command import refused, run_command
from .object_cache import ObjectCache, content_key

C_COMPILERS = ("cc", "gcc", "clang")
CXX_COMPILERS = ("g++", "c++", "clang++")

# -fno-math-errno and -fno-trapping-math let the math prelude vectorise; -ffast-math would fold its rounding trick away.
C_FLAGS = ("-std=gnu11", "-O3", "-fopenmp-simd", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-fPIC")
C_LIBRARIES = ("-lm", "-lpthread")
SOURCE, OUTPUT = "{source}", "{output}"  # the two paths in a command that is kept


class CompilerMissing(ToolchainError):
    """No compiler of a language on this machine."""


@dataclass(frozen=True)
class Compiler:
    """A compiler that exists. `version` is the first line it prints about itself."""

    path: str
    version: str

    @property
    def native_flags(self) -> tuple[str, ...]:
        """Flags that select this machine's instruction set; clang on Arm knows only the second spelling."""
        arm = platform.machine() in ("arm64", "aarch64")
        return ("-mcpu=native",) if arm and "clang" in self.version.lower() else ("-march=native",)


@dataclass(frozen=True)
class SharedObject:
    """A compiled C text: what an artifact ships, and what it takes to make it again elsewhere."""

    code: bytes
    command: tuple[str, ...]  # with "{source}" and "{output}" in place of the two paths
    compiler: str
    cpu_features: tuple[str, ...]


@dataclass(frozen=True)
class CompilerReport:
    """What `albumen targets` prints about one compiler."""

    found: bool
    name: str
    detail: str
    hint: str = ""


def _installation_hint() -> str:
    install = "Xcode's command line tools" if platform.system() == "Darwin" else "gcc (apt-get install gcc g++)"
    return f"install {install}, or name a compiler with the option cc= or the variable ALBUMEN_CC"


@functools.cache
def _version(path: str, modified_ns: int) -> str:
    del modified_ns  # a compiler that was replaced is asked again
    status, output = run_command([path, "--version"], time_limit_s=60)
    if status != 0:
        raise ToolchainError(
            f"{path} is no usable compiler", command=f"{path} --version", output=output, hint=_installation_hint()
        )
    return output.splitlines()[0] if output else path


def _find(language: str, candidates: Sequence[str]) -> Compiler:
    for name in candidates:
        path = shutil.which(name)
        if path is not None:
            return Compiler(path, _version(path, os.stat(path).st_mtime_ns))
    tried = ", ".join(candidates)
    raise CompilerMissing(f"no {language} compiler on this machine (tried {tried})", hint=_installation_hint())


def find_c_compiler(option: str | None = None, configured: str | None = None) -> Compiler:
    """The compiler that `option` names, else `configured` (the caller's ALBUMEN_CC), else the first on PATH."""
    named = option or configured
    return _find("C", (named,) if named else C_COMPILERS)


def find_cxx_compiler(option: str | None = None) -> Compiler:
    """The C++ compiler that `option` names, else the first on PATH. Only the CPU shim needs one."""
    return _find("C++", (option,) if option else CXX_COMPILERS)


def compile_c(
    source: str,
    *,
    compiler: Compiler | None = None,
    flags: Sequence[str] = (),
    cache: ObjectCache | None = None,
    name: str = "program.c",
) -> SharedObject:
    """Compile `source` for this machine, `flags` after the usual ones. ToolchainError if the text is refused."""
    compiler = compiler or find_c_compiler()
    options = (*C_FLAGS, *compiler.native_flags, *flags, "-shared", SOURCE, "-o", OUTPUT, *C_LIBRARIES)
    command = (Path(compiler.path).name, *options)
    key = content_key("c", [source, *command, compiler.version, *cpu_features()])
    code = cache.get(key) if cache is not None else None
    if code is None:
        code = _compile_file(compiler, source, name, command)
        if cache is not None:
            cache.put(key, code)
    return SharedObject(code, command, compiler.version, cpu_features())


def _compile_file(compiler: Compiler, source: str, name: str, command: tuple[str, ...]) -> bytes:
    # Relative names: messages then read the same on every machine.
    with tempfile.TemporaryDirectory(prefix="albumen-cc-") as directory:
        folder = Path(directory)
        (folder / name).write_text(source)
        places = {SOURCE: name, OUTPUT: "out.so"}
        full = [compiler.path, *(places.get(word, word) for word in command[1:])]
        status, output = run_command(full, folder)
        if status != 0:
            raise refused(compiler.version, source, name, full, output)
        return (folder / "out.so").read_bytes()


def compile_c_batch(
    sources: Iterable[str],
    *,
    compiler: Compiler | None = None,
    flags: Sequence[str] = (),
    cache: ObjectCache | None = None,
    workers: int | None = None,
) -> list[SharedObject | ToolchainError]:
    """Compile many sources, `workers` compiler processes at a time (default: one a core). A source that is refused
    gives its error in place of an object, so that one bad candidate costs only itself."""
    compiler = compiler or find_c_compiler()

    def attempt(source: str) -> SharedObject | ToolchainError:
        try:
            return compile_c(source, compiler=compiler, flags=flags, cache=cache)
        except ToolchainError as error:
            return error

    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        return list(pool.map(attempt, sources))


def compiler_report(option: str | None = None, configured: str | None = None) -> CompilerReport:
    """The C compiler as a line of `albumen targets`."""
    try:
        compiler = find_c_compiler(option, configured)
    except ToolchainError as error:
        return CompilerReport(False, "C compiler", error.message, error.hint)
    return CompilerReport(True, "C compiler", f"{compiler.path}: {compiler.version}")
