"""The row-major contract of cublaslt.matmul on a stand-in that computes column-major products of host memory."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from albumen.runtime.devices.cublaslt import CublasltMatmul
from albumen.runtime.devices.driver import LibraryInvocation
from albumen.runtime.errors import DeviceError

NUMPY = {0: np.float32, 1: np.float64}


class LibraryError(Exception):
    pass


class Layout(SimpleNamespace):
    """A column-major matrix: element (row, column) of matrix b lies at b*stride + column*ld + row."""

    def array(self, pointer: int) -> Any:
        kind = NUMPY[self.type]
        size = np.dtype(kind).itemsize
        count = (self.batch - 1) * self.stride + (self.columns - 1) * self.ld + self.rows
        flat = np.frombuffer((ctypes.c_char * (count * size)).from_address(pointer), kind)
        shape, steps = (self.batch, self.rows, self.columns), (self.stride * size, size, self.ld * size)
        return np.lib.stride_tricks.as_strided(flat, shape, steps)


def read(pointer: int, kind: Any) -> Any:
    return kind.from_address(pointer).value


class FakeLibrary:
    """The functions of nvmath.bindings.cublasLt that are used, on the host."""

    MatmulDescAttribute = SimpleNamespace(TRANSA="ta", TRANSB="tb", EPILOGUE="epilogue", BIAS_POINTER="bias")
    MatrixLayoutAttribute = SimpleNamespace(BATCH_COUNT="batch", STRIDED_BATCH_OFFSET="stride")
    MatmulPreferenceAttribute = SimpleNamespace(
        MAX_WORKSPACE_BYTES="workspace",
        MIN_ALIGNMENT_A_BYTES="a",
        MIN_ALIGNMENT_B_BYTES="b",
        MIN_ALIGNMENT_C_BYTES="c",
        MIN_ALIGNMENT_D_BYTES="d",
    )
    Epilogue = SimpleNamespace(DEFAULT=1, RELU=2, BIAS=4, RELU_BIAS=6, GELU=32, GELU_BIAS=36)
    cuBLASLtError = LibraryError
    matmul_heuristic_result_dtype = np.dtype([("algo", np.uint64, (8,)), ("workspace", np.uint64)])

    def __init__(self, algorithms: int = 3) -> None:
        self.algorithms = algorithms
        self.objects: list[Any] = []
        self.preferences: list[dict[str, int]] = []
        self.heuristics = 0
        self.last: tuple[Any, ...] = ()

    def create(self) -> int:
        return 11

    def _keep(self, value: Any) -> int:
        self.objects.append(value)
        return len(self.objects) - 1

    def matmul_desc_create(self, compute: int, scale: int) -> int:
        return self._keep({"compute": compute, "scale": scale})

    def matmul_desc_set_attribute(self, handle: int, key: str, pointer: int, size: int) -> None:
        kind = {4: ctypes.c_int32, 8: ctypes.c_uint64}[size]
        self.objects[handle][key] = read(pointer, kind)

    def matrix_layout_create(self, dtype: int, rows: int, columns: int, ld: int) -> int:
        return self._keep(Layout(type=dtype, rows=rows, columns=columns, ld=ld, batch=1, stride=0))

    def matrix_layout_set_attribute(self, handle: int, key: str, pointer: int, size: int) -> None:
        setattr(self.objects[handle], key, read(pointer, {4: ctypes.c_int32, 8: ctypes.c_int64}[size]))

    def matmul_preference_create(self) -> int:
        self.preferences.append({})
        return len(self.preferences) - 1

    def matmul_preference_set_attribute(self, handle: int, key: str, pointer: int, size: int) -> None:
        self.preferences[handle][key] = read(pointer, {4: ctypes.c_uint32, 8: ctypes.c_uint64}[size])

    def matmul_preference_destroy(self, handle: int) -> None:
        pass

    def matmul_algo_get_heuristic(self, *arguments: Any) -> None:
        count, results, found = arguments[7], arguments[8], arguments[9]
        self.heuristics += 1
        assert count == 16
        for rank in range(self.algorithms):
            ctypes.c_uint64.from_address(results + rank * self.matmul_heuristic_result_dtype.itemsize).value = (
                100 + rank
            )
        ctypes.c_int32.from_address(found).value = self.algorithms

    def matmul(self, handle: int, *arguments: Any) -> None:
        description, alpha, a, la, b, lb, beta, c, lc, d, ld, algorithm, scratch, size, stream = arguments
        facts = self.objects[description]
        scalar = {0: ctypes.c_float, 1: ctypes.c_double}[facts["scale"]]
        first, second = self.objects[la].array(a), self.objects[lb].array(b)
        first = first.swapaxes(1, 2) if facts["ta"] else first
        second = second.swapaxes(1, 2) if facts["tb"] else second
        result = read(alpha, scalar) * (first @ second) + read(beta, scalar) * self.objects[lc].array(c)
        if facts["epilogue"] & 4:
            rows = self.objects[ld].rows
            bias = np.frombuffer((ctypes.c_float * rows).from_address(facts["bias"]), np.float32)
            result = result + bias[None, :, None]
        if facts["epilogue"] & 2:
            result = np.maximum(result, 0)
        self.objects[ld].array(d)[...] = result
        self.last = (handle, read(algorithm, ctypes.c_uint64), scratch, size, stream)


def configuration(**changes: str) -> dict[str, str]:
    default = {
        "m": "m",
        "n": "n",
        "k": "k",
        "batch": "batch",
        "lhs_transposed": "0",
        "rhs_transposed": "0",
        "ld_a": "k",
        "ld_b": "n",
        "ld_d": "n",
        "stride_a": "m*k",
        "stride_b": "k*n",
        "stride_d": "m*n",
        "dtype_a": "f32",
        "dtype_b": "f32",
        "dtype_d": "f32",
        "compute": "f32",
        "epilogue": "none",
        "add": "0",
    }
    return {**default, **changes}


def prepare(library: CublasltMatmul, config: dict[str, str], pointers: list[int], **sizes: int) -> LibraryInvocation:
    return library.prepare(config, lambda key: int(eval(config[key], {}, sizes)), pointers)


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("lhs_transposed", [False, True])
@pytest.mark.parametrize("rhs_transposed", [False, True])
@pytest.mark.parametrize("epilogue", ["none", "bias", "relu", "bias_relu"])
def test_values(
    rng: np.random.Generator, batch: int, lhs_transposed: bool, rhs_transposed: bool, epilogue: str
) -> None:
    m, n, k = 5, 7, 3
    a = rng.standard_normal((batch, *((k, m) if lhs_transposed else (m, k)))).astype(np.float32)
    b = rng.standard_normal((batch, *((n, k) if rhs_transposed else (k, n)))).astype(np.float32)
    bias, d = rng.standard_normal(n).astype(np.float32), np.zeros((batch, m, n), np.float32)
    config = configuration(
        lhs_transposed=str(int(lhs_transposed)),
        rhs_transposed=str(int(rhs_transposed)),
        ld_a="m" if lhs_transposed else "k",
        ld_b="k" if rhs_transposed else "n",
        epilogue=epilogue,
    )
    with_bias = "bias" in epilogue
    pointers = [a.ctypes.data, b.ctypes.data, *([bias.ctypes.data] if with_bias else []), d.ctypes.data]
    fake = FakeLibrary()
    prepare(CublasltMatmul(fake), config, pointers, m=m, n=n, k=k, batch=batch).enqueue(5)
    left = a.swapaxes(1, 2) if lhs_transposed else a
    right = b.swapaxes(1, 2) if rhs_transposed else b
    expected = left @ right + (bias if with_bias else 0)
    np.testing.assert_allclose(d, np.maximum(expected, 0) if "relu" in epilogue else expected, rtol=1e-5, atol=1e-6)
    assert fake.last == (11, 100, 0, 0, 5)


def test_addend_scratch_and_algorithm(rng: np.random.Generator) -> None:
    m, n, k = 4, 4, 2
    a, b, c = (rng.standard_normal(shape) for shape in ((m, k), (k, n), (m, n)))
    d = np.zeros((m, n))
    types = {"dtype_a": "f64", "dtype_b": "f64", "dtype_d": "f64", "compute": "f64"}
    config = configuration(add="1", ld_c="n", stride_c="0", workspace="64", algorithm="2", **types)
    fake = FakeLibrary()
    pointers = [a.ctypes.data, b.ctypes.data, c.ctypes.data, d.ctypes.data, 0x5000]
    prepare(CublasltMatmul(fake), config, pointers, m=m, n=n, k=k, batch=1).enqueue(0)
    np.testing.assert_allclose(d, a @ b + c, rtol=1e-12)
    assert fake.last == (11, 102, 0x5000, 64, 0)
    assert fake.preferences[0]["workspace"] == 64


def test_one_plan_for_a_configuration_and_alignment() -> None:
    fake = FakeLibrary()
    library = CublasltMatmul(fake)
    buffers = np.zeros(4096, np.float32)
    base = buffers.ctypes.data + -buffers.ctypes.data % 256
    config = configuration()
    for start in (base, base + 512, base + 256, base + 4):
        prepare(library, config, [start, start + 256, start + 512], m=2, n=2, k=2, batch=1).enqueue(0)
    assert fake.heuristics == 2
    assert [preference["a"] for preference in fake.preferences] == [256, 4]


def test_equal_calls_are_equal_and_empty_ones_do_nothing() -> None:
    library = CublasltMatmul(FakeLibrary())
    config = configuration()
    first = prepare(library, config, [1, 2, 3], m=2, n=2, k=2, batch=1)
    assert first == prepare(library, config, [1, 2, 3], m=2, n=2, k=2, batch=1)
    assert first != prepare(library, config, [1, 2, 4], m=2, n=2, k=2, batch=1)
    assert first != prepare(library, config, [1, 2, 3], m=3, n=2, k=2, batch=1)
    empty = prepare(library, config, [1, 2, 3], m=0, n=2, k=2, batch=1)
    assert empty.empty
    empty.enqueue(0)


def test_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    config = configuration()
    with pytest.raises(DeviceError, match="no algorithm for this product"):
        prepare(CublasltMatmul(FakeLibrary(0)), config, [256, 256, 256], m=2, n=2, k=2, batch=1).enqueue(0)
    with pytest.raises(DeviceError, match="k is 0"):
        prepare(CublasltMatmul(FakeLibrary()), config, [256, 256, 256], m=2, n=2, k=0, batch=1).enqueue(0)
    fake = FakeLibrary()

    def refuse(*_: Any) -> None:
        raise LibraryError("CUBLAS_STATUS_NOT_SUPPORTED (15)")

    monkeypatch.setattr(fake, "matmul", refuse)
    with pytest.raises(DeviceError, match="NOT_SUPPORTED"):
        prepare(CublasltMatmul(fake), config, [256, 256, 256], m=2, n=2, k=2, batch=1).enqueue(0)
    monkeypatch.setitem(__import__("sys").modules, "nvmath.bindings.cublasLt", None)
    with pytest.raises(DeviceError, match="bindings are not there"):
        CublasltMatmul.open()
