"""What a matmul kernel computes, as a template sees it: index groups, operand addresses, tiles with guarded edges."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, SSAValue

from ...dialects import simt
from ...dialects.dtype import F32, DType
from ...dialects.errors import LoweringError
from ...dialects.hlir.contraction import ContractOp
from ...dialects.hlir.index_map import IndexMap, compose
from ...dialects.kernel import FuncOp, MatmulOp
from ...dialects.kernel.placement import full_map
from ...dialects.op import tensor_of
from ...dialects.sym.expr import Expr, constant, floordiv, symbol
from ...dialects.sym.substitute import index_numbers
from ..kernel_to_loop.expand import expand_composites
from ..kernel_to_loop.frame import ALIGNMENT, function_symbols
from ..kernel_to_loop.scalar_ops import element_type
from ..loop_to_simt.emitter import Emitter
from ..loop_to_simt.index_space import IndexSpace
from ..loop_to_simt.tiling import divisor, product
from .region import RegionCode


@dataclass(frozen=True)
class Group:
    """Indices of the space that a template runs over as one: their numbers and their extents, outermost first."""

    numbers: tuple[int, ...]
    extents: tuple[Expr, ...]

    @property
    def extent(self) -> Expr:
        return product(self.extents)

    def split(self, flat: Expr) -> dict[int, Expr]:
        """The single indices of a flat one."""
        found: dict[int, Expr] = {}
        for number, extent in zip(reversed(self.numbers[1:]), reversed(self.extents[1:]), strict=True):
            outer = floordiv(flat, divisor(extent))
            found[number] = flat - extent * outer
            flat = outer
        if self.numbers:
            found[self.numbers[0]] = flat
        return found


@dataclass(frozen=True)
class Operand:
    """One side of the contraction: the value (before it is widened to f32, if the body does that), the map it is read
    at, and its argument and address if it is one through views alone."""

    value: SSAValue
    at: IndexMap
    argument: SSAValue | None
    address: Expr | None
    dtype: DType


class MatmulProblem:
    """Analysis of a kernel.func with a kernel.matmul, and the beginning of its simt kernel: arguments and address
    code."""

    def __init__(self, function: FuncOp, module: ModuleOp):
        function = function.clone()
        kernel = function.kernel
        if not isinstance(kernel, MatmulOp):
            raise LoweringError(f"a matmul template takes kernel.matmul, found {kernel.name}", op=kernel)
        expand_composites(kernel.block)
        self.name = function.sym_name.data
        self.kernel = kernel
        self.placement = kernel.placement()
        self.contraction: ContractOp = kernel.contraction
        self.indices = IndexSpace(module)
        self.block = Block()
        self.emitter = Emitter(self.indices, self.block)
        self.symbols = function_symbols(function)
        self.results: list[SSAValue] = []
        self.region = RegionCode(self.emitter, self.placement.space, self._add_arguments())
        self.lhs = self._operand(self.contraction.lhs, self.contraction.lhs_map.data)
        self.rhs = self._operand(self.contraction.rhs, self.contraction.rhs_map.data)
        self._find_groups()
        self.batch_index = self.first_row = self.first_column = constant(0)

    @property
    def accumulator(self) -> DType:
        return self.contraction.accumulator

    def _add_arguments(self) -> dict[SSAValue, SSAValue]:
        pointers: dict[SSAValue, SSAValue] = {}
        for argument in self.kernel.block.args:
            pointers[argument] = self._pointer(argument, argument.name_hint)
        self.results = [self._pointer(value, value.name_hint) for value in self.kernel.stored]
        for name in self.symbols:
            value = self._argument(self.emitter.width(symbol(name)), name)
            self.emitter.place(symbol(name), value)
        return pointers

    def _pointer(self, value: SSAValue, hint: str | None) -> SSAValue:
        element = element_type(tensor_of(value).dtype)
        alignment = max(ALIGNMENT, simt.element_bytes(element))
        return self._argument(simt.PtrType.of(element, simt.Space.Global, alignment), hint)

    def _argument(self, kind: Attribute, hint: str | None) -> SSAValue:
        argument = self.block.insert_arg(kind, len(self.block.args))
        argument.name_hint = hint
        return argument

    def _operand(self, value: SSAValue, index_map: IndexMap) -> Operand:
        space = self.placement.space
        at = compose(full_map(self.contraction, space), index_map, space.extents)
        if self.accumulator == F32:
            # Products and sums are in f32 whether the operands are widened in the body or by the template.
            value, at = self.region.before_widening(value, at)
        source = self.region.source(value, at)
        dtype = tensor_of(value).dtype
        if source is None:
            return Operand(value, at, None, None, dtype)
        return Operand(value, at, source[0], self.region.address(*source), dtype)

    def _find_groups(self) -> None:
        """Batch indices reach both operands or neither, rows only the left one, columns only the right one."""
        space = self.placement.space
        left, right = (
            {number for expr in operand.at.exprs for number in index_numbers(expr)} for operand in (self.lhs, self.rhs)
        )
        parallel = range(len(space.parallel))
        rows = [n for n in parallel if n in left and n not in right]
        columns = [n for n in parallel if n in right and n not in left]
        batch = [n for n in parallel if n not in rows and n not in columns]
        self.batch, self.rows, self.columns, self.depth = (
            Group(tuple(numbers), tuple(space.extents[n] for n in numbers))
            for numbers in (batch, rows, columns, range(len(space.parallel), space.rank))
        )

    def index(self, batch: Expr, row: Expr, column: Expr, depth: Expr | None = None) -> list[Expr]:
        """The space's indices at flat positions in each group."""
        found = self.batch.split(batch) | self.rows.split(row) | self.columns.split(column)
        if depth is not None:
            found |= self.depth.split(depth)
        return [found.get(number, constant(0)) for number in range(self.placement.space.rank)]

    def place_block(self, tile: tuple[int, int]) -> Expr:
        """Gives this block a tile of rows and columns and a batch index; returns how many blocks there are.

        Blocks go through the columns first, so neighbours share the rows of the left operand.
        """
        row_tiles, column_tiles = (
            floordiv(group.extent + size - 1, constant(size))
            for group, size in zip((self.rows, self.columns), tile, strict=True)
        )
        count = row_tiles * column_tiles * self.batch.extent
        flat = self.named(self.emitter.add(simt.IdOp(simt.Id.BlockX)), count, "block")
        above = floordiv(flat, divisor(column_tiles))
        column = self.named(self.emitter.index(flat - above * column_tiles), column_tiles, "column_tile")
        batch = floordiv(above, divisor(row_tiles))
        row = self.named(self.emitter.index(above - batch * row_tiles), row_tiles, "row_tile")
        self.batch_index = self.named(self.emitter.index(batch), self.batch.extent, "batch")
        self.first_row, self.first_column = row * tile[0], column * tile[1]
        return count

    @property
    def modes(self) -> list[str]:
        """How the kernel uses its pointers."""
        return ["read"] * len(self.kernel.block.args) + ["write"] * len(self.results)

    def guard(self, *pairs: tuple[Expr, Expr]) -> SSAValue | None:
        """Whether each expression lies below its bound; None where that is proved."""
        conditions: list[SSAValue | None] = []
        for expr, bound in pairs:
            if not self.indices.at_least(bound - expr - 1, 0):
                conditions.append(self.emitter.less(expr, bound))
        return self.emitter.both(*conditions)

    def named(self, value: SSAValue, extent: Expr, hint: str = "") -> Expr:
        """A variable for a value below the extent; 0 if the extent is 1."""
        if extent.as_int() == 1:
            return constant(0)
        variable = self.indices.variable(extent)
        if hint:
            value.name_hint = hint
        self.emitter.place(variable, value)
        return variable
