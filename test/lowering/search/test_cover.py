"""cover: kernels compute what the graph computed; each stored value is one that a kernel can store; sizes are as
expected."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, IntAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from albumen.dialects.dtype import BF16, F32, I64
from albumen.dialects.evaluate import evaluate_function, random_inputs
from albumen.dialects.hlir.activation import ReluOp
from albumen.dialects.hlir.arithmetic import ExpOp, SubOp
from albumen.dialects.hlir.arranging import ConcatOp, PadOp
from albumen.dialects.hlir.builder import GraphBuilder
from albumen.dialects.hlir.convolution import ConvOp, MaxPoolOp, ints_attr
from albumen.dialects.hlir.creation import IotaOp, LiteralOp
from albumen.dialects.hlir.elementwise import AddOp, DivOp, MaximumOp, MulOp
from albumen.dialects.hlir.index_map import IndexMap, slicing
from albumen.dialects.hlir.indexing import GatherOp, ScatterOp
from albumen.dialects.hlir.linear import LinearOp, contract
from albumen.dialects.hlir.loop import LoopOp, YieldOp
from albumen.dialects.hlir.normalization import BatchNormOp
from albumen.dialects.hlir.ordering import ScanOp
from albumen.dialects.hlir.reduction import MaxOp, SumOp
from albumen.dialects.hlir.types import MapAttr, ScalarAttr, ShapeAttr, axes_attr, tensor_type
from albumen.dialects.kernel import FusedOp, IrregularOp, KernelOp, MatmulOp
from albumen.dialects.op import Array, tensor_of
from albumen.dialects.sym.expr import index
from albumen.lowering.levels import check_level
from albumen.lowering.search.cover import CoverPass
from albumen.lowering.search.extract import ExtractPass
from albumen.transforms.roll_loops import RollLoopsPass

SameValues = Callable[..., None]


def cover(module: ModuleOp) -> list[KernelOp]:
    ExtractPass().apply(Context(), module)
    CoverPass().apply(Context(), module)
    module.verify()
    check_level(module, "kernel")
    return [op for op in module.walk() if isinstance(op, KernelOp)]


def kinds(kernels: Sequence[KernelOp]) -> str:
    return " ".join(op.name.removeprefix("kernel.") for op in kernels)


@pytest.mark.parametrize("whole", [True, False])
def test_encoder_layer(encoder: Callable[..., ModuleOp], same_values: SameValues, whole: bool) -> None:
    module = encoder(whole=whole)
    before = module.clone()
    kernels = cover(module)
    # embeddings + norm; q k v; scores; softmax; context; output; residual + norm; up + gelu; down; residual + norm
    expected = "fused matmul matmul matmul matmul fused matmul matmul fused matmul matmul fused"
    assert kinds(kernels) == expected
    assert all(len(op.results) == 1 for op in kernels)
    same_values(before, module)


def test_rolled_layers_are_covered_inside_the_loop(encoder: Callable[..., ModuleOp], same_values: SameValues) -> None:
    module = encoder(layers=3)
    before = module.clone()
    RollLoopsPass().apply(Context(), module)
    kernels = cover(module)
    assert len(kernels) < 24
    same_values(before, module)


def test_views_and_constants_of_a_loop_move_into_it(rng: np.random.Generator) -> None:
    def build(b: GraphBuilder, x: SSAValue, u: SSAValue, v: SSAValue, m: SSAValue) -> Sequence[SSAValue]:
        body = Block(arg_types=[x.type, tensor_type([4, 4], F32), x.type, x.type])
        inner = GraphBuilder(body)
        carried, weight, mask, scale = body.args
        maps = IndexMap(3, (index(0), index(2))), IndexMap(3, (index(1), index(2)))
        y = contract(inner, carried, weight, ShapeAttr.get([4, 4, 4]), *maps, [2])
        body.add_op(YieldOp([inner.emit(AddOp, [inner.emit(MulOp, [y, scale]), mask])]))
        streams = [(b.permute(u, [1, 0]), b.permute(v, [1, 0]))]
        loop = LoopOp.build_loop(2, [x], streams, [b.broadcast(m, [4, 4]), b.constant(0.5, tensor_of(x))], body)
        b.block.add_op(loop)
        return list(loop.outs)

    kernels = check(run([((4, 4), F32)] * 3 + [((4,), F32)], build), rng)
    assert kinds(kernels) == "matmul"


def run(types: Sequence[tuple[Sequence[object], object]], build: Callable[..., Sequence[SSAValue]]) -> ModuleOp:
    block = Block(arg_types=[tensor_type(dims, dtype) for dims, dtype in types])  # pyright: ignore
    results = build(GraphBuilder(block), *block.args)
    block.add_op(ReturnOp(*results))
    type_ = FunctionType.from_lists([a.type for a in block.args], [r.type for r in results])
    return ModuleOp([FuncOp("main", type_, Region(block))])


def check(module: ModuleOp, rng: np.random.Generator, inputs: Sequence[Array] | None = None) -> list[KernelOp]:
    before = module.clone()
    kernels = cover(module)
    function = next(op for op in before.ops if isinstance(op, FuncOp))
    arrays = list(inputs) if inputs is not None else random_inputs(function, rng, {})
    want = evaluate_function(before, "main", arrays)
    got = evaluate_function(module, "main", arrays)
    for a, b in zip(want, got, strict=True):
        np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol=1e-5, atol=1e-5)
    return kernels


def test_residual_and_norm_with_two_outputs(rng: np.random.Generator) -> None:
    def build(b: GraphBuilder, x: SSAValue, y: SSAValue) -> Sequence[SSAValue]:
        total = b.emit(AddOp, [x, y])
        mean = b.restore_axes(b.emit(SumOp, [total], axes=axes_attr([1])), [1], [5, 8])
        return total, b.emit(SubOp, [total, mean])

    kernels = check(run([((5, 8), F32), ((5, 8), F32)], build), rng)
    assert kinds(kernels) == "fused"
    assert len(kernels[0].results) == 2


def test_convolution_network(rng: np.random.Generator) -> None:
    def build(b: GraphBuilder, x: SSAValue, w: SSAValue, *statistics: SSAValue) -> Sequence[SSAValue]:
        ones, zeros = ints_attr([1, 1]), ints_attr([1, 1])
        y = b.emit(ConvOp, [x, w], stride=ones, padding=zeros, dilation=ones, groups=IntAttr(1))
        y = b.emit(BatchNormOp, [y, *statistics], epsilon=ScalarAttr.get(1e-5, F32))
        y = b.emit(ReluOp, [y])
        two = ints_attr([2, 2])
        return (b.emit(MaxPoolOp, [y], kernel=two, stride=two, padding=ints_attr([1, 1]), dilation=ones),)

    shapes = [((2, 3, 6, 6), F32), ((4, 3, 3, 3), F32), *[((4,), F32)] * 4]
    inputs = [rng.uniform(0.5, 1, dims).astype(np.float32) for dims, _ in shapes]
    kernels = check(run(shapes, build), rng, inputs)
    # The padded input; the scale of the norm for each channel; the convolution with norm and relu; the pooling.
    assert kinds(kernels) == "fused fused matmul fused"


def test_view_outputs_are_stored_or_copied(rng: np.random.Generator) -> None:
    def build(b: GraphBuilder, x: SSAValue) -> Sequence[SSAValue]:
        y = b.emit(ExpOp, [x])
        flipped = b.view(x, slicing([0, 3], [1, -1]), [3, 4])
        return b.permute(y, [1, 0]), flipped, b.broadcast(b.reshape(y, [12]), [2, 12]), x

    kernels = check(run([((3, 4), F32)], build), rng)
    assert kinds(kernels) == "fused fused fused"


def test_computed_places_read_memory(rng: np.random.Generator) -> None:
    def build(b: GraphBuilder, x: SSAValue, i: SSAValue) -> Sequence[SSAValue]:
        y = b.emit(ExpOp, [x])
        zeros = b.constant(0.0, tensor_type([2, 4], F32))
        taken = b.emit(GatherOp, [y, i], axis=IntAttr(0))
        joined = b.emit(ConcatOp, [taken, zeros, x], axis=IntAttr(0))
        padded = b.emit(
            PadOp,
            [b.permute(y, [1, 0])],
            low=ShapeAttr.get([1, 0]),
            high=ShapeAttr.get([0, 2]),
            value=ScalarAttr.get(2, F32),
        )
        return b.emit(ExpOp, [joined]), padded

    inputs = [rng.uniform(-1, 1, (3, 4)).astype(np.float32), np.array([2, 0], np.int64)]
    check(run([((3, 4), F32), ((2,), I64)], build), rng, inputs)


def test_irregular_kernels(rng: np.random.Generator) -> None:
    def build(b: GraphBuilder, x: SSAValue, i: SSAValue, u: SSAValue) -> Sequence[SSAValue]:
        changed = b.emit(ScatterOp, [b.emit(ExpOp, [x]), i, u], axis=IntAttr(0), mode=StringAttr("add"))
        positions = b.emit(IotaOp, [], value=MapAttr.get(1, [index(0)]), shape=ShapeAttr.get([2]), dtype=I64.attr)
        again = b.emit(ScatterOp, [changed, b.emit(AddOp, [positions, i]), u], axis=IntAttr(0), mode=StringAttr("set"))
        return (b.emit(ScanOp, [b.permute(again, [1, 0])], axis=IntAttr(1), combine=StringAttr("add")),)

    inputs = [rng.uniform(-1, 1, (3, 4)).astype(np.float32), np.array([1, 0], np.int64), np.ones((2, 4), np.float32)]
    kernels = check(run([((3, 4), F32), ((2,), I64), ((2, 4), F32)], build), rng, inputs)
    assert sum(isinstance(op, IrregularOp) for op in kernels) == 3


def test_literals_are_values_of_their_own(rng: np.random.Generator) -> None:
    table = np.arange(4, dtype=np.float32)

    def build(b: GraphBuilder, x: SSAValue) -> Sequence[SSAValue]:
        y = b.emit(AddOp, [x, b.emit(LiteralOp, [], **LiteralOp.of_array(table, F32))])
        return (b.emit(MulOp, [y, b.emit(LiteralOp, [], **LiteralOp.of_array(np.full(4, 3, np.float32), F32))]),)

    module = run([((4,), F32)], build)
    kernels = check(module, rng)
    assert kinds(kernels) == "fused"
    assert sum(op.name == "kernel.literal" for op in module.walk()) == 1


def test_an_intricate_value_is_not_recomputed(rng: np.random.Generator) -> None:
    def build(b: GraphBuilder, x: SSAValue, row: SSAValue) -> Sequence[SSAValue]:
        e = b.emit(ExpOp, [b.emit(ExpOp, [row])])
        return (b.emit(MulOp, [x, b.emit(AddOp, [x, b.broadcast(e, [64, 8])])]),)

    assert kinds(check(run([((64, 8), F32), ((8,), F32)], build), rng)) == "fused fused"


def test_casts_before_a_matmul_are_read_through(rng: np.random.Generator) -> None:
    def build(b: GraphBuilder, x: SSAValue, w: SSAValue, c: SSAValue) -> Sequence[SSAValue]:
        return (b.emit(LinearOp, [x, w, c]),)

    kernels = check(run([((3, 8), BF16), ((4, 8), BF16), ((4,), BF16)], build), rng)
    assert kinds(kernels) == "matmul"
    assert isinstance(kernels[0], MatmulOp)


def random_graph(rng: np.random.Generator) -> Callable[..., Sequence[SSAValue]]:
    """A graph of square matrices, rows and columns, with views, reductions and several outputs."""

    def build(b: GraphBuilder, *args: SSAValue) -> Sequence[SSAValue]:
        full, rows = list(args), [b.emit(SumOp, [args[0]], axes=axes_attr([1]))]
        for _ in range(int(rng.integers(4, 22))):
            x, y = (full[int(rng.integers(0, len(full)))] for _ in range(2))
            r = rows[int(rng.integers(0, len(rows)))]
            choice = int(rng.integers(0, 10))
            if choice < 3:
                full.append(b.emit([AddOp, MulOp, MaximumOp][choice], [x, y]))
            elif choice == 3:
                full.append(b.emit(ExpOp, [b.emit(MulOp, [x, b.constant(0.01, tensor_of(x))])]))
            elif choice == 4:
                full.append(b.permute(x, [1, 0]))
            elif choice == 5:
                full.append(b.view(x, slicing([5, 0], [-1, 1]), [6, 6]))
            elif choice == 6:
                rows.append(
                    b.emit(MaxOp if rng.random() < 0.5 else SumOp, [x], axes=axes_attr([int(rng.integers(0, 2))]))
                )
            elif choice == 7:
                full.append(b.emit(SubOp, [x, b.view(r, IndexMap(2, (index(int(rng.integers(0, 2))),)), [6, 6])]))
            elif choice == 8:
                rows.append(b.emit(DivOp, [r, b.constant(36.0, tensor_of(r))]))
            else:
                full.append(b.reshape(b.reshape(x, [36]), [6, 6]))
        picks = [full[int(rng.integers(0, len(full)))] for _ in range(3)] + [rows[-1]]
        return [p for p in picks if p not in args] or [rows[-1]]

    return build


@pytest.mark.parametrize("seed", range(25))
def test_random_graphs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    module = run([((6, 6), F32)] * 3, random_graph(rng))
    check(module, rng)


def test_a_long_graph_is_covered_quickly(rng: np.random.Generator) -> None:
    def build(b: GraphBuilder, x: SSAValue) -> Sequence[SSAValue]:
        for step in range(300):
            x = b.emit(ExpOp if step % 3 else ReluOp, [b.permute(x, [1, 0]) if step % 7 == 0 else x])
            if step % 11 == 0:
                x = b.emit(SubOp, [x, b.broadcast(b.emit(MaxOp, [x], axes=axes_attr([0])), [4, 4])])
        return (x,)

    module = run([((4, 4), F32)], build)
    ExtractPass().apply(Context(), module)
    start = time.perf_counter()
    CoverPass().apply(Context(), module)
    assert time.perf_counter() - start < 3.0
    module.verify()
    assert all(isinstance(op, FusedOp) for op in module.walk() if isinstance(op, KernelOp))
