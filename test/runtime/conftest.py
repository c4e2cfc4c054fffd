"""Small C programs written by hand, compiled with the machine's compiler, as artifacts."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from albumen.runtime.abi import header
from albumen.runtime.artifact import (
    Artifact,
    BufferArgument,
    Copy,
    Entry,
    HostProgram,
    Input,
    Kernel,
    Launch,
    LibraryCall,
    Output,
    Reference,
    ScalarArgument,
    Slice,
    Symbol,
    Weight,
    digest_of,
)

CompileC = Callable[[str], bytes]
MakeArtifact = Callable[..., Artifact]

COMMAND = ("cc", "-O1", "-s", "-shared", "-fPIC", "-o", "{output}", "{source}")

# y = x * w + 1 through the arena; x is [s, 4], w is [4].
AFFINE = """
int albumen_run(void *const *buffers, const int64_t *symbols, void *arena, const albumen_host *host) {
  if (host->version != ALBUMEN_ABI_VERSION) return ALBUMEN_VERSION;
  const float *x = buffers[0], *w = buffers[1];
  float *y = buffers[2], *t = arena;
  for (int64_t i = 0; i < symbols[0] * 4; ++i) t[i] = x[i] * w[i % 4];
  for (int64_t i = 0; i < symbols[0] * 4; ++i) y[i] = t[i] + 1.0f;
  return ALBUMEN_OK;
}
"""


@pytest.fixture(scope="session")
def compile_c(tmp_path_factory: pytest.TempPathFactory) -> CompileC:
    """C text -> shared object; compiled once a session."""
    if shutil.which("cc") is None:
        pytest.skip("needs a C compiler")
    folder = tmp_path_factory.mktemp("c")
    done: dict[str, bytes] = {}

    def compile_text(text: str) -> bytes:
        if text not in done:
            source, output = folder / f"{len(done)}.c", folder / f"{len(done)}.so"
            source.write_text(text)
            command = [part.format(source=source, output=output) for part in COMMAND]
            subprocess.run(command, check=True, capture_output=True, timeout=60)
            done[text] = Path(output).read_bytes()
        return done[text]

    return compile_text


def affine_program() -> HostProgram:
    """The program of AFFINE without its entry."""
    return HostProgram(
        target="c",
        arch="any",
        symbols=(Symbol("s", 0, 1000, 1, 0, 0),),
        inputs=(
            Input("x", "f32", ("s", "4"), ("4", "1"), align=4),
            Input("w", "f32", ("4",), ("1",), align=4, role="parameter"),
        ),
        outputs=(Output("y", "f32", ("s", "4"), ("4", "1")),),
        arena_bytes="s*16",
        slices=(Slice("0", "s*16"),),
    )


@pytest.fixture(scope="session")
def make_artifact(compile_c: CompileC) -> MakeArtifact:
    """(program without entry, C text) -> artifact; the text is printed after the interface's header."""

    def make(
        program: HostProgram | None = None, text: str = AFFINE, weights: dict[str, Weight] | None = None
    ) -> Artifact:
        source = (header() + text).encode()
        binary = compile_c(source.decode())
        entry = Entry("albumen_run", digest_of(source), digest_of(binary), COMMAND, ())
        whole = replace(program or affine_program(), entry=entry)
        blobs = {entry.source: source, entry.binary: binary}
        return Artifact(whole, blobs, "module {}\n", {"made": "by hand"}, weights)

    return make


@pytest.fixture(scope="session")
def affine(make_artifact: MakeArtifact) -> Artifact:
    """AFFINE with w = 1, 2, 3, 4 inside."""
    data = np.arange(1, 5, dtype=np.float32).tobytes()
    program = affine_program()
    inputs = (program.inputs[0], replace(program.inputs[1], digest=digest_of(data)))
    return make_artifact(replace(program, inputs=inputs), weights={"w": Weight("f32", (4,), data)})


@pytest.fixture
def cuda_program() -> HostProgram:
    """One of everything that a program of target cuda can hold."""
    x, t, y = (Reference(place, 0) for place in ("input", "slice", "output"))
    arguments = (BufferArgument(x, "read"), BufferArgument(t, "write"), ScalarArgument("s*4", "i32"))
    call_arguments = (BufferArgument(t, "read"), BufferArgument(y, "write"))
    base = affine_program()
    return replace(
        base,
        target="cuda",
        arch="sm_90a",
        slices=(Slice("0", "s*16"),),
        outputs=(*base.outputs, Output("x again", "f32", ("4",), ("1",), alias=0, offset="4")),
        steps=(
            Launch("k", ("s ceildiv 4", "1", "1"), (128, 1, 1), arguments, pdl=True, location="model.py:3"),
            LibraryCall("cublaslt.matmul", (("k", "4"), ("m", "s")), call_arguments),
            Copy(t, y, "s*16"),
        ),
        kernels=(
            Kernel("k", "cuda", "k", ("ptr", "ptr", "i32"), digest_of(b"src"), digest_of(b"bin"), digest_of(b"ptx")),
        ),
    )


