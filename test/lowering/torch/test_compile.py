"""`albumen.compile` and what it saves: calls like the model's, sizes, weights, errors, and a process without torch."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.export import Dim

import albumen
from albumen.dialects.errors import CompileError, OptionError, UnsupportedError
from albumen.lowering.torch.exported_file import import_file
from albumen.runtime.errors import LaunchError, ShapeError

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning)
        yield


class Perceptron(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.norm = nn.Linear(6, 8), nn.Linear(8, 3), nn.LayerNorm(8)

    def forward(self, x: torch.Tensor, scale: torch.Tensor | None = None, double: bool = False) -> dict[str, Any]:
        y = self.second(F.gelu(self.norm(self.first(x))))
        y = y if scale is None else y * scale
        return {"y": y * 2 if double else y, "rows": x.shape[0], "view": x[:, :2]}


def test_calls_like_the_model() -> None:
    model, x, scale = Perceptron(), torch.randn(4, 6), torch.randn(3)
    compiled = albumen.compile(model, (x,), {"scale": scale, "double": True})
    for found in (compiled(x, scale=scale, double=True), compiled(x, double=True, scale=scale)):
        expected = model(x, scale, True)
        torch.testing.assert_close(found["y"], expected["y"])
        assert found["rows"] == 4
        assert found["view"].data_ptr() == x.data_ptr()
        assert found["view"].stride() == expected["view"].stride()
    with pytest.raises(LaunchError, match="structure"):
        compiled(x)
    with pytest.raises(LaunchError, match="compiled for True"):
        compiled(x, scale=scale, double=False)
    with pytest.raises(ShapeError, match="shape"):
        compiled(torch.randn(5, 6), scale=scale, double=True)
    with pytest.raises(LaunchError, match="dtype"):
        compiled(x.double(), scale=scale, double=True)


class Plain(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x).softmax(-1)


def test_sizes_in_a_range(tmp_path: Path) -> None:
    model = Plain()
    compiled = albumen.compile(model, (torch.randn(4, 6),), dynamic_shapes={"x": {0: Dim("rows", min=1, max=64)}})
    for rows in (1, 7, 64):
        x = torch.randn(rows, 6)
        torch.testing.assert_close(compiled(x), model(x))
    with pytest.raises(ShapeError, match="64"):
        compiled(torch.randn(65, 6))
    compiled.save(tmp_path / "plain.alb")
    loaded = albumen.load(tmp_path / "plain.alb")
    x = torch.randn(9, 6)
    np.testing.assert_allclose(loaded(x.numpy()), model(x).detach().numpy(), rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(loaded(x), model(x).detach())


def test_weights_are_used_where_they_lie() -> None:
    model, x = Plain(), torch.randn(4, 6)
    compiled = albumen.compile(model, (x,))
    model.load_state_dict({name: value * 0.5 for name, value in model.state_dict().items()})
    torch.testing.assert_close(compiled(x), model(x))


class Giver(nn.Module):
    """Returns an input, a weight, and views of both."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 6))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x, self.weight, x[:, 1:].t(), self.weight[1], x + self.weight


def test_outputs_that_are_the_models_own_memory(tmp_path: Path) -> None:
    model, base = Giver(), torch.randn(6, 6)
    x = base[2:]  # starts inside its memory
    compiled = albumen.compile(model, (x,))
    with torch.no_grad():
        found, expected = compiled(x), model(x)
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b)
        assert a.stride() == b.stride()
    assert found[0] is x
    assert found[1] is model.weight
    assert [a.data_ptr() for a in found[:4]] == [b.data_ptr() for b in expected[:4]]
    compiled.save(tmp_path / "giver.alb")
    for a, b in zip(albumen.load(tmp_path / "giver.alb")(x.clone()), expected, strict=True):
        torch.testing.assert_close(a, b.detach())


class Counter(nn.Module):
    count: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(2, 3).t())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count += x
        return self.count * 2


def test_weights_that_move_are_noticed() -> None:
    convolution = nn.Conv2d(3, 4, 2)
    convolution.weight.data = convolution.weight.data.contiguous(memory_format=torch.channels_last)
    model = nn.Sequential(convolution, nn.Flatten(), nn.Linear(36, 5)).eval()
    x = torch.randn(2, 3, 4, 4)
    with torch.no_grad():
        compiled = albumen.compile(model, (x,))
        compiled(x)
        for parameter in model.parameters():
            parameter.data = torch.randn_like(parameter)
        torch.testing.assert_close(compiled(x), model(x), atol=2e-5, rtol=2e-5)


