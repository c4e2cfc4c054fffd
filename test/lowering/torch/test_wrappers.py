"""Models spread over processes, subclasses of torch.Tensor, nested tensors: refused by name, or what AOTAutograd makes
plain."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch._C._distributed_c10d import HashStore
from torch._dynamo.exc import BackendCompilerFailed
from torch.distributed._functional_collectives import all_reduce
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from torch.nn.parallel import DistributedDataParallel
from torch.testing._internal.two_tensor import TwoTensor

import albumen
from albumen.dialects.errors import UnsupportedError

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def mesh() -> Iterator[Any]:
    """One process that is a whole group."""
    dist.init_process_group("gloo", store=HashStore(), rank=0, world_size=1)
    yield init_device_mesh("cpu", (1,))
    dist.destroy_process_group()


@pytest.fixture(autouse=True)
def fresh_dynamo() -> None:
    torch._dynamo.reset()


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    return torch.compile(function, backend="albumen", fullgraph=True)


class Doubled(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


def test_distributed_models_are_refused(mesh: Any) -> None:
    x = torch.randn(2, 4)
    parallel = DistributedDataParallel(nn.Linear(4, 4))
    with pytest.raises(UnsupportedError, match=r"the model: is spread over .* by DistributedDataParallel"):
        albumen.compile(parallel, (x,))
    sharded = nn.Sequential(nn.Linear(4, 4))
    fully_shard(sharded[0], mesh=mesh)
    report = albumen.check(sharded, (x,))
    assert not report.ok
    assert "module '0'" in str(report) and "FSDP" in str(report)
    assert "parameter '0.weight'" in str(report) and "subclass DTensor" in str(report)


def test_a_model_on_one_device_may_be_wrapped() -> None:
    model, x = nn.DataParallel(nn.Linear(4, 4)), torch.randn(2, 4)
    with torch.no_grad():
        torch.testing.assert_close(albumen.compile(model, (x,))(x), model(x))
        torch.testing.assert_close(compiled(model)(x), model(x))


class Subclass(torch.Tensor):
    pass


@pytest.mark.parametrize("make", [TwoTensor, lambda x, y: x.as_subclass(Subclass)])
def test_subclasses(make: Callable[..., torch.Tensor]) -> None:
    """torch.compile makes plain tensors of them; an exported program would lose their class."""
    x = make(torch.randn(2, 4), torch.randn(2, 4))
    found, expected = compiled(lambda y: y * 2 + 1)(x), x * 2 + 1
    assert type(found) is type(expected)
    assert torch.equal(found.as_subclass(torch.Tensor), expected.as_subclass(torch.Tensor))
    with pytest.raises(UnsupportedError, match=r"argument \[0\]\[0\]: is a tensor of the subclass"):
        albumen.compile(Doubled(), (x,))


def test_distributed_tensors(mesh: Any) -> None:
    x = torch.randn(4, 4)
    d = distribute_tensor(x, mesh, [Shard(0)])
    found = compiled(lambda y: (y @ y).redistribute(mesh, [Replicate()]))(d)
    assert isinstance(found, DTensor)
    torch.testing.assert_close(found.to_local(), x @ x)
    with pytest.raises(UnsupportedError, match="subclass DTensor"):
        albumen.compile(Doubled(), (d,))


def test_collectives_are_refused(mesh: Any) -> None:
    with pytest.raises(BackendCompilerFailed, match=r"all_reduce.default at .*test_wrappers.py") as info:
        compiled(lambda y: all_reduce(y, "sum", [0]) + 1)(torch.randn(3))
    assert isinstance(info.value.inner_exception, UnsupportedError)


def test_nested_tensors_are_refused() -> None:
    x = torch.nested.nested_tensor([torch.randn(2, 3), torch.randn(4, 3)], layout=torch.jagged)
    with pytest.raises(BackendCompilerFailed, match="is a nested tensor") as info:
        compiled(lambda y: y * 2)(x)
    assert isinstance(info.value.inner_exception, UnsupportedError)
    with pytest.raises(UnsupportedError, match="is a nested tensor"):
        albumen.compile(Doubled(), (x,))
