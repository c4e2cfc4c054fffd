"""Tensors from nothing: splat constants, literals, index expressions and random bits."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure

from ..dtype import DTYPES, F32, I32, I64, DType, dtype_of
from ..op import Array, Environment, Kind, Sample, TensorOp, parse_signature, require, require_dtype, require_operands
from ..sym.expr import index, symbol
from ..sym.substitute import evaluate
from .index_map import IndexMap
from .philox import philox_bits
from .scalar import Scalar
from .types import (
    MapAttr,
    ScalarAttr,
    ShapeAttr,
    TensorType,
    parse_map,
    parse_spelled_number,
    scalar_from,
    tensor_type,
)


def _shape_of(properties: Mapping[str, Attribute]) -> ShapeAttr:
    shape = properties.get("shape")
    require(isinstance(shape, ShapeAttr), "needs the property 'shape'")
    assert isinstance(shape, ShapeAttr)
    return shape


@irdl_op_definition
class ConstantOp(TensorOp):
    """Every element is `value`. `hlir.constant 1.0 : !hlir.tensor<[s], f32>`"""

    name = "hlir.constant"
    KIND: ClassVar[Kind] = Kind.CREATION
    SAMPLES: ClassVar = (
        *(Sample((), {"value": ScalarAttr.get(1, d), "shape": ShapeAttr.get([3])}) for d in DTYPES),
        Sample((), {"value": ScalarAttr.get(-0.0, F32), "shape": ShapeAttr.get([])}),
        Sample((), {"value": ScalarAttr.get(float("nan"), F32), "shape": ShapeAttr.get([0])}),
        Sample((), {"value": ScalarAttr.get(1, F32)}, error="needs the property 'shape'"),
        Sample((), {"shape": ShapeAttr.get([])}, error="needs the property 'value'"),
    )

    value = prop_def(ScalarAttr)
    shape = prop_def(ShapeAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure(), ConstantLike())

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        require_operands(operands, 0)
        value = properties.get("value")
        require(isinstance(value, ScalarAttr), "needs the property 'value'")
        assert isinstance(value, ScalarAttr)
        return (tensor_type(_shape_of(properties).data, value.data.dtype),)

    @property
    def scalar(self) -> Scalar:
        return self.value.data

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        scalar = self.scalar
        return (np.broadcast_to(scalar.dtype.scalar(scalar.bits), env.shape(self.shape)),)

    @classmethod
    def parse(cls, parser: Parser) -> "ConstantOp":
        at = parser.pos
        spelled = parse_spelled_number(parser)
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        if not isinstance(type_, TensorType):
            parser.raise_error(f"a constant is a tensor, found {type_}")
        value = ScalarAttr(scalar_from(parser, spelled, type_.dtype.name, at))
        return cls.create(result_types=[type_], properties={"value": value, "shape": type_.shape})

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.scalar.digits()} : ")
        printer.print_attribute(self.results[0].type)


@irdl_op_definition
class LiteralOp(TensorOp):
    """A small table of numbers, row-major little-endian bytes in hexadecimal. `hlir.literal "0000803F" :
    !hlir.tensor<[1], f32>`"""

    name = "hlir.literal"
    KIND: ClassVar[Kind] = Kind.CREATION
    SAMPLES: ClassVar = (
        Sample((), {"data": StringAttr("0000803F00000040"), "shape": ShapeAttr.get([2]), "dtype": F32.attr}),
        Sample((), {"data": StringAttr(""), "shape": ShapeAttr.get([0]), "dtype": I64.attr}),
        Sample((), {"data": StringAttr("00"), "shape": ShapeAttr.get([1]), "dtype": F32.attr}, error="4 bytes"),
        Sample(
            (),
            {"data": StringAttr("0000803F"), "shape": ShapeAttr.get([symbol("s")]), "dtype": F32.attr},
            error="static",
        ),
    )

    data = prop_def(StringAttr)
    shape = prop_def(ShapeAttr)
    dtype = prop_def()
    result = result_def(TensorType)
    traits = traits_def(Pure(), ConstantLike())

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        require_operands(operands, 0)
        shape, data = _shape_of(properties), properties.get("data")
        require(isinstance(data, StringAttr) and "dtype" in properties, "needs the properties 'data' and 'dtype'")
        assert isinstance(data, StringAttr)
        dtype = dtype_of(properties["dtype"])
        extents = [d.as_int() for d in shape.data]
        require(None not in extents, "the shape of a literal is static")
        size = int(np.prod([e for e in extents if e is not None], dtype=np.int64)) * dtype.bytes
        require(
            len(data.data) == 2 * size, f"{shape.data} of {dtype.name} takes {size} bytes, found {len(data.data) / 2:g}"
        )
        return (tensor_type(shape.data, dtype),)

    @classmethod
    def of_array(cls, x: Array, dtype: DType) -> dict[str, Attribute]:
        """The properties of the literal that holds `x`."""
        data = np.ascontiguousarray(x.astype(dtype.numpy, copy=False)).tobytes().hex().upper()
        return {"data": StringAttr(data), "shape": ShapeAttr.get(x.shape), "dtype": dtype.attr}

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        type_ = self.result_type
        return (np.frombuffer(bytes.fromhex(self.data.data), type_.dtype.numpy).reshape(env.shape(type_)),)

    @classmethod
    def parse(cls, parser: Parser) -> "LiteralOp":
        data = parser.parse_str_literal()
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        if not isinstance(type_, TensorType):
            parser.raise_error(f"a literal is a tensor, found {type_}")
        properties = {"data": StringAttr(data), "shape": type_.shape, "dtype": type_.element}
        return cls.create(result_types=[type_], properties=properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(f' "{self.data.data}" : ')
        printer.print_attribute(self.results[0].type)


@irdl_op_definition
class IotaOp(TensorOp):
    """Each element is an integer expression of its indices and the symbols, converted to the dtype.

    `hlir.iota (d0, d1) -> (d0*4 + d1) : !hlir.tensor<[s, 4], i64>`; with no index it is a dim as a number.
    """

    name = "hlir.iota"
    KIND: ClassVar[Kind] = Kind.CREATION
    SAMPLES: ClassVar = (
        *(
            Sample(
                (),
                {"value": MapAttr.get(2, [index(0) * 4 + index(1)]), "shape": ShapeAttr.get([3, 4]), "dtype": d.attr},
            )
            for d in (I32, I64, F32)
        ),
        Sample((), {"value": MapAttr.get(0, [7]), "shape": ShapeAttr.get([]), "dtype": I64.attr}),
        Sample(
            (), {"value": MapAttr.get(1, [index(0)]), "shape": ShapeAttr.get([]), "dtype": I64.attr}, error="1 indices"
        ),
    )

    value = prop_def(MapAttr)
    shape = prop_def(ShapeAttr)
    dtype = prop_def()
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        require_operands(operands, 0)
        shape, value = _shape_of(properties), properties.get("value")
        require(isinstance(value, MapAttr) and "dtype" in properties, "needs the properties 'value' and 'dtype'")
        assert isinstance(value, MapAttr)
        require(len(value.data.exprs) == 1, f"iota has one expression, found {len(value.data.exprs)}")
        require(value.data.rank == shape.rank, f"the expression has {value.data.rank} indices for rank {shape.rank}")
        return (tensor_type(shape.data, dtype_of(properties["dtype"])),)

    @property
    def expression(self) -> IndexMap:
        return self.value.data

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        shape = env.shape(self.shape)
        axes = {i: np.arange(n).reshape([-1 if j == i else 1 for j in range(len(shape))]) for i, n in enumerate(shape)}
        value = np.asarray(evaluate(self.expression.exprs[0], env.symbols, axes), np.int64)
        return (np.broadcast_to(value, shape).astype(self.result_type.dtype.numpy),)

    @classmethod
    def parse(cls, parser: Parser) -> "IotaOp":
        value = MapAttr(parse_map(parser))
        parser.parse_punctuation(":")
        _, results = parse_signature(parser, 0)
        type_ = results[0]
        if not isinstance(type_, TensorType):
            parser.raise_error(f"iota is a tensor, found {type_}")
        properties = {"value": value, "shape": type_.shape, "dtype": type_.element}
        return cls.create(result_types=[type_], properties=properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.expression} : ")
        printer.print_attribute(self.results[0].type)


@irdl_op_definition
class RandomBitsOp(TensorOp):
    """Philox4x32-10 bits: element i is word i % 4 of the block whose 128-bit counter is offset + i // 4 and whose key
    is seed.

    Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (SC 2011). seed and offset are 0-d i64, the result i32.
    """

    name = "hlir.random_bits"
    KIND: ClassVar[Kind] = Kind.IRREGULAR
    SAMPLES: ClassVar = (
        Sample((tensor_type([], I64), tensor_type([], I64)), {"shape": ShapeAttr.get([3, 5])}, low=0, high=99),
        Sample((tensor_type([], I32), tensor_type([], I64)), {"shape": ShapeAttr.get([3])}, error="must be one of i64"),
        Sample((tensor_type([1], I64), tensor_type([], I64)), {"shape": ShapeAttr.get([3])}, error="0-d"),
    )

    seed = operand_def(TensorType)
    offset = operand_def(TensorType)
    shape = prop_def(ShapeAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        require_operands(operands, 2)
        for operand in operands:
            require_dtype(operand, (I64,), "seed and offset")
            require(operand.rank == 0, "seed and offset are 0-d tensors")
        return (tensor_type(_shape_of(properties).data, I32),)

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        shape = env.shape(self.shape)
        bits = philox_bits(int(inputs[0][()]), int(inputs[1][()]), int(np.prod(shape, dtype=np.int64)))
        return (bits.view(np.int32).reshape(shape),)
