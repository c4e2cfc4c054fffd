"""Random graphs over every op of hlir, valid by construction: each step takes values that are there, or new inputs."""

from __future__ import annotations

# pyright: basic
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from albumen.dialects.catalogue import catalogue, cells
from albumen.dialects.dtype import BF16, F16, F32, F64, I1, I8, I32, I64, U8, DType
from albumen.dialects.errors import TypeRuleError
from albumen.dialects.evaluate import random_array
from albumen.dialects.hlir import index_map as maps
from albumen.dialects.hlir.builder import GraphBuilder
from albumen.dialects.hlir.conversion import BitcastOp, CastOp, SelectOp
from albumen.dialects.hlir.indexing import CheckIndexOp
from albumen.dialects.hlir.linear import contract
from albumen.dialects.hlir.pointwise import Elementwise
from albumen.dialects.hlir.reduction import Reduction
from albumen.dialects.hlir.types import ShapeAttr, TensorType, axes_attr, tensor_type
from albumen.dialects.op import Environment, Kind, Sample, TensorOp, tensor_of
from albumen.dialects.sym.dialect import SymbolOp
from albumen.dialects.sym.expr import Expr, IntLike, index, lift, symbol

Array = np.ndarray[Any, Any]

DTYPES: tuple[DType, ...] = (F32, F32, F64, BF16, F16, I64, I32, I8, U8, I1)
EXTENTS: tuple[int, ...] = (0, 1, 2, 3, 4, 7, 16, 33)
LARGEST = 5000
"""Elements of any value."""
S = symbol("s")

SPECIAL = (SelectOp, CastOp, BitcastOp, CheckIndexOp)
POINTWISE = tuple(op for op in catalogue() if issubclass(op, Elementwise) and op not in SPECIAL)
REDUCTIONS = tuple(op for op in catalogue() if issubclass(op, Reduction))
SAMPLED = tuple(op for op in catalogue() if op not in (*POINTWISE, *REDUCTIONS) and op.KIND is not Kind.VIEW)


@dataclass
class Program:
    """A module with the values of its inputs and of its symbol."""

    module: ModuleOp
    inputs: list[Array]
    symbols: dict[str, int]

    def __repr__(self) -> str:
        values = [f"{x.dtype}{list(x.shape)}" for x in self.inputs]
        return f"{self.module}\n// inputs {', '.join(values)}, symbols {self.symbols}"


@dataclass
class Growing:
    """A graph under construction."""

    draw: Any
    size: int
    rng: np.random.Generator
    block: Block = field(default_factory=Block)
    inputs: list[Array] = field(default_factory=list)
    pool: list[SSAValue] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.b = GraphBuilder(self.block)
        self.environment = Environment({"s": self.size})

    def input(self, type_: TensorType, low: float = -2.0, high: float = 2.0) -> SSAValue:
        """A new argument; its values are drawn as a sample says."""
        value = self.block.insert_arg(type_, len(self.block.args))
        self.inputs.append(random_array(type_, self.environment, self.rng, low, high))
        return value

    def shape(self) -> list[IntLike]:
        extents = st.one_of(st.sampled_from(EXTENTS), st.just(S))
        dims = self.draw(st.lists(extents, min_size=0, max_size=3))
        return dims if self.elements(dims) <= LARGEST else dims[:1]

    def elements(self, dims: Any) -> int:
        return math.prod(self.size if (extent := lift(dim).as_int()) is None else extent for dim in dims)

    def value(self) -> SSAValue:
        """Something of the pool, or a new input."""
        if self.pool and self.draw(st.integers(0, 3)):
            return self.draw(st.sampled_from(self.pool))
        return self.input(tensor_type(self.shape(), self.draw(st.sampled_from(DTYPES))))

    def like(self, dims: Any, dtype: DType) -> SSAValue:
        """A value of the type: of the pool, cast or broadcast where it can be, else a new input."""
        fitting = [v for v in self.pool if tensor_of(v).dims == tuple(dims)]
        if fitting and self.draw(st.integers(0, 2)):
            return self.b.cast(self.draw(st.sampled_from(fitting)), dtype)
        rank = len(tuple(dims))
        if rank and self.draw(st.booleans()):
            kept = self.draw(st.integers(0, rank))
            return self.b.broadcast(self.input(tensor_type(tuple(dims)[kept:], dtype)), dims)
        return self.input(tensor_type(dims, dtype))

    def add(self, values: Any) -> None:
        self.pool += [v for v in values if self.elements(tensor_of(v).dims) <= LARGEST]


def pointwise(g: Growing) -> None:
    """An elementwise op on values of one shape."""
    op_class = g.draw(st.sampled_from(POINTWISE))
    value = g.value()
    dims, dtype = tensor_of(value).dims, tensor_of(value).dtype
    if dtype not in op_class.DOMAIN:
        dtype = g.draw(st.sampled_from([d for d in DTYPES if d in op_class.DOMAIN]))
        value = g.b.cast(value, dtype)
    operands = [value, *(g.like(dims, dtype) for _ in range(op_class.ARITY - 1))]
    valid = [sample.properties for sample in op_class.SAMPLES if not sample.error]
    g.add(g.b.emit_all(op_class, operands, **g.draw(st.sampled_from(valid))))


def choice(g: Growing) -> None:
    """A select between two values."""
    value = g.value()
    dims, dtype = tensor_of(value).dims, tensor_of(value).dtype
    g.add([g.b.emit(SelectOp, [g.like(dims, I1), value, g.like(dims, dtype)])])


def cast(g: Growing) -> None:
    g.add([g.b.cast(g.value(), g.draw(st.sampled_from(DTYPES)))])


