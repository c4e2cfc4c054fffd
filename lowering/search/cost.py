"""The roofline model: what an op or a kernel costs in microseconds, from bytes, arithmetic, launches and
parallelism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from xdsl.dialects.builtin import ModuleOp

from ...dialects.hlir.activation import GeluOp, SigmoidOp, SiluOp
from ...dialects.hlir.arithmetic import CosOp, ErfOp, ExpOp, LogOp, RsqrtOp, TanhOp
from ...dialects.hlir.comparison import RemainderOp
from ...dialects.hlir.contraction import ContractOp
from ...dialects.hlir.elementwise import DivOp, Exp2Op, Log2Op, ModOp, RecipOp, SinOp, SqrtOp
from ...dialects.hlir.index_map import IndexMap, linear_coefficients
from ...dialects.hlir.types import TensorType
from ...dialects.kernel import CallMatmulOp
from ...dialects.op import Kind, TensorOp, tensor_of
from ...dialects.sym.dialect import SymbolOp
from ...dialects.sym.expr import Expr
from ...dialects.sym.substitute import evaluate_int, index_numbers
from ..options import check_target
from ..planning.library_call import matmul_config

TYPICAL = 128
"""The value that a symbol is taken to have where its range allows it."""
SIMPLE, INTRICATE = 1.0, 6.0
"""Arithmetic operations that an element of an elementwise op takes."""
FUNCTIONS: frozenset[type[TensorOp]] = frozenset(
    (
        *(Log2Op, Exp2Op, SinOp, SqrtOp, RecipOp, DivOp, ModOp),
        *(ExpOp, LogOp, CosOp, TanhOp, ErfOp, SigmoidOp, SiluOp, GeluOp, RsqrtOp, RemainderOp),
    )
)
"""The intricate ones. A composite costs no more than the one function that its expansion needs, so it is kept."""
FUSED_TRAFFIC = 0.2
"""The part of an elementwise op's bytes that is charged: most of them are fused."""
NOTHING = 1e-3
"""Cost of what is free, so that fewer of them win."""
NO_KERNEL = 1e9
"""Cost of a form that no kernel computes: chosen only where there is no other, and expanded then."""


@dataclass(frozen=True)
class Machine:
    """What the model knows of a target. Rates are per microsecond; `width` is how many elements keep it busy.

    The matrix rates are of our kernels and of the library, for f32 and wider and for narrower floats, and of the
    library for f32 whose operands are rounded to tf32.
    """

    bandwidth: float
    vector_rate: float
    matrix_rate: float
    narrow_matrix_rate: float
    library_rate: float
    narrow_library_rate: float
    tf32_library_rate: float
    launch: float
    width: int

    def rate_of(self, op: ContractOp | CallMatmulOp, tf32: bool = False) -> float:
        """Operations of a contraction in a microsecond; with `tf32` the library may round operands of f32."""
        narrow = op.operand_types[0].dtype.bits < 32
        if isinstance(op, CallMatmulOp):
            if tf32 and op.result_type.dtype.name == "f32":
                return self.tf32_library_rate
            return self.narrow_library_rate if narrow else self.library_rate
        return self.narrow_matrix_rate if narrow else self.matrix_rate


MACHINES: Mapping[str, Machine] = MappingProxyType(
    {
        "c": Machine(2.0e4, 2.0e4, 1.2e5, 1.2e5, 1.2e5, 1.2e5, 1.2e5, launch=1.0, width=64),
        # Matrix rates seen on an H200 (2026-11-30, all-MiniLM-L6-v2 at 32x128, our kernels against cuBLASLt).
        "cuda": Machine(4.0e6, 2.5e7, 4.5e7, 2.5e8, 4.0e7, 6.0e8, 3.0e8, launch=1.5, width=132 * 1024),
        "metal": Machine(2.0e5, 4.0e6, 8.0e6, 8.0e6, 8.0e6, 8.0e6, 8.0e6, launch=4.0, width=16 * 1024),
    }
)


def machine_of(target: str) -> Machine:
    """The machine of a target.

    Raises:
        OptionError: no such target.
    """
    check_target(target, MACHINES)
    return MACHINES[target]


