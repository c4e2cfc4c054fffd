"""torch.set_float32_matmul_precision: which library products may round their operands to tf32, and which may not."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import nn
from xdsl.dialects.builtin import ModuleOp

import albumen.lowering.torch.backend as backend
import albumen.lowering.torch.compilation as compilation
from albumen.dialects.errors import OptionError
from albumen.dialects.host import CallOp
from albumen.dialects.host.library import run_matmul
from albumen.lowering.options import CompileOptions
from albumen.lowering.pipeline import lower_module
from albumen.lowering.torch.compilation import _cache_key, resolved_options
from albumen.lowering.torch.exported import import_exported

pytestmark = pytest.mark.torch

PRECISIONS = ("highest", "high", "medium")
CUDA = torch.device("cuda")


@pytest.fixture(autouse=True)
def restored(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    torch._dynamo.reset()
    monkeypatch.setattr(compilation, "cuda_architecture", lambda device: "sm_90a")
    before = torch.get_float32_matmul_precision()
    yield
    torch.backends.cuda.matmul.fp32_precision = "none"
    torch.set_float32_matmul_precision(before)


def imported(dtype: torch.dtype = torch.float32, size: int = 2048) -> Any:
    model = nn.Linear(size, size, dtype=dtype).requires_grad_(requires_grad=False)
    return import_exported(torch.export.export(model, (torch.zeros(size, size, dtype=dtype),)))


def calls(module: ModuleOp, **options: Any) -> list[str]:
    """The modes of the library products of a program for CUDA."""
    working = module.clone()
    given = CompileOptions(target="cuda", libraries=("kernel.call_matmul",), **options)
    lower_module(working, given)
    return [op.config.data["compute"].data for op in working.walk() if isinstance(op, CallOp)]  # pyright: ignore


def test_only_lower_precisions_take_tf32() -> None:
    module = imported().module
    assert "tf32" not in calls(module)
    assert "tf32" not in calls(module, matmul_precision="highest")
    assert calls(module, matmul_precision="high") == ["tf32"]
    assert calls(module, matmul_precision="medium") == ["tf32"]


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_other_dtypes_do_not_change(dtype: torch.dtype) -> None:
    module = imported(dtype).module
    assert calls(module, matmul_precision="medium") == calls(module)
    assert "tf32" not in calls(module)


def test_no_kernel_of_ours_rounds_to_tf32() -> None:
    working = imported(size=256).module.clone()
    lower_module(working, CompileOptions(target="cuda", matmul_precision="medium"))
    assert "tf32" not in str(working)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_frontends_take_the_setting(precision: str) -> None:
    torch.set_float32_matmul_precision(precision)
    assert resolved_options({}, CUDA).matmul_precision == precision
    assert resolved_options({"matmul_precision": "highest"}, CUDA).matmul_precision == "highest"
    assert resolved_options({}, torch.device("cpu")) == resolved_options({}, torch.device("cpu"))
    assert resolved_options({}, torch.device("cpu")).matmul_precision == "highest"


def test_a_setting_without_a_guard_allows_nothing() -> None:
    torch.backends.cuda.matmul.fp32_precision = "tf32"
    assert resolved_options({}, CUDA).matmul_precision == "highest"


def test_an_unknown_precision_is_an_error() -> None:
    with pytest.raises(OptionError, match="option matmul_precision has no value 'tf32'"):
        resolved_options({"matmul_precision": "tf32"}, CUDA)


def test_it_is_part_of_the_key() -> None:
    graph = imported(size=8)
    keys = {_cache_key(graph, CompileOptions(target="cuda", matmul_precision=p)) for p in PRECISIONS}
    assert len(keys) == 3


def test_a_change_compiles_again(monkeypatch: pytest.MonkeyPatch) -> None:
    compiles: list[Any] = []
    compile_imported: Callable[..., Any] = backend.compile_imported  # pyright: ignore[reportPrivateImportUsage]
    monkeypatch.setattr(backend, "compile_imported", lambda *a, **k: compiles.append(a) or compile_imported(*a, **k))
    run, x = torch.compile(lambda y: y @ y, backend="albumen", fullgraph=True), torch.randn(4, 4)
    for precision, count in (("highest", 1), ("high", 2), ("highest", 2)):
        torch.set_float32_matmul_precision(precision)
        torch.testing.assert_close(run(x), x @ x)  # on the CPU nothing else changes
        assert len(compiles) == count


def test_what_tf32_means() -> None:
    """Operands with 10 bits after the point: 1 + 2^-11 is halfway and becomes 1, 1 + 2^-10 stays."""
    a = torch.tensor([[1 + 2**-11, 1 + 2**-10, 1 + 3 * 2**-11, float("inf"), 3e38, -0.0]]).T.contiguous()
    b, d = torch.ones(1, 1), torch.empty(6, 1)
    config = {"m": "6", "n": "1", "k": "1", "batch": "1", "lhs_transposed": "0", "rhs_transposed": "0"}
    config |= {f"ld_{x}": "1" for x in "abcd"} | {f"stride_{x}": "0" for x in "abcd"}
    config |= {"compute": "tf32", "epilogue": "none", "add": "0"}
    run_matmul(config, [a.numpy().reshape(-1), b.numpy().reshape(-1), d.numpy().reshape(-1)])
    assert d[:4, 0].tolist() == [1, 1 + 2**-10, 1 + 2**-9, float("inf")]
    assert abs(d[4, 0].item() / 3e38 - 1) < 2**-11
