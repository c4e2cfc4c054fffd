"""Steps of optimizers, compiled: parameters and the optimizer's state as in eager."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from torch import nn

pytestmark = [
    pytest.mark.torch,
    # torch looks at a deprecated function of its own while it traces an optimizer.
    pytest.mark.filterwarnings("ignore:.*script_method:DeprecationWarning"),
]

Run = Callable[..., torch.Tensor]
STEPPERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.1),
    "sgd-single": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, foreach=False),
    "adam-foreach": lambda p: torch.optim.Adam(p, lr=1e-2, foreach=True, amsgrad=True),
    "adamw-single": lambda p: torch.optim.AdamW(p, lr=1e-2, foreach=False),
    "adamw-tensor-rate": lambda p: torch.optim.AdamW(p, lr=torch.tensor(1e-2), foreach=False),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=1e-2, momentum=0.1, centered=True),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=1e-2),
    "adadelta": torch.optim.Adadelta,
    "nadam": lambda p: torch.optim.NAdam(p, lr=1e-2),
    "radam": lambda p: torch.optim.RAdam(p, lr=1e-2),
    "asgd": lambda p: torch.optim.ASGD(p, lr=1e-2),
}


@pytest.mark.parametrize("name", STEPPERS)
def test_a_compiled_optimizer_step(name: str) -> None:
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
    results = []
    for candidate, is_compiled in ((model, False), (copy.deepcopy(model), True)):
        stepper = STEPPERS[name](candidate.parameters())
        step = torch.compile(stepper.step, backend="albumen") if is_compiled else stepper.step
        for number in range(4):
            x = torch.randn(5, 6, generator=torch.Generator().manual_seed(number))
            stepper.zero_grad()
            candidate(x).square().mean().backward()
            step()
        state = [v for s in stepper.state.values() for v in s.values() if isinstance(v, torch.Tensor)]
        results.append([p.detach() for p in candidate.parameters()] + state)
    torch.testing.assert_close(results[1], results[0], rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")  # torch looks at it while it traces
def test_a_whole_step_in_one_function() -> None:
    torch._dynamo.reset()
    torch.manual_seed(0)
    models = [nn.Linear(6, 3)]
    models.append(copy.deepcopy(models[0]))

    def training_step(model: nn.Module) -> Run:
        stepper = torch.optim.AdamW(model.parameters(), lr=1e-2)

        def step(x: torch.Tensor) -> torch.Tensor:
            stepper.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            stepper.step()
            return loss.detach()

        return step

    eager, run = training_step(models[0]), torch.compile(training_step(models[1]), backend="albumen")
    for seed in range(5):
        x = torch.randn(5, 6, generator=torch.Generator().manual_seed(seed))
        torch.testing.assert_close(run(x), eager(x))
    torch.testing.assert_close(models[1].weight, models[0].weight)
