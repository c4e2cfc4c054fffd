"""The albumen command: what it says of wrong input."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from albumen.tools import run_command
from albumen.tools.albumen import COMMANDS, INTERRUPTED, main

GRAPH = """func.func @f(%x: !hlir.tensor<[4], f32>) -> !hlir.tensor<[4], f32> {
  %0 = hlir.add %x, %x : !hlir.tensor<[4], f32>
  func.return %0 : !hlir.tensor<[4], f32>
}
"""


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    path = tmp_path / "graph.mlir"
    path.write_text(GRAPH)
    return path


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert all(name in text and help_text in text for name, (_, help_text) in COMMANDS.items())


@pytest.mark.parametrize("arguments", [[], ["explode"], ["compile", "x.mlir"], ["run"]])
def test_wrong_command_lines(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2


@pytest.mark.parametrize("command", ["import", "compile"])
def test_a_file_that_is_no_model(tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"")
    assert main([command, str(path), "-o", str(tmp_path / "out")]) == 1
    error = capsys.readouterr().err
    assert "a name that ends in '.onnx' is no model" in error
    assert "to do: pass a .pt2 file" in error
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("arguments", [["compile", "none.mlir", "-o", "out.alb"], ["import", "none.pt2"]])
def test_a_missing_model(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert main(arguments) == 1
    assert capsys.readouterr().err == f"albumen {arguments[0]}: error: {arguments[1]}: no such file\n"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--target", "cudda"], "option target has no value 'cudda'\n  to do: did you mean cuda?"),
        (["--numerics", "exact"], "option numerics has no value 'exact'"),
    ],
)
def test_wrong_options(graph: Path, capsys: pytest.CaptureFixture[str], flags: list[str], message: str) -> None:
    assert main(["compile", str(graph), "-o", str(graph.with_suffix(".alb")), *flags]) == 1
    assert message in capsys.readouterr().err
    assert not graph.with_suffix(".alb").exists()


def test_malformed_text_names_the_line(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph.write_text(GRAPH.replace("hlir.add %x, %x", "hlir.add %x, %y"))
    assert main(["compile", str(graph), "-o", str(graph.with_suffix(".alb"))]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"{graph}:")
    assert "%y" in error
    assert "Traceback" not in error


def test_files_that_are_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    binary = tmp_path / "binary.mlir"
    binary.write_bytes(b"\x89\xb4")
    assert main(["compile", str(binary), "-o", str(tmp_path / "out.alb")]) == 1
    assert capsys.readouterr().err.startswith(f"{binary}:1: error: the file is not UTF-8 text\n")
    assert main(["compile", str(tmp_path), "-o", str(tmp_path / "out.alb")]) == 1
    assert capsys.readouterr().err == f"albumen compile: error: {tmp_path}: a folder, not a file\n"
    assert not (tmp_path / "out.alb").exists()


def test_an_interrupt_is_no_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(text: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run_command, "run", interrupt)
    assert main(["run", "x.alb"]) == INTERRUPTED
    assert capsys.readouterr().err.strip() == "interrupted"


def test_inputs_are_numbers_or_arrays(tmp_path: Path) -> None:
    assert run_command.read_input("-3") == -3
    path = tmp_path / "x.npy"
    np.save(path, np.arange(3))
    assert run_command.read_input(str(path)).tolist() == [0, 1, 2]
    with pytest.raises(FileNotFoundError):
        run_command.read_input(str(tmp_path / "none.npy"))


def test_running_an_artifact_needs_no_compiler() -> None:
    code = "import sys, albumen.tools.albumen; print(sorted({'xdsl', 'torch', 'egglog'} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert result.stdout == "[]\n"
