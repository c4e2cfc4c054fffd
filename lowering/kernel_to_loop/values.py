"""Emits tensor values one element at a time, each at the outermost loop where its index is known, and once there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects import arith, scf
from xdsl.ir import Block, SSAValue

from ...dialects.dtype import DType
from ...dialects.errors import LoweringError
from ...dialects.hlir.arranging import ConcatOp, PadOp
from ...dialects.hlir.creation import ConstantOp, IotaOp, LiteralOp
from ...dialects.hlir.elementwise import Elementwise
from ...dialects.hlir.indexing import GatherOp
from ...dialects.hlir.scalar import Scalar
from ...dialects.hlir.view import ViewOp
from ...dialects.loop import CheckIndexOp, LoadOp, StoreOp
from ...dialects.op import TensorOp, tensor_of
from ...dialects.sym.bounds import proves_less, proves_nonnegative, simplify
from ...dialects.sym.expr import Expr, index
from ...dialects.sym.substitute import index_numbers
from .index_code import INDEX, IndexCode
from .reads import At, Key, Reader, inside_pad, parts_of_concat
from .scalar_ops import cast, constant, element_type, from_index, scalar_op
from .scope import Scope
from .stored import Stored

Part: TypeAlias = tuple[SSAValue, At]
"""A part of a concat and the index in it."""


@dataclass
class Kept:
    """A value that one loop computes and stores in scratch, for the loops after it to load. `position` is where."""

    pointer: SSAValue
    position: Expr
    stored: bool = False
    """Some loop stores it."""
    ready: bool = False
    """That loop is complete, later ones load."""
    dtype: DType | None = None
    """The dtype in scratch, where it is not the value's own."""


