"""Runs a graph-level or kernel-level module on numpy arrays: the meaning of a program, which every stage must keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr, FloatAttr, IntegerAttr, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from .errors import EvaluationError
from .hlir.loop import LoopOp, YieldOp
from .hlir.types import TensorType
from .op import Array, Environment, TensorOp
from .sym.bounds import Interval
from .sym.dialect import SymbolOp

Values = dict[SSAValue, Array]
RegionRule = Callable[[Operation, Sequence[Array], Environment], Sequence[Array]]


def find_function(module: ModuleOp, name: str) -> FuncOp:
    """The function `name` of the module.

    Raises:
        EvaluationError: there is none.
    """
    for op in module.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == name:
            return op
    raise EvaluationError(f"the module has no function @{name}", hint="name one of its func.func ops")


def evaluate_function(
    module: ModuleOp, name: str, inputs: Sequence[Array], symbols: Mapping[str, int] | None = None
) -> list[Array]:
    """The results of function `name`. Symbols that are a dim of an input by themselves are taken from the inputs.

    Raises:
        EvaluationError: the inputs do not fit the function's types.
    """
    function = find_function(module, name)
    types = [a.type for a in function.body.block.args]
    env = Environment(bind_symbols(types, inputs, symbols or {}))
    for position, (type_, x) in enumerate(zip(types, inputs, strict=True)):
        assert isinstance(type_, TensorType)
        if x.shape != env.shape(type_) or x.dtype != type_.dtype.numpy:
            found = f"{x.dtype}{list(x.shape)}"
            raise EvaluationError(f"input {position} of @{name} is {found}, expected {type_} with {dict(env.symbols)}")
    return evaluate_block(function.body.block, list(inputs), env)


def bind_symbols(types: Sequence[object], inputs: Sequence[Array], given: Mapping[str, int]) -> dict[str, int]:
    """Values of the symbols: those given, then those that some input has as a whole dim."""
    if len(types) != len(inputs):
        raise EvaluationError(f"expected {len(types)} inputs, found {len(inputs)}")
    symbols = dict(given)
    for type_, x in zip(types, inputs, strict=True):
        if not isinstance(type_, TensorType):
            raise EvaluationError(
                f"cannot evaluate a function of {type_}", hint="evaluate at the graph or kernel level"
            )
        for dim, extent in zip(type_.dims, x.shape, strict=False):
            atom = dim.as_atom()
            if atom is not None and atom.kind == "symbol":
                symbols.setdefault(atom.name, extent)
    return symbols


def evaluate_block(block: Block, inputs: Sequence[Array], env: Environment) -> list[Array]:
    """Runs the ops of a block in order and returns the operands of its terminator."""
    values: Values = dict(zip(block.args, inputs, strict=True))
    for op in block.ops:
        operands = [values[o] for o in op.operands]
        if op is block.last_op and not op.results:
            return operands
        for result, value in zip(op.results, evaluate_op(op, operands, env), strict=True):
            values[result] = value
    raise EvaluationError("a block without a terminator has no results")


def evaluate_op(op: Operation, operands: Sequence[Array], env: Environment) -> Sequence[Array]:
    """The results of one op.

    Raises:
        EvaluationError: the op has no meaning on values.
    """
    if isinstance(op, TensorOp):
        return op.reference(operands, env)
    rule = REGION_RULES.get(type(op))
    if rule is not None:
        return rule(op, operands, env)
    if isinstance(op, CallOp):
        module = op.get_toplevel_object()
        assert isinstance(module, ModuleOp)
        callee = find_function(module, op.callee.root_reference.data)
        return evaluate_block(callee.body.block, operands, env)
    body = getattr(op, "body", None)
    if body is not None and hasattr(op, "MEANING_IS_BODY"):
        return evaluate_block(body.block, operands, env)
    raise EvaluationError("the op cannot be evaluated on arrays", op=op, hint="evaluate before this level")


def _evaluate_loop(op: Operation, operands: Sequence[Array], env: Environment) -> Sequence[Array]:
    assert isinstance(op, LoopOp)
    carried_count, stream_count, trips = len(op.carried), op.stream_count, op.trip_count
    carried = list(operands[:carried_count])
    streams = operands[carried_count : carried_count + stream_count * trips]
    invariants = operands[carried_count + stream_count * trips :]
    collected: list[list[Array]] = []
    for trip in range(trips):
        now = [streams[j * trips + trip] for j in range(stream_count)]
        yielded = evaluate_block(op.body.block, [*carried, *now, *invariants], env)
        carried = yielded[:carried_count]
        collected.append(yielded[carried_count:])
    return [*carried, *(row[j] for j in range(len(collected[0])) for row in collected)]


REGION_RULES: Mapping[type[Operation], RegionRule] = MappingProxyType({LoopOp: _evaluate_loop})
"""How ops with a region that is not simply their meaning run. Ops whose body is their meaning set MEANING_IS_BODY."""


def random_symbols(module: ModuleOp, rng: np.random.Generator, limit: int = 7) -> dict[str, int]:
    """A small value for every declared symbol, within its range and multiple."""
    values: dict[str, int] = {}
    for op in module.ops:
        if isinstance(op, SymbolOp):
            range_, multiple = op.range, op.multiple_of.data
            values[op.sym_name.data] = _small_value(range_, multiple, rng, limit)
    return values


def _small_value(range_: Interval, multiple: int, rng: np.random.Generator, limit: int) -> int:
    low = -(-(range_.low or 0) // multiple)
    high = low + limit if range_.high is None else min(low + limit, range_.high // multiple)
    return int(rng.integers(low, high + 1)) * multiple


def random_inputs(function: FuncOp, rng: np.random.Generator, symbols: Mapping[str, int]) -> list[Array]:
    """Random arrays of the function's argument types. Integers honour `hlir.low` and `hlir.high` of the argument
    (default [0, 2))."""
    env = Environment(symbols)
    arrays: list[Array] = []
    attributes = function.arg_attrs.data if function.arg_attrs is not None else ()
    for position, arg in enumerate(function.body.block.args):
        assert isinstance(arg.type, TensorType)
        given = attributes[position] if position < len(attributes) else None
        low, high = (_bound(given, key) for key in ("hlir.low", "hlir.high"))
        arrays.append(random_array(arg.type, env, rng, low, high))
    return arrays


def _bound(given: Attribute | None, key: str) -> float | None:
    """The number in an argument attribute such as `hlir.high = 30522 : i64`."""
    value = given.data.get(key) if isinstance(given, DictionaryAttr) else None
    return float(value.value.data) if isinstance(value, IntegerAttr | FloatAttr) else None


def random_array(
    type_: TensorType, env: Environment, rng: np.random.Generator, low: float | None = None, high: float | None = None
) -> Array:
    """Random values of a type: uniform in [low, high), default [-1, 1) for floats and [0, 2) for integers."""
    shape, dtype = env.shape(type_), type_.dtype
    if dtype.is_float:
        low, high = (-1.0 if low is None else low), (1.0 if high is None else high)
        return rng.uniform(low, high, shape).astype(np.float32 if dtype.bits < 32 else dtype.numpy).astype(dtype.numpy)
    low, high = (0 if low is None else low), (2 if high is None else high)
    if dtype.category == "unsigned" or dtype.is_bool:
        low, high = max(low, 0), max(high, 1)
    return rng.integers(int(low), int(np.ceil(high)), shape).astype(dtype.numpy)


def returned(function: FuncOp) -> list[SSAValue]:
    """The values that a function returns."""
    last = function.body.block.last_op
    assert isinstance(last, ReturnOp | YieldOp)
    return list(last.operands)
