"""`_foreach_` ops taken apart: equal to what eager computes, bit for bit."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from typing import Any

import pytest
import torch

from albumen.lowering.torch.decompositions.foreach import DECOMPOSITIONS

pytestmark = pytest.mark.torch

torch.manual_seed(0)
VALUES: dict[str, Any] = {
    "List[Tensor]": [torch.rand(3, 3) + 0.1, torch.rand(4, 4), torch.tensor([[float("nan")]]), torch.rand(0, 0)],
    "List[number]": [0.5, 2.0, 1.0, 3.0],
    "number": 0.5,
    "Tensor": torch.tensor(0.7),
}


@pytest.mark.parametrize("overload", DECOMPOSITIONS, ids=str)
def test_each_tensor_gets_what_eager_computes(overload: Any) -> None:
    arguments = [a for a in overload._schema.arguments if str(a.type) in VALUES]
    args = [VALUES[str(a.type)] for a in arguments if not a.kwarg_only]
    kwargs = {a.name: VALUES[str(a.type)] for a in arguments if a.kwarg_only}
    if "max" in str(overload):
        args[0] = [x for x in args[0] if x.numel()]
        args[1:] = [a[: len(args[0])] if isinstance(a, list) else a for a in args[1:]]
    found, expected = DECOMPOSITIONS[overload](*args, **kwargs), overload(*args, **kwargs)
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0, equal_nan=True)


def test_lists_in_a_compiled_function() -> None:
    ops: Any = torch

    def step(parameters: list[torch.Tensor], gradients: list[torch.Tensor]) -> Any:
        norms = ops._foreach_norm(gradients)
        ops._foreach_mul_(gradients, 0.5)
        ops._foreach_add_(parameters, gradients, alpha=-0.1)
        ops._foreach_addcdiv_(parameters, gradients, [g.abs() + 1 for g in gradients], [-0.1, 0.2])
        return norms

    parameters, gradients = [torch.rand(3), torch.rand(2, 2)], [torch.rand(3), torch.rand(2, 2)]
    expected = [[x.clone() for x in xs] for xs in (parameters, gradients)]
    torch._dynamo.reset()
    norms = torch.compile(step, backend="albumen", fullgraph=True)(parameters, gradients)
    torch.testing.assert_close(norms, list(step(*expected)))
    torch.testing.assert_close([parameters, gradients], expected)
