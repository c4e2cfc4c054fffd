"""Random numbers that a program computes: their distributions, their independence, threads, permutations."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from collections.abc import Callable
from math import e, pi, sqrt
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def fresh_dynamo() -> None:
    torch._dynamo.reset()


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    return torch.compile(function, backend="albumen", fullgraph=True, dynamic=False, options={"random": "philox"})


N = 40_000
DRAWS: dict[str, tuple[Callable[[], torch.Tensor], float, float]] = {
    # name: (draw, mean, standard deviation)
    "uniform": (lambda: torch.empty(N).uniform_(-1, 3), 1, 4 / sqrt(12)),
    "uniform_f64": (lambda: torch.rand(N, dtype=torch.float64), 0.5, 1 / sqrt(12)),
    "uniform_bf16": (lambda: torch.rand(N, dtype=torch.bfloat16), 0.498, 1 / sqrt(12)),
    "normal": (lambda: torch.empty(N).normal_(2, 3), 2, 3),
    "normal_f64": (lambda: torch.randn(N, dtype=torch.float64), 0, 1),
    "exponential": (lambda: torch.empty(N).exponential_(2), 0.5, 0.5),
    "log_normal": (lambda: torch.empty(N).log_normal_(0, 0.5), e**0.125, sqrt((e**0.25 - 1) * e**0.25)),
    "geometric": (lambda: torch.empty(N).geometric_(0.2), 5, sqrt(0.8) / 0.2),
    "bernoulli": (lambda: torch.empty(N).bernoulli_(0.3), 0.3, sqrt(0.21)),
    "dropout": (lambda: F.dropout(torch.ones(N), 0.3), 1, sqrt(0.3 / 0.7)),
    "integers": (lambda: torch.randint(-2, 8, (N,)), 2.5, sqrt((100 - 1) / 12)),
    "arctan_of_cauchy": (lambda: torch.atan(torch.empty(N).cauchy_()), 0, pi / sqrt(12)),
}


@pytest.fixture(scope="module")
def samples() -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """All draws of two calls of one program."""
    torch._dynamo.reset()
    run = compiled(lambda: [draw() for draw, _, _ in DRAWS.values()])
    torch.manual_seed(1)
    first, second = ({k: v.double().numpy() for k, v in zip(DRAWS, run(), strict=True)} for _ in range(2))
    return first, second


@pytest.mark.parametrize("name", DRAWS)
def test_distributions_of_the_program(name: str, samples: Any) -> None:
    _, mean, deviation = DRAWS[name]
    for values in (samples[0][name], samples[1][name]):
        assert abs(values.mean() - mean) < 5 * deviation / sqrt(N)
        assert abs(values.std() / deviation - 1) < 0.06


def test_draws_of_the_program_are_independent(samples: Any) -> None:
    """Between neighbours, blocks of a kernel, draws of one call and calls."""
    first, second = samples
    names = ("uniform", "uniform_f64", "normal", "exponential", "bernoulli", "integers")
    pairs = [(first[n][:-lag], first[n][lag:]) for n in names for lag in (1, 2, 4, 4096)]
    pairs += [(first[n], second[n]) for n in names]
    pairs += [(first[a], first[b]) for a in names for b in names if a < b]
    for a, b in pairs:
        assert abs(np.corrcoef(a, b)[0, 1]) < 5 / sqrt(len(a))


def test_uniform_numbers_stay_below_one_and_exponential_ones_above_zero(samples: Any) -> None:
    for name in ("uniform_f64", "uniform_bf16"):
        assert samples[0][name].min() >= 0
        assert samples[0][name].max() < 1
    assert samples[0]["exponential"].min() > 0


def test_threads_do_not_change_the_numbers() -> None:
    run = compiled(lambda: torch.rand(30_000))
    threads = torch.get_num_threads()
    results = []
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            torch.manual_seed(9)
            results.append(run())
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(*results)


def test_permutations_of_the_program() -> None:
    run = compiled(lambda: torch.randperm(100))
    first, second = run(), run()
    assert sorted(first.tolist()) == list(range(100))
    assert not torch.equal(first, second)
