"""extract: from an e-graph to the cheapest plain graph; every op that is left has a kernel or an allowed library
call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.equivalence import ClassOp, ConstantClassOp, GraphOp
from xdsl.dialects.equivalence import YieldOp as GraphYieldOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects.errors import InternalError, OptionError
from ...dialects.hlir.loop import LoopOp
from ...dialects.kernel import CallMatmulOp
from ...dialects.op import TensorOp
from ...transforms.canonicalize import CanonicalizePass
from ...transforms.simplify_positions import SimplifyPositionsPass
from .cost import NOTHING, CostModel, machine_of, representative
from .dag import Node, select
from .expand import expand_block
from .narrow import narrow_block


@dataclass(frozen=True)
class ExtractPass(ModulePass):
    """Chooses one member of each class by the cost model of `target`, and expands what no kernel computes.

    `libraries` names the library ops that may be chosen (kernel.call_matmul). A module without e-graphs only has its
    composites expanded. With a `matmul_precision` below "highest" their products of f32 are of operands rounded to
    tf32. The result is canonical, and computes elementwise ops before broadcasts.

    Raises:
        OptionError: a name in `libraries` that is no library op.
    """

    name: ClassVar[str] = "extract"
    target: str = "c"
    libraries: tuple[str, ...] = ()
    matmul_precision: str = "highest"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        libraries = frozenset(self.libraries)
        for unknown in sorted(libraries - {CallMatmulOp.name}):
            raise OptionError(f"no library op is called {unknown!r}", stage="extract", hint=f"use {CallMatmulOp.name}")
        model = CostModel(machine_of(self.target), representative(op), tf32=self.matmul_precision != "highest")
        for region in op.regions:
            for block in region.blocks:
                for inner in list(block.ops):
                    extract_regions(inner, model, libraries)
                    for body in inner.regions:
                        for inside in body.blocks:
                            expand_block(inside, libraries)
        SimplifyPositionsPass().apply(ctx, op)
        CanonicalizePass().apply(ctx, op)
        for block in (b for inner in op.ops for region in inner.regions for b in region.blocks):
            narrow_block(block, model)
        CanonicalizePass().apply(ctx, op)


def extract_regions(op: Operation, model: CostModel, libraries: frozenset[str]) -> None:
    """Replaces every e-graph in the regions of `op`, innermost first, by its cheapest graph."""
    for region in op.regions:
        for block in region.blocks:
            for inner in list(block.ops):
                extract_regions(inner, model, libraries)
                if isinstance(inner, GraphOp):
                    _Extraction(inner, model, libraries).replace()


class _Extraction:
    """One e-graph as numbered classes of nodes, and the graph that is chosen from it."""

    def __init__(self, graph: GraphOp, model: CostModel, libraries: frozenset[str]):
        self.graph = graph
        self.block: Block = graph.body.block
        self.model = model
        self.libraries = libraries
        self.numbers: dict[SSAValue, int] = {}
        self.members: list[tuple[SSAValue, ...]] = []

    def number(self, value: SSAValue) -> int:
        """The class of a value that an op takes."""
        if value not in self.numbers:
            self.numbers[value] = len(self.members)
            owner = value.owner
            is_class = isinstance(owner, ClassOp | ConstantClassOp)
            self.members.append(tuple(owner.arguments) if is_class else (value,))
        return self.numbers[value]

    def node(self, member: SSAValue) -> Node:
        op = self.inside(member)
        if op is None:
            return Node(NOTHING, ())
        return Node(self.cost(op), tuple(self.number(o) for o in op.operands))

    def inside(self, member: SSAValue) -> Operation | None:
        """The op in the graph that makes the member, or None for a value from outside."""
        owner = member.owner
        return owner if isinstance(owner, Operation) and owner.parent_block() is self.block else None

    def cost(self, op: Operation) -> float:
        if isinstance(op, TensorOp):
            return self.model.node(op, self.libraries) / len(op.results)
        if isinstance(op, LoopOp):
            return 1.0
        raise InternalError("the op cannot be a member of an e-class", op=op, stage="extract")

    def replace(self) -> None:
        """Puts the chosen graph in the place of the e-graph."""
        last = self.block.last_op
        assert isinstance(last, GraphYieldOp)
        roots = [self.number(v) for v in last.values]
        classes: dict[int, list[Node]] = {}
        while len(classes) < len(self.members):
            number = len(classes)
            classes[number] = [self.node(m) for m in self.members[number]]
        chosen = select(classes, roots)
        values: dict[int, SSAValue] = {}
        for number, position in chosen.items():
            values[number] = self.place(self.members[number][position], values)
        results = [values[root] for root in roots]
        for result, value in zip(self.graph.outputs, results, strict=True):
            result.replace_all_uses_with(value)
        parent = self.graph.parent_block()
        assert parent is not None
        parent.erase_op(self.graph, safe_erase=False)

    def place(self, member: SSAValue, values: dict[int, SSAValue]) -> SSAValue:
        """Moves the op of a chosen member out, in front of the e-graph, on the chosen operands."""
        op = self.inside(member)
        if op is None:
            return member
        operands = [values[self.numbers[o]] for o in op.operands]
        op.detach()
        op.operands = operands
        parent = self.graph.parent_block()
        assert parent is not None
        parent.insert_op_before(op, self.graph)
        return member
