"""`albumen.check` and `albumen import --check`: all that is unsupported, counted, with lines, before a compile."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch._dynamo.exc import BackendCompilerFailed

import albumen
from albumen.dialects.errors import UnsupportedError
from albumen.lowering.torch.report import Report
from albumen.tools.albumen import main

pytestmark = pytest.mark.torch


@torch.library.custom_op("albumen_test::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@twice.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


class Spectrum(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.fft.rfft(x).abs().sum()
        z = torch.fft.rfft(x * 2).abs().sum()
        return twice(x) + torch.linalg.svdvals(x).sum() + y + z


class Plain(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.softmax(-1)


class Function(nn.Module):
    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


FIRST = Spectrum.forward.__code__.co_firstlineno


def assert_spectrum(report: Report) -> None:
    assert not report.ok
    rows = {row.name: row for row in report.rows}
    assert report.rows[0].name == "aten._fft_r2c.default"  # the most frequent one first
    assert rows["aten._fft_r2c.default"].count == 2
    assert rows["aten._fft_r2c.default"].places == (f"{__file__}:{FIRST + 1}", f"{__file__}:{FIRST + 2}")
    assert rows["albumen_test.twice.default"].places == (f"{__file__}:{FIRST + 3}",)
    assert rows["aten._linalg_svd.default"].count == 1


def test_a_model_and_an_exported_program() -> None:
    x = torch.randn(4, 4)
    report = albumen.check(Spectrum(), (x,))
    assert_spectrum(report)
    assert_spectrum(albumen.check(torch.export.export(Spectrum(), (x,))))
    head, *lines = str(report).splitlines()
    assert head.split() == ["count", "what", "why", "where"]
    assert lines[0].startswith("2      aten._fft_r2c.default")
    good = albumen.check(Plain(), (x,))
    assert good.ok and str(good) == "everything in the model is supported"


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x = torch.randn(4, 4)
    for name, model in (("bad", Spectrum()), ("good", Plain())):
        torch.export.save(torch.export.export(model, (x,)), tmp_path / f"{name}.pt2")
    assert main(["import", "--check", str(tmp_path / "bad.pt2")]) == 1
    text = capsys.readouterr().out
    assert "aten._fft_r2c.default" in text and f"{__file__}:{FIRST + 1}" in text and "func.func" not in text
    assert main(["import", "--check", str(tmp_path / "good.pt2")]) == 0
    assert "everything in the model is supported" in capsys.readouterr().out


X = torch.randn(3, 4)


def quantised(x: torch.Tensor) -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.quantize_per_tensor(x, 0.1, 0, torch.qint8)


@pytest.mark.parametrize(
    ("function", "args", "name", "reason"),
    [
        (lambda q: q.dequantize(), (quantised(X),), "argument", "quantised"),
        (lambda s: s.to_dense(), (X.to_sparse(),), "argument", "layout torch.sparse_coo"),
        (lambda z: z.real, (torch.randn(3, dtype=torch.complex64),), "argument", "complex64"),
        (
            lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8).dequantize(),
            (X,),
            "aten.quantize",
            "counterpart",
        ),
        (lambda x: x.nonzero(), (X,), "aten.nonzero.default", "depends on data"),
        (lambda x: x[x > 0], (X,), "aten.index.Tensor", "depends on data"),
        (lambda x, n: x[: n.item()], (X, torch.tensor(2)), "aten._local_scalar_dense.default", "depends on data"),
        (lambda x: torch.cond(x.sum() > 0, lambda a: a + 1, lambda a: a - 1, (x,)), (X,), "cond", "control flow"),
        (lambda x: x + 1 if x.sum() > 0 else x, (X,), "torch.export", "data-dependent"),
        (lambda x: x.to(torch.uint64).float(), (X,), "aten._to_copy.default", "uint64"),
    ],
)
def test_constructs(function: Callable[..., Any], args: Any, name: str, reason: str) -> None:
    report = albumen.check(Function(function), args)
    assert any(row.name.startswith(name) and reason in row.reason for row in report.rows), str(report)


class Branches(nn.Module):
    """Branches on a tensor, or on a number that a tensor holds."""

    def __init__(self, item: bool):
        super().__init__()
        self.item = item

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if (x.sum().long().item() if self.item else x.sum()) > 3:
            return x
        return -x


@pytest.mark.parametrize("item", [False, True])
def test_the_line_that_torch_cannot_trace(item: bool) -> None:
    (row,) = albumen.check(Branches(item), (X,)).rows
    assert row.places == (f"{__file__}:{Branches.forward.__code__.co_firstlineno + 1}",)


def test_what_is_taken_for_other_arguments_only() -> None:
    def reason(function: Callable[..., Any], *args: Any) -> str:
        (row,) = albumen.check(Function(function), args).rows
        return row.reason

    assert reason(torch.linalg.inv, torch.eye(33)) == "is taken for real matrices of fixed sizes up to 32 only"
    assert reason(torch.linalg.svdvals, X) == "has no counterpart"
    assert albumen.check(Function(torch.linalg.inv), (torch.eye(3),)).ok


def test_what_is_no_model_or_no_sequence() -> None:
    entries: list[Callable[..., Any]] = [albumen.check, albumen.compile]
    for entry in entries:
        with pytest.raises(TypeError, match=rf"albumen.{entry.__name__} takes a torch.nn.Module, found function"):
            entry(quantised, (X,))
        with pytest.raises(TypeError, match=r"as a sequence: write \(x,\)"):
            entry(Plain(), X)


def test_tensors_that_no_program_holds_are_listed_together() -> None:
    model = Function(lambda a, b, c: a)
    model.register_buffer("z", torch.zeros(2, dtype=torch.complex64))
    with pytest.raises(UnsupportedError) as info:
        albumen.compile(model, (X, X.to_sparse(), torch.zeros(2, dtype=torch.complex128)))
    assert [item.split(":")[0] for item in info.value.items] == ["argument [0][1]", "argument [0][2]", "buffer 'z'"]


def test_torch_compile_lists_the_same() -> None:
    torch._dynamo.reset()
    with pytest.raises(BackendCompilerFailed) as info:
        torch.compile(Spectrum(), backend="albumen", fullgraph=True)(torch.randn(4, 4))
    cause = info.value.inner_exception
    assert isinstance(cause, UnsupportedError)
    assert len(cause.items) == 4
    assert all(__file__ in item for item in cause.items)


def test_a_value_that_depends_on_data() -> None:
    """torch names the operator alone; `compile` and `check` add the line."""
    x = torch.ones(3)
    model = Function(lambda x, y: torch.equal(x, y))
    (row,) = albumen.check(model, (x, x)).rows
    assert row.name == "aten.equal.default" and "depends on data" in row.reason and "test_report.py" in row.places[0]
    with pytest.raises(UnsupportedError, match=r"aten\.equal\.default at \S*test_report\.py:\d+: .*depends on data"):
        albumen.compile(model, (x, x))
