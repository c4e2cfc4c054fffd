"""Training through AOTAutograd: losses, gradients and steps as in eager, with dropout drawn as eager draws it."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
import torch
from torch import nn
from training.models import OPTIMIZERS, Convolutions, Transformer, images, sequences

pytestmark = pytest.mark.torch

STEPS = 30
Run = Callable[..., torch.Tensor]


def compiled(function: Any, **options: Any) -> Run:
    torch._dynamo.reset()
    return torch.compile(function, backend="albumen", fullgraph=True, **options)


def losses(model: nn.Module, run: Run, data: Callable[[int], Any], optimizer: str) -> torch.Tensor:
    """The loss before each of the steps, from the same seed."""
    stepper = OPTIMIZERS[optimizer](model.parameters())
    torch.manual_seed(1)
    curve = []
    for step in range(STEPS):
        stepper.zero_grad()
        loss = run(*data(step % 3))
        loss.backward()
        stepper.step()
        curve.append(loss.detach())
    return torch.stack(curve)


def gradients(model: nn.Module, run: Run, *batches: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The last loss, and what the batches add up to in each parameter, from the same seed."""
    model.zero_grad()
    torch.manual_seed(3)
    loss = torch.zeros(())
    for batch in batches:
        loss = run(*batch)
        loss.backward()
    return [loss.detach(), *(p.grad.clone() for p in model.parameters() if p.grad is not None)]


Subject = tuple[nn.Module, Run, Callable[[int], Any]]


@pytest.fixture(scope="module", params=["transformer", "dropout", "convolutions"])
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    """A model, its compiled form and its data; each test starts from the state of the first."""
    torch.manual_seed(0)
    if request.param == "convolutions":
        model, data = Convolutions(), images
    else:
        model, data = Transformer(0.1 if request.param == "dropout" else 0.0, layers=2), sequences
    yield model, compiled(model, dynamic=False), data


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_loss_curves_follow_eager(subject: Subject, optimizer: str) -> None:
    model, run, data = subject
    start = copy.deepcopy(model.state_dict())
    curves = []
    for candidate in (model, run):
        model.load_state_dict(start)
        curves.append(losses(model, candidate, data, optimizer))
    model.load_state_dict(start)
    expected, found = curves
    torch.testing.assert_close(found, expected, rtol=2e-5, atol=2e-5)
    assert float(expected[-3:].mean()) < 0.7 * float(expected[:3].mean())


def test_gradients_add_up_and_are_clipped(subject: Subject) -> None:
    model, run, data = subject
    start = copy.deepcopy(model.state_dict())
    results = []
    for candidate in (model, run):
        model.load_state_dict(start)
        total = gradients(model, candidate, data(0), data(1), data(2))
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        results.append([*total, norm, *(p.grad.clone() for p in model.parameters() if p.grad is not None)])
    model.load_state_dict(start)
    torch.testing.assert_close(results[1], results[0], rtol=1e-4, atol=1e-5)


def test_training_and_evaluation_take_turns(subject: Subject) -> None:
    model, run, data = subject
    start = copy.deepcopy(model.state_dict())
    for training in (True, False, True, False):
        model.train(training)
        states = []
        for candidate in (model, run):
            model.load_state_dict(start)
            if training:
                values = gradients(model, candidate, data(0))
            else:
                with torch.no_grad():
                    values = [candidate(*data(1))]
            states.append([*values, *model.buffers()])
        torch.testing.assert_close(states[1], states[0], rtol=1e-4, atol=1e-5)
    model.train()
    model.load_state_dict(start)


def test_some_parameters_are_fixed() -> None:
    torch.manual_seed(0)
    model = Transformer(0.1)
    for parameter in list(model.parameters())[::2]:
        parameter.requires_grad_(False)
    batch = sequences(0)
    torch.testing.assert_close(gradients(model, compiled(model), batch), gradients(model, model, batch))


def test_checkpointed_layers_draw_the_same_again() -> None:
    torch.manual_seed(0)
    model = Transformer(0.2, checkpointed=True)
    batch = sequences(0)
    run = compiled(model)
    torch.testing.assert_close(gradients(model, run, batch), gradients(model, model, batch), rtol=1e-4, atol=1e-6)


def test_sizes_that_change() -> None:
    torch.manual_seed(0)
    model = Transformer(0.1)
    run = compiled(model, dynamic=True)
    for rows in (4, 2, 7):
        batch = sequences(rows, rows)
        torch.testing.assert_close(gradients(model, run, batch), gradients(model, model, batch), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("inside", [True, False])
def test_autocast_around_a_call_and_inside(inside: bool) -> None:
    """Where nothing sums in another order, even the roundings to bfloat16 are those of eager."""
    torch.manual_seed(0)
    model = Transformer(0.1)
    batch = sequences(0)

    def cast(run: Run) -> Run:
        def casting(*values: torch.Tensor) -> torch.Tensor:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return run(*values)

        return casting

    run = compiled(cast(model)) if inside else cast(compiled(model))
    torch.testing.assert_close(gradients(model, run, batch), gradients(model, cast(model), batch), rtol=1e-2, atol=2e-3)


def test_autocast_convolutions() -> None:
    torch.manual_seed(0)
    model = Convolutions()

    def casting(*values: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return model(*values)

    start = copy.deepcopy(model.state_dict())
    expected = gradients(model, casting, images(0))
    model.load_state_dict(start)
    torch.testing.assert_close(gradients(model, compiled(casting), images(0)), expected, rtol=2e-2, atol=4e-3)


def test_statistics_of_losses_under_the_program_s_own_dropout() -> None:
    torch.manual_seed(0)
    model = Transformer(0.2)
    run = compiled(model, options={"random": "philox"})
    found, expected = (torch.stack([r(*sequences(0)).detach() for _ in range(60)]) for r in (run, model))
    assert len(found.unique()) > 50
    spread = float(expected.std())
    assert abs(float(found.mean() - expected.mean())) < 4 * spread / 60**0.5 * 2**0.5
    assert 0.6 < float(found.std()) / spread < 1.6


def test_one_parameter_used_twice() -> None:
    weight = nn.Parameter(torch.randn(4, 4))
    holder = nn.ParameterList([weight])
    x = torch.randn(3, 4)

    def model(x: torch.Tensor) -> torch.Tensor:
        return ((torch.tanh(x @ weight) @ weight.t() + weight.sum()) ** 2).sum()

    torch.testing.assert_close(gradients(holder, compiled(model), [x]), gradients(holder, model, [x]))


def test_a_graph_is_kept_and_a_second_derivative_refused() -> None:
    x = torch.randn(4, requires_grad=True)
    run = compiled(lambda x: (x.sin() * x).sum())
    y = run(x)
    first, second = torch.autograd.grad(y, x, retain_graph=True)[0], torch.autograd.grad(y, x, retain_graph=True)[0]
    assert torch.equal(first, second)
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    with pytest.raises(RuntimeError, match="does not currently support double backward"):
        slope.sum().backward()
