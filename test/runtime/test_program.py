"""A loaded C program called with numpy: values, ownership, every refusal of a call, threads, weights, processes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from albumen.runtime import abi
from albumen.runtime.artifact import (
    Artifact,
    HostProgram,
    Input,
    Output,
    Symbol,
    write_artifact,
)
from albumen.runtime.errors import ExecutionError, LaunchError, ShapeError
from albumen.runtime.program import Program, load

F32 = np.float32


@pytest.fixture
def program(affine: Artifact, tmp_path: Path) -> Program:
    write_artifact(tmp_path / "affine.alb", affine)
    return load(tmp_path / "affine.alb", device="cpu")


def expected(x: Any, w: Any = (1, 2, 3, 4)) -> Any:
    return x * np.asarray(w, F32) + F32(1)


@pytest.mark.parametrize("rows", [0, 1, 2, 7, 1000])
def test_values(program: Program, rows: int, rng: np.random.Generator) -> None:
    x = rng.standard_normal((rows, 4)).astype(F32)
    y = program(x)
    assert y.dtype == F32 and y.shape == (rows, 4)
    np.testing.assert_array_equal(y, expected(x))


def test_results_are_fresh_and_composable(program: Program, rng: np.random.Generator) -> None:
    x = rng.standard_normal((3, 4)).astype(F32)
    first = program(x)
    kept = first.copy()
    second = program(first)
    program(second)
    np.testing.assert_array_equal(first, kept)
    np.testing.assert_array_equal(second, expected(kept))
    assert first.flags.owndata


def test_what_a_call_takes_and_gives(program: Program) -> None:
    assert [item.name for item in program.inputs] == ["x"]
    assert [item.name for item in program.outputs] == ["y"]
    assert program.bound_names == ("w",)


BAD_CALLS: list[tuple[Callable[[], Any], type[ExecutionError], str]] = [
    (lambda: np.zeros((3, 4)), LaunchError, "input 'x': expected dtype f32, found f64"),
    (lambda: np.zeros((3, 4), ">f4"), LaunchError, "input 'x': expected dtype f32, found another type"),
    (lambda: np.zeros((3, 5), F32), ShapeError, r"input 'x': shape \[3, 5\], expected \[s, 4\] = \[3, 4\] where s = 3"),
    (lambda: np.zeros((3, 4), F32)[0], ShapeError, r"input 'x': shape \[4\], expected \[s, 4\] \(s in 0\.\.1000\)"),
    (lambda: np.zeros((1001, 4), F32), ShapeError, r"dim 0 of \[1001, 4\] is 1001, expected s with s in 0\.\.1000"),
    (lambda: np.zeros((4, 3), F32).T, ShapeError, r"strides \[1, 3\] for shape \[3, 4\], expected \[4, 1\]"),
    (lambda: np.zeros((6, 4), F32)[::2], ShapeError, r"strides \[8, 1\]"),
    (lambda: np.frombuffer(bytes(49), F32, 12, 1).reshape(3, 4), LaunchError, "not 4-byte aligned"),
    (lambda: np.zeros((3, 4), np.dtype([("a", F32), ("b", "u1")]))["a"], ShapeError, "no multiples of 4"),
    (lambda: [[1.0]], LaunchError, "input 'x': expected an array, found list"),
    (lambda: 5, LaunchError, "input 'x': expected an array, found int"),
]


@pytest.mark.parametrize(("make", "error", "message"), BAD_CALLS)
def test_bad_call(program: Program, make: Callable[[], Any], error: type[ExecutionError], message: str) -> None:
    for _ in range(2):
        with pytest.raises(error, match=message):
            program(make())
    x = np.ones((2, 4), F32)
    np.testing.assert_array_equal(program(x), expected(x))
    with pytest.raises(error, match=message):
        program(make())


def test_wrong_count(program: Program) -> None:
    x = np.zeros((2, 4), F32)
    with pytest.raises(LaunchError, match=r"expected 1 inputs \(x\), found 2"):
        program(x, x)
    with pytest.raises(LaunchError, match="found 0"):
        program()


def test_strides_of_extent_one_do_not_matter(program: Program) -> None:
    x = np.zeros((5, 4), F32)[::5]
    assert x.strides == (80, 4)
    np.testing.assert_array_equal(program(x), expected(x))


def test_calls_from_many_threads(program: Program, rng: np.random.Generator) -> None:
    inputs = [rng.standard_normal((50 + at, 4)).astype(F32) for at in range(4)]
    wrong: list[int] = []

    def work(at: int) -> None:
        for _ in range(200):
            if not np.array_equal(program(inputs[at]), expected(inputs[at])):
                wrong.append(at)

    threads = [threading.Thread(target=work, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# 2*s - 1 rows come in, the scalar n is added, and the second result is the last row of x.
MIXED = """
int albumen_run(void *const *buffers, const int64_t *symbols, void *arena, const albumen_host *host) {
  float *x = buffers[0]; float *y = buffers[3];
  if (buffers[1] || buffers[4] || host->threads < 1) return ALBUMEN_INDEX;
  for (int64_t i = 0; i < (2 * symbols[0] - 1) * 4; ++i) y[i] = x[i] + symbols[1] + *(float *)buffers[2];
  x[0] = 7; *(float *)buffers[2] += 1;
  return ALBUMEN_OK;
}
"""


def mixed_program() -> HostProgram:
    return HostProgram(
        target="c",
        arch="any",
        symbols=(Symbol("s", 1, 9, 1, 0, 0), Symbol("n", 0, 100, 5, 1, -1)),
        inputs=(
            Input("x", "f32", ("2*s - 1", "4"), ("4", "1"), align=4, mutated=True),
            Input("n", "i64", (), (), role="scalar"),
            Input("b", "f32", (), (), align=4, role="buffer", mutated=True),
        ),
        outputs=(
            Output("y", "f32", ("2*s - 1", "4"), ("4", "1")),
            Output("last", "f32", ("4",), ("1",), alias=0, offset="8*s - 8"),
        ),
        arena_bytes="0",
    )


def test_scalars_buffers_mutation_and_views(make_artifact: Any) -> None:
    program = Program(make_artifact(mixed_program(), MIXED), "cpu")
    program.bind_parameters({"b": np.array(0.5, F32)})
    x = np.arange(12, dtype=F32).reshape(3, 4)
    before = x.copy()
    y, last = program(x, 10)
    np.testing.assert_array_equal(y, before + 10.5)
    assert x[0, 0] == 7
    assert np.shares_memory(last, x)
    np.testing.assert_array_equal(last, x[2])
    y, _ = program(x, 15)
    np.testing.assert_array_equal(y, x + 16.5)
    with pytest.raises(ShapeError, match=r"dim 0 of \[4, 4\] is 4, expected 2\*s - 1 with s in 1\.\.9"):
        program(np.zeros((4, 4), F32), 10)
    fixed = x.copy()
    fixed.flags.writeable = False
    with pytest.raises(LaunchError, match="input 'x': the program writes it, but the array is read-only"):
        program(fixed, 10)
    with pytest.raises(LaunchError, match="'b': the program writes it"):
        program.bind_parameters({"b": np.broadcast_to(np.ones(1, F32), (1,))[0:1].reshape(())})
    with pytest.raises(ShapeError, match=r"input 'n' is 12, expected n in 0\.\.100, multiple of 5"):
        program(x, 12)
    with pytest.raises(LaunchError, match="input 'n': expected an int, found ndarray"):
        program(x, x)


def test_program_that_fails(make_artifact: Any) -> None:
    text = "int albumen_run(void *const *b, const int64_t *s, void *a, const albumen_host *h) { return ALBUMEN_INDEX; }"
    program = Program(make_artifact(mixed_program(), text), "cpu")
    program.bind_parameters({"b": np.array(0.5, F32)})
    for _ in range(2):
        with pytest.raises(LaunchError, match="an index operand was out of range"):
            program(np.zeros((1, 4), F32), 5)


def test_host_lends_a_matrix_product(make_artifact: Any, rng: np.random.Generator) -> None:
    text = """
    int albumen_run(void *const *b, const int64_t *s, void *a, const albumen_host *host) {
      if (!host->gemm) return ALBUMEN_MISSING;
      host->gemm(101, 111, 112, 5, 3, 4, 1.0f, b[0], 4, b[1], 4, 0.0f, b[2], 3);
      return ALBUMEN_OK;
    }"""
    inputs = (Input("a", "f32", ("5", "4"), ("4", "1")), Input("b", "f32", ("3", "4"), ("4", "1")))
    outputs = (Output("c", "f32", ("5", "3"), ("3", "1")),)
    program = Program(make_artifact(HostProgram("c", "any", (), inputs, outputs, "0"), text), "cpu")
    a, b = rng.standard_normal((5, 4)).astype(F32), rng.standard_normal((3, 4)).astype(F32)
    try:
        found = program(a, b)
    except LaunchError as error:
        assert "host function" in str(error)
        pytest.skip("numpy has no OpenBLAS here")
    np.testing.assert_allclose(found, a @ b.T, rtol=1e-6, atol=1e-6)


def test_parameters_are_bound_by_name(make_artifact: Any, tmp_path: Path) -> None:
    write_artifact(tmp_path / "a.alb", make_artifact())
    program = load(tmp_path / "a.alb", device="cpu")
    x = np.ones((1, 4), F32)
    with pytest.raises(LaunchError, match="no values for 'w'"):
        program(x)
    with pytest.raises(LaunchError, match="no parameter 'v'"):
        program.bind_parameters({"v": x})
    w = np.full(4, 3, F32)
    program.bind_parameters({"w": w})
    np.testing.assert_array_equal(program(x), expected(x, w))
    w[:] = 5  # bound without a copy
    np.testing.assert_array_equal(program(x), expected(x, w))
    with pytest.raises(LaunchError, match="'w': expected dtype f32, found f64"):
        program.bind_parameters({"w": np.zeros(4)})
    program.bind_parameters({"w": np.zeros(5, F32)})
    with pytest.raises(ShapeError, match=r"input 'w': shape \[5\], expected \[4\]"):
        program(x)


def test_host_structure_has_the_version(affine: Artifact, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("albumen.runtime.devices.cpu.ABI_VERSION", abi.ABI_VERSION + 1)
    program = Program(affine, "cpu")
    program.bind_parameters({"w": np.ones(4, F32)})
    with pytest.raises(LaunchError, match="another version"):
        program(np.ones((1, 4), F32))
