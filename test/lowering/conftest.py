"""Graphs that the tests of search and planning compile: a BERT-like encoder, whole and decomposed, and random
elementwise graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from xdsl.dialects.builtin import ArrayAttr, BoolAttr, DictionaryAttr, FunctionType, IntAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from albumen.dialects.dtype import F32, F64, I64, DType
from albumen.dialects.evaluate import evaluate_function, random_inputs
from albumen.dialects.hlir.activation import GeluOp
from albumen.dialects.hlir.attention import SdpaOp
from albumen.dialects.hlir.builder import GraphBuilder
from albumen.dialects.hlir.elementwise import AddOp, MulOp
from albumen.dialects.hlir.index_map import IndexMap
from albumen.dialects.hlir.indexing import GatherOp
from albumen.dialects.hlir.linear import LinearOp, contract
from albumen.dialects.hlir.normalization import LayerNormOp
from albumen.dialects.hlir.softmax import SoftmaxOp
from albumen.dialects.hlir.types import ScalarAttr, ShapeAttr, TensorType, tensor_type
from albumen.dialects.op import Array
from albumen.dialects.sym.dialect import SymbolOp
from albumen.dialects.sym.expr import IntLike, index, symbol

B, S = symbol("b"), symbol("s")


class Graph:
    """A function under construction: `arg` adds an argument, `finish` returns the module."""

    def __init__(self) -> None:
        self.block = Block()
        self.b = GraphBuilder(self.block)
        self.attributes: list[DictionaryAttr] = []

    def arg(self, name: str, dims: Sequence[IntLike], dtype: DType = F32, role: str = "input") -> SSAValue:
        value = self.block.insert_arg(tensor_type(dims, dtype), len(self.block.args))
        value.name_hint = name
        entries: dict[str, Attribute] = {"hlir.role": StringAttr(role), "hlir.name": StringAttr(name)}
        self.attributes.append(DictionaryAttr(entries))
        return value

    def weight(self, name: str, *dims: IntLike) -> SSAValue:
        return self.arg(name, dims, role="parameter")

    def finish(self, *results: SSAValue, outputs: Attribute | None = None) -> ModuleOp:
        self.block.add_op(ReturnOp(*results))
        types = [a.type for a in self.block.args], [r.type for r in results]
        function = FuncOp("main", FunctionType.from_lists(*types), Region(self.block))
        function.arg_attrs = ArrayAttr(self.attributes)
        if outputs is not None:
            function.attributes["hlir.outputs"] = outputs
        return ModuleOp([SymbolOp("b", 0, 64), SymbolOp("s", 1, 512), function])


HEADS, DEPTH, INNER = 4, 8, 48
HIDDEN = HEADS * DEPTH


def split_heads(b: GraphBuilder, x: SSAValue) -> SSAValue:
    return b.permute(b.reshape(x, [B, S, HEADS, DEPTH]), [0, 2, 1, 3])


def attention(b: GraphBuilder, q: SSAValue, k: SSAValue, v: SSAValue, mask: SSAValue, whole: bool) -> SSAValue:
    mask = b.broadcast(mask, [B, HEADS, S, S])
    if whole:
        return b.emit(SdpaOp, [q, k, v, mask], scale=ScalarAttr.get(DEPTH**-0.5, F64), causal=BoolAttr.from_bool(False))
    lead = (index(0), index(1))
    maps = IndexMap(5, (*lead, index(2), index(4))), IndexMap(5, (*lead, index(3), index(4)))
    scores = contract(b, q, k, ShapeAttr.get([B, HEADS, S, S, DEPTH]), *maps, [4])
    scale = b.constant(DEPTH**-0.5, tensor_type([B, HEADS, S, S], F32))
    scores = b.emit(AddOp, [b.emit(MulOp, [scores, scale]), mask])
    p = b.emit(SoftmaxOp, [scores], axis=IntAttr(3))
    maps = IndexMap(5, (*lead, index(2), index(4))), IndexMap(5, (*lead, index(4), index(3)))
    return contract(b, p, v, ShapeAttr.get([B, HEADS, S, DEPTH, S]), *maps, [4])


def layer(g: Graph, x: SSAValue, mask: SSAValue, n: int, whole: bool) -> SSAValue:
    b = g.b

    def linear(x: SSAValue, name: str, out: int, inner: int) -> SSAValue:
        weight, bias = g.weight(f"l{n}.{name}.w", out, inner), g.weight(f"l{n}.{name}.b", out)
        return b.emit(LinearOp, [x, weight, bias])

    def norm(x: SSAValue, name: str) -> SSAValue:
        parameters = g.weight(f"l{n}.{name}.w", HIDDEN), g.weight(f"l{n}.{name}.b", HIDDEN)
        return b.emit(LayerNormOp, [x, *parameters], dims=IntAttr(1), epsilon=ScalarAttr.get(1e-12, F64))

    q, k, v = (split_heads(b, linear(x, name, HIDDEN, HIDDEN)) for name in "qkv")
    context = attention(b, q, k, v, mask, whole)
    context = b.reshape(b.permute(context, [0, 2, 1, 3]), [B, S, HIDDEN])
    x = norm(b.emit(AddOp, [linear(context, "o", HIDDEN, HIDDEN), x]), "norm1")
    inner = b.emit(GeluOp, [linear(x, "up", INNER, HIDDEN)], approximate=StringAttr("none"))
    return norm(b.emit(AddOp, [linear(inner, "down", HIDDEN, INNER), x]), "norm2")


def make_encoder(layers: int = 1, whole: bool = True) -> ModuleOp:
    """Embedding, norm and `layers` encoder layers; `whole` keeps attention one op."""
    g = Graph()
    ids = g.arg("ids", [B, S], I64)
    mask = g.arg("mask", [B, 1, 1, S])
    words, places = g.weight("words", 11, HIDDEN), g.weight("places", 512, HIDDEN)
    b = g.b
    tokens = b.emit(GatherOp, [words, ids], axis=IntAttr(0))
    positions = b.view(places, IndexMap(3, (index(1), index(2))), [B, S, HIDDEN])
    x = b.emit(AddOp, [tokens, positions])
    parameters = g.weight("norm.w", HIDDEN), g.weight("norm.b", HIDDEN)
    x = b.emit(LayerNormOp, [x, *parameters], dims=IntAttr(1), epsilon=ScalarAttr.get(1e-12, F64))
    for n in range(layers):
        x = layer(g, x, mask, n, whole)
    return g.finish(x)


@pytest.fixture
def encoder() -> Callable[..., ModuleOp]:
    return make_encoder


@pytest.fixture
def graph() -> Graph:
    return Graph()


Check = Callable[..., None]


def function_of(module: ModuleOp) -> FuncOp:
    return next(op for op in module.ops if isinstance(op, FuncOp))


def assert_close(want: Sequence[Array], got: Sequence[Array], eps: float = 2e-5) -> None:
    assert len(want) == len(got)
    for a, b in zip(want, got, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol=eps, atol=eps)


SIZES = ({"b": 2, "s": 3}, {"b": 1, "s": 1}, {"b": 3, "s": 7}, {"b": 0, "s": 2})


@pytest.fixture
def same_values(rng: np.random.Generator) -> Callable[[ModuleOp, ModuleOp], None]:
    """Checks that two modules compute the same values at several sizes."""

    def check(before: ModuleOp, after: ModuleOp, sizes: Sequence[dict[str, int]] = SIZES) -> None:
        for symbols in sizes:
            inputs = random_inputs(function_of(before), rng, symbols)
            want = evaluate_function(before, "main", inputs, symbols)
            assert_close(want, evaluate_function(after, "main", inputs, symbols))

    return check


__all__ = ["Graph", "TensorType", "assert_close", "function_of", "make_encoder"]