def reduction(g: Growing) -> None:
    """A reduction over some axes."""
    op_class, value = g.draw(st.sampled_from(REDUCTIONS)), g.value()
    rank = tensor_of(value).rank
    axes = sorted(g.draw(st.sets(st.integers(0, rank - 1)))) if rank else []
    try:
        g.add(g.b.emit_all(op_class, [value], axes=axes_attr(axes)))
    except TypeRuleError:  # booleans are not summed
        value = g.b.cast(value, I64)
        g.add(g.b.emit_all(op_class, [value], axes=axes_attr(axes)))


def view(g: Growing) -> None:
    """A permutation, a new leading axis, a slice, a reversal, or a reshape to one axis."""
    value = g.value()
    dims = tensor_of(value).dims
    kind = g.draw(st.sampled_from(["permute", "broadcast", "slice", "flip", "flatten", "split"]))
    if kind == "permute":
        g.add([g.b.permute(value, g.draw(st.permutations(range(len(dims)))))])
    elif kind == "broadcast":
        g.add([g.b.broadcast(value, [g.draw(st.sampled_from((0, 1, 2, 3))), *dims])])
    elif kind == "flatten":
        total: Expr = lift(1)
        for dim in dims:
            total = total * dim
        g.add([g.b.reshape(value, [total])])
    else:
        axis, extent = fixed_axis(g, value)
        if extent is not None and extent > 0:
            g.add([along(g, value, axis, extent, kind)])


def fixed_axis(g: Growing, value: SSAValue) -> tuple[int, int | None]:
    """An axis of known extent."""
    known = [i for i, dim in enumerate(tensor_of(value).dims) if dim.as_int()]
    if not known:
        return 0, None
    axis = g.draw(st.sampled_from(known))
    return axis, tensor_of(value).dims[axis].as_int()


def along(g: Growing, value: SSAValue, axis: int, extent: int, kind: str) -> SSAValue:
    """A slice, a reversal or a split of one axis."""
    dims = list(tensor_of(value).dims)
    at: list[Expr] = [index(i) for i in range(len(dims))]
    if kind == "flip":
        at[axis] = -index(axis) + (extent - 1)
        return g.b.view(value, maps.IndexMap(len(dims), tuple(at)), dims)
    if kind == "split" and extent % 2 == 0:
        return g.b.reshape(value, [*dims[:axis], extent // 2, 2, *dims[axis + 1 :]])
    start = g.draw(st.integers(0, extent - 1))
    step = g.draw(st.integers(1, 3))
    at[axis] = index(axis) * step + start
    dims[axis] = lift((extent - start + step - 1) // step)
    return g.b.view(value, maps.IndexMap(len(dims), tuple(at)), dims)


def product(g: Growing) -> None:
    """A matrix product with a new or a cast operand."""
    value = g.value()
    if tensor_of(value).rank < 1 or tensor_of(value).dtype == I1:
        return
    dims, dtype = tensor_of(value).dims, tensor_of(value).dtype
    columns = g.draw(st.sampled_from((1, 2, 8, 17)))
    other = g.like([dims[-1], lift(columns)], dtype)
    lead = len(dims) - 1
    space = [*dims[:-1], lift(columns), dims[-1]]
    left = maps.IndexMap(lead + 2, (*(index(i) for i in range(lead)), index(lead + 1)))
    right = maps.IndexMap(lead + 2, (index(lead + 1), index(lead)))
    if g.elements(space) <= 8 * LARGEST:
        g.add([contract(g.b, value, other, ShapeAttr.get(space), left, right, [lead + 1])])


def sampled(g: Growing) -> None:
    """One of an op's own samples, on values of the pool that have its types, and new inputs."""
    op_class: type[TensorOp] = g.draw(st.sampled_from(SAMPLED))
    samples = [sample for cell in cells(op_class) for sample in cell.samples]
    sample: Sample = g.draw(st.sampled_from(samples))
    operands = [operand_of(g, type_, sample) for type_ in sample.operands]
    g.add(g.b.emit_all(op_class, operands, **sample.properties))


def operand_of(g: Growing, type_: TensorType, sample: Sample) -> SSAValue:
    """Floats may come from the pool; integers may be indices, which only the sample knows the range of."""
    fitting = [v for v in g.pool if tensor_of(v).dims == type_.dims]
    if type_.dtype.is_float and fitting and g.draw(st.booleans()):
        return g.b.cast(g.draw(st.sampled_from(fitting)), type_.dtype)
    return g.input(type_, sample.low, sample.high)


STEPS = (pointwise, pointwise, pointwise, choice, cast, reduction, reduction, view, view, product, sampled, sampled)


@st.composite
def programs(draw: Any) -> Program:
    """A program of four to ten steps that returns up to three of its values."""
    size = draw(st.sampled_from((1, 2, 5, 16)))
    g = Growing(draw, size, np.random.default_rng(draw(st.integers(0, 2**16))))
    g.pool.append(g.input(tensor_type(g.shape(), draw(st.sampled_from(DTYPES)))))
    for _ in range(draw(st.integers(4, 10))):
        draw(st.sampled_from(STEPS))(g)
    results = list(dict.fromkeys([g.pool[-1], *draw(st.lists(st.sampled_from(g.pool), max_size=2))]))
    g.block.add_op(ReturnOp(*results))
    function = FuncOp(
        "main", FunctionType.from_lists([a.type for a in g.block.args], [r.type for r in results]), Region(g.block)
    )
    names = [{"hlir.role": StringAttr("input"), "hlir.name": StringAttr(f"x{i}")} for i in range(len(g.inputs))]
    function.arg_attrs = ArrayAttr([DictionaryAttr(entry) for entry in names])
    return Program(ModuleOp([SymbolOp("s", 1, 64), function]), g.inputs, {"s": size})
