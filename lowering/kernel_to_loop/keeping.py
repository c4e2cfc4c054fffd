"""Which values a row program keeps between its loops: those that are dear to compute and that several loops need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ...dialects.hlir.reduction import Reduction
from ...dialects.kernel.placement import Placement
from ...dialects.op import TensorOp, tensor_of
from ...dialects.sym.substitute import index_numbers
from .reads import Key, Reader

WEIGHTS: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys(("exp", "exp2", "log", "log2", "sin", "cos", "sigmoid", "silu"), 8),
        **dict.fromkeys(("erf", "tanh", "gelu"), 12),
        **dict.fromkeys(("div", "sqrt", "recip", "rsqrt", "mod", "floor_div"), 4),
    }
)
"""Cost of scalar functions where an addition costs 1."""


def is_full(key: Key, rows: int) -> bool:
    """Whether the element depends on the reduced index."""
    return any(n >= rows for e in key[1] for n in index_numbers(e))


class Keeper:
    """`loops` are the roots of each loop over a row, in order; a key is a value at an index."""

    def __init__(self, reader: Reader, rows: int, loops: Sequence[Sequence[Key]]):
        self.reader = reader
        self.rows = rows
        self.loops = loops
        self._costs: dict[Key, int] = {}
        self._order: dict[Key, None] = {}

    def operands(self, key: Key) -> list[Key]:
        """The full elements that an element is computed from."""
        op = key[0].owner
        if not isinstance(op, TensorOp) or isinstance(op, Reduction):
            return []
        return [read for read in self.reader.reads(op, key[1]) if is_full(read, self.rows)]

    def cost(self, key: Key) -> int:
        """What computing the element takes, loads included."""
        if key not in self._costs:
            op = key[0].owner
            if isinstance(op, TensorOp) and not isinstance(op, Reduction):
                own = WEIGHTS.get(op.SPELLING, 1 if op.SPELLING else 0)
                self._costs[key] = own + sum(self.cost(read) for read in self.operands(key))
            else:
                self._costs[key] = 1 if tensor_of(key[0]).dtype.bits >= 32 else 2
        return self._costs[key]

    def _visit(self, key: Key) -> None:
        if key in self._order or not is_full(key, self.rows):
            return
        for read in self.operands(key):
            self._visit(read)
        self._order[key] = None

    def keep(self, threshold: int) -> list[Key]:
        """The elements to keep: needed by more than one loop, and dearer than the threshold."""
        demand: dict[Key, set[int]] = {}
        for number, roots in enumerate(self.loops):
            for key in roots:
                self._visit(key)
                demand.setdefault(key, set()).add(number)
        kept: list[Key] = []
        for key in reversed(self._order):
            wanted = demand.get(key, set())
            if len(wanted) > 1 and self.cost(key) > threshold:
                kept.append(key)
                wanted = {min(wanted)}
            for read in self.operands(key):
                demand.setdefault(read, set()).update(wanted)
        return kept


def reductions_in_order(placement: Placement) -> list[Reduction]:
    """The reductions of a kernel, each after those that it depends on."""
    return [value.owner for value, _ in placement.computed if isinstance(value.owner, Reduction)]
