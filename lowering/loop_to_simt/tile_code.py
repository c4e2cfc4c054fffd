"""Emits one tile of a loop body: what is the same for all lanes and vector loads first, the rest once a lane, vector
stores last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IndexType, VectorType, i32
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects import simt
from ...dialects.loop import LoadOp, OffsetOp, StoreOp, YieldOp
from ...dialects.sym.expr import Expr, constant, floordiv
from .accesses import Access, Body, stride
from .emitter import Emitter
from .thread_code import Memory, ThreadCode, Values
from .tiling import Tiler, Tiling, vector_split


@dataclass
class RowCache:
    """A register array [chunk, piece, lane] for what one thread reads of a row; filled by the first loop that reads
    it."""

    array: SSAValue
    filled: bool = False


def nothing() -> None:
    """What is left to do for an op that was done before the lanes."""


class TileCode(ThreadCode):
    """Thread code that can run a loop body on tiles."""

    def __init__(self, emitter: Emitter, tiler: Tiler):
        super().__init__(emitter)
        self.tiler = tiler
        self.row_arrays: dict[SSAValue, SSAValue] = {}
        """Scratch rows that live in register arrays [chunk, piece, lane]."""
        self.caches: dict[LoadOp, RowCache] = {}
        self.chunk: Expr = constant(0)
        self.streamed: frozenset[SSAValue] = frozenset()
        """Buffers whose elements are touched once, and need not stay in caches."""

    def tile(self, body: Body, tiling: Tiling, tile: Expr, carried: Values, step: Callable[[Values], Values]) -> Values:
        """Runs the body on one tile; `step` makes the next carried values from those before a lane."""
        lane = self.space.variable(constant(tiling.width)) if tiling.width > 1 else constant(0)
        for argument, index in zip(body.arguments, tiling.indices(tile, lane), strict=True):
            self.space.bind(argument, self.space.simplify(index))
        walk = _Prologue(self, lane, tiling.width)
        for op in body.ops:
            walk.op(op)
        if tiling.width == 1:
            self.run(body.ops)
            results = step(carried)
        else:
            bounds = (constant(0), constant(tiling.width), constant(1))
            with self.emitter.loop(bounds, lane, carried, unroll=True, hint="lane") as loop:
                self.run(body.ops)
                loop.carry(step(loop.arguments))
            results = loop.results
        for write_back in walk.finish:
            write_back()
        for op in body.ops:
            self.special.pop(op, None)
        return results

    def register_load(self, op: LoadOp, array: SSAValue, place: Sequence[Expr]) -> None:
        indices = [self.emitter.index(index, i32) for index in place]
        self.values[op.result] = self.emitter.add(simt.RegLoadOp(array, indices))

    def register_store(self, op: StoreOp, array: SSAValue, place: Sequence[Expr]) -> None:
        indices = [self.emitter.index(index, i32) for index in place]
        self.emitter.do(simt.RegStoreOp(self.values[op.value], array, indices))

    def read(self, memory: Memory, offset: Expr, kind: Attribute, root: SSAValue) -> SSAValue:
        hint = simt.Hint.Stream if root in self.streamed else None
        return self.emitter.add(simt.LoadOp(memory.value, self.emitter.index(offset), kind, hint=hint))

    def write(self, value: SSAValue, memory: Memory, offset: Expr, root: SSAValue) -> None:
        hint = simt.Hint.Stream if root in self.streamed else None
        self.emitter.do(simt.StoreOp(value, memory.value, self.emitter.index(offset), self.store_if, hint))


class _Prologue:
    """Goes through a body once before its lanes: does what does not depend on the lane, and the vector loads."""

    def __init__(self, code: TileCode, lane: Expr, width: int):
        self.code = code
        self.lane = lane
        self.width = width
        self.varying: set[SSAValue] = set()
        self.finish: list[Callable[[], None]] = []

    def op(self, op: Operation) -> None:
        code = self.code
        if isinstance(op, YieldOp):
            return
        if len(op.results) == 1 and isinstance(op.results[0].type, IndexType) and code.space.define(op):
            return
        if isinstance(op, OffsetOp):
            code.op(op)
        elif isinstance(op, LoadOp | StoreOp):
            self._access(op)
        elif self.width > 1 and not self._varies(op):
            code.op(op)
            code.special[op] = nothing
        else:
            self.varying.update(op.results)

    def _varies(self, op: Operation) -> bool:
        if op.regions:
            return True
        for operand in op.operands:
            if operand in self.varying:
                return True
            if isinstance(operand.type, IndexType):
                expr = self.code.space.known(operand)
                if expr is None or not self._is_uniform(expr):
                    return True
        return False

    def _is_uniform(self, expr: Expr) -> bool:
        step = stride(expr, self.lane) if self.width > 1 else None
        return step is not None and not step.terms and self.code.emitter.placed(expr)

    def _access(self, op: LoadOp | StoreOp) -> None:
        code = self.code
        root, base = code.resolve(op.pointer)
        if isinstance(op, LoadOp):
            self.varying.add(op.result)
        if root in code.row_arrays:
            self._row_access(op, root)
            return
        if isinstance(op, LoadOp) and op in code.caches:
            self._cached_load(op, root, base)
            return
        offset = code.space.known(op.offset)
        if self.width == 1 or offset is None:
            return
        offset = code.space.simplify(base + offset)
        kind = code.tiler.lane_stride(Access(op, root, offset, nested=False), offset, self.lane, self.width)
        if kind is None or not code.emitter.placed(offset - self.lane * kind):
            return
        if isinstance(op, StoreOp):
            self._vector_store(op, root, offset)
        elif kind == 1:
            array = self._fill(op, root, offset, None)
            pieces_lanes = self._place(op.result.type)
            code.special[op] = lambda: code.register_load(op, array, pieces_lanes)
        else:
            memory = code.memories[root]
            if not memory.in_registers:
                code.load(op)
                code.special[op] = nothing
                self.varying.discard(op.result)

    def _place(self, element: Attribute) -> list[Expr]:
        """[piece, lane of the piece] of the current lane."""
        _, lanes = vector_split(element, self.width)
        piece = floordiv(self.lane, constant(lanes)) if self.width > lanes else constant(0)
        return [piece, self.lane - piece * lanes]

    def _row_access(self, op: LoadOp | StoreOp, root: SSAValue) -> None:
        code, array = self.code, self.code.row_arrays[root]
        if isinstance(op, LoadOp):
            place = [code.chunk, *self._place(op.result.type)]
            code.special[op] = lambda: code.register_load(op, array, place)
        else:
            place = [code.chunk, *self._place(op.value.type)]
            code.special[op] = lambda: code.register_store(op, array, place)

    def _cached_load(self, op: LoadOp, root: SSAValue, base: Expr) -> None:
        code, cache = self.code, self.code.caches[op]
        if not cache.filled:
            self._fill(op, root, code.space.simplify(base + code.index_of(op.offset)), cache.array)
        place = [code.chunk, *self._place(op.result.type)]
        code.special[op] = lambda: code.register_load(op, cache.array, place)

    def _fill(self, op: LoadOp, root: SSAValue, offset: Expr, array: SSAValue | None) -> SSAValue:
        """Loads the tile into a register array: [piece, lane], or [chunk, piece, lane] of a given one."""
        code, element = self.code, op.result.type
        pieces, lanes = vector_split(element, self.width)
        chunk = [] if array is None else [code.emitter.index(code.chunk, i32)]
        if array is None:
            array = code.emitter.add(simt.RegsOp(simt.RegType.of([pieces, lanes], element)))
        memory = code.memories[root]
        kind = element if lanes == 1 else VectorType(element, [lanes])
        for piece in range(pieces):
            value = code.read(memory, memory.base + offset - self.lane + piece * lanes, kind, root)
            place = [*chunk, code.emitter.index(constant(piece), i32)]
            if lanes == 1:
                place.append(code.emitter.index(constant(0), i32))
            code.emitter.do(simt.RegStoreOp(value, array, place))
        return array

    def _vector_store(self, op: StoreOp, root: SSAValue, offset: Expr) -> None:
        code, element = self.code, op.value.type
        pieces, lanes = vector_split(element, self.width)
        array = code.emitter.add(simt.RegsOp(simt.RegType.of([pieces, lanes], element)))
        place = self._place(element)
        code.special[op] = lambda: code.register_store(op, array, place)
        memory = code.memories[root]
        start = memory.base + offset - self.lane
        kind = element if lanes == 1 else VectorType(element, [lanes])

        def write_back() -> None:
            for piece in range(pieces):
                number = code.emitter.index(constant(piece), i32)
                indices = [number] if lanes > 1 else [number, code.emitter.index(constant(0), i32)]
                value = code.emitter.add(simt.RegLoadOp(array, indices, kind))
                code.write(value, memory, start + piece * lanes, root)

        self.finish.append(write_back)
