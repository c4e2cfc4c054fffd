"""Random torch programs: elementwise functions, reductions, views, matrix products, indexing and writes, mixed.

A program is a list of steps that runs on the list of its values so far. Each step was tried in eager when it was drawn,
so that the whole program is valid.
"""

from __future__ import annotations

# pyright: basic
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

DTYPES = (
    torch.float32,
    torch.float32,
    torch.float64,
    torch.bfloat16,
    torch.float16,
    torch.int64,
    torch.int32,
    torch.uint8,
    torch.bool,
)
EXTENTS = (0, 1, 2, 3, 5, 8, 17)
LARGEST = 4000

Function = Callable[..., Any]

UNARY: dict[str, Function] = {
    "neg": lambda x: -x,
    "abs": torch.abs,
    "relu": torch.relu,
    "exp": torch.exp,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt,
    "log1p": torch.log1p,
    "floor": torch.floor,
    "round": torch.round,
    "sign": torch.sign,
    "isnan": torch.isnan,
    "logical_not": torch.logical_not,
    "square": torch.square,
    "gelu": torch.nn.functional.gelu,
    "silu": torch.nn.functional.silu,
    "contiguous": lambda x: x.contiguous(),
    "clone": torch.clone,
    "clamp": lambda x: x.clamp(-1, 1),
    "add_scalar": lambda x: x + 2,
    "mul_scalar": lambda x: x * 0.5,
    "rdiv": lambda x: 1 / x,
    "floor_divide": lambda x: x // 3,
    "to_float": lambda x: x.float(),
    "to_half": lambda x: x.half(),
    "to_long": lambda x: x.long(),
    "to_byte": lambda x: x.to(torch.uint8),
}
BINARY: dict[str, Function] = {
    "add": torch.add,
    "sub": torch.sub,
    "add_alpha": lambda x, y: torch.add(x, y, alpha=2),
    "mul": torch.mul,
    "div": torch.div,
    "div_floor": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "remainder": torch.remainder,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "atan2": torch.atan2,
    "less": torch.lt,
    "equal": torch.eq,
    "where": lambda x, y: torch.where(x > y, x, y),
    "logical_and": torch.logical_and,
    "matmul": torch.matmul,
    "matmul_t": lambda x, y: torch.matmul(x, y.transpose(-1, -2)),
    "cat": lambda x, y: torch.cat([x, y], 0),
    "stack": lambda x, y: torch.stack([x, y], -1),
    "add_": lambda x, y: x.clone().add_(y),
    "write_part": lambda x, y: _write_part(x, y),
    "index": lambda x, y: x[y.long().remainder(max(x.shape[0], 1))],
    "index_select": lambda x, y: x.index_select(-1, y.reshape(-1).long().remainder(max(x.shape[-1], 1))),
    "gather": lambda x, y: x.gather(0, y.long().remainder(max(x.shape[0], 1))),
    "scatter_add": lambda x, y: x.scatter_add(0, torch.zeros_like(x, dtype=torch.int64), x + y),
    "index_put": lambda x, y: x.index_put((torch.arange(x.shape[0]).flip(0),), y, accumulate=False),
    "masked_fill": lambda x, y: x.masked_fill(y > 0, 3),
}
ALONG: dict[str, Function] = {
    "sum": lambda x, d: x.sum(d),
    "mean": lambda x, d: x.mean(d, keepdim=True),
    "amax": lambda x, d: x.amax(d),
    "max": lambda x, d: x.max(d).values,
    "argmin": lambda x, d: x.argmin(d),
    "prod": lambda x, d: x.prod(d),
    "any": lambda x, d: x.any(d),
    "all": lambda x, d: x.all(d, keepdim=True),
    "var": lambda x, d: x.var(d, correction=0),
    "logsumexp": lambda x, d: x.logsumexp(d),
    "softmax": lambda x, d: x.softmax(d),
    "cumsum": lambda x, d: x.cumsum(d),
    "sort": lambda x, d: x.sort(d, stable=True).values,
    "argsort": lambda x, d: x.argsort(d, stable=True),
    "flip": lambda x, d: x.flip(d),
    "roll": lambda x, d: x.roll(1, d),
    "unsqueeze": lambda x, d: x.unsqueeze(d),
    "squeeze": lambda x, d: x.squeeze(d),
    "select": lambda x, d: x.select(d, -1),
    "narrow": lambda x, d: x.narrow(d, 1, x.shape[d] - 1),
    "every_second": lambda x, d: x.transpose(0, d)[::2],
    "transpose": lambda x, d: x.transpose(0, d),
    "expand": lambda x, d: x.unsqueeze(0).expand(3, *x.shape),
    "flatten": lambda x, d: x.flatten(),
    "chunk": lambda x, d: x.chunk(2, d)[0],
    "pad": lambda x, d: torch.nn.functional.pad(x, (1, 2), value=1.0),
    "repeat_interleave": lambda x, d: x.repeat_interleave(2, d),
    "unfold": lambda x, d: x.unfold(d, 2, 1),
    "layer_norm": lambda x, d: torch.nn.functional.layer_norm(x, x.shape[-1:]),
}


