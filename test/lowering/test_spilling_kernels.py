"""A kernel whose code spills registers is compiled again with another schedule, so that the program compiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr

from albumen.dialects.dtype import BF16
from albumen.dialects.hlir.linear import LinearOp
from albumen.dialects.hlir.softmax import SoftmaxOp
from albumen.dialects.host.source import sources
from albumen.dialects.sym.expr import symbol
from albumen.lowering.artifact.alternatives import Alternatives
from albumen.lowering.artifact.cubins import Cubin, compile_kernels
from albumen.lowering.options import CompileOptions
from albumen.lowering.pipeline import compile_module, lower_module
from albumen.lowering.toolchain import nvrtc
from albumen.lowering.toolchain.nvrtc import CudaBinary
from albumen.lowering.toolchain.ptxas_report import KernelResources
from albumen.runtime.artifact import Launch

CUDA = CompileOptions(target="cuda")


class Compiler:
    """Says of the first `refused` texts of matmuls, or of all texts, that their kernels spill."""

    def __init__(self, refused: int, everything: bool = False):
        self.refused = refused
        self.everything = everything
        self.texts: list[str] = []

    def __call__(self, text: str, **_: Any) -> CudaBinary:
        spills = 0
        if self.everything or ") matmul_" in text:
            self.texts.append(text)
            spills = 8 if self.everything or len(self.texts) <= self.refused else 0
        resources = KernelResources("k", "sm_90a", 255, 0, spills, spills, shared=0, barriers=1, constant=0)
        return CudaBinary(text.encode(), "cubin", "sm_90a", (resources,), "")


@pytest.fixture
def module(graph: Any) -> ModuleOp:
    """softmax(x wT): a matmul and a row program."""
    x = graph.arg("x", [symbol("s"), 128], BF16)
    w = graph.arg("w", [512, 128], BF16, "parameter")
    return graph.finish(graph.b.emit(SoftmaxOp, [graph.b.emit(LinearOp, [x, w])], **SoftmaxOp.SAMPLES[0].properties))


def lowered(module: ModuleOp, compiler: Compiler) -> tuple[dict[str, Cubin], str, Alternatives]:
    """What the compiler made, the name of the matmul, and the alternatives."""
    alternatives = lower_module(module, CUDA)
    assert alternatives is not None
    (name,) = alternatives.functions
    texts = {op.sym_name.data: op for op in sources(module)}
    assert len(texts) > 1
    return compile_kernels(texts, alternatives, "sm_90a", compiler), name, alternatives


@pytest.mark.parametrize("refused", [1, 3])
def test_the_next_tile_that_fits_is_taken(module: ModuleOp, refused: int) -> None:
    made, name, alternatives = lowered(module, Compiler(refused))
    others = list(alternatives.sources(name, "cuda", "sm_90a"))
    schedule, source = others[refused - 1]
    assert str(made[name].source) == str(source)
    assert made[name].report.endswith(f"schedule {schedule} in its place")
    assert not any(cubin.report for other, cubin in made.items() if other != name)


def test_alternatives_are_all_other_schedules_first_those_of_the_same_template(module: ModuleOp) -> None:
    _, name, alternatives = lowered(module, Compiler(0))
    chosen = alternatives.functions[name].kernel.schedule
    found = list(alternatives.schedules(name, "cuda"))
    assert chosen not in found
    assert len({str(one) for one in found}) == len(found) == 11
    names = [one.data["template"] for one in found]
    assert names == [StringAttr("mma")] * 5 + [StringAttr("simt")] * 6
    assert not list(alternatives.schedules("softmax", "cuda"))


def test_a_kernel_that_always_spills_keeps_its_first_code(module: ModuleOp) -> None:
    made, name, _ = lowered(module, Compiler(0, everything=True))
    assert all(cubin.report.endswith("no schedule does better") for cubin in made.values())
    chosen = {op.sym_name.data: op for op in sources(module)}
    assert {other: str(cubin.source) for other, cubin in made.items()} == {k: str(op) for k, op in chosen.items()}
    assert name in made


def test_the_artifact_launches_the_kernel_that_was_taken(module: ModuleOp, monkeypatch: pytest.MonkeyPatch) -> None:
    launches: list[dict[str, Launch]] = []
    compiler: Callable[..., CudaBinary]
    for compiler in (Compiler(0), Compiler(1)):
        monkeypatch.setattr(nvrtc, "compile_cuda", compiler)
        artifact = compile_module(module, CUDA)
        launches.append({step.kernel: step for step in artifact.program.steps if isinstance(step, Launch)})
        reported = [key for key in artifact.report if key.startswith("kernel ")]
        assert len(reported) == compiler.refused
    usual, other = launches
    (name,) = (key.removeprefix("kernel ") for key in reported)
    assert usual[name].grid != other[name].grid
    assert {key: step for key, step in usual.items() if key != name} == {
        key: step for key, step in other.items() if key != name
    }
    kernel = next(one for one in artifact.program.kernels if one.name == name)
    assert kernel.binary is not None
    assert artifact.blobs[kernel.source] == artifact.blobs[kernel.binary], "the fake compiler copies the text"
