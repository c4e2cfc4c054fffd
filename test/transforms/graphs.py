"""Transformer layers as an importer would write them, for the tests of graph passes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ArrayAttr, BoolAttr, DictionaryAttr, FunctionType, IntAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from albumen.dialects.dtype import F32, F64, DType
from albumen.dialects.hlir import index_map as maps
from albumen.dialects.hlir.activation import GeluOp
from albumen.dialects.hlir.arithmetic import ErfOp, ExpOp, RsqrtOp, SubOp
from albumen.dialects.hlir.attention import SdpaOp
from albumen.dialects.hlir.builder import GraphBuilder
from albumen.dialects.hlir.contraction import ContractOp, contraction_properties
from albumen.dialects.hlir.elementwise import AddOp, DivOp, MulOp
from albumen.dialects.hlir.index_map import IndexMap
from albumen.dialects.hlir.linear import LinearOp
from albumen.dialects.hlir.normalization import LayerNormOp, mean_over
from albumen.dialects.hlir.reduction import MaxOp, SumOp
from albumen.dialects.hlir.softmax import SoftmaxOp
from albumen.dialects.hlir.types import ScalarAttr, ShapeAttr, TensorType, axes_attr, tensor_type
from albumen.dialects.op import tensor_of
from albumen.dialects.sym.dialect import SymbolOp
from albumen.dialects.sym.expr import Expr, IntLike, index, symbol

B, S = symbol("b"), symbol("s")
Build = Callable[[GraphBuilder, dict[str, SSAValue]], Sequence[SSAValue]]


def module_of(arguments: dict[str, TensorType], build: Build, symbols: Sequence[str] = ("b", "s")) -> ModuleOp:
    """A module whose @main has these named arguments."""
    block = Block(arg_types=list(arguments.values()))
    for argument, name in zip(block.args, arguments, strict=True):
        argument.name_hint = name
    results = list(build(GraphBuilder(block), dict(zip(arguments, block.args, strict=True))))
    block.add_op(ReturnOp(*results))
    types = FunctionType.from_lists(list(arguments.values()), [r.type for r in results])
    function = FuncOp("main", types, Region(block))
    function.arg_attrs = ArrayAttr([DictionaryAttr({"hlir.name": StringAttr(name)}) for name in arguments])
    return ModuleOp([*(SymbolOp(name, 1, 512) for name in symbols), function])


@dataclass
class Encoder:
    """BERT-like encoder layers on x[b, s, width], whole (composites) or decomposed into small ops."""

    layers: int = 1
    heads: int = 2
    head: int = 4
    hidden: int = 16
    whole: bool = True
    pre_norm: bool = False
    dtype: DType = F32
    batch: Expr = field(default_factory=lambda: B)
    length: Expr = field(default_factory=lambda: S)

    @property
    def width(self) -> int:
        return self.heads * self.head

    def arguments(self) -> dict[str, TensorType]:
        t = self.tensor
        found = {"x": t(self.batch, self.length, self.width), "mask": t(self.batch, 1, 1, self.length)}
        for layer in range(self.layers):
            for name, out, inner in self._weights():
                found[f"{name}_w{layer}"] = t(out, inner)
                found[f"{name}_b{layer}"] = t(out)
            for norm in ("n1", "n2"):
                found[f"{norm}_w{layer}"] = found[f"{norm}_b{layer}"] = t(self.width)
        return found

    def _weights(self) -> list[tuple[str, int, int]]:
        square = [(name, self.width, self.width) for name in "qkvo"]
        return [*square, ("up", self.hidden, self.width), ("down", self.width, self.hidden)]

    def tensor(self, *dims: IntLike) -> TensorType:
        return tensor_type(dims, self.dtype)

    def build(self, b: GraphBuilder, values: dict[str, SSAValue]) -> list[SSAValue]:
        x = values["x"]
        for layer in range(self.layers):
            own = {name.removesuffix(str(layer)): v for name, v in values.items() if name.endswith(str(layer))}
            x = self.layer(b, x, values["mask"], own)
        return [x]

    def module(self) -> ModuleOp:
        names = [str(d) for d in (self.batch, self.length) if d.as_int() is None]
        return module_of(self.arguments(), self.build, names)

    def layer(self, b: GraphBuilder, x: SSAValue, mask: SSAValue, p: dict[str, SSAValue]) -> SSAValue:
        def linear(y: SSAValue, name: str) -> SSAValue:
            return self.linear(b, y, p[f"{name}_w"], p[f"{name}_b"])

        def norm(y: SSAValue, name: str) -> SSAValue:
            return self.norm(b, y, p[f"{name}_w"], p[f"{name}_b"])

        y = norm(x, "n1") if self.pre_norm else x
        q, k, v = (self.split(b, linear(y, name)) for name in "qkv")
        x = b.emit(AddOp, [linear(self.attention(b, q, k, v, mask), "o"), x])
        x = x if self.pre_norm else norm(x, "n1")
        y = norm(x, "n2") if self.pre_norm else x
        x = b.emit(AddOp, [linear(self.gelu(b, linear(y, "up")), "down"), x])
        return x if self.pre_norm else norm(x, "n2")

    def linear(self, b: GraphBuilder, x: SSAValue, weight: SSAValue, bias: SSAValue) -> SSAValue:
        if self.whole:
            return b.emit(LinearOp, [x, weight, bias])
        rows, (n, k) = self.batch * self.length, tensor_of(weight).dims
        flat = b.reshape(x, [rows, k])
        y = matmul(b, flat, b.permute(weight, [1, 0]))
        y = b.emit(AddOp, [y, b.broadcast(bias, [rows, n])])
        return b.reshape(y, [self.batch, self.length, n])

    def split(self, b: GraphBuilder, x: SSAValue) -> SSAValue:
        shaped = b.reshape(x, [self.batch, self.length, self.heads, self.head])
        return b.permute(shaped, [0, 2, 1, 3])

    def attention(self, b: GraphBuilder, q: SSAValue, k: SSAValue, v: SSAValue, mask: SSAValue) -> SSAValue:
        scale = 1 / math.sqrt(self.head)
        scores = [self.batch, self.heads, self.length, self.length]
        wide = b.broadcast(mask, scores)
        if self.whole:
            settings = {"scale": ScalarAttr.get(scale, F64), "causal": BoolAttr.from_bool(False)}
            y = b.emit(SdpaOp, [q, k, v, wide], **settings)
        else:
            z = matmul(b, q, b.permute(k, [0, 1, 3, 2]))
            z = b.emit(MulOp, [z, b.constant(scale, tensor_of(z))])
            y = matmul(b, self.softmax(b, b.emit(AddOp, [z, wide])), v)
        return b.reshape(b.permute(y, [0, 2, 1, 3]), [self.batch, self.length, self.width])

    def softmax(self, b: GraphBuilder, z: SSAValue) -> SSAValue:
        if self.whole:
            return b.emit(SoftmaxOp, [z], axis=IntAttr(3))
        dims = tensor_of(z).dims
        top = b.restore_axes(b.emit(MaxOp, [z], axes=axes_attr([3])), [3], dims)
        e = b.emit(ExpOp, [b.emit(SubOp, [z, top])])
        return b.emit(DivOp, [e, b.restore_axes(b.emit(SumOp, [e], axes=axes_attr([3])), [3], dims)])

    def norm(self, b: GraphBuilder, x: SSAValue, weight: SSAValue, bias: SSAValue) -> SSAValue:
        if self.whole:
            return b.emit(LayerNormOp, [x, weight, bias], dims=IntAttr(1), epsilon=ScalarAttr.get(1e-5, F64))
        dims = tensor_of(x).dims
        centred = b.emit(SubOp, [x, mean_over(b, x, [2])])
        total = b.emit(SumOp, [b.emit(MulOp, [centred, centred])], axes=axes_attr([2]))
        variance = b.emit(DivOp, [total, b.constant(self.width, tensor_of(total))])
        spread = b.emit(AddOp, [variance, b.constant(1e-5, tensor_of(variance))])
        scaled = b.emit(MulOp, [centred, b.restore_axes(b.emit(RsqrtOp, [spread]), [2], dims)])
        return b.emit(AddOp, [b.emit(MulOp, [scaled, b.broadcast(weight, dims)]), b.broadcast(bias, dims)])

    def gelu(self, b: GraphBuilder, x: SSAValue) -> SSAValue:
        if self.whole:
            return b.emit(GeluOp, [x], approximate=StringAttr("none"))
        like = tensor_of(x)
        half = b.emit(MulOp, [x, b.constant(0.5, like)])
        curve = b.emit(ErfOp, [b.emit(MulOp, [x, b.constant(math.sqrt(0.5), like)])])
        return b.emit(MulOp, [half, b.emit(AddOp, [curve, b.constant(1.0, like)])])


def matmul(b: GraphBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """x[..., m, k] @ y[..., k, n]."""
    *batch, m, k = tensor_of(x).dims
    n = tensor_of(y).dims[-1]
    lead = tuple(index(i) for i in range(len(batch)))
    i, j, r = (index(len(batch) + d) for d in range(3))
    space = ShapeAttr.get((*batch, m, n, k))
    left, right = (maps.canonical(IndexMap(len(batch) + 3, (*lead, *e)), space.data) for e in ((i, r), (r, j)))
    return b.emit(ContractOp, [x, y], **contraction_properties(space, left, right, [len(batch) + 2]))
