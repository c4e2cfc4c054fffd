"""A counted loop under construction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects import scf
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Block, Region, SSAValue

from ...dialects.sym.expr import Expr

if TYPE_CHECKING:
    from .emitter import Emitter


class LoopBuilder:
    """`with emitter.loop(...) as loop:` builds the body; `loop.arguments` are the carried values inside,
    `loop.results` those after it. The body ends by `loop.carry(values)`."""

    def __init__(
        self,
        emitter: Emitter,
        bounds: tuple[Expr, Expr, Expr],
        variable: Expr,
        carried: Sequence[SSAValue],
        unroll: bool,
        hint: str = "",
    ):
        self.emitter = emitter
        self.variable = variable
        self.carried = list(carried)
        self.unroll = unroll
        self.results: list[SSAValue] = []
        self._kind = emitter.width(*bounds)
        self._bounds = [emitter.index(bound, self._kind) for bound in bounds]
        self._next: list[SSAValue] = []
        self.block = Block(arg_types=[self._kind, *(value.type for value in carried)])
        self.block.args[0].name_hint = hint or None
        self.arguments: list[SSAValue] = list(self.block.args[1:])

    def carry(self, values: Sequence[SSAValue]) -> None:
        """What the next iteration gets."""
        self._next = list(values)

    def __enter__(self) -> LoopBuilder:
        self._context = self.emitter.inside(self.block)
        self._context.__enter__()
        self.emitter.place(self.variable, self.block.args[0])
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if kind is not None:
            return
        self.emitter.do(scf.YieldOp(*self._next))
        self._context.__exit__(None, None, None)
        loop = scf.ForOp(self._bounds[0], self._bounds[1], self._bounds[2], self.carried, Region(self.block))
        if self.unroll:
            loop.attributes["unroll"] = UnitAttr()
        self.emitter.do(loop)
        self.results = list(loop.results)
