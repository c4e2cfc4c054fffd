"""What a program demands of the sizes of a call: ranges, multiples and guards, refused in words, checked once a
shape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from albumen.runtime.artifact import Artifact, Guard, HostProgram, Input, Output, Symbol
from albumen.runtime.errors import ShapeError
from albumen.runtime.program import Program
from albumen.runtime.sizes import SizeChecker

F32 = np.float32

# y = x, whose rows are 2*s; the second input has t of them.
COPY = """
int albumen_run(void *const *buffers, const int64_t *symbols, void *arena, const albumen_host *host) {
  const float *x = buffers[0];
  float *y = buffers[3];
  for (int64_t i = 0; i < symbols[0] * 2; ++i) y[i] = x[i];
  return ALBUMEN_OK;
}
"""


def program_with(*guards: Guard, s: Symbol | None = None) -> HostProgram:
    return HostProgram(
        target="c",
        arch="any",
        symbols=(s or Symbol("s", 1, 64, 4, 0, 0), Symbol("t", 0, None, 1, 1, 0), Symbol("n", 0, 100, 10, 2, -1)),
        inputs=(
            Input("x", "f32", ("2*s",), ("1",), align=4),
            Input("w", "f32", ("t", "2"), ("2", "1"), align=4),
            Input("n", "i64", (), (), role="scalar"),
        ),
        outputs=(Output("y", "f32", ("2*s",), ("1",)),),
        arena_bytes="0",
        guards=guards,
    )


EQUAL = Guard("s*t - n*n", "==", "s*t must equal n*n")
ENOUGH = Guard("n + floordiv(t, s) - 25", ">=", "n + floordiv(t, s) must be at least 25")


@pytest.fixture
def program(make_artifact: Callable[..., Artifact]) -> Program:
    return Program(make_artifact(program_with(EQUAL, ENOUGH), COPY), "cpu")


def call(program: Program, x: int, t: int, n: int) -> Any:
    return program(np.arange(x, dtype=F32), np.zeros((t, 2), F32), n)


def test_sizes_that_hold(program: Program) -> None:
    assert call(program, 8, 225, 30).shape == (8,)
    assert call(program, 16, 200, 40).shape == (16,)


@pytest.mark.parametrize(
    ("sizes", "message", "hint"),
    [
        ((8, 3, 10), r"^the sizes of the inputs do not fit together: s\*t must equal n\*n, found ", "dynamic shapes"),
        ((8, 3, 10), r"s = 4 \(dim 0 of input 'x', which is 2\*s = 8\) and t = 3 \(dim 0 of input 'w'\)", "inputs"),
        ((8, 3, 10), r"and n = 10 \(input 'n'\)\n", "for which this holds"),
        ((8, 25, 10), r"n \+ floordiv\(t, s\) must be at least 25, found", "for which this holds"),
        ((136, 25, 10), r"dim 0 of \[136\] is 136, expected 2\*s with s in 1\.\.64, multiple of 4", "wider range"),
        ((0, 25, 10), r"dim 0 of \[0\] is 0, expected 2\*s with s in 1\.\.64", "wider range"),
        ((12, 25, 10), r"is 12, expected 2\*s with s in 1\.\.64, multiple of 4: a multiple of 8\n", "pad or cut"),
        ((9, 25, 10), r"dim 0 of \[9\] is 9, expected .*: a multiple of 8\n", "pad or cut"),
        ((8, 25, 11), r"input 'n' is 11, expected n in 0\.\.100, multiple of 10\n", "pad or cut"),
        ((8, 25, 110), r"input 'n' is 110, expected n in 0\.\.100, multiple of 10", "wider range"),
    ],
)
def test_sizes_that_do_not(program: Program, sizes: tuple[int, int, int], message: str, hint: str) -> None:
    for _ in range(2):
        with pytest.raises(ShapeError, match=message) as caught:
            call(program, *sizes)
        assert hint in caught.value.hint
    assert call(program, 8, 225, 30).shape == (8,)
    with pytest.raises(ShapeError, match=message):
        call(program, *sizes)


def test_a_guard_without_a_value_is_broken() -> None:
    checker = SizeChecker(program_with(ENOUGH))
    checker.check((1, 25, 0))
    with pytest.raises(ShapeError, match="do not fit together: n \\+ floordiv"):
        checker.check((0, 25, 100))


def test_a_size_with_a_remainder() -> None:
    program = program_with(s=Symbol("s", 1, None, 2, 0, 0))
    shifted = replace(program, inputs=(replace(program.inputs[0], shape=("s*3 + 1",)), *program.inputs[1:]))
    checker = SizeChecker(shifted)
    assert checker.solve(0, 7, "here") == 2
    with pytest.raises(ShapeError, match=r"here, expected s\*3 \+ 1 with s in .*: 1 more than a multiple of 6\n"):
        checker.solve(0, 10, "here")


def test_checked_for_new_shapes_only(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[Any] = []
    original = SizeChecker.check

    def counting(self: SizeChecker, values: Any) -> None:
        checked.append(tuple(values))
        original(self, values)

    monkeypatch.setattr(SizeChecker, "check", counting)
    for sizes in ((8, 225, 30), (8, 225, 30), (16, 200, 40), (8, 225, 30), (16, 200, 40)):
        call(program, *sizes)
    assert checked == [(4, 225, 30), (8, 200, 40)]
