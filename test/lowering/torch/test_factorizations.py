"""Factors of matrices, systems solved and determinants: the decompositions against LAPACK, and errors of singular
matrices."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import albumen
from albumen.lowering.torch.decompositions.table import DECOMPOSITIONS

pytestmark = pytest.mark.torch

SHAPES = [(4, 4), (1, 1), (0, 0), (2, 3, 3), (2, 0, 3, 3)]
DTYPES = (torch.float32, torch.float64)


def normal(shape: tuple[int, ...], dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def check(name: str, *args: Any, results: int = 9, **kwargs: Any) -> None:
    """The first results equal those of the op: values, and strides of dims with several elements."""
    overload = getattr(torch.ops.aten, name).default
    found, wanted = DECOMPOSITIONS[overload](*args, **kwargs), overload(*args, **kwargs)
    if isinstance(wanted, torch.Tensor):
        found, wanted = (found,), (wanted,)
    for ours, eager in list(zip(found, wanted, strict=True))[:results]:
        torch.testing.assert_close(ours, eager)
        if eager.numel() > 1:
            strides = [[s for s, n in zip(x.stride(), x.shape, strict=True) if n > 1] for x in (ours, eager)]
            assert strides[0] == strides[1]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.filterwarnings("ignore:torch.triangular_solve")
def test_triangular(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    eye = torch.eye(shape[-1], dtype=dtype)
    a, b = normal(shape, dtype), normal((*shape[:-1], 2), dtype, 1)
    positive, dominant = a @ a.mT + eye, a + 4 * eye
    for upper in (False, True):
        check("linalg_cholesky_ex", positive, upper=upper)
        check("cholesky", positive, upper)
        check("cholesky_solve", b, dominant, upper)
        check("cholesky_inverse", dominant, upper)
        for other in (False, True):
            for left in (False, True):
                options = {"upper": upper, "left": left, "unitriangular": other}
                check("linalg_solve_triangular", dominant, b if left else b.mT, **options)
            check("triangular_solve", b, dominant, upper, other)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_elimination(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    a, b = normal(shape, dtype), normal((*shape[:-1], 2), dtype, 1)
    for name in ("linalg_lu_factor_ex", "linalg_lu", "linalg_inv_ex"):
        check(name, a)
    for matrix in (a, a.mT):
        check("_linalg_det", matrix)
        check("_linalg_slogdet", matrix)
    lu, pivots = torch.linalg.lu_factor(a)
    for parts in ((True, True), (False, True), (True, False)):
        check("lu_unpack", lu, pivots, *parts)
    for left in (True, False):
        check("_linalg_solve_ex", a, b if left else b.mT, left=left)
        for adjoint in (True, False):
            check("linalg_lu_solve", lu, pivots, b if left else b.mT, left=left, adjoint=adjoint)
    check("_linalg_solve_ex", a, b[..., 0])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 4), (2, 4, 2), (3, 0), (0, 3)], ids=str)
def test_rectangles(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    a = normal(shape, dtype)
    for name in ("linalg_lu_factor_ex", "linalg_lu", "geqrf"):
        check(name, a)
    for mode in ("reduced", "complete", "r"):
        check("linalg_qr", a, mode)
    factors, tau = torch.geqrf(a)
    if shape[-2] >= shape[-1]:
        check("linalg_householder_product", factors, tau)
        other = normal((*shape[:-2], shape[-2], 2), dtype, 1)
        for transposed in (False, True):
            check("ormqr", factors, tau, other, True, transposed)
            check("ormqr", factors, tau, other.mT, False, transposed)


def test_singular() -> None:
    for a in (torch.tensor([[1.0, 2.0], [2.0, 4.0]]), torch.zeros(3, 3)):
        check("linalg_lu_factor_ex", a)
        check("_linalg_det", a, results=1)
        check("_linalg_slogdet", a, results=2)
    found = DECOMPOSITIONS[torch.ops.aten.linalg_cholesky_ex.default](torch.tensor([[1.0, 2.0], [2.0, 1.0]]))
    assert found[1].item() == 2


@pytest.mark.parametrize("function", [torch.det, torch.slogdet, torch.linalg.inv, torch.linalg.cholesky], ids=str)
@pytest.mark.parametrize("turned", [False, True])
def test_gradients(function: Callable[..., Any], turned: bool) -> None:
    torch.compiler.reset()
    compiled = torch.compile(function, backend="albumen", fullgraph=True)
    a = normal((4, 4), torch.float64)
    a = a @ a.mT + torch.eye(4) + (0 if function is torch.linalg.cholesky else a)
    gradients = []
    for run in (function, compiled):
        x = (a.mT.contiguous().mT if turned else a).clone().requires_grad_()
        found = run(x)
        parts = found if isinstance(found, tuple) else (found,)
        torch.stack([part.sum() for part in parts]).sum().backward()
        gradients.append(x.grad)
    torch.testing.assert_close(gradients[1], gradients[0])


@pytest.mark.parametrize("function", [torch.linalg.cholesky, torch.linalg.inv, torch.linalg.qr], ids=str)
def test_compiled(function: Callable[..., Any]) -> None:
    torch.compiler.reset()
    compiled = torch.compile(function, backend="albumen", fullgraph=True)
    a = torch.tensor([[4.0, 1.0, 0.5], [1.0, 3.0, -1.0], [0.5, -1.0, 5.0]])
    torch.testing.assert_close(compiled(a), function(a))
    if function is not torch.linalg.qr:
        with pytest.raises(RuntimeError):
            function(torch.ones(3, 3))
        with pytest.raises(RuntimeError, match="out of range"):
            compiled(torch.ones(3, 3))


class Inverse(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((3, 3), 2.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.linalg.inv(x) * self.weight


def test_exported() -> None:
    model, eye = Inverse(), torch.eye(3)
    compiled = albumen.compile(model, (eye,))
    torch.testing.assert_close(compiled(eye * 4), model(eye * 4))
    with pytest.raises(RuntimeError, match="out of range"):
        compiled(eye * 0)
