"""albumen import, compile and run end to end, on text and on a file of torch.export."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from albumen.tools.albumen import main

GRAPH = """sym.symbol @s min 1 max 64
func.func @main(%x: !hlir.tensor<[s, 8], f32>, %w: !hlir.tensor<[4, 8], f32>) -> !hlir.tensor<[s, 4], f32> {
  %h = hlir.linear %x, %w : (!hlir.tensor<[s, 8], f32>, !hlir.tensor<[4, 8], f32>) -> !hlir.tensor<[s, 4], f32>
  %r = hlir.relu %h : !hlir.tensor<[s, 4], f32>
  func.return %r : !hlir.tensor<[s, 4], f32>
}
"""


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    path = tmp_path / "graph.mlir"
    path.write_text(GRAPH)
    return path


def save(folder: Path, **arrays: np.ndarray) -> list[str]:
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    return [str(folder / f"{name}.npy") for name in arrays]


def test_text_to_result(graph: Path, rng: np.random.Generator, capsys: pytest.CaptureFixture[str]) -> None:
    artifact, folder = graph.with_suffix(".alb"), graph.parent
    assert main(["compile", str(graph), "-o", str(artifact), "--dump-ir", str(folder / "ir")]) == 0
    progress = capsys.readouterr().err
    assert "[1/12] canonicalize" in progress
    assert "[12/12] compile" in progress
    names = [path.name for path in sorted((folder / "ir").iterdir())]
    assert names[0] == "00-import.mlir"
    assert names[-1] == "11-emit.mlir"

    x, w = rng.normal(size=(5, 8)).astype(np.float32), rng.normal(size=(4, 8)).astype(np.float32)
    assert main(["run", str(artifact), "-o", str(folder / "out"), "--input", *save(folder, x=x, w=w)]) == 0
    assert capsys.readouterr().out.startswith("result 0: float32[5, 4] from 0.0 to ")
    found = np.load(folder / "out/result0.npy")
    expected = np.maximum(x.astype(np.float64) @ w.T.astype(np.float64), 0)
    assert np.abs(found - expected).max() <= 8 * np.finfo(np.float32).eps * np.abs(expected).max()


def test_the_dumped_ir_goes_on_from_any_stage(graph: Path) -> None:
    dump = graph.parent / "ir"
    assert main(["compile", str(graph), "-q", "-o", str(graph.with_suffix(".alb")), "--dump-ir", str(dump)]) == 0
    stages = sorted(dump.iterdir())
    rest = ",".join(path.stem.split("-", 1)[1] for path in stages[5:]).replace("emit", "emit{target=c}")
    command = [str(Path(sys.executable).with_name("albumen-opt")), str(stages[4]), "-p", rest]
    again = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert again.split() == re.sub(r" loc\(.*\)", "", stages[-1].read_text()).split()


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (["x"], "expected 2 inputs (x, w), found 1"),
        (["x", "x"], "input 'w': shape [5, 8], expected [4, 8]"),
        (["x", "d"], "input 'w'"),
    ],
)
def test_wrong_inputs(graph: Path, capsys: pytest.CaptureFixture[str], inputs: list[str], message: str) -> None:
    artifact, folder = graph.with_suffix(".alb"), graph.parent
    main(["compile", str(graph), "-q", "-o", str(artifact)])
    save(folder, x=np.ones((5, 8), np.float32), d=np.ones((4, 8), np.float64))
    assert main(["run", str(artifact), "--input", *(str(folder / f"{name}.npy") for name in inputs)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("albumen run: error: ")
    assert message in error


def test_a_target_that_this_machine_cannot_run(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    artifact = graph.with_suffix(".alb")
    assert main(["compile", str(graph), "-q", "-o", str(artifact), "--target", "metal"]) == 0
    assert main(["run", str(artifact)]) == 1
    assert "nothing here runs programs of target metal" in capsys.readouterr().err


def test_a_missing_compiler(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    artifact = graph.with_suffix(".alb")
    assert main(["compile", str(graph), "-q", "-o", str(artifact), "--compiler", "/nowhere/cc"]) == 1
    error = capsys.readouterr().err
    assert "/nowhere/cc" in error
    assert "to do: " in error
    assert not artifact.exists()


def test_a_damaged_artifact(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    artifact = graph.with_suffix(".alb")
    artifact.write_bytes(b"not an artifact")
    assert main(["run", str(artifact)]) == 1
    assert capsys.readouterr().err.startswith("albumen run: error: ")


@pytest.mark.torch
@pytest.mark.slow
def test_exported_file_to_result(tmp_path: Path, rng: np.random.Generator, capsys: pytest.CaptureFixture[str]) -> None:
    code = """
import sys, torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.LayerNorm(16)).eval()
x = torch.randn(5, 8)
torch.export.save(torch.export.export(model, (x,)), sys.argv[1] + "/model.pt2")
import numpy
numpy.save(sys.argv[1] + "/x.npy", x.numpy())
numpy.save(sys.argv[1] + "/expected.npy", model(x).detach().numpy())
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    model, artifact = tmp_path / "model.pt2", tmp_path / "model.alb"
    assert main(["import", str(model)]) == 0
    assert "hlir.gelu" in capsys.readouterr().out
    assert main(["compile", str(model), "-q", "-o", str(artifact)]) == 0
    assert main(["run", str(artifact), "--input", str(tmp_path / "x.npy"), "-o", str(tmp_path)]) == 0
    found, expected = np.load(tmp_path / "result0.npy"), np.load(tmp_path / "expected.npy")
    assert np.abs(found - expected).max() <= 32 * np.finfo(np.float32).eps * np.abs(expected).max()
