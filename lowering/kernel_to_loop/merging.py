"""Merges of sorted runs to loops in which every element finds its own place: no element waits for another."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, i32, i64
from xdsl.ir import Block, SSAValue

from ...dialects.dtype import DType
from ...dialects.hlir.merging import MergeRunsOp
from ...dialects.kernel.function import FuncOp
from ...dialects.kernel.launch import IrregularOp
from ...dialects.loop import AllocOp, LoadOp, ParallelOp, StoreOp
from ...dialects.loop import Mapping as LoopMapping
from ...dialects.op import tensor_of
from ...dialects.sym.bounds import Interval, interval
from ...dialects.sym.expr import ceildiv, constant, index
from .frame import Frame
from .index_code import INDEX
from .irregular import Irregular, address
from .reads import At
from .scalar_ops import element_type
from .scope import Scope
from .sorting import comes_before

Read = Callable[[SSAValue, Scope], SSAValue]
"""The key at a place."""


class MergeLoops:
    """Two runs become one: an element moves up by the elements of the other run that come before it, which a binary
    search counts. One such step goes from memory to memory; several go through scratch rows, one chunk of `to`
    elements after another."""

    def __init__(self, function: FuncOp, ranges: Mapping[str, Interval]):
        kernel = function.kernel
        assert isinstance(kernel, IrregularOp) and isinstance(kernel.core, MergeRunsOp)
        self.dims, self.axis = tensor_of(kernel.core.operand).dims, kernel.core.axis.data
        self.it = Irregular.of(function, ranges, (*self.dims, *[self.dims[self.axis]] * 2))
        core = self.it.core
        assert isinstance(core, MergeRunsOp)
        self.op = core
        self.dtype: DType = tensor_of(core.operand).dtype
        self.run, self.to = core.run.data, core.to.data
        self.length = self.it.emit(self.dims[self.axis], self.it.frame.root)
        self.most = interval(self.dims[self.axis], self.it.frame.code.bounds).high
        self.source, self.target = len(self.dims), len(self.dims) + 1
        """Numbers of index variables along the axis: where an element comes from and where it goes."""

    def lower(self) -> Frame:
        if self.to == 2 * self.run:
            self.kind = i32 if self.most is not None and self.most < 1 << 30 else i64
            self._in_one_step()
        else:
            self.kind = i32
            self._through_scratch()
        return self.it.frame

    # Numbers are `kind`, so that a search runs in the registers of narrow integers where rows are short.

    def _number(self, value: int) -> SSAValue:
        root = self.it.frame.root
        key = (str(self.kind), value)
        if key not in root.memo:
            root.memo[key] = root.add(arith.ConstantOp(IntegerAttr(value, self.kind)))
        return root.memo[key]

    def _place(self, value: SSAValue, scope: Scope) -> SSAValue:
        return scope.add(arith.IndexCastOp(value, self.kind))

    def _index(self, value: SSAValue, scope: Scope) -> SSAValue:
        return scope.add(arith.IndexCastOp(value, INDEX))

    def _at(self, number: int) -> At:
        return tuple(index(number if n == self.axis else n) for n in range(len(self.dims)))

    def _store(self, value: SSAValue, result: SSAValue, scope: Scope) -> None:
        pointer = self.it.result(result)
        if pointer is not None:
            scope.run(StoreOp(value, pointer, self.it.emit(address(self.dims, self._at(self.target)), scope)))

    def _in_one_step(self) -> None:
        it = self.it
        loop, scope, args = it.grid([it.emit(d, it.frame.root) for d in self.dims], 1)
        for number, argument in enumerate(args):
            scope.bind(number, argument)
        mine = it.values.value(self.op.operand, self._at(self.axis), scope)

        def read(place: SSAValue, inside: Scope) -> SSAValue:
            inside.bind(self.source, self._index(place, inside))
            return it.values.value(self.op.operand, self._at(self.source), inside)

        position, length = self._place(args[self.axis], scope), self._place(self.length, scope)
        place = self._find(position, mine, read, length, self.run, scope)
        scope.bind(self.target, self._index(place, scope))
        self._store(mine, self.op.values, scope)
        if it.result(self.op.indices) is not None:
            self._store(it.values.value(self.op.places, self._at(self.axis), scope), self.op.indices, scope)
        it.close(loop)

    def _find(
        self, position: SSAValue, mine: SSAValue, read: Read, length: SSAValue, run: int, scope: Scope
    ) -> SSAValue:
        """Where the element at `position` goes. An element of the left run comes before its equals of the right."""
        add = scope.add
        low = add(arith.AndIOp(position, self._number(-2 * run)))
        middle = add(arith.MinSIOp(add(arith.AddiOp(low, self._number(run))), length))
        high = add(arith.MinSIOp(add(arith.AddiOp(low, self._number(2 * run))), length))
        right = add(arith.CmpiOp(position, middle, "sge"))
        first = add(arith.SelectOp(right, low, middle))
        end = add(arith.SelectOp(right, middle, high))
        last = add(arith.SubiOp(length, self._number(1)))
        block = Block(arg_types=[INDEX, self.kind, self.kind])
        body, (begin, stop) = scope.inner(block), block.args[1:]
        half = body.add(arith.ShRSIOp(body.add(arith.AddiOp(begin, stop)), self._number(1)))
        other = read(body.add(arith.MinSIOp(half, last)), body)
        a, b = body.add(arith.SelectOp(right, mine, other)), body.add(arith.SelectOp(right, other, mine))
        before = body.add(arith.XOrIOp(comes_before(a, b, self.op.descending, self.dtype, body), right))
        counted = body.add(arith.AndIOp(body.add(arith.CmpiOp(begin, stop, "slt")), before))
        above = body.add(arith.SelectOp(counted, body.add(arith.AddiOp(half, self._number(1))), begin))
        body.run(scf.YieldOp(above, body.add(arith.SelectOp(counted, stop, half))))
        steps = self.it.number(run.bit_length())
        search = scf.ForOp(self.it.number(0), steps, self.it.number(1), [first, end], block)
        scope.run(search)
        moved = add(arith.SubiOp(search.res[0], first))
        own = add(arith.SubiOp(position, add(arith.SelectOp(right, self._number(run), self._number(0)))))
        return add(arith.AddiOp(own, moved))

    # Chunks in scratch rows

    def _through_scratch(self) -> None:
        it, root, length = self.it, self.it.frame.root, self.dims[self.axis]
        rows = [n for n in range(len(self.dims)) if n != self.axis]
        extents = [it.emit(self.dims[n], root) for n in rows]
        self.whole = self.most is not None and self.most <= self.to
        """Whether a row is one chunk; else a chunk may reach over the end of its row."""
        if not self.whole or not rows:
            extents.append(it.emit(ceildiv(length, constant(self.to)), root))
        loop, scope, args = it.grid(extents, self.to)
        for number, argument in zip(rows, args, strict=False):
            scope.bind(number, argument)
        self.start, self.count, self.extent = it.number(0), self.length, self.length
        if not self.whole:
            self.extent = it.number(self.to)
            self.start = scope.add(arith.MuliOp(args[-1], self.extent))
            self.count = scope.add(arith.MinSIOp(scope.add(arith.SubiOp(self.length, self.start)), self.extent))
        size, bound = (self.length, self.most) if self.whole else (self.extent, self.to)
        key = element_type(self.dtype)
        keys, new_keys = (scope.add(AllocOp(size, key, bound)) for _ in range(2))
        places, new_places = (scope.add(AllocOp(size, self.kind, bound)) for _ in range(2))
        self._fill(keys, places, scope)
        run = self.run
        while run < self.to and (self.most is None or run < self.most):
            self._step((keys, places), (new_keys, new_places), run, scope)
            keys, places, new_keys, new_places = new_keys, new_places, keys, places
            run *= 2
        self._drain(keys, places, scope)
        it.close(loop)

    def _vector(self, scope: Scope) -> tuple[ParallelOp, Scope, SSAValue]:
        loop = ParallelOp([self.extent], LoopMapping.Vector)
        return loop, scope.inner(loop.body.block), loop.body.block.args[0]

    def _fill(self, keys: SSAValue, places: SSAValue, scope: Scope) -> None:
        """The keys of the chunk; beyond its end the last one is read again, and never used."""
        loop, body, position = self._vector(scope)
        source = body.add(arith.AddiOp(self.start, position))
        if not self.whole:
            source = body.add(arith.MinSIOp(source, body.add(arith.SubiOp(self.length, self.it.number(1)))))
        body.bind(self.source, source)
        body.run(StoreOp(self.it.values.value(self.op.operand, self._at(self.source), body), keys, position))
        body.run(StoreOp(self._place(position, body), places, position))
        scope.run(loop)

    def _step(self, old: tuple[SSAValue, SSAValue], new: tuple[SSAValue, SSAValue], run: int, scope: Scope) -> None:
        loop, body, position = self._vector(scope)
        mine, place = (body.add(LoadOp(row, position)) for row in old)

        def read(at: SSAValue, inside: Scope) -> SSAValue:
            return inside.add(LoadOp(old[0], self._index(at, inside)))

        here, count = self._place(position, body), self._place(self.count, body)
        found = self._find(here, mine, read, count, run, body)
        if not self.whole:
            found = body.add(arith.SelectOp(body.add(arith.CmpiOp(here, count, "slt")), found, here))
        target = self._index(found, body)
        body.run(StoreOp(mine, new[0], target))
        body.run(StoreOp(place, new[1], target))
        scope.run(loop)

    def _drain(self, keys: SSAValue, places: SSAValue, scope: Scope) -> None:
        loop, outer, position = self._vector(scope)
        block = Block() if not self.whole else outer.block
        body = outer if self.whole else outer.inner(block, guard=True)
        body.bind(self.target, body.add(arith.AddiOp(self.start, position)))
        self._store(body.add(LoadOp(keys, position)), self.op.values, body)
        if self.it.result(self.op.indices) is not None:
            place = self._index(body.add(LoadOp(places, position)), body)
            body.bind(self.source, body.add(arith.AddiOp(self.start, place)))
            self._store(self.it.values.value(self.op.places, self._at(self.source), body), self.op.indices, body)
        if not self.whole:
            body.run(scf.YieldOp())
            outer.run(scf.IfOp(outer.add(arith.CmpiOp(position, self.count, "slt")), [], [block]))
        scope.run(loop)