# y = x * w + b over [s, 64], in two kernels; the second one waits for the first itself. `wide` needs 64 KiB of
# shared memory.
CUDA_SOURCE = """
extern "C" __global__ void scale(const float *x, const float *w, float *y, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) y[i] = x[i] * w[threadIdx.x];
  asm volatile("griddepcontrol.launch_dependents;");
}
extern "C" __global__ void shift(const float *x, const float *b, float *y, int n) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) y[i] = x[i] + b[threadIdx.x];
  asm volatile("griddepcontrol.launch_dependents;");
}
extern "C" __global__ void wide(const float *x, const float *w, float *y, int n) {
  extern __shared__ float rows[];
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) rows[16000 + threadIdx.x] = x[i];
  __syncthreads();
  if (i < n) y[i] = rows[16000 + threadIdx.x] * w[threadIdx.x];
}
"""
KINDS = ("ptr", "ptr", "ptr", "i32")


def compile_cuda(arch: str) -> bytes:
    """A cubin for sm_.., or PTX for compute_.."""
    nvrtc: Any = pytest.importorskip("cuda.bindings.nvrtc")

    def check(result: tuple[Any, ...]) -> Any:
        assert int(result[0]) == 0, result[0]
        return result[1] if len(result) > 1 else None

    program = check(nvrtc.nvrtcCreateProgram(CUDA_SOURCE.encode(), b"k.cu", 0, [], []))
    options = [f"--gpu-architecture={arch}".encode(), b"--fmad=false"]
    code = nvrtc.nvrtcCompileProgram(program, len(options), options)[0]
    # At least two bytes: the library writes into the object, and Python shares its one-byte strings.
    log = bytes(check(nvrtc.nvrtcGetProgramLogSize(program)) + 1)
    nvrtc.nvrtcGetProgramLog(program, log)
    assert int(code) == 0, log.decode()
    size, get = (
        (nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN)
        if arch.startswith("sm_")
        else (nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX)
    )
    length = check(size(program))
    data = bytes(length + 1)
    check(get(program, data))
    return data.rstrip(b"\0") if arch.startswith("compute_") else data[:length]


def pointer(place: Any, index: int, mode: Any = "read") -> BufferArgument:
    return BufferArgument(Reference(place, index), mode)


SIZE = ScalarArgument("s*64", "i32")


def steps_of(first: str = "scale", shared: str = "0") -> tuple[Any, ...]:
    arguments = (pointer("input", 0), pointer("input", 1), pointer("slice", 0, "write"), SIZE)
    after = (pointer("slice", 0), pointer("input", 2), pointer("output", 0, "write"), SIZE)
    return (
        Launch(first, ("s", "1", "1"), (64, 1, 1), arguments, shared_bytes=shared),
        Launch("shift", ("s", "1", "1"), (64, 1, 1), after, pdl=True),
    )


def artifact_of(device: Any, steps: Sequence[Any], *, portable: bool = False, **changes: Any) -> Artifact:
    major, minor = device.capability
    arch = f"sm_{major}{minor}a" if major >= 9 else f"sm_{major}{minor}"
    blob = compile_cuda("compute_90" if portable else arch)
    digest, source = digest_of(blob), digest_of(CUDA_SOURCE.encode())
    places = {"portable": digest} if portable else {"binary": digest}
    program = HostProgram(
        target="cuda",
        arch="sm_75" if portable else arch,
        symbols=(Symbol("s", 0, 4096, 1, 0, 0),),
        inputs=(
            Input("x", "f32", ("s", "64"), ("64", "1"), 16),
            Input("w", "f32", ("64",), ("1",), 16, role="parameter"),
            Input("b", "f32", ("64",), ("1",), 16, role="parameter"),
        ),
        outputs=(Output("y", "f32", ("s", "64"), ("64", "1")),),
        arena_bytes="s*512",
        slices=(Slice("0", "s*256"), Slice("s*256", "s*256")),
        steps=tuple(steps),
        kernels=tuple(Kernel(name, "cuda", name, KINDS, source, **places) for name in ("scale", "shift", "wide")),
    )
    return Artifact(replace(program, **changes), {digest: blob, source: CUDA_SOURCE.encode()})


@pytest.fixture
def gpu_kit() -> Any:
    """The builders of programs for a real device."""
    return SimpleNamespace(steps_of=steps_of, artifact_of=artifact_of, pointer=pointer, SIZE=SIZE)
