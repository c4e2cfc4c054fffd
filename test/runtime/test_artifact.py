"""The artifact file: round trip, stable bytes, every kind of damage, versions, features, and the program's
invariants."""

from __future__ import annotations

import json
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from albumen.runtime.artifact import (
    Artifact,
    Entry,
    HostProgram,
    Launch,
    digest_of,
    read_artifact,
    write_artifact,
)
from albumen.runtime.errors import ArtifactError
from albumen.runtime.program import load

DATA = Path(__file__).parent / "data"
GOLDEN = DATA / "golden-1.2.alb"
MIDDLE = DATA / "golden-1.1.alb"
"""The same program before guards could exclude a value."""
EARLIER = DATA / "golden-1.0.alb"
"""The same program before programs had guards."""


def rewrite(path: Path, change: Callable[[dict[str, Any]], None], drop: str = "") -> None:
    """Write the zip again with a changed program.json."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name != drop}
    head = json.loads(members["program.json"])
    change(head)
    members["program.json"] = json.dumps(head).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


@pytest.fixture
def file(tmp_path: Path, affine: Artifact) -> Path:
    path = tmp_path / "affine.alb"
    write_artifact(path, affine)
    return path


def test_round_trip(file: Path, affine: Artifact) -> None:
    found = read_artifact(file)
    assert found.program == affine.program
    assert found.blobs == affine.blobs
    assert (found.mlir, found.report) == (affine.mlir, affine.report)
    assert found.weights is not None
    assert bytes(found.weights["w"].data) == np.arange(1, 5, dtype=np.float32).tobytes()


def test_round_trip_of_every_step(tmp_path: Path, cuda_program: HostProgram) -> None:
    program = cuda_program
    blobs = {digest_of(text): text for text in (b"src", b"bin", b"ptx")}
    write_artifact(tmp_path / "a.alb", Artifact(program, blobs))
    found = read_artifact(tmp_path / "a.alb")
    assert found.weights is None
    assert found.program == replace(program, requires=("grid-dependency", "library-call", "output-view"))
    names = zipfile.ZipFile(tmp_path / "a.alb").namelist()
    assert f"kernels/{digest_of(b'bin')}.cubin" in names
    assert f"source/{digest_of(b'src')}.cu" in names


def test_members_are_stored_and_aligned(file: Path) -> None:
    content = file.read_bytes()
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
        for info in archive.infolist():
            assert info.compress_type == zipfile.ZIP_STORED
            start = content.index(archive.read(info), info.header_offset)
            assert start % 64 == 0, info.filename


def test_equal_artifacts_give_equal_bytes(file: Path, tmp_path: Path, affine: Artifact) -> None:
    write_artifact(tmp_path / "again.alb", affine)
    assert (tmp_path / "again.alb").read_bytes() == file.read_bytes()


def test_golden_artifact(tmp_path: Path) -> None:
    """Made once by this module's authors with an earlier state of the code; must load and keep its bytes for ever."""
    found = read_artifact(GOLDEN)
    assert [symbol.name for symbol in found.program.symbols] == ["s"]
    assert [guard.message for guard in found.program.guards] == ["s*s must be at least 4", "s must not be 7"]
    write_artifact(tmp_path / "again.alb", found)
    assert (tmp_path / "again.alb").read_bytes() == GOLDEN.read_bytes()


def test_artifact_of_version_1_0_has_no_guards(tmp_path: Path) -> None:
    found, golden = read_artifact(EARLIER), read_artifact(GOLDEN)
    assert found.program == replace(golden.program, guards=())
    assert found.blobs == golden.blobs
    write_artifact(tmp_path / "again.alb", found)
    assert read_artifact(tmp_path / "again.alb").program == found.program


