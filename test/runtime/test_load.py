"""Loading: weights and their digests, processors, damaged code, devices, and a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from albumen.runtime.adapter import NumpyAdapter
from albumen.runtime.artifact import Artifact, Entry, Weight, digest_of, write_artifact
from albumen.runtime.errors import ArtifactError, DeviceError, LaunchError
from albumen.runtime.program import Program, load
from albumen.runtime.safetensors import safetensors_chunks

F32 = np.float32


@pytest.fixture
def program(affine: Artifact, tmp_path: Path) -> Program:
    write_artifact(tmp_path / "affine.alb", affine)
    return load(tmp_path / "affine.alb", device="cpu")


def expected(x: Any) -> Any:
    return x * np.arange(1, 5, dtype=F32) + F32(1)


def test_weights_of_a_file_are_checked_against_digests(affine: Artifact, tmp_path: Path) -> None:
    write_artifact(tmp_path / "a.alb", replace(affine, weights=None))
    good = Weight("f32", (4,), np.arange(1, 5, dtype=F32).tobytes())
    (tmp_path / "good.safetensors").write_bytes(b"".join(safetensors_chunks({"w": good, "unused": good})))
    x = np.ones((2, 4), F32)
    np.testing.assert_array_equal(load(tmp_path / "a.alb", weights=tmp_path / "good.safetensors")(x), expected(x))
    np.testing.assert_array_equal(load(tmp_path / "a.alb", weights={"w": np.arange(1, 5, dtype=F32)})(x), expected(x))
    with pytest.raises(LaunchError, match="parameter 'w' is not the value"):
        load(tmp_path / "a.alb", weights={"w": np.zeros(4, F32)})
    with pytest.raises(ArtifactError, match="cannot be read"):
        load(tmp_path / "a.alb", weights=tmp_path / "none.safetensors")


def test_values_inside_an_artifact_are_bound_at_once(affine: Artifact) -> None:
    x = np.ones((2, 4), F32)
    program = Program(affine, "cpu")
    np.testing.assert_array_equal(program(x), expected(x))
    np.testing.assert_array_equal(program.caller(NumpyAdapter())([x])[0], expected(x))
    w = np.full(4, 2, F32)
    np.testing.assert_array_equal(program.caller(NumpyAdapter(), {"w": w})([x])[0], x * w + 1)


def test_constants_cannot_be_replaced(affine: Artifact, tmp_path: Path) -> None:
    inputs = (affine.program.inputs[0], replace(affine.program.inputs[1], role="constant"))
    write_artifact(tmp_path / "a.alb", replace(affine, program=replace(affine.program, inputs=inputs)))
    program = load(tmp_path / "a.alb", device="cpu")
    with pytest.raises(LaunchError, match="constant 'w' is not the value"):
        program.bind_parameters({"w": np.zeros(4, F32)})
    x = np.ones((2, 4), F32)
    np.testing.assert_array_equal(program(x), expected(x))


def test_save_and_load(program: Program, tmp_path: Path) -> None:
    program.save(tmp_path / "copy.alb")
    x = np.ones((2, 4), F32)
    np.testing.assert_array_equal(load(tmp_path / "copy.alb")(x), program(x))


def test_processor_that_lacks_a_feature(affine: Artifact, make_artifact: Any) -> None:
    entry = affine.program.entry
    assert entry is not None
    needy = replace(affine, program=replace(affine.program, entry=replace(entry, cpu_features=("linux", "avx9000"))))
    with pytest.raises(DeviceError, match="a processor with avx9000"):
        Program(needy, "cpu")
    asked: list[str] = []

    def recompile(entry: Entry, source: bytes) -> bytes:
        asked.append(digest_of(source))
        return affine.blobs[entry.binary]

    Program(needy, "cpu", recompile=recompile)
    assert asked == [entry.source]


def test_shared_object_that_cannot_be_loaded(affine: Artifact) -> None:
    entry = affine.program.entry
    assert entry is not None
    junk = b"not a shared object"
    broken = replace(entry, binary=digest_of(junk))
    with pytest.raises(ArtifactError, match="cannot be loaded"):
        Program(
            replace(
                affine, program=replace(affine.program, entry=broken), blobs={**affine.blobs, digest_of(junk): junk}
            ),
            "cpu",
        )
    other = replace(affine.program, entry=replace(entry, symbol="nothing"))
    with pytest.raises(ArtifactError, match="undefined symbol: nothing"):
        Program(replace(affine, program=other), "cpu")


def test_devices(affine: Artifact, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tpu", "cpu:x"):
        with pytest.raises(DeviceError, match=f"unknown device '{name}'"):
            Program(affine, name)
    with pytest.raises(DeviceError, match="no cpu:3"):
        Program(affine, "cpu:3")
    monkeypatch.setenv("ALBUMEN_DEVICE", "tpu")
    with pytest.raises(DeviceError, match="unknown device 'tpu'"):
        Program(affine)
    with pytest.raises(DeviceError, match="nothing here runs programs of target metal"):
        monkeypatch.delenv("ALBUMEN_DEVICE")
        Program(replace(affine, program=replace(affine.program, target="metal", entry=None)))


FRESH = """
import json, sys
import numpy as np
import albumen.runtime
before = sorted(name for name in ("numpy", "torch", "xdsl", "egglog", "cuda") if name in sys.modules)
from albumen.runtime.program import load
program = load(sys.argv[1])
y = program(np.ones((2, 4), np.float32))
loaded = sorted(name for name in ("torch", "xdsl", "egglog", "cuda", "nvmath", "ml_dtypes") if name in sys.modules)
print(json.dumps({"before": before, "loaded": loaded, "y": y.tolist()}))
"""


def test_a_fresh_process_needs_neither_torch_nor_xdsl(affine: Artifact, tmp_path: Path) -> None:
    write_artifact(tmp_path / "a.alb", affine)
    command = [sys.executable, "-c", FRESH, str(tmp_path / "a.alb")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["before"] == ["numpy"]
    assert found["loaded"] == []
    assert found["y"] == [[2, 3, 4, 5]] * 2
