"""Sizes that are symbols, in any position and form: one program for all of a range, and numbers computed from them."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch._dynamo.exc import UserError
from torch.export import Dim
from torch.utils import _pytree as pytree

import albumen
import albumen.lowering.torch.backend as backend
from albumen.lowering.torch.exported_file import import_file
from albumen.runtime.errors import ShapeError

pytestmark = pytest.mark.torch


class Module(nn.Module):
    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def numbers(x: torch.Tensor) -> Any:
    n, m = x.shape
    return x * n + m, x / n, x * (n / m), x.sum() / x.numel(), x * max(n // 2, 1), x * n**2, x - -n


def floats(x: torch.Tensor) -> Any:
    n, m = x.shape
    return x * (1 / math.sqrt(m)), x * m**-0.5, x * float(n), x + n * 0.5


def narrow_floats(x: torch.Tensor) -> Any:
    return x.bfloat16() * (x.shape[1] ** -0.5), x.bfloat16() + x.shape[0] / 3, x.to(torch.int32) * (x.shape[0] / 3)


def created(x: torch.Tensor) -> Any:
    n, m = x.shape
    return torch.arange(n), torch.full((n, m + 1), n / 2), torch.zeros(n * 2), torch.eye(n), torch.ones(n, n).tril()


def reshaped(x: torch.Tensor) -> Any:
    n, m = x.shape
    return x.view(n // 2, 2, -1), x.reshape(n * m), x.reshape(n * 3, m // 3), x.unflatten(1, (-1, 3)), x.t().reshape(-1)


def sliced(x: torch.Tensor) -> Any:
    n = x.shape[0]
    return x[1 : n - 1], x[n // 2 :], x[: n // 2], x[-2:], x[::2], x[: min(n, 5)], x[:, : x.shape[1] // 3]


def resampled(x: torch.Tensor) -> Any:
    y = x[None, None]
    n, m = x.shape
    return F.max_pool2d(y, 2), F.interpolate(y, size=(n * 2, m + 1)), F.interpolate(y, scale_factor=2)


def written(x: torch.Tensor) -> Any:
    x[: x.shape[0] // 2].mul_(2)
    x[-1] = x.shape[0]
    return x, x[1:]


def returned(x: torch.Tensor) -> Any:
    n, m = x.shape
    return n, n * m, n / 2, n > 7, x.shape, -n


def repeated(x: torch.Tensor) -> Any:
    n = x.shape[0]
    return x.repeat(2, n), x.expand(n, *x.shape), x.roll(n // 2, 0), F.pad(x, (1, n)), torch.cat([x, x[: n // 2]])


FUNCTIONS = [numbers, floats, narrow_floats, created, reshaped, sliced, resampled, written, returned, repeated]
SHAPES = [(8, 6), (4, 12), (10, 9)]


def compare(found: Any, expected: Any) -> None:
    for a, b in zip(pytree.tree_leaves(found), pytree.tree_leaves(expected), strict=True):
        if isinstance(b, torch.Tensor):
            torch.testing.assert_close(a, b, equal_nan=True)
        else:
            assert a == b and isinstance(a, type(b))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_one_program_for_all_sizes(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    torch._dynamo.reset()
    compiles: list[Any] = []
    compile_imported: Any = getattr(backend, "compile_imported")  # noqa: B009
    monkeypatch.setattr(backend, "compile_imported", lambda *a, **k: compiles.append(a) or compile_imported(*a, **k))
    run = torch.compile(function, backend="albumen", fullgraph=True, dynamic=True)
    for shape in SHAPES:
        x = torch.randn(shape)
        compare(run(x.clone()), function(x.clone()))
    assert len(compiles) == 1


def test_automatic_dynamic() -> None:
    torch._dynamo.reset()
    run = torch.compile(numbers, backend="albumen", fullgraph=True)
    for rows in (5, 7):
        compare(run(torch.ones(rows, 3)), numbers(torch.ones(rows, 3)))
    with torch.compiler.set_stance("fail_on_recompile"):
        for rows in (9, 2, 11):
            compare(run(torch.ones(rows, 3)), numbers(torch.ones(rows, 3)))
    for rows in (1, 0):  # a program each: eager's rules differ for them
        compare(run(torch.ones(rows, 3) if rows else torch.ones(3, 0).t()), numbers(torch.ones(rows, 3)))


def test_a_marked_range_is_one_program() -> None:
    torch._dynamo.reset()
    run = torch.compile(lambda x: x.softmax(0) * x.shape[0], backend="albumen", fullgraph=True)
    x = torch.randn(6, 3)
    torch._dynamo.mark_dynamic(x, 0, min=2, max=64)
    run(x)
    with torch.compiler.set_stance("fail_on_recompile"):
        for rows in (2, 17, 64):
            x = torch.randn(rows, 3)
            torch.testing.assert_close(run(x), x.softmax(0) * rows)


def test_attention_of_any_head_size() -> None:
    def attend(q: torch.Tensor) -> torch.Tensor:
        return F.scaled_dot_product_attention(q, q, q, is_causal=True)

    torch._dynamo.reset()
    run = torch.compile(attend, backend="albumen", fullgraph=True, dynamic=True)
    for shape in ((2, 3, 5, 8), (3, 4, 7, 16)):
        for dtype in (torch.float32, torch.bfloat16):
            q = torch.randn(shape, dtype=dtype)
            exact = attend(q.double())
            error = (attend(q).double() - exact).abs().max()
            assert (run(q).double() - exact).abs().max() <= error + 1e-6


@pytest.mark.parametrize("function", [numbers, floats, created, reshaped, sliced, written, repeated])
def test_torch_export_with_dims_that_it_finds(function: Callable[..., Any]) -> None:
    compiled = albumen.compile(Module(function), (torch.randn(8, 6),), dynamic_shapes=(({0: Dim.AUTO, 1: Dim.AUTO},),))
    for shape in SHAPES:
        x = torch.randn(shape)
        try:
            found = compiled(x.clone())
        except ShapeError as error:  # torch.export makes a size static, or excludes a value, where its trace needs it
            assert "expected" in str(error) or "must not be" in str(error)
            continue
        compare(found, function(x.clone()))


def test_ranges_and_derived_dims() -> None:
    batch = Dim("batch", min=2, max=16)
    model = Module(lambda x, y: x.sum(0) + y[::2].sum(0) / x.shape[0])
    shapes = (({0: batch}, {0: 2 * batch}),)
    compiled = albumen.compile(model, (torch.randn(3, 4), torch.randn(6, 4)), dynamic_shapes=shapes)
    for rows in (2, 5, 16):
        x, y = torch.randn(rows, 4), torch.randn(2 * rows, 4)
        torch.testing.assert_close(compiled(x, y), model(x, y))
    with pytest.raises(ShapeError, match=r"s0 in 2\.\.16"):
        compiled(torch.randn(17, 4), torch.randn(34, 4))


@pytest.mark.parametrize("low", [0, 1, 3])
def test_a_saved_range_is_read_back(tmp_path: Path, low: int) -> None:
    model = Module(lambda x: (x.sum(0) * 2, x + 1))
    shapes = (({0: Dim("rows", min=low)},),)
    program = torch.export.export(model, (torch.randn(4, 3),), dynamic_shapes=shapes)
    torch.export.save(program, tmp_path / "model.pt2")
    assert f"sym.symbol @s0 min {low}" in str(import_file(tmp_path / "model.pt2"))


def test_a_recompile_is_told_with_its_reason(caplog: pytest.LogCaptureFixture) -> None:
    torch._dynamo.reset()
    run = torch.compile(lambda x: x + 1, backend="albumen", fullgraph=True)
    with caplog.at_level(logging.INFO, logger="albumen"):
        run(torch.randn(3))
        assert not caplog.records
        run(torch.randn(3, 3))
    (record,) = [r for r in caplog.records if r.name.startswith("albumen")]
    assert "compiled again" in record.getMessage() and "rank mismatch" in record.getMessage()


UNBACKED = [
    lambda x: x * 2,
    lambda x: x.sum(0),
    lambda x: x.softmax(0) @ torch.ones(4, 2),
    lambda x: x.reshape(-1) + x.shape[0],
    lambda x: torch.cat([x, x])[1:],
]


@pytest.mark.parametrize("function", UNBACKED)
def test_a_size_without_an_example_is_one_program(function: Callable[..., Any]) -> None:
    torch._dynamo.reset()
    run = torch.compile(function, backend="albumen", fullgraph=True)
    for number, rows in enumerate((3, 1, 0, 7)):
        x = torch.randn(rows, 4)
        torch._dynamo.decorators.mark_unbacked(x, 0)
        with torch.compiler.set_stance("fail_on_recompile" if number else "default"):
            torch.testing.assert_close(run(x), function(x), equal_nan=True)


def test_a_branch_on_a_size_without_an_example_is_refused() -> None:
    torch._dynamo.reset()
    x = torch.randn(3, 4)
    torch._dynamo.decorators.mark_unbacked(x, 0)
    with pytest.raises(UserError, match="Could not guard on data-dependent expression"):
        torch.compile(lambda y: y * 2 if y.shape[0] > 2 else y, backend="albumen", fullgraph=True)(x)


def test_functions_of_sizes_without_a_recompile() -> None:
    """math.sqrt and math.log2 of a size are symbols; of math.log and math.exp dynamo makes a program for each size."""
    torch._dynamo.reset()
    run = torch.compile(lambda x: x * math.log2(x.shape[0] / 3), backend="albumen", fullgraph=True, dynamic=True)
    for number, rows in enumerate((8, 4, 10)):
        x = torch.randn(rows, 3)
        with torch.compiler.set_stance("fail_on_recompile" if number else "default"):
            torch.testing.assert_close(run(x), x * math.log2(rows / 3), rtol=0, atol=0)