@pytest.mark.parametrize("file", [EARLIER, MIDDLE, GOLDEN], ids=lambda path: path.stem)
def test_golden_artifact_runs(file: Path, tmp_path: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("needs a C compiler")

    def recompile(entry: Entry, source: bytes) -> bytes:
        (tmp_path / "p.c").write_bytes(source)
        places = {"source": tmp_path / "p.c", "output": tmp_path / "p.so"}
        subprocess.run([part.format(**places) for part in entry.command], check=True, timeout=60)
        return (tmp_path / "p.so").read_bytes()

    program = load(file, device="cpu", recompile=recompile)
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    np.testing.assert_array_equal(program(x), x * np.arange(1, 5, dtype=np.float32) + 1)


@pytest.mark.parametrize("keep", [0, 1, 100, 0.5, 0.9, -1])
def test_cut_short(file: Path, keep: float) -> None:
    content = file.read_bytes()
    length = len(content) - 1 if keep == -1 else int(keep if keep >= 1 or keep == 0 else keep * len(content))
    file.write_bytes(content[:length])
    with pytest.raises(ArtifactError, match=r"affine\.alb") as caught:
        read_artifact(file)
    assert caught.value.hint


MEMBERS = ["kernels", "source", "program.mlir", "report.json", "weights.safetensors", "program.json"]


@pytest.mark.parametrize("member", MEMBERS)
def test_one_flipped_bit_is_found(file: Path, member: str) -> None:
    content = bytearray(file.read_bytes())
    with zipfile.ZipFile(file) as archive:
        info = next(info for info in archive.infolist() if info.filename.startswith(member))
        start = content.index(archive.read(info), info.header_offset)
    content[start + info.file_size // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(ArtifactError, match=rf"{member}.* is damaged"):
        read_artifact(file)


def test_any_flipped_byte_is_one_error_or_no_change(file: Path, affine: Artifact, rng: np.random.Generator) -> None:
    content = file.read_bytes()
    for position in rng.integers(0, len(content), 150):
        changed = bytearray(content)
        changed[position] ^= 0xFF
        file.write_bytes(changed)
        try:
            found = read_artifact(file)
        except ArtifactError:
            continue
        assert found.program == affine.program and found.blobs == affine.blobs


def test_newer_major_version(file: Path) -> None:
    rewrite(file, lambda head: head.update(version=[2, 0]))
    with pytest.raises(ArtifactError, match=r"version 2\.0; this version of Albumen reads 1\.x"):
        read_artifact(file)


def test_newer_minor_version_with_unknown_fields(file: Path, affine: Artifact) -> None:
    def change(head: dict[str, Any]) -> None:
        head.update(version=[1, 7], extra=5)
        head["program"]["inputs"][0]["colour"] = "blue"

    rewrite(file, change)
    assert read_artifact(file).program == affine.program


def test_unknown_feature(file: Path) -> None:
    rewrite(file, lambda head: head.update(requires=["output-view", "time-travel"]))
    with pytest.raises(ArtifactError, match="'time-travel'"):
        read_artifact(file)


def test_missing_member(file: Path) -> None:
    rewrite(file, lambda head: None, drop="program.mlir")
    with pytest.raises(ArtifactError, match=r"'program\.mlir' is missing"):
        read_artifact(file)


WRONG: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda p: p.pop("inputs"), r"program: expected a field 'inputs'"),
    (lambda p: p["inputs"][0].update(dtype=3), r"program\.inputs\[0\]\.dtype: expected a text, found 3"),
    (lambda p: p["symbols"][0].update(minimum=True), r"symbols\[0\]\.minimum: expected an integer, found True"),
    (lambda p: p["inputs"][0].update(role="guest"), r"role: expected one of input, .*found 'guest'"),
    (lambda p: p.update(target="wasm"), r"target: expected one of c, cuda, metal, found 'wasm'"),
    (lambda p: p.update(steps=[{"kind": "jump"}]), r"steps\[0\]: expected an object of kind launch or .*'jump'"),
    (lambda p: p.update(arena_bytes="__import__('os')"), r"arena_bytes: size expression"),
    (lambda p: p.update(guards=[{"expression": "s"}]), r"guards\[0\]: expected a field 'relation'"),
    (
        lambda p: p.update(guards=[{"expression": "s", "relation": "<", "message": "s"}]),
        r"guards\[0\]\.relation: expected one of ==, >=, !=, found '<'",
    ),
    (
        lambda p: p.update(guards=[{"expression": "s - t", "relation": "==", "message": "s must equal t"}]),
        r"guards\[0\]: 's - t' uses the undeclared symbol",
    ),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_wrong_content(file: Path, change: Callable[[dict[str, Any]], None], message: str) -> None:
    rewrite(file, lambda head: change(head["program"]))
    with pytest.raises(ArtifactError, match=message):
        read_artifact(file)


def test_no_artifact_at_all(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="no such file"):
        read_artifact(tmp_path / "none.alb")
    with pytest.raises(ArtifactError, match="cannot be read"):
        read_artifact(tmp_path)
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("hello.txt", "hello")
    with pytest.raises(ArtifactError, match=r"no program\.json"):
        read_artifact(tmp_path / "other.zip")
    with zipfile.ZipFile(tmp_path / "packed.alb", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("program.json", "{}" * 100)
    with pytest.raises(ArtifactError, match="not stored"):
        read_artifact(tmp_path / "packed.alb")


def test_write_refuses_and_leaves_nothing(tmp_path: Path, affine: Artifact) -> None:
    with pytest.raises(ArtifactError, match="blob is missing"):
        write_artifact(tmp_path / "a.alb", replace(affine, blobs={}))
    entry = affine.program.entry
    assert entry is not None
    with pytest.raises(ArtifactError, match="not what its digest says"):
        write_artifact(tmp_path / "a.alb", replace(affine, blobs={**affine.blobs, entry.binary: b"other"}))
    with pytest.raises(ArtifactError, match="cannot be written"):
        write_artifact(tmp_path / "nowhere" / "a.alb", affine)
    assert list(tmp_path.iterdir()) == []


def test_failing_write_keeps_the_old_file(tmp_path: Path, affine: Artifact, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.alb"
    write_artifact(path, affine)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(ArtifactError, match="No space left"):
        write_artifact(path, replace(affine, mlir="other"))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_every_field_is_written(tmp_path: Path, cuda_program: HostProgram) -> None:
    """A field added to the model without reaching the file would be lost silently."""
    program = cuda_program
    blobs = {digest_of(text): text for text in (b"src", b"bin", b"ptx")}
    write_artifact(tmp_path / "a.alb", Artifact(program, blobs))
    head = json.loads(zipfile.ZipFile(tmp_path / "a.alb").read("program.json"))
    assert set(head["program"]) == {field.name for field in fields(HostProgram)}
    assert set(head["program"]["steps"][0]) == {"kind", *(field.name for field in fields(Launch))}
