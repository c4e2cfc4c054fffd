"""--check-each: a pass that keeps the values goes through, one that changes them is named with what it changed."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from ml_dtypes import bfloat16
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from albumen.dialects.errors import EvaluationError
from albumen.dialects.hlir.elementwise import AddOp, MulOp
from albumen.tools.check_each import close, difference, symbol_choices
from albumen.tools.opt import AlbumenOpt
from albumen.tools.registry import make_context

TEXT = """sym.symbol @s min 2 max 64 multiple_of 2
func.func @double(%x: !hlir.tensor<[s, 3], f32>) -> !hlir.tensor<[s, 3], f32> {
  %0 = hlir.add %x, %x : !hlir.tensor<[s, 3], f32>
  func.return %0 : !hlir.tensor<[s, 3], f32>
}
"""


@dataclass(frozen=True)
class Square(ModulePass):
    """Turns sums into products."""

    name = "square"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            if isinstance(inner, AddOp):
                Rewriter.replace_op(inner, MulOp.make(inner.operands))


class Driver(AlbumenOpt):
    def register_all_passes(self) -> None:
        super().register_all_passes()
        self.register_pass("square", lambda: Square)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.mlir"
    path.write_text(TEXT)
    return path


def test_a_right_pass_goes_through(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert Driver(args=[str(source), "-p", "cse,dce", "--check-each"]).run_all() == 0
    assert "hlir.add" in capsys.readouterr().out


def test_a_wrong_pass_is_named(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reproducer = tmp_path / "wrong.mlir"
    arguments = [str(source), "-p", "cse,square,dce", "--check-each", "--seed", "3", "--reproducer", str(reproducer)]
    assert Driver(args=arguments).run_all() == 1
    error = capsys.readouterr().err
    assert error.startswith(
        f"{source}:2: error: square: func.func: --check-each: @double with {{'s': 2}}: result 0 differs"
    )
    command = shlex.split(reproducer.read_text().splitlines()[0].removeprefix("// "))
    assert command[2:] == ["-p", "square", "--check-each", "--seed", "3"]
    assert Driver(args=command[1:]).run_all() == 1


def test_the_seed_decides_the_inputs(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    errors: list[str] = []
    for seed in ("0", "0", "1"):
        Driver(args=[str(source), "-p", "square", "--check-each", "--seed", seed]).run_all()
        errors.append(capsys.readouterr().err)
    assert errors[0] == errors[1] != errors[2]


def choices(declarations: str) -> list[dict[str, int]]:
    module = Parser(make_context(), declarations).parse_module()
    from random import Random

    return list(symbol_choices(module, Random(0)))


def test_symbols_keep_their_ranges_and_guards() -> None:
    assert choices("sym.symbol @s min 5 max 5") == [{"s": 5}]
    first, second = choices("sym.symbol @s min 3 max 40 multiple_of 4")
    assert first == {"s": 4}
    assert second["s"] in (8,)
    pairs = choices('sym.symbol @s min 0\nsym.symbol @t min 0\nsym.guard s - 2*t - 1 "=="')
    assert pairs
    assert all(one["s"] == 2 * one["t"] + 1 for one in pairs)
    with pytest.raises(EvaluationError, match="no small values of the symbols s satisfy"):
        choices('sym.symbol @s min 0\nsym.guard -s - 1 ">="')


def test_differences() -> None:
    ones = np.ones((2, 2), np.float32)
    assert difference([ones], [ones.copy()]) == ""
    assert difference([ones], []) == "1 results before, 0 after"
    assert difference([ones], [ones.astype(np.float64)]) == "result 0 is float32[2, 2] before, float64[2, 2] after"
    other = ones.copy()
    other[1, 0] = 1.001
    assert difference([ones], [other]) == "result 0 differs at [1, 0]: 1.0 before, 1.0010000467300415 after"
    assert difference([np.array([1, 2])], [np.array([1, 3])]) == "result 0 differs at [1]: 2 before, 3 after"


def test_special_values_are_equal_to_themselves_alone() -> None:
    values = np.array([np.nan, np.inf, -np.inf, 1.0], np.float32)
    assert close(values, values).all()
    assert not close(values, np.array([1.0, -np.inf, np.inf, np.nan], np.float32)).any()


def test_narrow_floats_are_compared_at_their_own_precision() -> None:
    one = np.array([1.0], bfloat16)
    assert close(one, np.array([1.0 + 2**-7], bfloat16)).all()
    assert not close(one, np.array([1.5], bfloat16)).any()
    assert not close(np.array([1.0], np.float32), np.array([1.0 + 2**-7], np.float32)).any()
