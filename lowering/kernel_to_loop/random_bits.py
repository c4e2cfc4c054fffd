"""Philox random bits to loops: four words from each counter; the words of a last, partial block one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i32, i64
from xdsl.ir import Block, SSAValue

from ...dialects.hlir.creation import RandomBitsOp
from ...dialects.hlir.philox import MULTIPLIERS, ROUNDS, WEYL
from ...dialects.kernel.function import FuncOp
from ...dialects.kernel.launch import IrregularOp
from ...dialects.loop import Mapping as LoopMapping
from ...dialects.loop import ParallelOp, StoreOp
from ...dialects.sym.bounds import Interval
from ...dialects.sym.expr import Expr, constant, floordiv
from .frame import Frame
from .index_code import INDEX
from .irregular import Irregular
from .scope import Scope

BLOCK = 1024
"""Counters that one piece of work takes."""
LOW = 0xFFFFFFFF


class RandomBits:
    """Words are 64-bit integers below 2^32, so that products need no wide multiplication."""

    def __init__(self, function: FuncOp, ranges: Mapping[str, Interval]):
        kernel = function.kernel
        assert isinstance(kernel, IrregularOp)
        self.it = Irregular.of(function, ranges, ())
        core = self.it.core
        assert isinstance(core, RandomBitsOp)
        pointer = self.it.result(core.result)
        assert pointer is not None
        self.pointer = pointer
        root = self.it.frame.root
        self.seed, self.offset = (self.it.values.value(value, (), root) for value in (core.seed, core.offset))
        count: Expr = constant(1)
        for extent in core.result_type.dims:
            count = count * extent
        self.count = count

    def lower(self) -> Frame:
        """Blocks of counters; the last block also has the words of a partial counter."""
        it, root = self.it, self.it.frame.root
        whole = floordiv(self.count, constant(4))
        counters = it.emit(whole, root)
        blocks = root.add(arith.CeilDivSIOp(it.emit(whole + 1, root), it.number(BLOCK)))
        grid = ParallelOp([blocks], LoopMapping.Grid)
        grid.attributes["grain"] = IntegerAttr(4, i64)
        scope = root.inner(grid.body.block)
        start = scope.add(arith.MuliOp(grid.body.block.args[0], it.number(BLOCK)))
        left = scope.add(arith.SubiOp(counters, start))
        loop = ParallelOp([scope.add(arith.MinSIOp(left, it.number(BLOCK)))], LoopMapping.Vector)
        body = scope.inner(loop.body.block)
        counter = body.add(arith.AddiOp(start, loop.body.block.args[0]))
        base = body.add(arith.MuliOp(counter, it.number(4)))
        for position, word in enumerate(self._words(counter, body)):
            body.run(StoreOp(word, self.pointer, body.add(arith.AddiOp(base, it.number(position)))))
        scope.run(loop)
        last = scope.add(arith.CmpiOp(left, it.number(BLOCK), "slt"))
        rest = it.emit(self.count - whole * 4, root)
        self._tail(counters, whole, scope.add(arith.SelectOp(last, rest, it.number(0))), scope)
        root.run(grid)
        return it.frame

    def _tail(self, counter: SSAValue, whole: Expr, rest: SSAValue, scope: Scope) -> None:
        loop = ParallelOp([rest], LoopMapping.Sequential)
        body, position = scope.inner(loop.body.block), loop.body.block.args[0]
        words = self._words(counter, body)
        chosen = words[0]
        for number, word in enumerate(words[1:3], 1):
            here = body.add(arith.CmpiOp(position, self.it.number(number), "eq"))
            chosen = body.add(arith.SelectOp(here, word, chosen))
        target = body.add(arith.AddiOp(self.it.emit(whole * 4, scope), position))
        body.run(StoreOp(chosen, self.pointer, target))
        scope.run(loop)

    def _constant(self, value: int) -> SSAValue:
        root = self.it.frame.root
        if ("i64", value) not in root.memo:
            root.memo["i64", value] = root.add(arith.ConstantOp(IntegerAttr(value, i64)))
        return root.memo["i64", value]

    def _low(self, value: SSAValue, scope: Scope) -> SSAValue:
        return scope.add(arith.AndIOp(value, self._constant(LOW)))

    def _high(self, value: SSAValue, scope: Scope) -> SSAValue:
        return scope.add(arith.ShRUIOp(value, self._constant(32)))

    def _words(self, counter: SSAValue, scope: Scope) -> list[SSAValue]:
        """The four words of the block with this counter, as i32."""
        block_number = scope.add(arith.AddiOp(self.offset, scope.add(arith.IndexCastOp(counter, i64))))
        zero = self._constant(0)
        words = [self._low(block_number, scope), self._high(block_number, scope), zero, zero]
        key = [self._low(self.seed, scope), self._high(self.seed, scope)]
        block = Block(arg_types=[INDEX, *[i64] * 6])
        body = scope.inner(block)
        body.run(scf.YieldOp(*self._round(block.args[1:5], block.args[5:], body)))
        begin, end, one = (self.it.number(value) for value in (0, ROUNDS, 1))
        loop = scf.ForOp(begin, end, one, [*words, *key], block)
        loop.attributes["unroll"] = UnitAttr()
        scope.run(loop)
        return [scope.add(arith.TruncIOp(word, i32)) for word in loop.res[:4]]

    def _round(self, words: Sequence[SSAValue], key: Sequence[SSAValue], scope: Scope) -> list[SSAValue]:
        products = [scope.add(arith.MuliOp(words[2 * n], self._constant(MULTIPLIERS[n]))) for n in range(2)]
        mixed: list[SSAValue] = []
        for product, word, part in ((products[1], words[1], key[0]), (products[0], words[3], key[1])):
            mixed.append(scope.add(arith.XOrIOp(scope.add(arith.XOrIOp(self._high(product, scope), word)), part)))
            mixed.append(self._low(product, scope))
        weyl = (self._constant(value) for value in WEYL)
        keys = [self._low(scope.add(arith.AddiOp(part, step)), scope) for part, step in zip(key, weyl, strict=True)]
        return [*mixed, *keys]
