"""The suite's own judgement: what it must call different, and what equal."""

# pyright: basic
from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from . import results
from .checks import Setting, run_pair
from .comparison import Comparer, Difference, Reference, compare_memory
from .pairs import all_pairs, chosen
from .pool import Worker
from .randomness import compare_random
from .samples import Sample, copied, spread
from .states import CRASHED, PASSED, WRONG, Result
from .ties import as_good

pytestmark = pytest.mark.torch


def compare(
    ours: torch.Tensor, eager: torch.Tensor, exact: torch.Tensor | None = None, moved: Sequence[torch.Tensor] = ()
) -> Comparer:
    comparer = Comparer("add", eager.dtype, "cpu")
    comparer.compare([ours], [eager], Reference(lambda: [exact], lambda: [[x] for x in moved]), "output")
    return comparer


@pytest.mark.parametrize(
    ("ours", "eager"),
    [
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.001])),
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0], dtype=torch.float64)),
        (torch.tensor([1.0]), torch.tensor(1.0)),
        (torch.tensor([0.0]), torch.tensor([-0.0])),
        (torch.tensor([float("nan")]), torch.tensor([1.0])),
        (torch.tensor([float("inf")]), torch.tensor([3e38])),
        (torch.tensor([255], dtype=torch.uint8), torch.tensor([254], dtype=torch.uint8)),
    ],
)
def test_differences(ours: torch.Tensor, eager: torch.Tensor) -> None:
    with pytest.raises(Difference):
        compare(ours, eager)


def test_nearer_than_eager() -> None:
    """Beyond the tolerance, the value in double precision decides; never for integers."""
    exact = torch.tensor([1.25], dtype=torch.float64)
    assert compare(torch.tensor([1.25]), torch.tensor([1.5]), exact).nearer
    with pytest.raises(Difference):
        compare(torch.tensor([1.0]), torch.tensor([1.125]), exact)
    with pytest.raises(Difference):
        compare(torch.tensor([1]), torch.tensor([2]), exact)


def test_sums_that_cancel() -> None:
    """What a last place of the inputs changes is allowed, up to a last place of the largest element: jumps are not."""
    step = 2.0**-14
    eager = torch.tensor([1000.0, 2.0])
    ours, exact = eager + torch.tensor([0.0, step]), eager.double()
    assert compare(ours, eager, exact, [exact + 2 * step]).nearer
    with pytest.raises(Difference):
        compare(ours, eager, exact, [exact + step / 2])
    with pytest.raises(Difference):
        compare(torch.tensor([1000.0, 1.0]), eager, exact, [exact - 1])  # as of a floor
    with pytest.raises(Difference):
        compare(torch.tensor([1000.0, float("inf")]), eager, exact, [exact + float("inf")])


def test_strides_and_shared_memory() -> None:
    x = torch.zeros(2, 3)
    compare_memory("add", ([x.t()], [x]), ([x.t()], [x]))
    with pytest.raises(Difference, match="strides"):
        compare_memory("add", ([x.t().contiguous()], []), ([x.t()], []))
    with pytest.raises(Difference, match="share memory"):
        compare_memory("add", ([x.clone()], [x]), ([x], [x]))


def test_copies_keep_strides_and_what_is_shared() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    wide, view, row = copied([x.t(), x[1:], x[:1].expand(4, 3)])
    assert wide.stride() == (1, 3) and view.storage_offset() == 3 and row.stride() == (0, 1)
    wide.zero_()
    assert not view.any() and not row.any() and x.sum() == 15


def test_ties() -> None:
    x = torch.tensor([1.0, 1.0, 2.0])
    assert as_good(x, torch.tensor([1, 0, 2]), torch.tensor([0, 1, 2]), 0, True)
    assert not as_good(x, torch.tensor([0, 0, 2]), torch.tensor([0, 1, 2]), 0, True)
    assert not as_good(x, torch.tensor([2, 0, 1]), torch.tensor([0, 1, 2]), 0, True)
    assert not as_good(x, torch.tensor([0, 1, 3]), torch.tensor([0, 1, 2]), 0, True)


def draws(scale: float, shift: float = 0.0):
    def draw(seed: int) -> torch.Tensor:
        return torch.from_numpy(np.random.default_rng(seed).normal(shift, scale, 500))

    return draw


def test_distributions() -> None:
    compare_random(draws(1), lambda seed: draws(1)(seed + 1000))
    for other in (draws(1.2), draws(1, 0.2)):
        with pytest.raises(Difference, match="distribution"):
            compare_random(draws(1), lambda seed, other=other: other(seed + 1000))
    with pytest.raises(Difference, match="another seed"):
        compare_random(lambda seed: draws(1)(7), draws(1))


def test_choice_of_pairs() -> None:
    pairs = all_pairs("cpu")
    assert len(set(pairs)) == len(pairs) > 4000
    assert chosen(pairs, 50, "a") == chosen(pairs, 50, "a") != chosen(pairs, 50, "b")
    assert len(chosen(pairs, 50, "a")) == 50
    assert spread(range(10), 4) == [0, 2, 4, 6] and spread(range(3), 4) == [0, 1, 2]


def test_results_are_kept(tmp_path: Path) -> None:
    """The last line of a pair counts, and one that was cut off does not."""
    first, second = Result("add", "bool", WRONG, "why", seconds=1.5), Result("add", "int64", PASSED, samples=4)
    path = tmp_path / "results.jsonl"
    path.write_text(first.to_json() + "\n" + replace(first, state=PASSED).to_json() + "\n" + second.to_json()[:-3])
    assert [result.state for result in results.read(path).values()] == [PASSED]
    results.write(path, [second, first], [("add", "int64"), ("add", "bool")])
    assert [json.loads(line)["dtype"] for line in path.read_text().splitlines()] == ["int64", "bool"]
    assert "seconds" not in path.read_text()


def test_wrong_backends_are_found() -> None:
    """A backend whose values are off by one, and one that breaks."""

    def off(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]):
        return lambda *args: tuple(value + 1 for value in graph(*args))

    def breaks(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]):
        raise ZeroDivisionError("backend")

    pair = ("neg", "int64")
    assert run_pair(pair, Setting(backend=off)).state == WRONG
    assert run_pair(pair, Setting(backend=breaks)).state == CRASHED
    assert run_pair(pair, Setting(backend="eager")).state == PASSED


@pytest.mark.slow
def test_workers_are_replaced() -> None:
    """A process that ends or hangs is one result, and the next pair runs."""
    worker = Worker(Setting(), 300)
    try:
        worker.start().kill()
        assert worker.run(("neg", "int64")).state == CRASHED
        worker.limit = 0.001
        late = worker.run(("neg", "int64"))
        assert late.state == CRASHED and late.why == "no answer within 0 s"
        worker.limit = 300
        assert worker.run(("neg", "int64")).state == PASSED
    finally:
        worker.stop()


def test_sample_in_double() -> None:
    class Raw:
        input, args, kwargs = torch.ones(2, dtype=torch.bfloat16), (), {"dtype": torch.float16}

    sample = Sample.of(lambda x, dtype: x.to(dtype), Raw())
    assert sample.call(sample.tensors()).dtype is torch.float16
    double = sample.in_double()
    assert double.call(double.tensors()).dtype is torch.float64