@dataclass
class ValueCode:
    """`pointers` holds the memory of values: the kernel's operands, and what templates keep for later."""

    code: IndexCode
    reader: Reader
    pointers: Mapping[SSAValue, SSAValue]
    kept: dict[Key, Kept] = field(default_factory=dict[Key, Kept])

    def value(self, value: SSAValue, at: At, scope: Scope) -> SSAValue:
        """The element `at` of a tensor value, in its own dtype."""
        at = self.reader.place(value, at)
        key = (value, at)
        found = scope.recall(key)
        if found is not None:
            return found
        kept = self.kept.get(key)
        if kept is not None and kept.ready:
            element = self._load(kept.pointer, kept.position, scope)
            dtype = tensor_of(value).dtype
            rounded = cast(scope.of([element]).add, element, kept.dtype or dtype, dtype)
            return self._remember(key, scope, rounded)
        result = self._compute(value, at, scope)
        if kept is not None:
            home = scope.of([result, self.code.emit(kept.position, scope)])
            home.run(StoreOp(result, kept.pointer, self.code.emit(kept.position, home)))
            kept.stored = True
        return result

    def _remember(self, key: Key, scope: Scope, result: SSAValue) -> SSAValue:
        scope.of([result]).memo[key] = result
        return result

    def _load(self, pointer: SSAValue, address: Expr, scope: Scope, hoist_out: bool = False) -> SSAValue:
        """A load in the outermost loop that knows the address; out of all loops only where an element must exist."""
        home = scope.home(index_numbers(address))
        if home.parent is None and not hoist_out:
            home = scope
            while home.parent is not None and home.parent.parent is not None and not home.guard:
                home = home.parent
        return home.add(LoadOp(pointer, self.code.emit(address, home)))

    def _compute(self, value: SSAValue, at: At, scope: Scope) -> SSAValue:
        key, op = (value, at), value.owner
        if value in self.pointers:
            static = all((d.as_int() or 0) > 0 for d in tensor_of(value).dims)
            address = self.reader.address(value, at)
            return self._remember(key, scope, self._load(self.pointers[value], address, scope, static))
        if not isinstance(op, TensorOp):
            raise LoweringError(
                f"%{value.name_hint or '?'} is in no memory that the kernel knows", stage="lower-kernels"
            )
        if isinstance(op, ViewOp):
            return self.value(op.source, self.reader.through(op.map.data, at), scope)
        if isinstance(op, Elementwise):
            operands = [self.value(operand, at, scope) for operand in op.operands]
            return self._remember(key, scope, scalar_op(scope.of(operands).add, op, operands))
        if isinstance(op, GatherOp):
            return self._remember(key, scope, self._gather(op, at, scope))
        if isinstance(op, PadOp):
            return self._remember(key, scope, self._pad(op, at, scope))
        if isinstance(op, ConcatOp):
            parts = list(zip(op.operands, parts_of_concat(op, at), strict=True))
            return self._remember(key, scope, self._concat(op, at, parts, scope))
        return self._remember(key, scope, self._create(op, at, scope))

    def _create(self, op: TensorOp, at: At, scope: Scope) -> SSAValue:
        if isinstance(op, ConstantOp):
            return constant(scope.root.add, op.scalar)
        if isinstance(op, LiteralOp):
            return constant(scope.root.add, one_number(op))
        if isinstance(op, IotaOp):
            (expr,) = self.reader.through(op.expression, at)
            number = self.code.emit(expr, scope)
            return from_index(scope.of([number]).add, number, op.result_type.dtype)
        raise LoweringError("the loop lowering has no rule for this op here", op=op, stage="lower-kernels")

    def _gather(self, op: GatherOp, at: At, scope: Scope) -> SSAValue:
        axis, rank = op.axis.data, tensor_of(op.indices).rank
        position = at[axis : axis + rank]
        extent = tensor_of(op.source).dims[axis]
        key = ("place", op.indices, position, extent)
        found = scope.recall(key)
        if found is None:
            raw = self.value(op.indices, position, scope)
            home = scope.of([raw])
            wide = home.add(arith.IndexCastOp(raw, INDEX))
            found = home.memo[key] = home.add(CheckIndexOp(wide, self.code.emit(extent, home)))
            home.variables[self.code.variable(extent)] = found
        number = next(n for n in range(len(self.code.extents)) if scope.has(n) and scope.variable(n) is found)
        place = (*at[:axis], index(number), *at[axis + rank :])
        if proves_less(0, extent, self.code.bounds):
            return self.value(op.source, place, scope)
        return self._from_axis(op, extent, place, scope)

    def _from_axis(self, op: GatherOp, extent: Expr, at: At, scope: Scope) -> SSAValue:
        """The element where the axis has any, else 0: no index is in range then, and there is nothing to read."""
        home = scope.home({n for e in at for n in index_numbers(e)})
        condition = home.add(arith.CmpiOp(self.code.emit(extent, home), self.code.number(0, home), "sgt"))
        blocks = [Block(), Block()]
        inside = home.inner(blocks[0], guard=True)
        inside.run(scf.YieldOp(self.value(op.source, at, inside)))
        outside = home.inner(blocks[1], guard=True)
        outside.run(scf.YieldOp(constant(outside.add, Scalar(0, op.result_type.dtype))))
        return self._branch(condition, op, home, blocks)

    def _branch(self, condition: SSAValue, op: TensorOp, scope: Scope, blocks: Sequence[Block]) -> SSAValue:
        kind = element_type(op.result_type.dtype)
        return scope.add(scf.IfOp(condition, [kind], [blocks[0]], [blocks[1]]))

    def _conditions(self, exprs: At, extents: At, scope: Scope) -> SSAValue | None:
        """Whether every expression is inside [0, extent); None where that is proved."""
        bounds = self.code.bounds
        tests: list[SSAValue] = []
        for expr, extent in zip(exprs, extents, strict=True):
            if not proves_nonnegative(expr, bounds):
                zero = self.code.number(0, scope)
                tests.append(scope.add(arith.CmpiOp(self.code.emit(expr, scope), zero, "sge")))
            if not proves_less(expr, extent, bounds):
                limit = self.code.emit(extent, scope)
                tests.append(scope.add(arith.CmpiOp(self.code.emit(expr, scope), limit, "slt")))
        if not tests:
            return None
        result = tests[0]
        for test in tests[1:]:
            result = scope.add(arith.AndIOp(result, test))
        return result

    def _pad(self, op: PadOp, at: At, scope: Scope) -> SSAValue:
        inner = inside_pad(op, at)
        home = scope.home({n for e in inner for n in index_numbers(e)})
        condition = self._conditions(inner, tensor_of(op.operand).dims, home)
        if condition is None:
            return self.value(op.operand, inner, scope)
        blocks = [Block(), Block()]
        inside = home.inner(blocks[0], guard=True)
        inside.run(scf.YieldOp(self.value(op.operand, inner, inside)))
        outside = home.inner(blocks[1], guard=True)
        outside.run(scf.YieldOp(constant(outside.add, op.value.data)))
        return self._branch(condition, op, home, blocks)

    def _concat(self, op: ConcatOp, at: At, parts: Sequence[Part], scope: Scope) -> SSAValue:
        """The element from one of these parts, found by halves so that code nests no deeper than it must."""
        (first, inner), axis = parts[0], op.axis.data
        if len(parts) == 1:
            return self.value(first, inner, scope)
        left, right = parts[: len(parts) // 2], parts[len(parts) // 2 :]
        length = simplify(inner[axis] - right[0][1][axis], self.code.bounds)
        if proves_less(inner[axis], length, self.code.bounds):
            return self._concat(op, at, left, scope)
        if proves_nonnegative(right[0][1][axis], self.code.bounds):
            return self._concat(op, at, right, scope)
        home = scope.home({n for e in inner for n in index_numbers(e)})
        limit = self.code.emit(length, home)
        condition = home.add(arith.CmpiOp(self.code.emit(inner[axis], home), limit, "slt"))
        blocks = [Block(), Block()]
        for block, half in zip(blocks, (left, right), strict=True):
            inside = home.inner(block, guard=True)
            inside.run(scf.YieldOp(self._concat(op, at, half, inside)))
        return self._branch(condition, op, home, blocks)

    def store(self, stored: Stored, scope: Scope) -> None:
        """Writes an element to memory."""
        element = self.value(stored.value, stored.at, scope)
        scope.run(StoreOp(element, stored.pointer, self.code.emit(stored.address, scope)))


def one_number(op: LiteralOp) -> Scalar:
    """The number of a literal whose elements are all the same.

    Raises:
        LoweringError: they differ; a table is an operand of kernels, not a part of them.
    """
    dtype, digits = op.result_type.dtype, op.data.data
    words = {digits[i : i + 2 * dtype.bytes] for i in range(0, len(digits), 2 * dtype.bytes)}
    if len(words) != 1:
        raise LoweringError("a table of numbers must be an operand of the kernel", op=op, stage="lower-kernels")
    return Scalar(int.from_bytes(bytes.fromhex(words.pop()), "little"), dtype)
