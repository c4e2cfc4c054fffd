"""kernel.irregular to loops: what all of its ops share, and prefix scans and scatters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Block, SSAValue

from ...dialects.dtype import DType
from ...dialects.hlir.index_map import row_major_strides
from ...dialects.hlir.indexing import ScatterOp
from ...dialects.hlir.ordering import ScanOp
from ...dialects.hlir.reduction import MaxOp, MinOp, ProdOp, Reduction, SumOp
from ...dialects.hlir.scalar import Scalar
from ...dialects.kernel.function import FuncOp
from ...dialects.kernel.launch import IrregularOp
from ...dialects.loop import CheckIndexOp, LoadOp, ParallelOp, StoreOp
from ...dialects.loop import Mapping as LoopMapping
from ...dialects.op import TensorOp, tensor_of
from ...dialects.sym.bounds import Interval, proves_less
from ...dialects.sym.expr import Expr, constant, index
from .frame import Frame
from .index_code import INDEX
from .reads import At, Reader
from .row_program import LOOP_COST, THREAD_COST
from .scalar_ops import RULES, narrow, widen
from .scalar_ops import constant as scalar_constant
from .scope import Scope
from .values import ValueCode

LANES = 128
"""Neighbouring elements that one piece of work takes side by side."""
ELEMENT_COST = 10
"""An element of an irregular op, where an addition costs 1."""
ON_BOOLEANS = {"add": arith.OrIOp, "maximum": arith.OrIOp, "mul": arith.AndIOp, "minimum": arith.AndIOp}
COMBINERS: Mapping[str, type[Reduction]] = {
    "add": SumOp,
    "mul": ProdOp,
    "maximum": MaxOp,
    "minimum": MinOp,
    "log_add_exp": MaxOp,  # has the same identity
}


@dataclass
class Irregular:
    """A kernel around one irregular op. `dims` are the loop variables' extents, in order."""

    frame: Frame
    core: TensorOp
    reader: Reader
    values: ValueCode

    @classmethod
    def of(cls, function: FuncOp, ranges: Mapping[str, Interval], dims: Sequence[Expr]) -> Irregular:
        """The kernel with one loop variable for each of `dims`."""
        frame = Frame.of(function, ranges)
        kernel = frame.kernel
        assert isinstance(kernel, IrregularOp)
        for extent in dims:
            frame.code.variable(extent)
        reader = Reader(frame.code.bounds)
        return cls(frame, kernel.core, reader, ValueCode(frame.code, reader, dict(frame.operands)))

    def number(self, value: int) -> SSAValue:
        return self.frame.code.number(value, self.frame.root)

    def emit(self, expr: Expr, scope: Scope) -> SSAValue:
        return self.frame.code.emit(expr, scope)

    def result(self, value: SSAValue) -> SSAValue | None:
        """The pointer to a result of the core, or None if the kernel does not store it."""
        for stored, pointer in zip(self.frame.kernel.stored, self.frame.results, strict=True):
            if stored is value:
                return pointer
        return None

    def grid(self, extents: Sequence[SSAValue], elements: int) -> tuple[ParallelOp | None, Scope, list[SSAValue]]:
        """A loop that threads share, of iterations with that many elements; without extents, the kernel itself."""
        if not extents:
            return None, self.frame.root, []
        loop = ParallelOp(list(extents), LoopMapping.Grid)
        loop.attributes["grain"] = IntegerAttr(max(1, THREAD_COST // (ELEMENT_COST * elements + LOOP_COST)), i64)
        return loop, self.frame.root.inner(loop.body.block), list(loop.body.block.args)

    def close(self, loop: ParallelOp | None) -> None:
        if loop is not None:
            self.frame.root.run(loop)

    def identity(self, combine: str, dtype: DType) -> SSAValue:
        """What a combination in this dtype starts with."""
        value = COMBINERS[combine].identity(dtype)
        return scalar_constant(self.frame.root.add, Scalar(dtype.encode(value), dtype))


def address(dims: Sequence[Expr], at: At) -> Expr:
    """The offset of an element of a dense row-major tensor."""
    total = constant(0)
    for expr, stride in zip(at, row_major_strides(dims), strict=True):
        total = total + expr * stride
    return total


def lower_scan(function: FuncOp, ranges: Mapping[str, Interval]) -> Frame:
    """Threads share the rows; each row is one loop that carries the total so far."""
    kernel = function.kernel
    assert isinstance(kernel, IrregularOp) and isinstance(kernel.core, ScanOp)
    dims, axis = tensor_of(kernel.core.operand).dims, kernel.core.axis.data
    it = Irregular.of(function, ranges, dims)
    op = it.core
    assert isinstance(op, ScanOp)
    dtype = op.result_type.dtype
    rows = [n for n in range(len(dims)) if n != axis]
    loop, scope, args = it.grid([it.emit(dims[n], it.frame.root) for n in rows], dims[axis].as_int() or 1)
    for number, argument in zip(rows, args, strict=True):
        scope.bind(number, argument)
    init = it.identity(op.combine.data, dtype.compute)
    block = Block(arg_types=[INDEX, init.type])
    body = scope.inner(block, {axis: block.args[0]})
    at = tuple(index(n) for n in range(len(dims)))
    element = widen(body.add, it.values.value(op.operand, at, body), dtype)
    total = RULES[op.combine.data](body.add, dtype, [block.args[1], element])
    pointer = it.result(op.result)
    assert pointer is not None
    body.run(StoreOp(narrow(body.add, total, dtype), pointer, it.emit(address(dims, at), body)))
    body.run(scf.YieldOp(total))
    scope.run(scf.ForOp(it.number(0), it.emit(dims[axis], it.frame.root), it.number(1), [init], block))
    it.close(loop)
    return it.frame


class ScatterLoops:
    """The base is copied, then the updates are combined into it in order. Threads share the positions within a slice,
    so no two of them write one element."""

    def __init__(self, function: FuncOp, ranges: Mapping[str, Interval]):
        kernel = function.kernel
        assert isinstance(kernel, IrregularOp) and isinstance(kernel.core, ScatterOp)
        op = kernel.core
        self.dims, self.axis = tensor_of(op.base).dims, op.axis.data
        indices = tensor_of(op.indices).dims
        self.it = Irregular.of(function, ranges, [*self.dims, *indices])
        core = self.it.core
        assert isinstance(core, ScatterOp)
        self.op = core
        self.updates = list(range(len(self.dims), len(self.dims) + len(indices)))
        self.slice = [n for n in range(len(self.dims)) if n != self.axis]
        pointer = self.it.result(core.result)
        assert pointer is not None
        self.pointer = pointer

    def lower(self) -> Frame:
        it, root = self.it, self.it.frame.root
        extents = [it.emit(self.dims[n], root) for n in self.slice[:-1]]
        if self.slice:
            whole = it.emit(self.dims[self.slice[-1]], root)
            extents.append(root.add(arith.CeilDivSIOp(whole, it.number(LANES))))
        loop, scope, args = it.grid(extents, LANES)
        for number, argument in zip(self.slice[:-1], args, strict=False):
            scope.bind(number, argument)
        self.start = scope.add(arith.MuliOp(args[-1], it.number(LANES))) if args else it.number(0)
        self.lanes = it.number(1)
        if self.slice:
            left = scope.add(arith.SubiOp(it.emit(self.dims[self.slice[-1]], root), self.start))
            self.lanes = scope.add(arith.MinSIOp(left, it.number(LANES)))
        self._copy(scope)
        self._combine(scope)
        it.close(loop)
        return it.frame

    def _loop(self, numbers: Sequence[int], scope: Scope) -> tuple[list[tuple[scf.ForOp, Scope]], Scope]:
        loops: list[tuple[scf.ForOp, Scope]] = []
        for number in numbers:
            block = Block(arg_types=[INDEX])
            extent = self.it.emit(self.it.frame.code.extents[number], self.it.frame.root)
            loops.append((scf.ForOp(self.it.number(0), extent, self.it.number(1), [], block), scope))
            scope = scope.inner(block, {number: block.args[0]})
        return loops, scope

    def _close(self, loops: Sequence[tuple[scf.ForOp, Scope]]) -> None:
        for loop, outer in reversed(loops):
            loop.body.block.add_op(scf.YieldOp())
            outer.run(loop)

    def _lanes(self, scope: Scope) -> tuple[ParallelOp, Scope]:
        loop = ParallelOp([self.lanes], LoopMapping.Vector)
        body = scope.inner(loop.body.block)
        if self.slice:
            body.bind(self.slice[-1], body.add(arith.AddiOp(self.start, loop.body.block.args[0])))
        return loop, body

    def _copy(self, scope: Scope) -> None:
        loops, inner = self._loop([self.axis], scope)
        lanes, body = self._lanes(inner)
        at = tuple(index(n) for n in range(len(self.dims)))
        element = self.it.values.value(self.op.base, at, body)
        body.run(StoreOp(element, self.pointer, self.it.emit(address(self.dims, at), body)))
        inner.run(lanes)
        self._close(loops)

    def _combine(self, scope: Scope) -> None:
        """One update after another; its place is checked once for all lanes."""
        it, op, dtype = self.it, self.op, tensor_of(self.op.base).dtype
        loops, inner = self._loop(self.updates, scope)
        position = tuple(index(n) for n in self.updates)
        raw = it.values.value(op.indices, position, inner)
        place = inner.add(arith.IndexCastOp(raw, INDEX))
        inner.bind(self.axis, inner.add(CheckIndexOp(place, it.emit(self.dims[self.axis], it.frame.root))))
        updated = self._where_axis_has_elements(inner)
        lanes, body = self._lanes(updated)
        at = tuple(index(n) for n in range(len(self.dims)))
        update_at = (*at[: self.axis], *position, *at[self.axis + 1 :])
        update = it.values.value(op.updates, update_at, body)
        target = it.emit(address(self.dims, at), body)
        if op.mode.data != "set" and dtype.is_bool:
            before = body.add(LoadOp(self.pointer, target))
            update = body.add(ON_BOOLEANS[op.mode.data](before, update))
        elif op.mode.data != "set":
            before = widen(body.add, body.add(LoadOp(self.pointer, target)), dtype)
            wide = RULES[op.mode.data](body.add, dtype, [before, widen(body.add, update, dtype)])
            update = narrow(body.add, wide, dtype)
        body.run(StoreOp(update, self.pointer, target))
        updated.run(lanes)
        if updated is not inner:
            updated.run(scf.YieldOp())
            condition = inner.add(arith.CmpiOp(it.emit(self.dims[self.axis], inner), it.number(0), "sgt"))
            inner.run(scf.IfOp(condition, [], [updated.block]))
        self._close(loops)

    def _where_axis_has_elements(self, scope: Scope) -> Scope:
        """A branch of the scope unless the axis is known to have elements: without any, no place is in range."""
        known = proves_less(0, self.dims[self.axis], self.it.frame.code.bounds)
        return scope if known else scope.inner(Block(), guard=True)
