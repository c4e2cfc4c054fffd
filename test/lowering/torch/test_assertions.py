"""What a graph asserts about data fails the run with the class of error that eager raises."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

import pytest
import torch

T = torch.tensor


@pytest.mark.parametrize("dynamic", [False, True])
def test_classes_out_of_range(dynamic: bool) -> None:
    torch.compiler.reset()

    def encode(classes: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.one_hot(classes, 5)

    compiled = torch.compile(encode, backend="albumen", fullgraph=True, dynamic=dynamic)
    for classes in (T([0, 4, 2]), T([[1, 1], [0, 3]])):
        assert torch.equal(compiled(classes), encode(classes))
    for wrong in (T([0, 5]), T([-1, 0])):
        with pytest.raises(RuntimeError):
            encode(wrong)
        with pytest.raises(RuntimeError, match="out of range"):
            compiled(wrong)


def test_assertion_beside_the_results() -> None:
    torch.compiler.reset()

    def halved(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        torch.ops.aten._assert_async.msg((x > 0).all(), "must be positive")
        return x[:0] * 2, y / 2

    compiled = torch.compile(halved, backend="albumen", fullgraph=True)
    x, y = T([1.0, 2.0]), T([1, 3])
    for found, wanted in zip(compiled(x, y), halved(x, y), strict=True):
        assert torch.equal(found, wanted)
    with pytest.raises(RuntimeError, match="out of range"):
        compiled(-x, y)


def test_bits_of_an_input_as_another_dtype() -> None:
    torch.compiler.reset()

    def bits(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x.view(torch.int16), x.view(torch.int32)

    compiled = torch.compile(bits, backend="albumen", fullgraph=True)
    x = T([[1.5, -2.0], [0.0, float("nan")]])
    for found, wanted in zip(compiled(x), bits(x), strict=True):
        assert torch.equal(found, wanted)
        assert found.data_ptr() == x.data_ptr()
