"""albumen-opt as a library: failing passes, reproducers, bad command lines, and how long a small file takes."""

from __future__ import annotations

import resource
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.arith import AddfOp, MulfOp
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from albumen.dialects.errors import LoweringError
from albumen.tools.opt import AlbumenOpt, main

TEXT = """func.func @f(%a: f32) -> f32 {
  %0 = arith.addf %a, %a : f32
  %1 = arith.addf %a, %a : f32
  %2 = arith.mulf %0, %1 : f32
  func.return %2 : f32
}
"""


@dataclass(frozen=True)
class RefuseMultiply(ModulePass):
    """Refuses products, or breaks on them."""

    name = "refuse-multiply"

    breaks: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            if isinstance(inner, MulfOp):
                if self.breaks:
                    raise KeyError("product")
                raise LoweringError("products are not supported", op=inner, hint="write a sum")


@dataclass(frozen=True)
class BreakIR(ModulePass):
    """Leaves a module that does not verify."""

    name = "break-ir"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            if isinstance(inner, AddfOp):
                inner.detach()


class Driver(AlbumenOpt):
    def register_all_passes(self) -> None:
        super().register_all_passes()
        self.register_pass("refuse-multiply", lambda: RefuseMultiply)
        self.register_pass("break-ir", lambda: BreakIR)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.mlir"
    path.write_text(TEXT)
    return path


def test_a_refusal_names_the_line(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert Driver(args=[str(source), "-p", "cse,refuse-multiply"]).run_all() == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        f"{source}:4: error: refuse-multiply: arith.mulf: products are not supported",
        "  to do: write a sum",
    ]


def test_a_broken_pass_is_reported_as_our_bug(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert Driver(args=[str(source), "-p", "refuse-multiply{breaks=true}"]).run_all() == 1
    error = capsys.readouterr().err
    assert error.startswith(f"{source}: error: refuse-multiply: KeyError: 'product'")
    assert "this is a bug in Albumen" in error
    assert "Traceback" not in error


def test_ir_is_printed_after_a_failure(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Driver(args=[str(source), "-p", "cse,refuse-multiply,dce", "--print-ir-after-failure"]).run_all()
    error = capsys.readouterr().err
    assert "IR Dump After refuse-multiply Failed" in error
    assert error.count("IR Dump") == 1


@pytest.mark.parametrize("broken", ["refuse-multiply", "refuse-multiply{breaks=true}", "break-ir"])
def test_the_reproducer_replays(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], broken: str) -> None:
    reproducer = tmp_path / "bad case.mlir"
    arguments = [str(source), "-p", f"cse,{broken},dce", "--reproducer", str(reproducer)]
    assert Driver(args=arguments).run_all() == 1
    first = capsys.readouterr().err
    assert f"reproducer: {reproducer}" in first

    text = reproducer.read_text()
    command = shlex.split(text.splitlines()[0].removeprefix("// "))
    assert command[0] == "albumen-opt"
    assert command[1] == str(reproducer)
    assert command[3] == broken
    assert text.count("arith.addf") == 1  # cse has run before

    assert Driver(args=command[1:]).run_all() == 1
    second = capsys.readouterr().err
    kept = [line for line in first.split(": error: ")[1].splitlines() if str(reproducer) not in line]
    assert second.split(": error: ")[1].splitlines() == kept


def test_no_reproducer_without_a_failure(source: Path, tmp_path: Path) -> None:
    reproducer = tmp_path / "bad.mlir"
    assert main([str(source), "-p", "cse", "--reproducer", str(reproducer), "-o", str(tmp_path / "out.mlir")]) == 0
    assert not reproducer.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-p", "cse{"], "error: Error parsing pass pipeline specification"),
        (["-p", "cse{size=1}"], 'Provided arguments ["size"] not found in expected arguments []'),
        (["-p", "canonicalise"], "did you mean canonicalize"),
    ],
)
def test_bad_pipelines(source: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert main([str(source), *arguments]) == 1
    error = capsys.readouterr().err
    assert error.startswith("albumen-opt: error: ")
    assert message in error


def test_missing_and_binary_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "none.mlir")]) == 1
    assert capsys.readouterr().err == f"albumen-opt: error: {tmp_path}/none.mlir: No such file or directory\n"
    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"albumen-opt: error: {tmp_path}: Is a directory\n"
    binary = tmp_path / "binary.mlir"
    binary.write_bytes(b"// text\n\xff\xfe\x00")
    assert main([str(binary)]) == 1
    assert capsys.readouterr().err.startswith(f"{binary}:2: error: the file is not UTF-8 text\n  to do: ")
    binary.write_bytes(b"// nothing\n")
    assert main([str(binary)]) == 1
    assert "error: expected a module or an operation, found none" in capsys.readouterr().err


GRAPH = """func.func @f(%x: !hlir.tensor<[4], f32>) -> !hlir.tensor<[4], f32> {
  %0 = hlir.add %x, %x : !hlir.tensor<[4], f32>
  func.return %0 : !hlir.tensor<[4], f32>
}
"""


@pytest.mark.parametrize(("text", "passes"), [(TEXT, "cse,dce"), (GRAPH, "canonicalize,simplify-dims")])
def test_a_small_file_is_quick(source: Path, text: str, passes: str) -> None:
    source.write_text(text)
    command = [str(Path(sys.executable).with_name("albumen-opt")), str(source), "-p", passes]
    seconds: list[float] = []
    for _ in range(3):
        before = children_seconds()
        subprocess.run(command, check=True, capture_output=True)
        seconds.append(children_seconds() - before)
    assert min(seconds) <= 0.6


def children_seconds() -> float:
    """Processor time of the processes that have ended: on a busy machine the clock on the wall says little."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
