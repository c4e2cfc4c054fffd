"""Stores the results of a matmul: each total is rounded, goes through the epilogue of the kernel's body, and is
written."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import VectorType, i32
from xdsl.ir import SSAValue

from ...dialects import simt
from ...dialects.op import tensor_of
from ...dialects.sym.expr import Expr, constant, floordiv
from ..kernel_to_loop.scalar_ops import cast, element_type
from ..loop_to_simt.accesses import stride
from .problem import MatmulProblem

VECTOR_BYTES = 16


class Epilogue:
    """Handles strips: `width` neighbouring columns of one row that one thread has the totals of."""

    def __init__(self, problem: MatmulProblem, batch: Expr, width: int):
        self.problem = problem
        self.emitter = problem.emitter
        self.batch = batch
        self.width = width
        self.addresses = [
            problem.region.address(value, at)
            for value, at in zip(problem.kernel.stored, problem.placement.stored, strict=True)
        ]
        self.vectors = width > 1 and all(map(self._is_dense, problem.kernel.stored, self.addresses))

    def _is_dense(self, value: SSAValue, address: Expr) -> bool:
        """Whether each strip of a stored value is one aligned vector."""
        problem, space = self.problem, self.problem.indices
        columns = problem.columns.extent
        if not space.is_multiple(columns, self.width) or tensor_of(value).dtype.bytes * self.width > VECTOR_BYTES:
            return False
        lane = space.variable(constant(self.width))
        column = space.variable(floordiv(columns, constant(self.width))) * self.width + lane
        row = space.variable(problem.rows.extent)
        offset = problem.region.replace(address, problem.index(self.batch, row, column))
        step = stride(offset, lane)
        return step is not None and step.as_int() == 1 and space.is_multiple(offset - lane, self.width)

    def strip(self, row: Expr, first_column: Expr, total: Callable[[Expr], SSAValue]) -> None:
        """Stores one strip; `total(lane)` emits the accumulated value of a lane."""
        if self.vectors:
            self._vector_strip(row, first_column, total)
            return
        problem = self.problem
        with self.emitter.unrolled(self.width, "lane") as lane:
            column = first_column + lane
            inside = problem.guard((row, problem.rows.extent), (column, problem.columns.extent))
            with self.emitter.when(inside):
                indices = problem.index(self.batch, row, column)
                values = self._values(indices, total(lane))
                for value, address, pointer in zip(values, self.addresses, problem.results, strict=True):
                    offset = self.emitter.index(problem.region.replace(address, indices))
                    self.emitter.do(simt.StoreOp(value, pointer, offset))

    def _values(self, indices: list[Expr], total: SSAValue) -> list[SSAValue]:
        problem = self.problem
        rounded = cast(self.emitter.add, total, problem.accumulator, tensor_of(problem.contraction.result).dtype)
        evaluate = problem.region.evaluation(indices, rounded)
        return [evaluate(value, at) for value, at in zip(problem.kernel.stored, problem.placement.stored, strict=True)]

    def _vector_strip(self, row: Expr, first_column: Expr, total: Callable[[Expr], SSAValue]) -> None:
        problem = self.problem
        inside = problem.guard((row, problem.rows.extent), (first_column, problem.columns.extent))
        elements = [element_type(tensor_of(value).dtype) for value in problem.kernel.stored]
        with self.emitter.when(inside):
            arrays = [self.emitter.add(simt.RegsOp(simt.RegType.of([self.width], element))) for element in elements]
            with self.emitter.unrolled(self.width, "lane") as lane:
                values = self._values(problem.index(self.batch, row, first_column + lane), total(lane))
                for value, array in zip(values, arrays, strict=True):
                    self.emitter.do(simt.RegStoreOp(value, array, [self.emitter.index(lane, i32)]))
            indices = problem.index(self.batch, row, first_column)
            for array, element, address, pointer in zip(arrays, elements, self.addresses, problem.results, strict=True):
                vector = self.emitter.add(simt.RegLoadOp(array, [], VectorType(element, [self.width])))
                offset = self.emitter.index(problem.region.replace(address, indices))
                self.emitter.do(simt.StoreOp(vector, pointer, offset))
