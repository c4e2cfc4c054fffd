"""Modules on which every rule of a theory fires: texts in `rules/`, and for rules derived from ops calls of every
op."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from graphs import module_of
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser

from albumen.dialects.dtype import BF16, F16, F32, F64, I1, I32, I64, DType
from albumen.dialects.errors import TypeRuleError
from albumen.dialects.hlir import conversion as cv
from albumen.dialects.hlir import elementwise as el
from albumen.dialects.hlir.arithmetic import ErfOp, ExpOp, NegOp
from albumen.dialects.hlir.builder import GraphBuilder
from albumen.dialects.hlir.composite import Composite
from albumen.dialects.hlir.dialect import HLIR
from albumen.dialects.hlir.pointwise import Elementwise
from albumen.dialects.hlir.types import TensorType, tensor_type
from albumen.dialects.op import TensorOp, tensor_of
from albumen.dialects.sym.dialect import SYM, SymbolOp
from albumen.dialects.sym.expr import symbol

FOLDER = Path(__file__).parent / "rules"
S = symbol("s")


def parse_module(text: str) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, Func, HLIR, SYM):
        context.load_dialect(dialect)
    return Parser(context, text).parse_module()


def read(name: str) -> ModuleOp:
    module = parse_module((FOLDER / f"{name}.mlir").read_text())
    module.body.block.insert_op_before(SymbolOp("s"), next(iter(module.ops)))
    module.verify()
    return module


def arguments_of(op: type[TensorOp], dtype: DType) -> list[TensorType] | None:
    """Operand types [s, 3] of an elementwise op, or None where it has no such dtype."""
    assert issubclass(op, Elementwise)
    types = [tensor_type([S, 3], dtype)] * op.ARITY
    if op is cv.SelectOp:
        types[0] = tensor_type([S, 3], I1)
    try:
        op.infer(types, settings(op)[0])
    except TypeRuleError:
        return None
    return types


def settings(op: type[TensorOp]) -> list[dict[str, Attribute]]:
    """The distinct properties in the valid samples of an op, a few of them."""
    found: list[dict[str, Attribute]] = []
    for sample in op.SAMPLES:
        properties = dict(sample.properties)
        if not sample.error and properties not in found:
            found.append(properties)
    return found[:2]


ELEMENTWISE = [op for op in HLIR.operations if issubclass(op, Elementwise)]


def each_elementwise(dtypes: Sequence[DType]) -> list[tuple[type[TensorOp], list[TensorType]]]:
    found: list[tuple[type[TensorOp], list[TensorType]]] = []
    for op in ELEMENTWISE:
        fitting = [types for types in (arguments_of(op, d) for d in dtypes) if types is not None]
        found += [(op, types) for types in fitting]
    return found


def witness_of_calls(cases: Sequence[tuple[type[TensorOp], list[TensorType]]], use: str) -> ModuleOp:
    """A function that calls each op on arguments of its own and returns a `use` of the results."""
    arguments = {f"x{i}_{j}": t for i, (_, types) in enumerate(cases) for j, t in enumerate(types)}

    def build(b: GraphBuilder, v: dict[str, SSAValue]) -> list[SSAValue]:
        results: list[SSAValue] = []
        for i, (op, types) in enumerate(cases):
            operands = [v[f"x{i}_{j}"] for j in range(len(types))]
            for properties in settings(op):
                results.append(USES[use](b, op, operands, properties))
        return results

    return module_of(arguments, build, ["s"])


def transposed(
    b: GraphBuilder, op: type[TensorOp], operands: list[SSAValue], properties: dict[str, Attribute]
) -> SSAValue:
    return b.permute(b.emit(op, operands, **properties), [1, 0])


def called(b: GraphBuilder, op: type[TensorOp], operands: list[SSAValue], properties: dict[str, Attribute]) -> SSAValue:
    return b.emit(op, operands, **properties)


def written_out(
    b: GraphBuilder, op: type[TensorOp], operands: list[SSAValue], properties: dict[str, Attribute]
) -> SSAValue:
    made = op.make(operands, properties)
    (result,) = made.expand(b)
    made.erase()
    return result


def in_f32(b: GraphBuilder, op: type[TensorOp], operands: list[SSAValue], properties: dict[str, Attribute]) -> SSAValue:
    wide = [b.cast(x, F32) for x in operands]
    return b.cast(b.emit(op, wide, **properties), tensor_of(operands[0]).dtype)


USES = {"transposed": transposed, "called": called, "written out": written_out, "in f32": in_f32}


def is_composite(op: type[TensorOp]) -> bool:
    return issubclass(op, Composite) and op is not ErfOp


def same_dtype(op: type[TensorOp]) -> bool:
    assert issubclass(op, Elementwise)
    return op.RESULT is None and op not in (cv.CastOp, cv.BitcastOp, cv.SelectOp)


def activations() -> ModuleOp:
    """gelu, silu and reciprocals in the other ways of writing them."""

    def build(b: GraphBuilder, v: dict[str, SSAValue]) -> list[SSAValue]:
        results: list[SSAValue] = []
        for x in v.values():
            like = tensor_of(x)
            one, half = b.constant(1.0, like), b.constant(0.5, like)
            results.append(b.emit(el.DivOp, [one, x]))
            if like.dtype in (F32, F64):
                root = b.constant(np.sqrt(0.5), like)
                twice = b.emit(el.AddOp, [b.emit(ErfOp, [b.emit(el.MulOp, [x, root])]), one])
                results.append(b.emit(el.MulOp, [x, b.emit(el.MulOp, [twice, half])]))
                results.append(b.emit(el.MulOp, [b.emit(el.MulOp, [x, twice]), half]))
                below = b.emit(el.AddOp, [b.emit(ExpOp, [b.emit(NegOp, [x])]), one])
                results.append(b.emit(el.DivOp, [x, below]))
        return results

    return module_of({d.name: tensor_type([S, 3], d) for d in (F32, F64, F16, BF16)}, build, ["s"])


def witnesses(theory: str) -> list[ModuleOp]:
    if theory == "views":
        return [read("views"), witness_of_calls(each_elementwise([F32, I32, I1]), "transposed")]
    if theory == "spelling":
        composites = [case for case in each_elementwise([F32, F64, I32, I64]) if is_composite(case[0])]
        narrow = [case for case in each_elementwise([BF16]) if same_dtype(case[0])]
        commuting = [c for c in each_elementwise([F32, I32, I1]) if getattr(c[0], "COMMUTATIVE", False)]
        return [
            witness_of_calls(composites, "written out"),
            witness_of_calls(narrow, "in f32"),
            witness_of_calls(commuting, "called"),
            activations(),
        ]
    return [read(theory)]
