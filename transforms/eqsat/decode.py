"""From a saturated e-graph to `equivalence` ops in the region it came from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, FusedLoc, LocationAttr, NoneAttr, UnknownLoc
from xdsl.dialects.equivalence import ClassOp, GraphOp, YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects.op import TensorOp
from .saturate import Saturated
from .smallest_term import Order, smallest_terms
from .snapshot import Class, Member


class Decoder:
    """Builds the body of an `equivalence.graph`. Ops are made first and wired after, since classes may need one
    another."""

    def __init__(self, block: Block, saturated: Saturated):
        self.block = block
        self.saturated = saturated
        self.snapshot = saturated.snapshot
        self.reachable = self.snapshot.reachable(saturated.roots)
        self.order: Order = smallest_terms(self.snapshot, self.reachable)
        self.body = Block()
        self.values: dict[Class, SSAValue] = {}
        self.wires: list[tuple[Operation, Sequence[Class]]] = []
        self.tuples: dict[Member, Operation] = {}
        self.locations = self._locations()

    def decode(self) -> GraphOp:
        """The e-graph in the place of the block's ops; the block keeps its arguments and its terminator."""
        members = 0
        for of in self.order.in_order():
            forms = [value for _, member in self.order.members[of] for value in self._make(of, member)]
            members += len(forms)
            if len(forms) == 1:
                self.values[of] = forms[0]
            else:
                joined = ClassOp(*forms)
                self.body.add_op(joined)
                self.values[of] = joined.result
        for op, operands in self.wires:
            op.operands = [self.values[o] for o in operands]
        results = [self.values[root] for root in self.saturated.roots]
        self.body.add_op(YieldOp(*results))
        graph = GraphOp([r.type for r in results], Region(self.body))
        self._place(graph)
        report = self.saturated.report
        report.classes, report.members = len(self.values), members
        return graph

    def _place(self, graph: GraphOp) -> None:
        terminator = self.block.last_op
        assert terminator is not None
        terminator.operands = list(graph.results)
        for op in reversed(list(self.block.ops)):
            if op is not terminator:
                self.block.erase_op(op, safe_erase=False)
        self.block.insert_op_before(graph, terminator)

    def _make(self, of: Class, member: Member) -> list[SSAValue]:
        if member.constructor == "arg":
            return [self.block.args[int(member.texts[0])]]
        if member.constructor == "get":
            number = int(member.texts[0])
            return [self._tuple(form, of).results[number] for form in self.snapshot.tuples[member.operands[0]]]
        op = self._op(member, [self.snapshot.types[of]])
        op.location = self.locations[of]
        return [op.results[0]]

    def _op(self, member: Member, types: Sequence[Attribute]) -> TensorOp:
        form = member.form
        properties = self.saturated.texts.properties(form, member.texts)
        op = form.op_class.create(operands=[], properties=properties, result_types=types)
        self.wires.append((op, member.operands))
        self.body.add_op(op)
        return op

    def _tuple(self, member: Member, of: Class) -> Operation:
        """The op of a form with several results, made once."""
        known = self.tuples.get(member)
        if known is None:
            if member.constructor == "region":
                known = self._region(member)
            else:
                operands = [self.snapshot.types[o] for o in member.operands]
                properties = self.saturated.texts.properties(member.form, member.texts)
                known = self._op(member, member.form.op_class.infer(operands, properties))
                known.location = self.locations[of]
            self.tuples[member] = known
        return known

    def _region(self, member: Member) -> Operation:
        """The op with a region itself, moved."""
        old = self.saturated.encoded.regions[member.texts[0]]
        regions = [old.detach_region(region) for region in tuple(old.regions)]
        types = [result.type for result in old.results]
        op = type(old).create(operands=[], properties=old.properties, result_types=types, regions=regions)
        op.location = old.location
        self.wires.append((op, member.operands))
        self.body.add_op(op)
        return op

    def _locations(self) -> dict[Class, LocationAttr]:
        """The locations of each class: those of the ops it came from, else those of the first class that uses it."""
        own: dict[Class, list[LocationAttr]] = {}
        for node, location in sorted(self.saturated.encoded.locations.items()):
            of = self.snapshot.class_of[node]
            if of in self.reachable:
                own.setdefault(of, []).extend(parts_of(location))
        found: dict[Class, LocationAttr] = {c: fused(locations) for c, locations in own.items()}
        for of in reversed(self.order.in_order()):
            location = found.setdefault(of, UnknownLoc())
            for _, member in self.order.members[of]:
                for operand in self.snapshot.class_operands(member):
                    if isinstance(found.get(operand, UnknownLoc()), UnknownLoc):
                        found[operand] = location
        return found


def parts_of(location: LocationAttr) -> list[LocationAttr]:
    """The locations in a location, those that are unknown left out."""
    if isinstance(location, UnknownLoc):
        return []
    if isinstance(location, FusedLoc):
        inner = cast(ArrayAttr[LocationAttr], location.locations)
        return [part for one in inner.data for part in parts_of(one)]
    return [location]


def fused(locations: Sequence[LocationAttr]) -> LocationAttr:
    """One location for several, each once."""
    distinct = list(dict.fromkeys(locations))
    if len(distinct) < 2:
        return distinct[0] if distinct else UnknownLoc()
    return FusedLoc(tuple(distinct), NoneAttr())
