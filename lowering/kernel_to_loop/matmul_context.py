"""What the parts of the CPU matmul share: the problem, its tiles, and index arithmetic by value."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, VectorType
from xdsl.ir import Block, SSAValue

from ...dialects.dtype import DType
from ...dialects.loop import AllocOp
from ...dialects.sym.bounds import Bounds, interval
from ...dialects.sym.expr import Expr
from .frame import Frame
from .index_code import INDEX
from .matmul_plan import Problem, Tiles
from .scalar_ops import element_type, float_type
from .scope import Scope


@dataclass
class Context:
    """`group`: the columns are cut into runs of this many (see `column_group`)."""

    frame: Frame
    symbols: Bounds
    problem: Problem
    tiles: Tiles
    group: int
    accumulator: DType

    @property
    def width(self) -> int:
        """Columns of a task's sums, a whole number of register tiles."""
        return -(-self.tiles.nb // self.tiles.nr) * self.tiles.nr

    @property
    def vector(self) -> VectorType:
        return VectorType(float_type(self.accumulator), [self.tiles.width])

    @property
    def blocked(self) -> bool:
        """Whether K is taken in several blocks, with partial sums in memory between them."""
        extent = self.problem.k.as_int()
        high = extent if extent is not None else interval(self.problem.k, self.symbols).high
        return high is None or high > self.tiles.kb

    def number(self, value: int) -> SSAValue:
        return self.frame.code.number(value, self.frame.root)

    def fixed(self, expr: Expr) -> SSAValue:
        """An expression of symbols, at the head of the kernel."""
        return self.frame.code.emit(expr, self.frame.root)

    def least(self, scope: Scope, value: SSAValue, limit: SSAValue) -> SSAValue:
        a, b = known(value), known(limit)
        if a is not None and b is not None:
            return self.number(min(a, b))
        return scope.add(arith.MinSIOp(value, limit))

    def minus(self, scope: Scope, a: SSAValue, b: SSAValue) -> SSAValue:
        return a if known(b) == 0 else scope.add(arith.SubiOp(a, b))

    def plus(self, scope: Scope, a: SSAValue, b: SSAValue) -> SSAValue:
        x, y = known(a), known(b)
        if x is not None and y is not None:
            return self.number(x + y)
        if x == 0 or y == 0:
            return b if x == 0 else a
        return scope.add(arith.AddiOp(a, b))

    def times(self, scope: Scope, a: SSAValue, b: SSAValue | int) -> SSAValue:
        x, y = known(a), b if isinstance(b, int) else known(b)
        if x is not None and y is not None:
            return self.number(x * y)
        factor = self.number(b) if isinstance(b, int) else b
        if 0 in (x, y):
            return self.number(0)
        if 1 in (x, y):
            return factor if x == 1 else a
        return scope.add(arith.MuliOp(a, factor))

    def zero(self) -> SSAValue:
        """0 in the accumulation dtype."""
        root = self.frame.root
        if "zero" not in root.memo:
            root.memo["zero"] = root.add(arith.ConstantOp(FloatAttr(0.0, float_type(self.accumulator))))
        return root.memo["zero"]

    def scratch(self, scope: Scope, count: Expr) -> SSAValue:
        """Memory of `count` elements for partial sums or packed panels."""
        bound = interval(count, self.symbols).high
        return scope.add(AllocOp(self.fixed(count), element_type(self.accumulator), bound))


def known(value: SSAValue) -> int | None:
    """The number that a constant is."""
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return int(owner.value.value.data)
    return None


def open_loop(scope: Scope, begin: SSAValue, end: SSAValue, step: SSAValue) -> tuple[scf.ForOp, Scope]:
    """A counted loop whose body is built in the scope returned; `close_loop` puts it in its place."""
    loop = scf.ForOp(begin, end, step, [], Block(arg_types=[INDEX]))
    return loop, scope.inner(loop.body.block)


def close_loop(loop: scf.ForOp, scope: Scope) -> None:
    loop.body.block.add_op(scf.YieldOp())
    scope.run(loop)
