"""Every tensor op of every dialect, and every element type it takes, for the tests and tables that walk them all."""

from __future__ import annotations

from dataclasses import dataclass

from .dtype import DTYPES, DType
from .errors import TypeRuleError
from .hlir.conversion import SelectOp
from .hlir.dialect import HLIR
from .op import Sample, TensorOp


def catalogue() -> tuple[type[TensorOp], ...]:
    """All op classes with facets, in the order of their dialects."""
    return tuple(op for op in HLIR.operations if issubclass(op, TensorOp))


@dataclass(frozen=True)
class Cell:
    """An op in one element type, and its valid samples of that type; `derived`: made from one of another type."""

    op_class: type[TensorOp]
    dtype: DType
    samples: tuple[Sample, ...]
    derived: bool = False


def main_dtype(op_class: type[TensorOp], sample: Sample) -> DType:
    """The element type that a use of an op is about: that of the first operand; the result's where there is none, or
    where the first operand only selects."""
    if not sample.operands or op_class is SelectOp:
        return op_class.infer(sample.operands, sample.properties)[0].dtype
    return sample.operands[0].dtype


def in_dtype(op_class: type[TensorOp], sample: Sample, dtype: DType) -> Sample | None:
    """The sample with its main element type replaced, if the op takes that."""
    main = main_dtype(op_class, sample)
    operands = tuple(t.with_dtype(dtype) if t.dtype == main else t for t in sample.operands)
    properties = dict(sample.properties)
    if not operands and properties.get("dtype") == main.attr:
        properties["dtype"] = dtype.attr
    changed = Sample(operands, properties, low=sample.low, high=sample.high)
    try:
        op_class.infer(operands, properties)
    except TypeRuleError:
        return None
    return changed if main_dtype(op_class, changed) == dtype else None


def cells(op_class: type[TensorOp]) -> tuple[Cell, ...]:
    """The element types that an op takes, in the order of DTYPES, each with its samples."""
    valid = [sample for sample in op_class.SAMPLES if not sample.error]
    found: list[Cell] = []
    for dtype in DTYPES:
        samples = tuple(sample for sample in valid if main_dtype(op_class, sample) == dtype)
        if samples:
            found.append(Cell(op_class, dtype, samples))
            continue
        changed = (in_dtype(op_class, sample, dtype) for sample in valid)
        first = next((sample for sample in changed if sample is not None), None)
        if first is not None:
            found.append(Cell(op_class, dtype, (first,), derived=True))
    return tuple(found)
