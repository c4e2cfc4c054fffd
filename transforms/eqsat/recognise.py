"""What Python adds to an e-graph between iterations: expansions of composites, and composites whose expansion is found.

A proposal says that a class may be a composite. Its expansion is added beside it; the two are united only when the
rules have brought the expansion into the class by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute

from ...dialects.errors import InternalError, TypeRuleError
from ...dialects.hlir.index_map import is_identity
from ...dialects.hlir.types import MapAttr, ShapeAttr, TensorType
from ...dialects.hlir.view import ViewOp
from ...dialects.op import Kind, TensorOp
from .egraph import EGraph
from .encode import add_op
from .expansion import Step, Template, template
from .report import RegionReport
from .rule import Candidate, Expansion, Match, Operand, Proposal
from .rules.spelling import is_spelled_out
from .signature import form_of
from .snapshot import Class, Member, Snapshot


@dataclass(frozen=True)
class _Pending:
    """A candidate for the class of node `root`, of the given type before its outer view, that waits until one of the
    nodes `expansions` is in that class."""

    candidate: Candidate
    proposal: str
    root: int
    operands: tuple[int, ...]
    type: TensorType
    expansions: tuple[int, ...] = ()


class Recogniser:
    """Expansions and proposals of one saturation. `locations` gets those of the nodes that it adds."""

    def __init__(self, egraph: EGraph, report: RegionReport, locations: dict[int, LocationAttr]):
        self._egraph = egraph
        self._report = report
        self._locations = locations
        self._templates: dict[object, Template] = {}
        self._expanded: set[object] = set()
        self._seen: set[object] = set()
        self._pending: list[_Pending] = []
        self._snapshot: Snapshot | None = None
        self._index: dict[tuple[str, tuple[str, ...], tuple[Class, ...]], Class] = {}

    def look(self, snapshot: Snapshot) -> None:
        """The e-graph that the next calls are about."""
        self._snapshot = snapshot
        self._index = {(m.constructor, m.texts, m.operands): of for of, ms in snapshot.classes.items() for m in ms}

    @property
    def snapshot(self) -> Snapshot:
        assert self._snapshot is not None
        return self._snapshot

    # Nodes

    def node(self, of: Class) -> int:
        """A node of the class; one is added where it has none."""
        known = self.snapshot.node_of.get(of)
        return self._name(of, set()) if known is None else known

    def _name(self, of: Class, asked: set[Class]) -> int:
        """Names a class by one of its terms, whose operands are named first."""
        asked.add(of)
        for member in self.snapshot.classes[of]:
            operands = self._operand_nodes(member, asked)
            if operands is not None:
                term = self._egraph.term(
                    member.constructor, member.texts, [self._egraph.reference(o) for o in operands]
                )
                number = self.snapshot.node_of[of] = self._egraph.add(term)
                self.snapshot.class_of[number] = of
                return number
        raise InternalError("a class of the e-graph has no finite term", stage="eqsat")

    def _operand_nodes(self, member: Member, asked: set[Class]) -> list[int] | None:
        if member.constructor in ("arg", "get"):
            # Both get their node when they are added.
            return None
        nodes: list[int] = []
        for operand in member.operands:
            known = self.snapshot.node_of.get(operand)
            if known is None:
                if operand in asked:
                    return None
                known = self._name(operand, asked)
            nodes.append(known)
        return nodes

    # Expansions

    def expand(self, reachable: set[Class]) -> None:
        """Adds the expansion of each reachable composite that has none yet."""
        for of, members in self.snapshot.classes.items():
            if of not in reachable:
                continue
            for member in members:
                if member.constructor in ("arg", "get") or member.form.op_class.KIND is not Kind.COMPOSITE:
                    continue
                operands = tuple([self.node(o) for o in member.operands])
                key = (member.constructor, member.texts, operands)
                if key not in self._expanded:
                    self._expanded.add(key)
                    self._expand(of, member, operands)

    def _expand(self, of: Class, member: Member, operands: tuple[int, ...]) -> None:
        form = member.form
        types = [self.snapshot.types[o] for o in member.operands]
        properties = self._egraph.texts.properties(form, member.texts)
        steps = self._template(form.op_class, properties, types, None)
        if not is_spelled_out(form.op_class, len(steps.steps)):
            return
        root = self.node(of)
        result = self._insert(steps, operands, self._locations.get(root))
        self._report.expanded[form.op_class.name] += 1
        if self.snapshot.class_of.get(result) is not of:
            self._egraph.union(root, result)

    def _template(
        self,
        op_class: type[TensorOp],
        properties: Mapping[str, Attribute],
        types: Sequence[TensorType],
        variant: Expansion | None,
    ) -> Template:
        key = (op_class, tuple(sorted(properties.items(), key=lambda item: item[0])), tuple(types), variant)
        known = self._templates.get(key)
        if known is None:
            known = self._templates[key] = template(op_class, properties, types, variant)
        return known

    def _insert(self, steps: Template, operands: Sequence[int], location: LocationAttr | None) -> int:
        """Adds the steps on operand nodes; the node of the result. Terms that are there are not added again."""
        nodes = list(operands)
        for step in steps.steps:
            inputs = [nodes[o] for o in step.operands]
            found = self._find(step.op_class, step.properties, inputs)
            if found is not None:
                nodes.append(self.node(found))
                continue
            terms = [self._egraph.reference(n) for n in inputs]
            (number,) = add_op(self._egraph, step.op_class, step.properties, terms, [step.type])
            self._egraph.texts.text(step.type.shape)
            self._egraph.texts.text(step.type.element)
            if location is not None:
                self._locations[number] = location
            nodes.append(number)
        return nodes[steps.result]

    def _find(
        self, op_class: type[TensorOp], properties: Mapping[str, Attribute], inputs: Sequence[int]
    ) -> Class | None:
        """The class of a term, if the e-graph has it."""
        classes = [self.snapshot.class_of.get(n) for n in inputs]
        if None in classes:
            return None
        form = form_of(op_class)
        return self._index.get(
            (form.constructor(len(inputs)), self._egraph.texts.texts(form, properties), tuple(classes))
        )

    # Proposals

    def propose(self, proposals: Sequence[Proposal], reachable: set[Class]) -> None:
        """Adds the expansions of new candidates, and the candidates that are proved."""
        for proposal in proposals:
            for texts, classes in self._matches(proposal):
                if all(c in reachable for c in classes):
                    self._consider(proposal, texts, classes)
        self._pending = [one for one in self._pending if not self._prove(one)]

    def _matches(self, proposal: Proposal) -> Iterator[tuple[list[str], list[Class]]]:
        """The rows of a proposal: the texts, and e and the other classes."""
        count = len(proposal.texts)
        for row in self.snapshot.rows[proposal.relation]:
            inputs = row.inputs
            yield [self.snapshot.string(v) for v in inputs[:count]], list(inputs[count:])

    def _consider(self, proposal: Proposal, texts: list[str], classes: list[Class]) -> None:
        key = (proposal.name, *texts, *(self.node(c) for c in classes))
        if key in self._seen:
            return
        self._seen.add(key)
        columns = dict(zip(("e", *proposal.classes), classes, strict=True))
        types = {name: self.snapshot.types[c] for name, c in columns.items()}
        attributes = {n: self._egraph.texts.attribute(t) for n, t in zip(proposal.texts, texts, strict=True) if t}
        candidate = proposal.build(Match(types, attributes))
        if candidate is not None:
            self._start(proposal, candidate, columns)

    def _start(self, proposal: Proposal, candidate: Candidate, columns: Mapping[str, Class]) -> None:
        """Adds the expansions of a candidate whose types fit."""
        result = self.snapshot.types[columns["e"]]
        try:
            types = [self._operand_type(one, columns) for one in candidate.operands]
            (inner,) = candidate.op_class.infer(types, candidate.properties)
            fits = self._outer_type(candidate, inner, result) == result
        except TypeRuleError:
            return
        if not fits:
            return
        root = self.node(columns["e"])
        operands = tuple([self._operand(one, columns) for one in candidate.operands])
        properties = tuple(sorted(candidate.properties.items(), key=lambda item: item[0]))
        key = (candidate.op_class, properties, operands, candidate.outer_map, root)
        if key in self._seen:
            return
        self._seen.add(key)
        pending = _Pending(candidate, proposal.name, root, operands, inner)
        ways = [self._template(candidate.op_class, candidate.properties, types, v) for v in (None, *candidate.variants)]
        expansions = [self._outer(pending, self._insert(way, operands, self._locations.get(root))) for way in ways]
        self._report.proposed[proposal.name] += 1
        self._pending.append(replace(pending, expansions=tuple(expansions)))

    def _operand_type(self, one: Operand, columns: Mapping[str, Class]) -> TensorType:
        type_ = self.snapshot.types[columns[one.column]]
        if one.map is None or one.shape is None:
            return type_
        return ViewOp.infer([type_], {"map": one.map, "shape": one.shape})[0]

    def _operand(self, one: Operand, columns: Mapping[str, Class]) -> int:
        node = self.node(columns[one.column])
        if one.map is None or one.shape is None:
            return node
        source = self.snapshot.types[columns[one.column]]
        return self._view(node, source, one.map, one.shape)

    def _view(self, node: int, source: TensorType, index_map: MapAttr, shape: ShapeAttr) -> int:
        """A view of a node, or the node itself."""
        if is_identity(index_map.data, source.dims, shape.data):
            return node
        properties: dict[str, Attribute] = {"map": index_map, "shape": shape}
        step = Step(ViewOp, properties, (0,), source.with_dims(shape.data))
        return self._insert(Template((step,), 1), [node], None)

    @staticmethod
    def _outer_type(candidate: Candidate, inner: TensorType, result: TensorType) -> TensorType:
        if candidate.outer_map is None:
            return inner
        return ViewOp.infer([inner], {"map": candidate.outer_map, "shape": result.shape})[0]

    def _outer(self, one: _Pending, node: int) -> int:
        """The candidate's outer view of a node."""
        outer = one.candidate.outer_map
        if outer is None:
            return node
        of = self.snapshot.class_of[one.root]
        return self._view(node, one.type, outer, self.snapshot.types[of].shape)

    def _prove(self, one: _Pending) -> bool:
        """Whether the candidate is proved now, in which case it joins its class."""
        of = self.snapshot.class_of.get(one.root)
        if of is None or all(self.snapshot.class_of.get(e) != of for e in one.expansions):
            return False
        candidate = one.candidate
        terms: list[Any] = [self._egraph.reference(n) for n in one.operands]
        (number,) = add_op(self._egraph, candidate.op_class, candidate.properties, terms, [one.type])
        self._egraph.union(one.root, self._outer(one, number))
        self._report.proved[one.proposal] += 1
        return True
