"""One node of an fx graph as a handler sees it: arguments by their schema names, each of which must be consumed."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch.fx import Node
from xdsl.ir import SSAValue

from ...dialects.dtype import DType
from ...dialects.hlir.builder import GraphBuilder
from ...dialects.hlir.index_map import identity
from ...dialects.hlir.types import TensorType, tensor_type
from ...dialects.op import tensor_of
from ...dialects.sym.bounds import Bounds, proves_less
from ...dialects.sym.expr import Expr
from .draws import Distribution, Draw
from .element_types import element_type
from .fx import given_arguments, overload_name, schema_arguments, traced_results, traced_tensors, viewed
from .randomness import Randomness
from .symbolic_float import FloatExpr
from .symbols import SymbolTable
from .unsupported import UnsupportedNodeError

Number = bool | int | float | Expr | FloatExpr
Operand = SSAValue | Number
Results = SSAValue | Sequence[SSAValue | None]
"""What a handler returns: one value, or one for each result (None for a result that nothing reads)."""
Handler = Callable[["Call"], Results]

Values = Mapping[Node, Any]


@dataclass(frozen=True)
class Fake:
    """What torch says about a tensor: its sizes and dtype."""

    dims: tuple[Expr, ...]
    torch_dtype: torch.dtype

    @property
    def type(self) -> TensorType:
        return tensor_type(self.dims, element_type(self.torch_dtype))


class Call:
    """A call of an ATen overload. Every accessor marks its argument as consumed; `b` builds at the end of the
    function."""

    def __init__(self, node: Node, values: Values, b: GraphBuilder, symbols: SymbolTable, random: Randomness):
        self.node = node
        self.b = b
        self._values = values
        self._symbols = symbols
        self._random = random
        self._arguments, self._given = schema_arguments(node), given_arguments(node)
        self._consumed: set[str] = set()

    # Results

    def fake(self, result: int = 0) -> Fake:
        """What torch says about a result."""
        return self.fake_of(traced_results(self.node)[result])

    @property
    def result_count(self) -> int:
        """How many values the call returns."""
        return len(traced_results(self.node))

    @property
    def name(self) -> str:
        """The full name of the overload."""
        return overload_name(self.node)

    def fake_of(self, value: torch.Tensor) -> Fake:
        """What torch says about a tensor of the trace."""
        return Fake(self._symbols.lift_all(value.shape), value.dtype)

    @property
    def type(self) -> TensorType:
        """The type of the only result, as torch says."""
        return self.fake().type

    @property
    def dims(self) -> tuple[Expr, ...]:
        """The sizes of the only result, as torch says."""
        return self.fake().dims

    @property
    def dtype(self) -> DType:
        """The element type of the only result, as torch says."""
        return self.type.dtype

    def draw(
        self,
        distribution: Distribution,
        *parameters: Number,
        like: torch.Tensor | None = None,
        dtype: torch.dtype | None = None,
        source: torch.dtype | None = None,
    ) -> SSAValue:
        """A random tensor like the first result (or like a tensor of the trace), or like it in another dtype; `source`
        is that of the draw."""
        fake = traced_tensors(self.node)[0] if like is None else like
        dims, strides = self._symbols.lift_all(fake.shape), self._symbols.lift_all(fake.stride())
        fixed = tuple(float(p) if isinstance(p, FloatExpr) else p for p in parameters)
        drawn = Draw(distribution, dims, strides, dtype or fake.dtype, fake.device, fixed, source=source)
        return self._random.draw(self.b, drawn)

    @property
    def draws_as_eager(self) -> bool:
        """Whether random numbers must be those that eager draws."""
        return self._random.is_eager

    def is_read(self, result: int) -> bool:
        """Whether something reads this result of a call with several."""
        return any(user.args[1] == result for user in self.node.users if user.target is operator.getitem)

    # Arguments

    @property
    def argument_names(self) -> tuple[str, ...]:
        """The names that the schema of the overload has."""
        return tuple(self._arguments)

    def has(self, name: str) -> bool:
        """Whether the argument was given and is not None; does not consume it."""
        return self._given.get(name) is not None

    def raw(self, name: str) -> Any:
        """The argument, or the default of its schema, with nodes in place of values."""
        self._consumed.add(name)
        return self._given[name] if name in self._given else self._arguments[name].default_value

    def value(self, name: str) -> Any:
        """The argument with values in place of nodes: tensors as SSA values, sizes as expressions."""
        return self._resolve(self.raw(name))

    def tensor(self, name: str) -> SSAValue:
        """A tensor argument.

        Raises:
            UnsupportedNodeError: a Python number was passed where only a tensor is expected.
        """
        value = self.value(name)
        if not isinstance(value, SSAValue):
            raise UnsupportedNodeError(f"has {value!r} where a tensor is expected, as '{name}'")
        return cast(SSAValue, value)

    def optional_tensor(self, name: str) -> SSAValue | None:
        """A tensor argument that may be absent."""
        return None if self.raw(name) is None else self.tensor(name)

    def tensors(self, name: str) -> list[SSAValue]:
        """A list of tensors."""
        return [v for v in self.value(name) if isinstance(v, SSAValue)]

    def operand(self, name: str) -> Operand:
        """A tensor or a number."""
        return self.value(name)

    def number(self, name: str) -> Number:
        """A number; an expression where it depends on a symbol."""
        value = self.value(name)
        if isinstance(value, SSAValue) or value is None:
            raise UnsupportedNodeError(f"has '{name}' = {value}, expected a number")
        return value

    def integer(self, name: str) -> int:
        """An integer known at compile time."""
        return self._static(self.value(name), name)

    def integers(self, name: str) -> list[int]:
        """Integers known at compile time; a single one stands for a list of one."""
        return [self._static(v, name) for v in _listed(self.value(name))]

    def expression(self, name: str) -> Expr:
        """An integer that may depend on symbols."""
        return self.lift(self.value(name))

    def flag(self, name: str) -> bool:
        """A boolean."""
        return bool(self.value(name))

    def axis(self, name: str, rank: int) -> int:
        """A dimension number, counted from the front; a 0-d tensor counts as one of rank 1."""
        return self.integer(name) % max(rank, 1)

    def axes(self, name: str, rank: int) -> list[int]:
        """Dimension numbers, counted from the front and sorted; None or an empty list means all of them."""
        value = self.value(name)
        if value is None or value == []:
            return list(range(rank))
        return sorted({self._static(v, name) % rank for v in _listed(value)}) if rank else []

    def ignore(self, *names: str) -> None:
        """Marks arguments that cannot change the result."""
        self._consumed.update(names)

    def require(self, name: str, *allowed: Any) -> None:
        """Consumes an argument of which only these values are supported."""
        value = self.value(name)
        if value not in allowed:
            raise UnsupportedNodeError(f"has {name}={value!r}; only {' or '.join(map(repr, allowed))} is supported")

    def unconsumed(self) -> list[str]:
        """The given arguments that no accessor read and that differ from the schema's default."""
        rest = [name for name in self._given if name not in self._consumed]
        return [f"{name}={self._given[name]!r}" for name in rest if not self._is_default(name)]

    @property
    def bounds(self) -> Bounds:
        """The ranges of the symbols."""
        return self._symbols.bounds

    def lift(self, value: int | torch.SymInt | Expr) -> Expr:
        """A size of torch as an expression."""
        return value if isinstance(value, Expr) else self._symbols.lift(value)

    def with_sizes(self, value: SSAValue, dims: Sequence[Expr]) -> SSAValue:
        """The value at sizes that must be the same numbers, though the trace may not know it: a guard says so."""
        found = tensor_of(value).dims
        if found == tuple(dims):
            return value
        for here, there in zip(found, dims, strict=True):
            if here != there:
                self._symbols.guards.append((here - there, "=="))
        return self.b.view(value, identity(len(dims)), dims)

    def require_positive(self, size: Expr) -> None:
        """Makes size > 0 a condition of every call, unless it is known."""
        if not proves_less(0, size, self.bounds):
            self._symbols.guards.append((size - 1, ">="))

    @property
    def device(self) -> torch.device:
        """Where the first result lies."""
        return traced_tensors(self.node)[0].device

    @property
    def is_cuda(self) -> bool:
        """Whether the call runs on a CUDA device, whose kernels round scalars at other places."""
        return self.device.type == "cuda"

    def tensor_device(self, name: str) -> torch.device:
        """Where a tensor argument lies; does not consume it."""
        return self.fake_argument(name).device

    def fake_argument(self, name: str) -> torch.Tensor:
        """What the trace says about a tensor argument; does not consume it."""
        (tensor,) = traced_tensors(self._given[name])
        return tensor

    def viewed(self, name: str) -> tuple[SSAValue, torch.Tensor]:
        """The value whose memory a tensor argument is a view of, followed through views, and what the trace says
        about it."""
        node: Node = self.raw(name)
        while (source := viewed(node)) is not None and isinstance(self._values.get(source), SSAValue):
            node = source
        (tensor,) = traced_tensors(node)
        return self._values[node], tensor

    def _is_default(self, name: str) -> bool:
        argument, value = self._arguments[name], self._given[name]
        return (
            argument.has_default_value()
            and type(value) is type(argument.default_value)
            and value == argument.default_value
        )

    def _resolve(self, value: Any) -> Any:
        if isinstance(value, Node):
            return self._values[value]
        if isinstance(value, list | tuple):
            return [self._resolve(v) for v in _listed(value)]
        if isinstance(value, torch.SymInt):
            return self._symbols.lift(value)
        if isinstance(value, torch.SymFloat):
            return self._symbols.lift_float(value)
        return value

    def _static(self, value: Any, name: str) -> int:
        known = value.as_int() if isinstance(value, Expr) else value
        if not isinstance(known, int):
            raise UnsupportedNodeError(f"has {name}={value}, which must be known at compile time")
        return int(known)


def _listed(value: Any) -> Sequence[Any]:
    return cast("Sequence[Any]", value) if isinstance(value, list | tuple) else [value]
