"""torch.use_deterministic_algorithms changes nothing: no kernel adds by atomic operations, sums have one order."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.fx.experimental.proxy_tensor import make_fx
from xdsl.dialects.builtin import ModuleOp

import albumen.lowering
from albumen.dialects.host import sources
from albumen.lowering.options import CompileOptions
from albumen.lowering.pipeline import lower_module
from albumen.lowering.torch.backend import decompositions
from albumen.lowering.torch.traced import import_traced

pytestmark = pytest.mark.torch
aten = torch.ops.aten
R = torch.randn
ROWS = torch.tensor([0, 2, 0, 4, 2, 2])
EACH = ROWS[:, None].expand(6, 4)


@pytest.fixture
def deterministic() -> Iterator[None]:
    torch._dynamo.reset()
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


def embedding(weight: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    (gradient,) = torch.autograd.grad(F.embedding(indices, weight).sin().sum(), weight)
    return gradient


def pooled(x: torch.Tensor) -> torch.Tensor:
    (gradient,) = torch.autograd.grad(F.max_pool2d(x, 3, 1).sin().sum(), x)
    return gradient


def enlarged(x: torch.Tensor) -> torch.Tensor:
    (gradient,) = torch.autograd.grad(F.interpolate(x, scale_factor=1.5, mode="bilinear").sin().sum(), x)
    return gradient


CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "index_add": (lambda x, i, y: x.index_add(0, i, y), (R(5, 4), ROWS, R(6, 4))),
    "index_put": (lambda x, i, y: x.index_put((i,), y, accumulate=True), (R(5, 4), ROWS, R(6, 4))),
    "scatter_add": (lambda x, i, y: x.scatter_add(0, i, y), (R(5, 4), EACH, R(6, 4))),
    "scatter_reduce_sum": (
        lambda x, i, y: x.scatter_reduce(0, i, y, "sum"),
        (R(5, 4), EACH, R(6, 4)),
    ),
    "scatter_reduce_mean": (
        lambda x, i, y: x.scatter_reduce(0, i, y, "mean"),
        (R(5, 4), EACH, R(6, 4)),
    ),
    "put": (lambda x, i, y: x.put(i, y, accumulate=True), (R(5, 4), ROWS, R(6))),
    "cumsum": (lambda x: x.cumsum(0), (R(300, 2),)),
    "sum": (lambda x: x.sum(), (R(1000),)),
    "sum_rows": (lambda x: x.sum(0), (R(200, 3),)),
    "matmul": (lambda x, y: x @ y, (R(64, 128), R(128, 64))),
    "embedding": (embedding, (R(5, 4, requires_grad=True), ROWS)),
    "max_pool": (pooled, (R(1, 2, 8, 8, requires_grad=True),)),
    "interpolate": (enlarged, (R(1, 2, 4, 4, requires_grad=True),)),
}


def imported(function: Callable[..., Any], args: tuple[Any, ...]) -> ModuleOp:
    return import_traced(make_fx(function, decomposition_table=decompositions())(*args)).module


@pytest.mark.parametrize("target", ["cuda", "metal"])
@pytest.mark.parametrize("case", [name for name in CASES if name != "interpolate"])
def test_no_kernel_text_has_an_atomic_operation(case: str, target: str) -> None:
    module = imported(*CASES[case])
    lower_module(module, CompileOptions(target=target))
    texts = [source.text.data for source in sources(module)]
    assert texts
    assert not [text for text in texts if "atomic" in text.lower()]


def test_no_lowering_builds_an_atomic_operation() -> None:
    root = Path(next(iter(albumen.lowering.__path__)))
    naming = {str(p.relative_to(root)) for p in root.rglob("*.py") if "AtomicAddOp" in p.read_text()}
    assert naming == {"emit/simt.py"}  # which prints it


@pytest.mark.parametrize("case", CASES)
def test_equal_bits_at_every_call(case: str, deterministic: None) -> None:
    function, args = CASES[case]
    expected = function(*args)
    run = torch.compile(function, backend="albumen")
    found = [run(*args) for _ in range(3)]
    torch.testing.assert_close(found[0], expected)
    assert all(torch.equal(found[0], other) for other in found)


def test_a_change_compiles_again_and_keeps_the_value() -> None:
    torch._dynamo.reset()
    run, x = torch.compile(lambda y: y.index_add(0, ROWS, y[:6] + 1), backend="albumen", fullgraph=True), R(6, 3)
    first = run(x)
    torch.use_deterministic_algorithms(True)
    try:
        assert torch.equal(run(x), first)
    finally:
        torch.use_deterministic_algorithms(False)