def test_buffers_are_written() -> None:
    model, reference, x = Counter(), Counter(), torch.randn(3, 2)
    compiled = albumen.compile(model, (x,))
    for _ in range(3):
        torch.testing.assert_close(compiled(x), reference(x))
    torch.testing.assert_close(model.count, reference.count)


SCRIPT = """
import sys
import numpy as np
import albumen
program = albumen.load(sys.argv[1])
x = np.load(sys.argv[2])
np.save(sys.argv[3], program(x))
loaded = [name for name in ("torch", "xdsl", "egglog") if name in sys.modules]
assert not loaded, loaded
"""


def test_a_saved_model_runs_without_torch(tmp_path: Path) -> None:
    model, x = Plain(), torch.randn(5, 6)
    albumen.compile(model, (x,)).save(tmp_path / "m.alb")
    np.save(tmp_path / "x.npy", x.numpy())
    command = [sys.executable, "-c", SCRIPT, *(str(tmp_path / name) for name in ("m.alb", "x.npy", "y.npy"))]
    subprocess.run(command, check=True)
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), model(x).detach().numpy(), rtol=1e-6, atol=1e-7)


def test_channels_last(tmp_path: Path) -> None:
    layers = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
    model = layers.to(memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue]
    x = torch.randn(2, 3, 6, 8).contiguous(memory_format=torch.channels_last)
    compiled = albumen.compile(model, (x,))
    torch.testing.assert_close(compiled(x), model(x))
    assert compiled(x).stride() == model(x).stride()
    compiled.save(tmp_path / "m.alb")
    torch.testing.assert_close(albumen.load(tmp_path / "m.alb")(x), model(x).detach())
    torch.testing.assert_close(compiled(x.contiguous()), model(x))  # which is copied


def test_errors_before_anything_is_compiled() -> None:
    with pytest.raises(OptionError, match="did you mean numerics"):
        albumen.compile(Plain(), (torch.randn(4, 6),), options={"numeric": "fused"})
    with pytest.raises(UnsupportedError, match=r"aten\._fft_r2c"):
        albumen.compile(FourierTransform(), (torch.randn(8),))


class FourierTransform(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.fft.rfft(x).abs()


def test_files_of_torch_export(tmp_path: Path) -> None:
    program = torch.export.export(Plain(), (torch.randn(4, 6),))
    torch.export.save(program, tmp_path / "plain.pt2")
    assert "hlir.linear" in str(import_file(tmp_path / "plain.pt2"))
    (tmp_path / "broken.pt2").write_bytes(b"no archive")
    with pytest.raises(CompileError, match=r"torch\.export\.save"):
        import_file(tmp_path / "broken.pt2")


class ManyWeights(nn.Module):
    def __init__(self, count: int):
        super().__init__()
        self.weights = nn.ParameterList([nn.Parameter(torch.randn(4)) for _ in range(count)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.stack(list(self.weights)).sum(0)


def test_a_call_with_many_unchanged_inputs_is_cheap() -> None:
    model, x = ManyWeights(64), torch.randn(4)
    compiled = albumen.compile(model, (x,))
    torch.testing.assert_close(compiled(x), model(x))
    best = min(_seconds(compiled, x) for _ in range(5))
    assert best < 100e-6  # bench/overhead.py measures it properly


def _seconds(call: Any, x: torch.Tensor, calls: int = 200) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        call(x)
    return (time.perf_counter() - start) / calls


def test_a_program_uses_as_many_threads_as_torch() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        compiled = albumen.compile(nn.Linear(3, 4).eval(), (torch.randn(2, 3),))
    finally:
        torch.set_num_threads(before)
    executable: Any = vars(compiled.program)["_executable"]
    assert executable.host.threads == 1


@pytest.mark.parametrize("value", [None, [1.0], 2, np.ones((2, 3), np.float32)], ids=["none", "list", "int", "numpy"])
def test_what_is_no_tensor_is_refused_by_name(value: Any) -> None:
    model, x = nn.Linear(3, 2).eval(), torch.ones(2, 3)
    with pytest.raises(LaunchError, match="argument 0: expected a tensor, found"):
        albumen.compile(model, (x,))(value)


def test_only_modules_and_sequences_of_arguments_are_compiled() -> None:
    x: Any = torch.ones(2)
    function: Any = torch.relu
    with pytest.raises(TypeError, match=r"takes a torch\.nn\.Module"):
        albumen.compile(function, (x,))
    with pytest.raises(TypeError, match="as a sequence"):
        albumen.compile(nn.ReLU(), x)
