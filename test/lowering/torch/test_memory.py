"""Who shares memory with whom, and who is written: inputs, views of them, outputs, over several calls, as in eager."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree as pytree

import albumen
from albumen.dialects.errors import UnsupportedError
from albumen.lowering.torch.traced import import_traced
from albumen.runtime.errors import LaunchError, LayoutError

pytestmark = pytest.mark.torch


class Module(nn.Module):
    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def copied(values: Any) -> Any:
    """Copies that share memory with each other as the values do."""
    storages: dict[int, torch.UntypedStorage] = {}
    tensors: dict[int, torch.Tensor] = {}

    def copy(t: torch.Tensor) -> torch.Tensor:
        key = t.untyped_storage().data_ptr()
        storage = storages.setdefault(key, t.untyped_storage().clone())
        fresh = torch.empty(0, dtype=t.dtype).set_(storage, t.storage_offset(), t.shape, t.stride())
        return tensors.setdefault(id(t), fresh)

    return pytree.tree_map_only(torch.Tensor, copy, values)


def shared(values: Any) -> list[tuple[Any, ...]]:
    """For each pair of tensors in the same memory: are they one object, and how far are they apart?"""
    tensors = [t for t in pytree.tree_leaves(values) if isinstance(t, torch.Tensor) and t.numel()]
    return [
        (i, j, a is b, b.storage_offset() - a.storage_offset())
        for (i, a), (j, b) in itertools.combinations(enumerate(tensors), 2)
        if a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()
    ]


def strides(x: torch.Tensor) -> list[int]:
    return [stride for stride, size in zip(x.stride(), x.shape, strict=True) if size > 1]


def check(function: Callable[..., Any], run: Callable[..., Any], args: Any, calls: int = 3) -> None:
    """The same values, strides, shared memory and written inputs, call after call; earlier results stay."""
    ours, eagers, earlier = copied(args), copied(args), []
    for _ in range(calls):
        expected, found = function(*eagers), run(*ours)
        torch.testing.assert_close((found, ours), (expected, eagers), equal_nan=True)
        pairs = zip(pytree.tree_leaves(found), pytree.tree_leaves(expected), strict=True)
        for a, b in pairs:
            if isinstance(b, torch.Tensor):
                assert strides(a) == strides(b)
                assert a._is_view() == b._is_view() or not b._is_view()
        assert shared((ours, found)) == shared((eagers, expected))
        earlier.append((found, expected))
    for found, expected in earlier:
        torch.testing.assert_close(found, expected, equal_nan=True)


def view_written(x: torch.Tensor) -> Any:
    v = x.view(-1)
    v[2:5].mul_(3)
    return x, v


def transposed_written(x: torch.Tensor) -> Any:
    y = x.t()
    y.add_(1)
    return y


def several_views(x: torch.Tensor) -> Any:
    y = x + 1
    return y, y.t(), y[0], y.view(-1)[3:], y


def exchanged(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    t = x.clone()
    x.copy_(y)
    y.copy_(t)
    return x - y


def rows_written(x: torch.Tensor) -> torch.Tensor:
    x[1] = 7
    x[:, 2] = x[:, 3]
    x[..., 0] += 1
    return x * 1


def halves(x: torch.Tensor) -> Any:
    a, b = x.chunk(2)
    a.add_(1)
    return b, a, x


def accumulated(x: torch.Tensor, i: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    x[:, :].index_put_((i,), v, accumulate=True)
    return x + 0


def cache_written(cache: torch.Tensor, x: torch.Tensor) -> Any:
    cache[:, 1:3] = x
    return cache[:, :3] * 2, cache


R = torch.randn
BASE = R(4, 10)

CASES: list[tuple[Callable[..., Any], Any]] = [
    (lambda x: x.add_(1), (R(3, 4),)),
    (lambda x: (x.t().add_(1), x.sum(0))[1], (R(3, 4),)),
    (transposed_written, (R(3, 4),)),
    (view_written, (R(3, 4),)),
    (several_views, (R(3, 4),)),
    (lambda x: (x.t(), x[1:], x.view(2, 6), x.expand(2, 3, 4), x), (R(3, 4),)),
    (lambda x: x.split([1, 2]) + x.unbind(0), (R(3, 4),)),
    (exchanged, (R(3), R(3))),
    (rows_written, (R(3, 4),)),
    (halves, (R(4, 3),)),
    (accumulated, (R(5, 4), torch.tensor([0, 2, 0]), R(3, 4))),
    (cache_written, (R(2, 5), R(2, 2))),
    (lambda x, i: i.copy_(x * 10), (R(4), torch.arange(4))),
    (lambda x: x.add_(2147483647), (torch.tensor([1, 0, 2], dtype=torch.int32),)),
    (lambda x: (x.relu_(), x + 1, x.contiguous()), (R(2, 3, 4, 5).to(memory_format=torch.channels_last),)),
    (lambda x: (x.mul_(2), x + 1)[1], (R(4, 5).t(),)),
    (lambda x: (x.mul_(2), x + 1), (BASE[:, ::2],)),
    (lambda x: (x * 2, x.sum(0)), (R(1, 4).expand(3, 4),)),
    (lambda x: (x.add_(1), x * 2), (R(13)[1:],)),
    (lambda x: (x.add_(1), x * 2), (R(13).to(torch.bfloat16)[1:],)),
    (lambda x: (x.add_(1), x.sum()), (R(0, 3),)),
    (lambda x, y: (x.add_(1), x * y, x.view(1)), (torch.tensor(3.0), torch.tensor(0.0))),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_torch_compile(case: tuple[Callable[..., Any], Any]) -> None:
    torch._dynamo.reset()
    check(case[0], torch.compile(case[0], backend="albumen", fullgraph=True), case[1])


@pytest.mark.parametrize("case", CASES[:4] + CASES[5:], ids=str)
def test_albumen_compile(case: tuple[Callable[..., Any], Any]) -> None:
    function, args = case
    check(function, albumen.compile(Module(function), copied(args)), args)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (lambda a, b: (a.add_(b), b * 2)[1], (BASE, BASE)),
        (lambda a, b: (b.add_(1), a * 2)[1], (BASE, BASE.view(-1))),
        (lambda a, b: (a + b, a, b), (BASE[0, :6], BASE[0, 4:])),
        (lambda a, b: a * b, (BASE, BASE)),
    ],
)
def test_inputs_in_the_same_memory(function: Callable[..., Any], args: Any) -> None:
    torch._dynamo.reset()
    check(function, torch.compile(function, backend="albumen", fullgraph=True), args)


def test_a_strided_output_of_a_call() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return (x * 2)[:, 1::2]

    run = torch.compile(function, backend="albumen", fullgraph=True, dynamic=True)
    for rows in (3, 5):
        check(function, run, (R(rows, 6),))


FRESH_WITH_HOLES: list[tuple[Callable[..., Any], Any]] = [
    (lambda x: x.new_empty_strided((2, 3), (8, 2)).copy_(x), (R(2, 3),)),
    (lambda x: torch.empty_strided((2, 3), (1, 4)).copy_(x), (R(2, 3),)),
    (lambda x: torch.select_scatter(x, x.new_ones(x.shape[0]), 1, 0), (BASE[:, ::2],)),
    (lambda x: (torch.slice_scatter(x, x.new_ones(x.shape[0], 1), 1, 0, 1), x + 1), (BASE[:, ::2],)),
]


@pytest.mark.parametrize("case", FRESH_WITH_HOLES, ids=str)
def test_a_fresh_output_with_holes(case: tuple[Callable[..., Any], Any]) -> None:
    torch._dynamo.reset()
    check(case[0], torch.compile(case[0], backend="albumen", fullgraph=True), case[1])
    check(case[0], torch.compile(case[0], backend="albumen", fullgraph=True, dynamic=True), case[1])
    check(case[0], albumen.compile(Module(case[0]), copied(case[1])), case[1])


def overlapping(x: torch.Tensor) -> Any:
    return torch.empty_strided((2, 3), (0, 1))


def transposed_with_holes(x: torch.Tensor) -> Any:
    y = torch.select_scatter(x, x[:, 0], 1, 0)
    return y, y.t()


@pytest.mark.parametrize(
    ("function", "message"), [(overlapping, "elements share memory"), (transposed_with_holes, "one of several views")]
)
def test_fresh_outputs_that_are_refused(function: Callable[..., Any], message: str) -> None:
    graph = make_fx(function, tracing_mode="fake")(BASE[:, ::2])
    with pytest.raises(UnsupportedError, match=message):
        import_traced(graph)


def test_a_result_goes_in_again() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x.t() + 1

    run, x = torch.compile(function, backend="albumen", fullgraph=True), R(3, 3)
    compiled = albumen.compile(Module(function), (x,))
    torch.testing.assert_close(run(run(run(x))), function(function(function(x))))
    torch.testing.assert_close(compiled(compiled(compiled(x))), function(function(function(x))))


def test_a_program_takes_inputs_that_lie_otherwise() -> None:
    """Compiled for row-major inputs; others are copied, and what is written is copied back."""

    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        y.add_(x)
        return x * y

    compiled = albumen.compile(Module(function), (R(4, 5), R(4, 5)))
    for x, y in ((R(5, 4).t(), R(4, 5)), (R(4, 5), BASE[:, ::2]), (R(1, 5).expand(4, 5), R(4, 9)[:, 2:7])):
        ours, eagers = copied((x, y)), copied((x, y))
        torch.testing.assert_close(compiled(*ours), function(*eagers))
        torch.testing.assert_close(ours, eagers)


def test_a_view_of_an_input_that_lies_otherwise_is_refused() -> None:
    compiled = albumen.compile(Module(lambda x: x[1]), (R(4, 5),))
    with pytest.raises(LayoutError, match="strides"):
        compiled(R(5, 4).t())


def test_memory_that_is_written_is_not_shared() -> None:
    compiled = albumen.compile(Module(lambda x, y: (x.add_(1), y * 2)), (R(6), R(6)))
    memory = R(20)
    for x, y in ((memory[:6], memory[:6]), (memory[:6], memory[4:10]), (memory[5:11], memory[:6])):
        with pytest.raises(LaunchError, match="share memory"):
            compiled(x, y)
    function = compiled  # inputs that only lie next to each other are fine
    torch.testing.assert_close(function(memory[:6], memory[6:12])[1], memory[6:12] * 2)
