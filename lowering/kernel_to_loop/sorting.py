"""Stable sorts to loops: threads share the rows, each row is merged from runs that double in length."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import BoolAttr, i64
from xdsl.ir import Block, SSAValue

from ...dialects.dtype import DType
from ...dialects.hlir.ordering import SortOp
from ...dialects.kernel.function import FuncOp
from ...dialects.kernel.launch import IrregularOp
from ...dialects.loop import AllocOp, LoadOp, ParallelOp, StoreOp
from ...dialects.loop import Mapping as LoopMapping
from ...dialects.op import tensor_of
from ...dialects.sym.bounds import Interval, interval
from ...dialects.sym.expr import index
from .frame import Frame
from .index_code import INDEX
from .irregular import Irregular, address
from .scalar_ops import element_type, widen
from .scope import Scope


class SortLoops:
    """Each row is copied to scratch; a pass merges pairs of neighbouring runs into a second scratch row and copies them
    back. `keys` and `places` are the row and where its elements came from, `next_*` what a pass writes."""

    def __init__(self, function: FuncOp, ranges: Mapping[str, Interval]):
        kernel = function.kernel
        assert isinstance(kernel, IrregularOp) and isinstance(kernel.core, SortOp)
        self.dims, self.axis = tensor_of(kernel.core.operand).dims, kernel.core.axis.data
        self.it = Irregular.of(function, ranges, self.dims)
        core = self.it.core
        assert isinstance(core, SortOp)
        self.op = core
        self.dtype: DType = tensor_of(core.operand).dtype
        self.length = self.it.emit(self.dims[self.axis], self.it.frame.root)

    def lower(self) -> Frame:
        it, root = self.it, self.it.frame.root
        rows = [n for n in range(len(self.dims)) if n != self.axis]
        loop, scope, args = it.grid([it.emit(self.dims[n], root) for n in rows], self.dims[self.axis].as_int() or 1)
        for number, argument in zip(rows, args, strict=True):
            scope.bind(number, argument)
        bound = interval(self.dims[self.axis], it.frame.code.bounds).high
        key, place = element_type(self.dtype), i64
        self.keys, self.next_keys = (scope.add(AllocOp(self.length, key, bound)) for _ in range(2))
        self.places, self.next_places = (scope.add(AllocOp(self.length, place, bound)) for _ in range(2))
        self._read(scope)
        self._passes(scope)
        self._write(scope)
        it.close(loop)
        return it.frame

    def _vector(self, scope: Scope) -> tuple[ParallelOp, Scope, SSAValue]:
        loop = ParallelOp([self.length], LoopMapping.Vector)
        argument = loop.body.block.args[0]
        return loop, scope.inner(loop.body.block, {self.axis: argument}), argument

    def _read(self, scope: Scope) -> None:
        loop, body, position = self._vector(scope)
        at = tuple(index(n) for n in range(len(self.dims)))
        body.run(StoreOp(self.it.values.value(self.op.operand, at, body), self.keys, position))
        body.run(StoreOp(body.add(arith.IndexCastOp(position, i64)), self.places, position))
        scope.run(loop)

    def _write(self, scope: Scope) -> None:
        loop, body, position = self._vector(scope)
        at = tuple(index(n) for n in range(len(self.dims)))
        target = self.it.emit(address(self.dims, at), body)
        for value, source in ((self.op.values, self.keys), (self.op.indices, self.places)):
            pointer = self.it.result(value)
            if pointer is not None:
                body.run(StoreOp(body.add(LoadOp(source, position)), pointer, target))
        scope.run(loop)

    def _passes(self, scope: Scope) -> None:
        """while run < length: merge pairs of runs, run = 2 * run."""
        before, after = Block(arg_types=[INDEX]), Block(arg_types=[INDEX])
        test = scope.inner(before)
        longer = test.add(arith.CmpiOp(before.args[0], self.length, "slt"))
        test.run(scf.ConditionOp(longer, before.args[0]))
        body, run = scope.inner(after), after.args[0]
        twice = body.add(arith.AddiOp(run, run))
        block = Block(arg_types=[INDEX])
        pair = body.inner(block)
        self._merge(block.args[0], run, twice, pair)
        pair.run(scf.YieldOp())
        body.run(scf.ForOp(self.it.number(0), self.length, twice, [], block))
        copy, inner, position = self._vector(body)
        for source, target in ((self.next_keys, self.keys), (self.next_places, self.places)):
            inner.run(StoreOp(inner.add(LoadOp(source, position)), target, position))
        body.run(copy)
        body.run(scf.YieldOp(twice))
        scope.run(scf.WhileOp([self.it.number(1)], [INDEX], [before], [after]))

    def _merge(self, low: SSAValue, run: SSAValue, twice: SSAValue, scope: Scope) -> None:
        """Elements [low, low + run) and [low + run, low + 2 run) in order, the left one first where they are equal."""
        middle = scope.add(arith.MinSIOp(scope.add(arith.AddiOp(low, run)), self.length))
        high = scope.add(arith.MinSIOp(scope.add(arith.AddiOp(low, twice)), self.length))
        last = scope.add(arith.SubiOp(self.length, self.it.number(1)))
        block = Block(arg_types=[INDEX, INDEX, INDEX])
        position, left, right = block.args
        body = scope.inner(block)
        safe = [body.add(arith.MinSIOp(side, last)) for side in (left, right)]
        keys = [body.add(LoadOp(self.keys, side)) for side in safe]
        right_left = body.add(arith.CmpiOp(right, high, "slt"))
        left_gone = body.add(arith.CmpiOp(left, middle, "sge"))
        smaller = comes_before(keys[1], keys[0], self.op.descending, self.dtype, body)
        wins = body.add(arith.OrIOp(left_gone, body.add(arith.AndIOp(right_left, smaller))))
        take_right = body.add(arith.AndIOp(right_left, wins))
        body.run(StoreOp(body.add(arith.SelectOp(take_right, keys[1], keys[0])), self.next_keys, position))
        source = body.add(arith.SelectOp(take_right, safe[1], safe[0]))
        body.run(StoreOp(body.add(LoadOp(self.places, source)), self.next_places, position))
        one, zero = self.it.number(1), self.it.number(0)
        step = body.add(arith.SelectOp(take_right, one, zero))
        rest = body.add(arith.SubiOp(one, step))
        advanced = body.add(arith.AddiOp(left, rest)), body.add(arith.AddiOp(right, step))
        body.run(scf.YieldOp(*advanced))
        scope.run(scf.ForOp(low, high, one, [low, middle], block))


def comes_before(a: SSAValue, b: SSAValue, descending: BoolAttr, dtype: DType, scope: Scope) -> SSAValue:
    """Whether a comes strictly before b; NaN is larger than every number."""
    if descending.value.data:
        a, b = b, a
    if not dtype.is_float:
        return scope.add(arith.CmpiOp(a, b, "slt" if dtype.category == "signed" else "ult"))
    x, y = widen(scope.add, a, dtype), widen(scope.add, b, dtype)
    less = scope.add(arith.CmpfOp(x, y, "olt"))
    number, nan = scope.add(arith.CmpfOp(x, x, "ord")), scope.add(arith.CmpfOp(y, y, "uno"))
    return scope.add(arith.OrIOp(less, scope.add(arith.AndIOp(number, nan))))
