"""Memory and vector ops of the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from types import MappingProxyType

import numpy as np
from xdsl.dialects import vector
from xdsl.ir import Operation

from ..errors import EvaluationError
from .machine import Machine, Pointer
from .memory import AllocOp, CheckIndexOp, LoadOp, OffsetOp, PackOp, StoreOp
from .scalar_values import Array, numpy_type
from .types import PtrType, lanes


def _alloc(machine: Machine, op: Operation) -> None:
    assert isinstance(op, AllocOp)
    assert isinstance(op.result.type, PtrType)
    kind = numpy_type(op.result.type.element)
    count = max(0, machine.number(op.count, op))
    copies = prod(machine.space)
    buffer = np.full(count * copies * kind.itemsize, 0xA5, np.uint8).view(kind)
    machine.values[op.result] = Pointer(buffer, np.arange(copies, dtype=np.int64).reshape(machine.space) * count)


def _offset(machine: Machine, op: Operation) -> None:
    assert isinstance(op, OffsetOp)
    pointer = machine.pointer(op.pointer)
    machine.values[op.result] = Pointer(pointer.buffer, pointer.offset + machine.array(op.offset))


def _positions(pointer: Pointer, offset: Array, count: int, op: Operation) -> Array:
    positions = pointer.offset + offset
    if count > 1:
        positions = positions[..., None] + np.arange(count)
    if positions.size and (positions.min() < 0 or positions.max() >= pointer.buffer.size):
        span = f"{positions.min()}..{positions.max()}"
        raise EvaluationError(f"accesses elements {span} of a buffer of {pointer.buffer.size}", op=op)
    return positions


def _load(machine: Machine, op: Operation) -> None:
    assert isinstance(op, LoadOp)
    pointer = machine.pointer(op.pointer)
    count, _ = lanes(op.result.type)
    machine.values[op.result] = pointer.buffer[_positions(pointer, machine.array(op.offset), count, op)]


def _store(machine: Machine, op: Operation) -> None:
    assert isinstance(op, StoreOp)
    pointer = machine.pointer(op.pointer)
    count, _ = lanes(op.value.type)
    value, positions = machine.array(op.value), _positions(pointer, machine.array(op.offset), count, op)
    # A loop of one iteration may have an index in the value that is not in the offset.
    pointer.buffer[np.broadcast_to(positions, np.broadcast_shapes(positions.shape, value.shape))] = value


def _pack(machine: Machine, op: Operation) -> None:
    assert isinstance(op, PackOp)
    lane_stride, depth_stride = machine.number(op.lane_stride, op), machine.number(op.depth_stride, op)
    used, depth, width = machine.number(op.lanes, op), machine.number(op.depth, op), op.width.value.data
    lane, k = np.arange(min(used, width)), np.arange(depth)[:, None]
    source, target = machine.pointer(op.source), machine.pointer(op.target)
    read = _positions(source, lane * lane_stride + k * depth_stride, 1, op)
    panel = np.zeros((depth, width), target.buffer.dtype)
    panel[:, : min(used, width)] = source.buffer[read]
    written = _positions(target, np.arange(width) + k * width, 1, op)
    target.buffer[written] = panel


def _check_index(machine: Machine, op: Operation) -> None:
    assert isinstance(op, CheckIndexOp)
    index, extent = machine.array(op.index), machine.array(op.extent)
    if index.size and bool(np.any((index < 0) | (index >= extent))):
        raise EvaluationError(f"index {index.min()}..{index.max()} is outside an extent of {extent.max()}", op=op)
    machine.values[op.result] = index


def _broadcast(machine: Machine, op: Operation) -> None:
    assert isinstance(op, vector.BroadcastOp)
    source = machine.array(op.source)
    count, _ = lanes(op.vector.type)
    scalar = lanes(op.source.type)[0] == 1
    machine.values[op.vector] = np.repeat(source[..., None], count, axis=-1) if scalar else source


def _fma(machine: Machine, op: Operation) -> None:
    assert isinstance(op, vector.FMAOp)
    a, b, c = (machine.array(value).astype(np.longdouble) for value in op.operands)
    machine.values[op.res] = (a * b + c).astype(numpy_type(op.res.type))


def _position(machine: Machine, op: vector.ExtractOp | vector.InsertOp) -> int:
    (position,) = op.get_mixed_position()
    return position if isinstance(position, int) else machine.number(position, op)


def _extract(machine: Machine, op: Operation) -> None:
    assert isinstance(op, vector.ExtractOp)
    machine.values[op.result] = machine.array(op.vector)[..., _position(machine, op)]


def _insert(machine: Machine, op: Operation) -> None:
    assert isinstance(op, vector.InsertOp)
    source, target = machine.array(op.source), machine.array(op.dest)
    shape = np.broadcast_shapes(source.shape, target.shape[:-1])
    result = np.broadcast_to(target, (*shape, target.shape[-1])).copy()
    result[..., _position(machine, op)] = source
    machine.values[op.result] = result


KINDS = {
    "add": np.add, "mul": np.multiply, "maximumf": np.maximum, "minimumf": np.minimum, "maxnumf": np.fmax,
    "minnumf": np.fmin, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip


def _reduction(machine: Machine, op: Operation) -> None:
    assert isinstance(op, vector.ReductionOp)
    source = machine.array(op.vector)
    combine = KINDS.get(op.kind.data.value)
    if combine is None:
        raise EvaluationError(f"no reduction of kind {op.kind.data.value}", op=op)
    result = combine.reduce(source, axis=-1, dtype=source.dtype)
    machine.values[op.dest] = np.asarray(result if op.acc is None else combine(machine.array(op.acc), result))


MEMORY: Mapping[type[Operation], Callable[[Machine, Operation], None]] = MappingProxyType(
    {
        AllocOp: _alloc,
        OffsetOp: _offset,
        LoadOp: _load,
        StoreOp: _store,
        PackOp: _pack,
        CheckIndexOp: _check_index,
        vector.BroadcastOp: _broadcast,
        vector.FMAOp: _fma,
        vector.ExtractOp: _extract,
        vector.InsertOp: _insert,
        vector.ReductionOp: _reduction,
    }
)
