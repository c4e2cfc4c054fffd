"""Training and random numbers on a CUDA device."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from training.models import Block, Transformer, sequences

pytestmark = [pytest.mark.torch, pytest.mark.gpu]


@pytest.fixture(autouse=True)
def fresh_dynamo() -> None:
    torch._dynamo.reset()


def compiled(function, **options):
    return torch.compile(function, backend="albumen", fullgraph=True, dynamic=False, options=options)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_dropout_draws_as_eager(dtype: torch.dtype) -> None:
    x = torch.randn(33, 65, device="cuda", dtype=dtype, requires_grad=True)
    results = []
    for run in (lambda x: F.dropout(x, 0.3), compiled(lambda x: F.dropout(x, 0.3))):
        torch.manual_seed(5)
        y = run(x)
        results.append([y, *torch.autograd.grad(y, x, torch.ones_like(y)), torch.rand(3, device="cuda")])
    torch.testing.assert_close(results[1], results[0])


def test_distributions_draw_as_eager() -> None:
    def draws(x: torch.Tensor) -> list[torch.Tensor]:
        return [
            torch.rand(7, 5, device="cuda"),
            torch.randn_like(x),
            torch.randint(0, 9, (40,), device="cuda"),
            torch.randperm(50, device="cuda"),
            torch.empty(8, 3, device="cuda").exponential_(),
            torch.bernoulli(x.sigmoid()),
        ]

    x = torch.randn(20, 9, device="cuda")
    results = []
    for run in (draws, compiled(draws)):
        torch.manual_seed(6)
        results.append(run(x))
    torch.testing.assert_close(results[1], results[0])


def test_the_program_s_own_numbers() -> None:
    run = compiled(lambda x: F.dropout(x, 0.25), random="philox")
    x = torch.ones(1000, 100, device="cuda")
    torch.manual_seed(2)
    first, second = run(x), run(x)
    torch.manual_seed(2)
    assert torch.equal(run(x), first)
    assert not torch.equal(first, second)
    assert abs(float(first.mean()) - 1) < 0.01


@pytest.mark.parametrize("checkpointed", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_gradients_of_a_transformer(dtype: torch.dtype, checkpointed: bool) -> None:
    """Dropout around the attention, none in it: the kernels' own dropout is refused."""
    torch.manual_seed(0)
    model = Transformer(0.2, checkpointed=checkpointed).to("cuda", dtype)
    for block in model.blocks:
        assert isinstance(block, Block)
        block.attention_dropout = 0.0
    batch = [t.cuda() for t in sequences(0)]
    results = []
    for run in (model, compiled(model)):
        model.zero_grad()
        torch.manual_seed(3)
        loss = run(*batch)
        loss.backward()
        results.append([loss.detach(), *(p.grad.clone() for p in model.parameters() if p.grad is not None)])
    relative, absolute = (1e-3, 1e-4) if dtype == torch.float32 else (5e-2, 5e-2)
    torch.testing.assert_close(results[1], results[0], rtol=relative, atol=absolute)


@pytest.mark.parametrize("masked", [False, True])
def test_gradients_of_attention(masked: bool) -> None:
    q, k, v = (torch.randn(2, 4, 37, 32, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
    mask = torch.randn(2, 1, 37, 37, device="cuda", dtype=torch.bfloat16) if masked else None

    def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return F.scaled_dot_product_attention(q, k, v, mask, is_causal=not masked)

    results = [
        torch.autograd.grad(run(q, k, v), (q, k, v), torch.ones_like(q)) for run in (attention, compiled(attention))
    ]
    torch.testing.assert_close(results[1], results[0], rtol=3e-2, atol=3e-2)
