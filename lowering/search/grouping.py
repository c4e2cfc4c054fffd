"""Which ops share a kernel: a greedy cover in the order of the graph, every step of it legal by placement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from xdsl.ir import Block, Operation, SSAValue

from ...dialects.errors import LoweringError
from ...dialects.hlir.elementwise import Elementwise
from ...dialects.kernel import NotOneKernelError, Placement, place
from ...dialects.op import Kind, TensorOp, tensor_of
from ...dialects.sym.expr import Expr
from .cost import FUNCTIONS, CostModel
from .free import Freedom, base_of, is_core

GroupKind = Literal["fused", "matmul", "irregular"]
LARGEST = 96
"""Most ops of one kernel."""


@dataclass
class Group:
    """The ops of one kernel, in the order of the graph."""

    number: int
    kind: GroupKind
    ops: dict[Operation, None] = field(default_factory=dict[Operation, None])


class Grouping:
    """The groups of one block. Free ops are in no group; each group repeats those that it reads."""

    def __init__(self, block: Block, model: CostModel):
        self.block = block
        self.model = model
        self.freedom = Freedom(block)
        self.group_of: dict[Operation, Group] = {}
        self.groups: dict[int, Group] = {}
        self.count = 0
        self.positions: dict[Operation, int] = {op: i for i, op in enumerate(block.ops)}
        self._producers: dict[Operation, list[Operation]] = {}
        for op in block.ops:
            if isinstance(op, TensorOp) and self.is_computed(op):
                self._assign(op)

    def is_computed(self, op: TensorOp) -> bool:
        """Whether the op belongs into a kernel with a body."""
        literal = op.KIND is Kind.CREATION
        return not self.freedom.is_free(op) and op.KIND is not Kind.LIBRARY and not literal

    def inside(self, ops: dict[Operation, None], op: Operation) -> bool:
        """Whether a kernel of these ops computes the op, rather than reading its result from memory.

        A free value that lies in memory is read there, but not by the kernel that makes what it is computed from.
        """
        if op in ops or not self.freedom.is_free(op):
            return op in ops
        return op.results[0] not in self.freedom.required or any(p in ops for p in self.producers(op))

    def producers(self, op: Operation) -> list[Operation]:
        """The computed ops, loops and library calls that the op reads, through free ops."""
        if op in self._producers:
            return self._producers[op]
        found: dict[Operation, None] = {}
        seen: set[SSAValue] = set()
        stack = list(reversed(op.operands))
        while stack:
            value = stack.pop()
            owner = value.owner
            if value in seen or not isinstance(owner, Operation) or owner.parent_block() is not self.block:
                continue
            seen.add(value)
            if self.freedom.is_free(owner):
                stack += list(reversed(owner.operands))
            else:
                found[owner] = None
        self._producers[op] = list(found)
        return self._producers[op]

    def _assign(self, op: TensorOp) -> None:
        if op.KIND is Kind.CONTRACTION:
            self._found_group(op, "matmul")
        elif is_core(op):
            self._found_group(op, "irregular")
        elif not any(self._join(op, candidates) for candidates in self._candidates(op)):
            self._found_group(op, "fused")

    def _found_group(self, op: TensorOp, kind: GroupKind) -> None:
        group = Group(self.count, kind, {op: None})
        self.count += 1
        if kind != "irregular":
            try:
                place(list(op.results), lambda inner: self.inside(group.ops, inner))
            except NotOneKernelError as error:
                raise LoweringError(f"no kernel computes this: {error}", op=op, stage="cover") from error
        self.groups[group.number] = group
        self.group_of[op] = group

    def _candidates(self, op: TensorOp) -> Iterator[list[Group]]:
        """Sets of groups that the op might join, best first: all row programs that it reads, then each group, last
        first."""
        read = dict.fromkeys(self.group_of[p].number for p in self.producers(op) if p in self.group_of)
        groups = [self.groups[n] for n in sorted(read, reverse=True)]
        usable = [g for g in groups if g.kind == "fused" or (g.kind == "matmul" and self._may_follow_matmul(op))]
        fused = [g for g in usable if g.kind == "fused"]
        if len(fused) > 1:
            yield fused
        for group in usable:
            yield [group]

    def _may_follow_matmul(self, op: TensorOp) -> bool:
        return isinstance(op, Elementwise) and not self._starts_row_program(op)

    def _starts_row_program(self, op: TensorOp) -> bool:
        """Whether the op's value is reduced at once, so that it is as cheap in front of the reduction as after the
        matmul.

        That is an op that adds another tensor (a mask, a residual) to what is reduced, or one with constants before it.
        """
        users = [use.operation for use in op.results[0].uses]
        extra = [o for o in op.operands if not self._is_matmul_value(o)]
        constants = [o for o in extra if base_of(o) in self.freedom.sizes]
        if len(users) == 1 and len(constants) == len(extra):
            user = users[0]
            return isinstance(user, Elementwise) and self._starts_row_program(user)
        reduced = any(isinstance(u, TensorOp) and u.KIND is Kind.REDUCTION for u in users)
        return reduced and any(tensor_of(base_of(o)).rank > 1 for o in extra if o not in constants)

    def _is_matmul_value(self, value: SSAValue) -> bool:
        owner = value.owner
        if not isinstance(owner, TensorOp):
            return False
        group = self.group_of.get(owner)
        unassigned = group is None and self.is_computed(owner) and isinstance(owner, Elementwise)
        return unassigned or (group is not None and group.kind == "matmul")

    def _join(self, op: TensorOp, candidates: list[Group]) -> bool:
        """Puts the op and the candidate groups into one group if that is legal."""
        numbers = {g.number for g in candidates}
        if not self._is_convex(op, numbers):
            return False
        ops = dict.fromkeys(sorted([o for g in candidates for o in g.ops], key=lambda o: self.positions[o]))
        ops[op] = None
        if len(ops) > LARGEST or not self.is_legal(ops):
            return False
        merged = min(candidates, key=lambda g: g.number)
        for group in candidates:
            del self.groups[group.number]
        kind: GroupKind = "matmul" if any(g.kind == "matmul" for g in candidates) else "fused"
        merged = Group(merged.number, kind, ops)
        self.groups[merged.number] = merged
        for inner in ops:
            self.group_of[inner] = merged
        return True

    def _depends(self, ops: list[Operation], on: set[int]) -> bool:
        """Whether one of the ops, or anything that it needs, stands in one of the groups `on`."""
        earliest = min(self.positions[next(iter(self.groups[n].ops))] for n in on)
        seen: set[Operation] = set()
        stack = list(ops)
        while stack:
            op = stack.pop()
            group = self.group_of.get(op)
            if group is not None and group.number in on:
                return True
            together = list(group.ops) if group is not None else [op]
            if op in seen or self.positions[together[-1]] < earliest:
                continue
            seen.update(together)
            stack += [producer for inner in together for producer in self.producers(inner)]
        return False

    def _is_convex(self, op: TensorOp, numbers: set[int]) -> bool:
        """Whether no path from one of the groups to the op, or to another of them, leads through anything else."""
        inside = [o for n in numbers for o in self.groups[n].ops]
        between: dict[Operation, None] = {}
        for inner in [*inside, op]:
            for producer in self.producers(inner):
                group = self.group_of.get(producer)
                if group is None or group.number not in numbers:
                    between[producer] = None
        return not self._depends(list(between), numbers)

    def is_legal(self, ops: dict[Operation, None]) -> bool:
        """Whether one kernel can compute the ops and store what others may read."""
        stored = [r for op in ops for r in op.results if self.is_read_outside(r, ops)]
        try:
            placement = place(stored, lambda op: self.inside(ops, op))
        except NotOneKernelError:
            return False
        return self._repeats_little(placement, ops)

    def is_read_outside(self, value: SSAValue, ops: dict[Operation, None]) -> bool:
        """Whether an op outside the kernel reads the value, directly or through free ops."""
        for use in value.uses:
            user = use.operation
            if user in ops:
                continue
            if not self.freedom.is_free(user) or user.results[0] in self.freedom.required:
                return True
            if self.is_read_outside(user.results[0], ops):
                return True
        return False

    def _repeats_little(self, placement: Placement, ops: dict[Operation, None]) -> bool:
        """Whether no elementwise value of other ops is computed more often than it has elements; one simple op may
        be."""
        rows = self._product(placement.space.parallel)
        full = rows * self._product(placement.space.reduced)
        for value, at in placement.computed:
            op = value.owner
            if not isinstance(op, Elementwise) or op not in ops:
                continue
            simple = type(op) not in FUNCTIONS and not any(p in ops for p in self.producers(op))
            times = rows if placement.is_row(at) else full
            if not simple and times > self.model.elements(tensor_of(value)):
                return False
        return True

    def _product(self, dims: tuple[Expr, ...]) -> int:
        total = 1
        for dim in dims:
            total *= self.model.extent(dim)
        return total
