"""C text to shared objects: flags, cache, batches, missing and refusing compilers."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from albumen.dialects.errors import ToolchainError
from albumen.lowering.toolchain import cc
from albumen.lowering.toolchain.cc import CompilerMissing, SharedObject, compile_c, compile_c_batch, compiler_report
from albumen.lowering.toolchain.object_cache import MemoryCache, content_key
from albumen.runtime.artifact import cpu_features


def load(compiled: SharedObject, folder: Path) -> ctypes.CDLL:
    path = folder / "compiled.so"
    path.write_bytes(compiled.code)
    return ctypes.CDLL(str(path))


def test_compiles_and_runs(tmp_path: Path) -> None:
    compiled = compile_c("#include <math.h>\ndouble f(double x) { return sqrt(x) + 1; }")
    function = load(compiled, tmp_path).f
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double]
    assert function(9.0) == 4.0
    assert compiled.command[0] == Path(cc.find_c_compiler().path).name
    assert {"{source}", "{output}"} < set(compiled.command)
    assert "-O3" in compiled.command and "-ffp-contract=off" in compiled.command
    assert compiled.cpu_features == cpu_features()


def test_products_are_not_contracted(tmp_path: Path) -> None:
    """x y + z with a fused multiply-add would keep the low half of the product."""
    compiled = compile_c("double f(double x, double y, double z) { return x * y + z; }")
    function = load(compiled, tmp_path).f
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * 3
    x = 1.0 + 2.0**-30
    assert function(x, x, -(x * x)) == 0.0


def test_simd_pragmas_need_no_openmp_runtime(tmp_path: Path) -> None:
    compiled = compile_c(
        "float f(const float *x, int n) { float s = 0;\n#pragma omp simd reduction(+ : s)\n"
        "for (int i = 0; i < n; ++i) s += x[i];\nreturn s; }"
    )
    assert b"libgomp" not in compiled.code
    function = load(compiled, tmp_path).f
    function.restype = ctypes.c_float
    assert function((ctypes.c_float * 100)(*range(100)), 100) == 4950.0


def test_objects_are_cached_by_text_and_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = MemoryCache()
    first = compile_c("int f(void) { return 1; }", cache=cache)

    def fail(*_: object) -> bytes:
        raise AssertionError("compiled again")

    monkeypatch.setattr(cc, "_compile_file", fail)
    assert compile_c("int f(void) { return 1; }", cache=cache) == first
    with pytest.raises(AssertionError):
        compile_c("int f(void) { return 1; }", flags=["-DX"], cache=cache)
    with pytest.raises(AssertionError):
        compile_c("int f(void) { return 2; }", cache=cache)


def test_nothing_is_cached_for_a_refused_text() -> None:
    cache = MemoryCache()
    for _ in range(2):
        with pytest.raises(ToolchainError):
            compile_c("int f(void) { return y; }", cache=cache)
    assert cache.get(content_key("c", [])) is None


def test_an_error_shows_the_source_line() -> None:
    with pytest.raises(ToolchainError) as caught:
        compile_c("int f(void) {\n  return y;\n}")
    text = str(caught.value)
    assert "source: program.c:2: return y;" in text
    assert "program.c:2:10: error:" in text
    assert "-march=native" in text or "-mcpu=native" in text


def test_a_batch_keeps_going() -> None:
    good, bad, other = compile_c_batch(["int f;", "broken", "int g;"], workers=2)
    assert isinstance(good, SharedObject) and isinstance(other, SharedObject)
    assert isinstance(bad, ToolchainError)


def test_a_compiler_that_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(CompilerMissing, match=r"tried no-such-cc.*\n.*ALBUMEN_CC"):
        cc.find_c_compiler("no-such-cc")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CompilerMissing, match="no C compiler on this machine"):
        compile_c("int f;")
    report = compiler_report()
    assert not report.found and "install gcc" in report.hint
    monkeypatch.undo()
    assert compiler_report().found


def test_a_program_that_is_no_compiler(tmp_path: Path) -> None:
    fake = tmp_path / "fake-cc"
    fake.write_text("#!/bin/sh\necho broken; exit 1\n")
    fake.chmod(0o755)
    with pytest.raises(ToolchainError, match="no usable compiler"):
        cc.find_c_compiler(configured=str(fake))


def test_the_option_wins_over_the_configured_compiler() -> None:
    assert cc.find_c_compiler("cc", "no-such-cc").path.endswith("cc")


def test_content_keys_do_not_run_together() -> None:
    keys = {
        content_key("a", ["bc", ""]),
        content_key("a", ["b", "c"]),
        content_key("ab", ["c"]),
        content_key("a", ["bc"]),
    }
    assert len(keys) == 4
