"""The safetensors reader and writer against the safetensors library, and damaged files."""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from safetensors import numpy as reference

from albumen.runtime.errors import ArtifactError
from albumen.runtime.numpy_dtype import accepts, dtype_name, numpy_dtype
from albumen.runtime.safetensors import Weight, read_safetensors, safetensors_chunks

DTYPES = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
]


def test_reads_what_the_library_writes(tmp_path: Path, rng: np.random.Generator) -> None:
    tensors = {name: (rng.standard_normal((3, 5)) * 9).astype(name) for name in DTYPES}
    tensors["scalar"] = np.array(7.0, np.float32)
    tensors["empty"] = np.zeros((0, 4), np.float32)
    tensors["bf16"] = rng.standard_normal((2, 2)).astype(ml_dtypes.bfloat16)
    (tmp_path / "a.safetensors").write_bytes(reference.save(tensors, metadata={"format": "pt"}))
    found = read_safetensors(tmp_path / "a.safetensors")
    assert set(found) == set(tensors)
    for name, array in tensors.items():
        weight = found[name]
        assert (weight.dtype, weight.shape) == (dtype_name(array.dtype), array.shape)
        values = np.frombuffer(weight.data, numpy_dtype(weight.dtype)).reshape(weight.shape)
        np.testing.assert_array_equal(values, array)


def test_the_library_reads_what_we_write(tmp_path: Path, rng: np.random.Generator) -> None:
    a, b = rng.standard_normal((4, 3)).astype(np.float32), rng.integers(0, 9, 7)
    weights = {"b": Weight("i64", (7,), b.tobytes()), "a": Weight("f32", (4, 3), a.tobytes())}
    path = tmp_path / "a.safetensors"
    path.write_bytes(b"".join(safetensors_chunks(weights)))
    found = reference.load(path.read_bytes())
    np.testing.assert_array_equal(found["a"], a)
    np.testing.assert_array_equal(found["b"], b)
    (length,) = struct.unpack("<Q", path.read_bytes()[:8])
    assert (8 + length) % 64 == 0


def write(path: Path, header: object, body: bytes = bytes(16), length: int | None = None) -> None:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + body)


@pytest.mark.parametrize(
    ("header", "length", "message"),
    [
        ({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 15]}}, None, r"shape \[4\] of F32 at bytes 0\.\.15"),
        ({"a": {"dtype": "F32", "shape": [8], "data_offsets": [0, 32]}}, None, "of 16"),
        ({"a": {"dtype": "F32", "shape": [-4], "data_offsets": [0, 16]}}, None, "needs dtype, shape"),
        ({"a": {"dtype": "F32", "shape": [4]}}, None, "needs dtype, shape"),
        ({"a": 5}, None, "needs dtype, shape"),
        ({"a": {"dtype": "F4", "shape": [4], "data_offsets": [0, 16]}}, None, "element type F4 is not supported"),
        ([1], None, "header is not an object"),
        (b"{broken", None, "header is not JSON"),
        ({}, 1 << 60, "header of 1152921504606846976 bytes"),
    ],
)
def test_damaged(tmp_path: Path, header: object, length: int | None, message: str) -> None:
    path = tmp_path / "bad.safetensors"
    write(path, header, length=length)
    with pytest.raises(ArtifactError, match=message):
        read_safetensors(path)


@pytest.mark.parametrize("content", [b"", b"abc"])
def test_too_short(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "short").write_bytes(content)
    with pytest.raises(ArtifactError, match="short"):
        read_safetensors(tmp_path / "short")


def test_narrow_floats_without_ml_dtypes(monkeypatch: pytest.MonkeyPatch) -> None:
    numpy_dtype.cache_clear()
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    try:
        assert [numpy_dtype(name) for name in ("bf16", "f8E5M2", "f16")] == [np.uint16, np.uint8, np.float16]
        assert accepts("bf16", "u16") and not accepts("f16", "u16")
    finally:
        numpy_dtype.cache_clear()
