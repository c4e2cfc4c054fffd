"""Matrix products of every kind against eager, in every dtype that eager has them in."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from collections.abc import Callable
from math import nan
from typing import Any

import pytest
import torch

DTYPES = (
    *(torch.float32, torch.float64, torch.bfloat16, torch.float16),
    *(torch.int64, torch.int32, torch.uint8, torch.bool),
)


def random(shape: tuple[int, ...], dtype: torch.dtype, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    if dtype.is_floating_point:
        return torch.randn(shape, generator=generator).to(dtype)
    return torch.randint(0, 2 if dtype == torch.bool else 200, shape, generator=generator).to(dtype)


def unread(x: torch.Tensor) -> torch.Tensor:
    """x, or NaN where the dtype has one: a term that must not be read."""
    return torch.full_like(x, nan) if x.is_floating_point() else x


PRODUCTS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "mm": (torch.mm, [(3, 4), (4, 5)]),
    "mm, no depth": (torch.mm, [(3, 0), (0, 5)]),
    "mm, no rows": (torch.mm, [(0, 4), (4, 5)]),
    "mm of transposes": (lambda a, b: a.T @ b.T, [(4, 3), (5, 4)]),
    "bmm": (torch.bmm, [(2, 3, 4), (2, 4, 5)]),
    "bmm, no depth": (torch.bmm, [(2, 3, 0), (2, 0, 5)]),
    "addmm": (lambda c, a, b: torch.addmm(c, a, b, beta=2, alpha=3), [(5,), (3, 4), (4, 5)]),
    "addmm, beta 0": (lambda c, a, b: torch.addmm(unread(c), a, b, beta=0), [(3, 5), (3, 4), (4, 5)]),
    "addmm, alpha 0": (lambda c, a, b: torch.addmm(c, unread(a), b, alpha=0), [(3, 5), (3, 4), (4, 5)]),
    "addmm, no depth": (lambda c, a, b: torch.addmm(c, a, b, beta=2), [(5,), (3, 0), (0, 5)]),
    "baddbmm": (lambda c, a, b: torch.baddbmm(c, a, b, beta=2, alpha=3), [(1, 3, 5), (2, 3, 4), (2, 4, 5)]),
    "baddbmm, beta 0": (lambda c, a, b: torch.baddbmm(unread(c), a, b, beta=0), [(2, 3, 5), (2, 3, 4), (2, 4, 5)]),
    "addbmm": (lambda c, a, b: torch.addbmm(c, a, b, beta=2, alpha=3), [(3, 5), (2, 3, 4), (2, 4, 5)]),
    "addbmm, beta 0": (lambda c, a, b: torch.addbmm(unread(c), a, b, beta=0), [(3, 5), (2, 3, 4), (2, 4, 5)]),
    "addbmm, no batch": (lambda c, a, b: torch.addbmm(c, a, b, beta=2), [(3, 5), (0, 3, 4), (0, 4, 5)]),
    "addmv": (lambda c, a, b: torch.addmv(c, a, b, beta=2, alpha=3), [(3,), (3, 4), (4,)]),
    "addmv, beta 0": (lambda c, a, b: torch.addmv(unread(c), a, b, beta=0), [(3,), (3, 4), (4,)]),
    "mv": (torch.mv, [(3, 4), (4,)]),
    "dot": (torch.dot, [(7,), (7,)]),
    "dot of nothing": (torch.dot, [(0,), (0,)]),
    "inner": (torch.inner, [(3, 4), (5, 4)]),
    "outer": (torch.outer, [(3,), (5,)]),
    "kron": (torch.kron, [(2, 3), (3, 2)]),
    "tensordot": (lambda a, b: torch.tensordot(a, b, 2), [(3, 4, 5), (4, 5, 2)]),
    "einsum": (lambda a, b: torch.einsum("bij,bkj->bik", a, b), [(2, 3, 4), (2, 5, 4)]),
    "matmul with a batch": (torch.matmul, [(2, 1, 3, 4), (5, 4, 2)]),
    "matmul of a vector": (torch.matmul, [(4,), (2, 4, 3)]),
    "multi_dot": (lambda *m: torch.linalg.multi_dot(m), [(2, 3), (3, 4), (4, 2)]),
    "matrix_power": (lambda a: torch.linalg.matrix_power(a, 3), [(3, 3)]),
    "linear": (torch.nn.functional.linear, [(2, 3, 4), (5, 4), (5,)]),
    "linear of a vector": (torch.nn.functional.linear, [(2, 4), (4,)]),
    "bilinear": (torch.nn.functional.bilinear, [(4, 3), (4, 2), (5, 3, 2), (5,)]),
}


def attempted(function: Callable[..., Any], arguments: list[torch.Tensor]) -> Any:
    """What eager gives, or None where it has no kernel for the dtype."""
    try:
        return function(*arguments)
    except (NotImplementedError, RuntimeError):
        return None


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_products(dtype: torch.dtype) -> None:
    arguments = {
        name: [random(shape, dtype, seed) for seed, shape in enumerate(shapes)]
        for name, (_, shapes) in PRODUCTS.items()
    }
    wanted = {name: attempted(PRODUCTS[name][0], given) for name, given in arguments.items()}
    names = [name for name, value in wanted.items() if value is not None]
    assert len(names) >= 5

    def together(given: list[list[torch.Tensor]]) -> list[torch.Tensor]:
        return [PRODUCTS[name][0](*each) for name, each in zip(names, given, strict=True)]

    torch.compiler.reset()
    compiled = torch.compile(together, backend="albumen", fullgraph=True)
    for name, found in zip(names, compiled([arguments[name] for name in names]), strict=True):
        try:
            torch.testing.assert_close(found, wanted[name], check_stride=True, equal_nan=True)
        except AssertionError as error:
            pytest.fail(f"{name}: {error}")


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_bilinear_rounds_where_eager_does(dtype: torch.dtype) -> None:
    given = [random(shape, dtype, seed) for seed, shape in enumerate([(8, 13), (8, 14), (5, 13, 14), (5,)])]
    torch.compiler.reset()
    compiled = torch.compile(torch.nn.functional.bilinear, backend="albumen", fullgraph=True)
    assert torch.equal(compiled(*given), torch.nn.functional.bilinear(*given))