def _write_part(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """A copy of x whose first rows are overwritten through a view."""
    copy = x.clone()
    copy[: max(x.shape[0] // 2, 1)].copy_(y[: max(x.shape[0] // 2, 1)])
    return copy


@dataclass
class Step:
    """A function of this module on earlier values."""

    name: str
    operands: tuple[int, ...]
    along: int | None = None

    def run(self, values: Sequence[torch.Tensor]) -> torch.Tensor:
        operands = [values[i] for i in self.operands]
        if self.along is not None:
            return ALONG[self.name](operands[0], self.along)
        return (UNARY if len(operands) == 1 else BINARY)[self.name](*operands)

    def __str__(self) -> str:
        operands = ", ".join(f"v{i}" for i in self.operands)
        return f"{self.name}({operands}{'' if self.along is None else f', {self.along}'})"


@dataclass
class TorchProgram:
    """Inputs, steps, and the values that are returned."""

    inputs: list[torch.Tensor]
    steps: list[Step] = field(default_factory=list)
    returned: tuple[int, ...] = ()
    changed: int | None = None
    """The input that the program adds 1 to at its end."""

    def __call__(self, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        values = list(inputs)
        for step in self.steps:
            values.append(step.run(values))
        results = [values[i] for i in self.returned]
        if self.changed is not None:
            inputs[self.changed].add_(1)
        return results

    def __repr__(self) -> str:
        lines = [f"v{i} = {x.dtype}{list(x.shape)} strides {x.stride()}" for i, x in enumerate(self.inputs)]
        lines += [f"v{len(self.inputs) + i} = {step}" for i, step in enumerate(self.steps)]
        change = "" if self.changed is None else f"; v{self.changed}.add_(1)"
        return "\n".join([*lines, f"return {self.returned}{change}"])


def tensor(draw: Any, rng: np.random.Generator) -> torch.Tensor:
    """An input of a drawn type and shape; sometimes a transposed or a sliced one."""
    dtype = draw(st.sampled_from(DTYPES))
    shape = draw(st.lists(st.sampled_from(EXTENTS), max_size=3))
    values = rng.uniform(-3, 3, shape) if dtype.is_floating_point else rng.integers(0, 5, shape)
    made = torch.from_numpy(np.asarray(values)).to(dtype)
    layout = draw(st.sampled_from(["dense", "dense", "transposed", "sliced"]))
    if layout == "transposed" and made.dim() > 1:
        return made.transpose(0, 1).contiguous().transpose(0, 1)
    if layout == "sliced" and made.dim() > 0:
        return torch.cat([made, made], -1)[..., ::2].narrow(-1, 0, made.shape[-1])
    return made


def step(draw: Any, values: Sequence[torch.Tensor]) -> tuple[Step, torch.Tensor] | None:
    """A step that eager can do, with its value."""
    kind = draw(st.sampled_from(["unary", "binary", "binary", "along", "along"]))
    first = draw(st.integers(0, len(values) - 1))
    if kind == "unary":
        made = Step(draw(st.sampled_from(list(UNARY))), (first,))
    elif kind == "binary":
        name = draw(st.sampled_from(list(BINARY)))
        made = Step(name, (first, draw(st.sampled_from(fitting(name, values, first)))))
    else:
        dims = max(values[first].dim(), 1)
        made = Step(draw(st.sampled_from(list(ALONG))), (first,), draw(st.integers(0, dims - 1)))
    value = attempt(made, values)
    return None if value is None else (made, value)


def fitting(name: str, values: Sequence[torch.Tensor], first: int) -> list[int]:
    """The values that a function takes after the first one; that one itself where it takes none."""
    return [i for i in range(len(values)) if attempt(Step(name, (first, i)), values) is not None] or [first]


def attempt(made: Step, values: Sequence[torch.Tensor]) -> torch.Tensor | None:
    """The value of a step, if eager can do it and it is not too large."""
    try:
        value = made.run(values)
    except (RuntimeError, IndexError, TypeError, ValueError):
        return None
    return value if value.numel() <= LARGEST else None


@st.composite
def torch_programs(draw: Any) -> TorchProgram:
    """A program of up to ten steps."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    inputs = [tensor(draw, rng) for _ in range(draw(st.integers(1, 3)))]
    program, values = TorchProgram(inputs), list(inputs)
    for _ in range(draw(st.integers(4, 10))):
        found = step(draw, values)
        if found is not None:
            program.steps.append(found[0])
            values.append(found[1])
    others = draw(st.lists(st.integers(0, len(values) - 1), max_size=2))
    program.returned = tuple(dict.fromkeys([len(values) - 1, *others]))
    if draw(st.integers(0, 3)) == 0 and inputs[0].dtype is not torch.bool:
        program.changed = 0
    return program