def representative(module: ModuleOp, wanted: int = TYPICAL) -> dict[str, int]:
    """A value for each symbol of the module, as near to `wanted` as its range and its step allow: sizes that the cost
    model compares forms at."""
    values: dict[str, int] = {}
    for op in module.ops:
        if isinstance(op, SymbolOp):
            low, high, step = op.range.low or 0, op.range.high, op.multiple_of.data
            value = max(low, wanted if high is None else min(high, wanted))
            rounded = -(-value // step) * step
            values[op.sym_name.data] = rounded if high is None or rounded <= high else value // step * step
    return values


@dataclass(frozen=True)
class CostModel:
    """Costs on one machine, with the symbols at representative values. With `tf32` library products of f32 are of
    rounded operands."""

    machine: Machine
    symbols: Mapping[str, int]
    tf32: bool = False

    def extent(self, e: Expr) -> int:
        """A dim as a number; a symbol that the module does not declare counts as typical."""
        missing = {a.name: TYPICAL for a in e.atoms() if a.kind == "symbol" and a.name not in self.symbols}
        return evaluate_int(e, {**self.symbols, **missing})

    def elements(self, type_: TensorType) -> int:
        total = 1
        for dim in type_.dims:
            total *= self.extent(dim)
        return total

    def bytes(self, type_: TensorType) -> int:
        return self.elements(type_) * type_.dtype.bytes

    def traffic(self, op: TensorOp) -> int:
        """Bytes of all operands and results."""
        return sum(self.bytes(tensor_of(v)) for v in (*op.operands, *op.results))

    def arithmetic(self, op: TensorOp) -> float:
        """Operations that the op takes, 0 for one that only moves data."""
        if isinstance(op, ContractOp | CallMatmulOp):
            total = 2.0
            for extent in op.space.data:
                total *= self.extent(extent)
            return total
        if op.KIND is Kind.REDUCTION:
            return float(self.elements(op.operand_types[0]))
        if op.KIND in (Kind.ELEMENTWISE, Kind.COMPOSITE):
            return self.elements(op.result_type) * (INTRICATE if type(op) in FUNCTIONS else SIMPLE)
        return 0.0

    def node(self, op: TensorOp, libraries: frozenset[str]) -> float:
        """What choosing the op costs in a program in which elementwise ops are fused and views are free."""
        if op.KIND in (Kind.VIEW, Kind.CREATION):
            return NOTHING
        if op.KIND is Kind.COMPOSITE and not op.SPELLING:
            return NO_KERNEL
        if op.KIND is Kind.LIBRARY and not is_callable(op, libraries):
            return NO_KERNEL
        machine = self.machine
        moved = self.traffic(op) / machine.bandwidth
        if op.KIND in (Kind.ELEMENTWISE, Kind.COMPOSITE):
            return 0.05 * machine.launch + FUSED_TRAFFIC * moved + self.arithmetic(op) / machine.vector_rate
        if isinstance(op, ContractOp | CallMatmulOp):
            rate = max(moved, self.arithmetic(op) / machine.rate_of(op, self.tf32))
            # A call ends fusion on both sides; the elementwise ops around a kernel of ours cost it next to nothing.
            launches = 3 if isinstance(op, CallMatmulOp) else 2
            return launches * machine.launch + rate * (1.0 if _is_linear(op) else 1.5) * (
                1.05 if _is_turned(op) else 1.0
            )
        return machine.launch + moved + self.arithmetic(op) / machine.vector_rate


def is_callable(op: TensorOp, libraries: frozenset[str]) -> bool:
    """Whether an allowed library computes the op in the form it has."""
    return op.name in libraries and isinstance(op, CallMatmulOp) and matmul_config(op) is not None


def _is_linear(op: ContractOp | CallMatmulOp) -> bool:
    """Whether the operands are read with constant strides over the whole space."""
    return all(is_linear(m.data) for m in (op.lhs_map, op.rhs_map))


def _is_turned(op: ContractOp | CallMatmulOp) -> bool:
    """Whether the last dim of the result comes from the left operand alone, so that the result is written by
    columns."""
    kept = [i for i in range(op.space.rank) if i not in op.axis_numbers]
    left, right = ({n for e in m.data.exprs for n in index_numbers(e)} for m in (op.lhs_map, op.rhs_map))
    return bool(kept) and kept[-1] in left and kept[-1] not in right


def is_linear(index_map: IndexMap) -> bool:
    """Whether every index that the map gives is linear in the indices it takes."""
    return all(linear_coefficients(e, index_map.rank) is not None for e in index_map.exprs)


def spelled(op: TensorOp) -> bool:
    """Whether targets spell the op itself, inside a kernel."""
    return op.KIND is not Kind.COMPOSITE or bool(op.SPELLING)
