"""The evaluator: symbols from inputs, loops, errors."""

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func, FuncOp
from xdsl.parser import Parser

from albumen.dialects.errors import EvaluationError
from albumen.dialects.evaluate import evaluate_function, random_inputs, random_symbols
from albumen.dialects.hlir.dialect import HLIR
from albumen.dialects.sym.dialect import SYM

LOOP = """
sym.symbol @s min 2 max 64 multiple_of 2
func.func @main(%x: !hlir.tensor<[s, 2], f32>, %a: !hlir.tensor<[2], f32>, %b: !hlir.tensor<[2], f32>,
                %k: !hlir.tensor<[s, 2], f32>)
    -> (!hlir.tensor<[s, 2], f32>, !hlir.tensor<[s, 2], f32>, !hlir.tensor<[s, 2], f32>) {
  %r:3 = hlir.loop 2 carried (%x) : (!hlir.tensor<[s, 2], f32>)
      streams (%a, %b) : (!hlir.tensor<[2], f32>, !hlir.tensor<[2], f32>)
      invariants (%k) : (!hlir.tensor<[s, 2], f32>)
      -> (!hlir.tensor<[s, 2], f32>, !hlir.tensor<[s, 2], f32>, !hlir.tensor<[s, 2], f32>) {
  ^bb0(%c: !hlir.tensor<[s, 2], f32>, %w: !hlir.tensor<[2], f32>, %i: !hlir.tensor<[s, 2], f32>):
    %rows = hlir.view %w (d0, d1) -> (d1) : (!hlir.tensor<[2], f32>) -> !hlir.tensor<[s, 2], f32>
    %p = hlir.mul %c, %rows : !hlir.tensor<[s, 2], f32>
    %n = hlir.add %p, %i : !hlir.tensor<[s, 2], f32>
    hlir.yield %n, %p : !hlir.tensor<[s, 2], f32>, !hlir.tensor<[s, 2], f32>
  }
  func.return %r#0, %r#1, %r#2 : !hlir.tensor<[s, 2], f32>, !hlir.tensor<[s, 2], f32>, !hlir.tensor<[s, 2], f32>
}
"""


def parse(text: str) -> ModuleOp:
    ctx = Context()
    for dialect in (Builtin, Func, HLIR, SYM):
        ctx.load_dialect(dialect)
    module = Parser(ctx, text).parse_module()
    module.verify()
    return module


def test_a_loop_carries_streams_and_collects() -> None:
    x = np.array([[1, 2], [3, 4]], np.float32)
    a, b = np.array([2, 3], np.float32), np.array([5, 7], np.float32)
    k = np.full((2, 2), 0.5, np.float32)
    last, first_product, second_product = evaluate_function(parse(LOOP), "main", [x, a, b, k])
    np.testing.assert_array_equal(first_product, x * a)
    np.testing.assert_array_equal(second_product, (x * a + k) * b)
    np.testing.assert_array_equal(last, (x * a + k) * b + k)


def test_random_inputs_fit_the_declared_ranges(rng: np.random.Generator) -> None:
    module = parse(LOOP)
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    for _ in range(20):
        symbols = random_symbols(module, rng)
        assert 2 <= symbols["s"] <= 64 and symbols["s"] % 2 == 0
        inputs = random_inputs(function, rng, symbols)
        assert [x.shape for x in inputs] == [(symbols["s"], 2), (2,), (2,), (symbols["s"], 2)]
        evaluate_function(module, "main", inputs, symbols)


@pytest.mark.parametrize(
    ("shapes", "dtype", "message"),
    [
        (((3, 2), (2,), (2,)), np.float32, "expected 4 inputs, found 3"),
        (((3, 2), (2,), (2,), (4, 2)), np.float32, r"input 3 of @main is float32\[4, 2\]"),
        (((3, 2), (2,), (2,), (3, 2)), np.float64, "input 0 of @main is float64"),
    ],
)
def test_inputs_that_do_not_fit(shapes: tuple[tuple[int, ...], ...], dtype: type[np.generic], message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        evaluate_function(parse(LOOP), "main", [np.zeros(shape, np.dtype(dtype)) for shape in shapes])


def test_a_view_outside_its_source_is_an_error() -> None:
    module = parse(
        """
        func.func @main(%x: !hlir.tensor<[3], f32>) -> !hlir.tensor<[3], f32> {
          %y = hlir.view %x (d0) -> (d0 + 1) : !hlir.tensor<[3], f32>
          func.return %y : !hlir.tensor<[3], f32>
        }
        """
    )
    with pytest.raises(EvaluationError, match=r"reads index 1\.\.3 of dimension 0 of extent 3"):
        evaluate_function(module, "main", [np.zeros(3, np.float32)])


def test_unknown_function() -> None:
    with pytest.raises(EvaluationError, match="no function @other"):
        evaluate_function(parse(LOOP), "other", [])
