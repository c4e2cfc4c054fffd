"""CUDA text through NVRTC: the texts that run on the shim, resource records, spills, caching, batches, errors."""

from __future__ import annotations

import importlib
import multiprocessing
import threading
import time
from collections.abc import Callable

import pytest

from albumen.dialects.errors import ToolchainError
from albumen.lowering.toolchain.nvrtc import (
    CudaBinary,
    CudaJob,
    ResourceError,
    compile_cuda,
    compile_ptx,
    nvrtc_report,
)
from albumen.lowering.toolchain.nvrtc_batch import compile_cuda_batch
from albumen.lowering.toolchain.object_cache import MemoryCache
from albumen.lowering.toolchain.ptxas_report import parse_ptxas_log

ONE = 'extern "C" __global__ void one(int* x) { x[0] = 1; }'
SPILLING = """
extern "C" __global__ void spilling(float* x) {
  float a[300];
#pragma unroll
  for (int i = 0; i < 300; ++i) a[i] = x[i * 32 + threadIdx.x];
  __syncthreads();
  for (int r = 0; r < 8; ++r) {
#pragma unroll
    for (int i = 0; i < 300; ++i) a[i] = a[i] * a[(i + 7) % 300] + a[i * 3 % 300];
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 300; ++i) x[i * 32 + threadIdx.x] = a[i];
}
"""


@pytest.mark.parametrize("name", ["basic.cu", "matrix_units.cu"])
@pytest.mark.parametrize("arch", ["sm_90a", "sm_80"])
def test_the_texts_of_the_shim_compile_without_spills(kernel_text: Callable[[str], str], name: str, arch: str) -> None:
    binary = compile_cuda(kernel_text(name), arch=arch)
    assert binary.code[:4] == b"\x7fELF"
    assert binary.kernels
    for kernel in binary.kernels:
        assert (kernel.arch, kernel.spill_stores, kernel.spill_loads, kernel.stack) == (arch, 0, 0, 0)
        assert 0 < kernel.registers <= 255


def test_resources() -> None:
    text = """
extern "C" __global__ void shares(float* x) {
  __shared__ float s[32];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s[31 - threadIdx.x];
}
"""
    binary = compile_cuda(ONE + text)
    assert [kernel.name for kernel in binary.kernels] == ["shares", "one"]
    shares = binary.resources("shares")
    assert (shares.shared, shares.barriers, shares.stack) == (128, 1, 0)
    with pytest.raises(KeyError):
        binary.resources("nothing")


def test_ptx_of_a_portable_architecture() -> None:
    binary = compile_ptx(ONE)
    assert b".target sm_80" in binary.code
    assert binary.kernels == ()


def test_no_contraction() -> None:
    text = 'extern "C" __global__ void k(float* x) { x[0] = x[1] * x[2] + x[3]; }'
    code = compile_ptx(text).code
    assert b"mul.rn.f32" in code and b"fma" not in code


def test_spills_are_rejected() -> None:
    with pytest.raises(ResourceError, match="kernel spilling spills"):
        compile_cuda(SPILLING)
    kept = compile_cuda(SPILLING, reject=False)
    assert kept.resources("spilling").spill_stores > 0
    assert len(kept.problems) == 1


def test_an_injected_wait_is_a_problem_of_its_kernel() -> None:
    """The lines that ptxas writes for a wgmma accumulator which is read before its wait."""
    log = """
ptxas info    : (C7517) warpgroup.wait is injected in around line 45 by compiler to allow use of registers defined by GMMA in function 'w'
ptxas info    : Compiling entry function 'other' for 'sm_90a'
ptxas info    : Function properties for other
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
ptxas info    : Compiling entry function 'w' for 'sm_90a'
ptxas info    : Function properties for w
ptxas         .     8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 30 registers, used 1 barriers, 48 bytes smem, 344 bytes cmem[0]
"""  # noqa: E501
    other, w = parse_ptxas_log(log)
    assert other.problems == ()
    assert (w.registers, w.barriers, w.shared, w.constant, w.stack) == (30, 1, 48, 344, 8)
    assert "C7517" in w.problems[0]


def test_results_are_cached_with_their_records() -> None:
    cache = MemoryCache()
    first = compile_cuda(ONE, cache=cache)
    assert compile_cuda(ONE, cache=cache) == first
    with pytest.raises(ResourceError):
        compile_cuda(SPILLING, cache=cache)
    with pytest.raises(ResourceError):  # from the cache
        compile_cuda(SPILLING, cache=cache)


def test_an_error_shows_the_source_line() -> None:
    with pytest.raises(ToolchainError) as caught:
        compile_cuda('extern "C" __global__ void k(int* x) {\n  x[0] = y;\n}')
    text = str(caught.value)
    assert "source: kernel.cu:2: x[0] = y;" in text
    assert 'identifier "y" is undefined' in text
    assert "--gpu-architecture=sm_90a" in text


@pytest.mark.parametrize("arch", ["sm_12345", "sm_75", "gfx90a", ""])
def test_an_unknown_architecture(arch: str) -> None:
    with pytest.raises(ToolchainError, match=f"no target architecture '{arch}' .*\n  to do: use one of: sm_80, "):
        compile_cuda(ONE, arch=arch)


ENDLESS = "__device__ int x" + "[1]" * 300000 + ";"


def test_a_batch_keeps_going() -> None:
    jobs = [CudaJob(ONE), CudaJob("broken"), CudaJob(ENDLESS), CudaJob(ONE, arch="compute_80", form="ptx")]
    cache = MemoryCache()
    good, bad, slow, ptx = compile_cuda_batch(jobs, cache=cache, workers=1, time_limit_s=1.5)
    assert isinstance(good, CudaBinary) and good.form == "cubin"
    assert isinstance(bad, ToolchainError) and "source: kernel.cu:1: broken" in bad.message
    assert isinstance(slow, ToolchainError) and "within 1.5 s" in slow.message
    assert isinstance(ptx, CudaBinary) and ptx.form == "ptx"
    assert compile_cuda_batch([jobs[0], jobs[3]], cache=cache, time_limit_s=0.0) == [good, ptx]


def test_a_crash_costs_one_job() -> None:
    def kill_the_worker() -> None:
        time.sleep(1.0)
        for process in multiprocessing.active_children():
            process.kill()

    killer = threading.Thread(target=kill_the_worker)
    killer.start()
    crashed, good = compile_cuda_batch([CudaJob(ENDLESS), CudaJob(ONE)], workers=1)
    killer.join()
    assert isinstance(crashed, ToolchainError) and "crashed" in crashed.message
    assert isinstance(good, CudaBinary)


def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ToolchainError, match=r"pip install 'albumen\[cuda\]'"):
        compile_cuda(ONE)
    report = nvrtc_report()
    assert not report.found and "albumen[cuda]" in report.hint


def test_report() -> None:
    report = nvrtc_report()
    assert report.found and "sm_80 to sm_" in report.detail
