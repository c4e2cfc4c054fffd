"""One artifact file: a zip of stored members, each at a multiple of 64 bytes, so that weights are mapped and not
copied.

    program.json          format, version, features, sha256 of every other member, the program
    kernels/<sha>.so      binaries                source/<sha>.c     their sources
    program.mlir          the program for people  report.json        search log, times, device
    weights.safetensors   values of the bound inputs (absent: digests only)

Written to a temporary file and renamed, so a file is complete or absent. Equal artifacts give equal bytes.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, cast

from ..errors import ArtifactError
from ..safetensors import Weight, parse_safetensors, safetensors_chunks
from .check import check_features, check_program, required_features
from .json_form import from_json, to_json
from .model import HostProgram

FORMAT = "albumen"
VERSION = (1, 2)
"""A reader takes every minor version of its major; an addition raises minor, any other change raises major.

1.1 added the guards of a program, 1.2 guards that exclude a value."""

_ALIGNMENT = 64
_PADDING_ID = 0xA1B0
_LOCAL_HEADER = 30
_ZIP64_EXTRA = 20
_REBUILD = "the file is damaged or incomplete; copy or build it again"


@dataclass(frozen=True)
class Artifact:
    """A program with everything it refers to.

    `blobs` maps sha256 to bytes (make keys with `digest_of`); `weights` maps input names to values, None when only
    digests travel; `mlir` and `report` are for people.
    """

    program: HostProgram
    blobs: Mapping[str, bytes]
    mlir: str = ""
    report: Mapping[str, Any] = field(default_factory=dict[str, Any])
    weights: Mapping[str, Weight] | None = None


def digest_of(*pieces: bytes | memoryview) -> str:
    """The sha256 that names a blob or a weight."""
    total = hashlib.sha256()
    for piece in pieces:
        total.update(piece)
    return total.hexdigest()


def write_artifact(path: str | os.PathLike[str], artifact: Artifact) -> None:
    """Write the artifact; raises ArtifactError for a program that breaks an invariant or lacks a blob."""
    program = replace(artifact.program, requires=required_features(artifact.program))
    check_program(program)
    members = _members(artifact, program)
    target = Path(path)
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    except OSError as error:
        raise ArtifactError(f"{target}: cannot be written ({error.strerror})", hint="choose another path") from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            _write_zip(file, members)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
    except OSError as error:
        raise ArtifactError(
            f"{target}: cannot be written ({error.strerror})", hint="free space or choose another path"
        ) from error
    finally:
        Path(name).unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0o22)
    os.umask(mask)
    return mask


def _members(artifact: Artifact, program: HostProgram) -> dict[str, list[bytes | memoryview]]:
    members: dict[str, list[bytes | memoryview]] = {}
    for sha, name in sorted(program.blob_names().items(), key=lambda item: item[1]):
        blob = artifact.blobs.get(sha)
        if blob is None or digest_of(blob) != sha:
            raise ArtifactError(f"{name}: the blob is {'missing' if blob is None else 'not what its digest says'}")
        members[name] = [blob]
    members["program.mlir"] = [artifact.mlir.encode()]
    members["report.json"] = [json.dumps(artifact.report, indent=1, sort_keys=True).encode()]
    if artifact.weights is not None:
        members["weights.safetensors"] = list(safetensors_chunks(artifact.weights))
    head = {
        "format": FORMAT,
        "version": list(VERSION),
        "requires": list(program.requires),
        "members": {name: digest_of(*pieces) for name, pieces in members.items()},
        "program": to_json(program),
    }
    return {"program.json": [json.dumps(head, indent=1).encode()], **members}


def _write_zip(file: BinaryIO, members: Mapping[str, Iterable[bytes | memoryview]]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, pieces in members.items():
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.external_attr = 0o644 << 16
            start = file.tell() + _LOCAL_HEADER + len(name.encode()) + 4 + _ZIP64_EXTRA
            padding = -start % _ALIGNMENT
            info.extra = struct.pack("<HH", _PADDING_ID, padding) + bytes(padding)
            with archive.open(info, "w", force_zip64=True) as member:
                for piece in pieces:
                    member.write(piece)


def read_artifact(path: str | os.PathLike[str]) -> Artifact:
    """Read and check an artifact. Weights are views of the mapped file. Any defect is one ArtifactError."""
    source = os.fspath(path)
    try:
        with open(source, "rb") as file:
            mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            members = _locate(file, mapped, source)
    except FileNotFoundError as error:
        raise ArtifactError(f"{source}: no such file", hint="give the path of an .alb file") from error
    except (OSError, ValueError) as error:
        raise ArtifactError(f"{source}: cannot be read ({error})", hint="give the path of an .alb file") from error
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise ArtifactError(f"{source}: not an artifact, or cut short ({error})", hint=_REBUILD) from error
    return _assemble(members, source)


def _locate(file: BinaryIO, mapped: memoryview, source: str) -> dict[str, memoryview]:
    members: dict[str, memoryview] = {}
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            at = info.header_offset
            if info.compress_type != zipfile.ZIP_STORED or info.filename in members or at + _LOCAL_HEADER > len(mapped):
                raise ArtifactError(f"{source}: member {info.filename!r} is not stored as artifacts are", hint=_REBUILD)
            name_length, extra_length = struct.unpack_from("<HH", mapped, at + 26)
            begin = at + _LOCAL_HEADER + name_length + extra_length
            if begin + info.file_size > len(mapped):
                raise ArtifactError(f"{source}: member {info.filename!r} is cut short", hint=_REBUILD)
            members[info.filename] = mapped[begin : begin + info.file_size]
            if info.filename == "program.json" and zlib.crc32(members[info.filename]) != info.CRC:
                raise ArtifactError(f"{source}: program.json is damaged (checksum differs)", hint=_REBUILD)
    return members


def _head(members: Mapping[str, memoryview], source: str) -> dict[str, Any]:
    if "program.json" not in members:
        raise ArtifactError(f"{source}: no program.json inside", hint="give the path of an .alb file")
    try:
        head: object = json.loads(bytes(members["program.json"]))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ArtifactError(f"{source}: program.json is not JSON ({error})", hint=_REBUILD) from error
    if not isinstance(head, dict) or cast("dict[str, Any]", head).get("format") != FORMAT:
        raise ArtifactError(
            f"{source}: program.json is not of the format {FORMAT!r}", hint="give the path of an .alb file"
        )
    fields = cast("dict[str, Any]", head)
    version = fields.get("version")
    if not isinstance(version, list) or not version or version[0] != VERSION[0]:
        found = ".".join(map(str, cast("list[object]", version))) if isinstance(version, list) else repr(version)
        raise ArtifactError(
            f"{source}: written in format version {found}; this version of Albumen reads {VERSION[0]}.x",
            hint="upgrade albumen, or compile the model again with this version",
        )
    return fields


def _assemble(members: Mapping[str, memoryview], source: str) -> Artifact:
    head = _head(members, source)
    requires, digests = head.get("requires"), head.get("members")
    if not isinstance(requires, list) or not isinstance(digests, dict):
        raise ArtifactError(f"{source}: program.json lacks its requires or members", hint=_REBUILD)
    check_features([str(word) for word in cast("list[object]", requires)], source)
    for name, digest in cast("dict[str, object]", digests).items():
        if name not in members:
            raise ArtifactError(f"{source}: member {name!r} is missing", hint=_REBUILD)
        if digest_of(members[name]) != digest:
            raise ArtifactError(f"{source}: member {name!r} is damaged (sha256 differs)", hint=_REBUILD)
    program = from_json(HostProgram, head.get("program"), f"{source}: program")
    check_program(program)
    names = program.blob_names()
    for name in (*names.values(), "program.mlir", "report.json"):
        if name not in cast("dict[str, object]", digests):
            raise ArtifactError(f"{source}: member {name!r} is missing", hint=_REBUILD)
    weights = members.get("weights.safetensors")
    return Artifact(
        program,
        {sha: bytes(members[name]) for sha, name in names.items()},
        bytes(members["program.mlir"]).decode(),
        cast("dict[str, Any]", json.loads(bytes(members["report.json"]))),
        None if weights is None else parse_safetensors(weights, f"{source}: weights.safetensors"),
    )
