"""Every op of simt, printed as CUDA and as Metal text and run on the CPU shim, against numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from albumen.dialects.errors import LoweringError
from albumen.dialects.simt import KernelOp
from albumen.lowering.emit.cuda import cuda_source
from albumen.lowering.emit.metal import metal_source
from albumen.lowering.toolchain.nvrtc import compile_cuda

Array = np.ndarray[Any, Any]
Run = Callable[..., None]


def kernel(body: str, arguments: str, *, grid: str = "#sym.expr<1>", block: int = 64, smem: int = 0) -> str:
    return f"""
    sym.symbol @n min 1 max 1000
    simt.kernel @k({arguments}) grid [{grid}] block [{block}, 1, 1] smem {smem} symbols ["n"] {{
      %t = simt.id thread.x : i32
      {body}
    }}"""


F32 = "!simt.ptr<f32, global, align 16>"
I32 = "!simt.ptr<i32, global>"


def normal(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def test_ids(run: Run):
    body = """
      %b = simt.id block.x : i32
      %g = simt.id grid.x : i32
      %lane = simt.id lane : i32
      %warp = simt.id warp : i32
      %c64 = arith.constant 64 : i32
      %c100 = arith.constant 100 : i32
      %o = arith.muli %b, %c64 : i32
      %i = arith.addi %o, %t : i32
      %w = arith.muli %warp, %c100 : i32
      %v = arith.addi %w, %lane : i32
      %x = arith.muli %g, %c100 : i32
      %y = arith.muli %x, %c100 : i32
      %r = arith.addi %v, %y : i32
      simt.store %r, %p[%i] : i32, !simt.ptr<i32, global>, i32"""
    out = np.zeros(3 * 64, np.int32)
    run(kernel(body, f"%p: {I32}, %n: i32", grid="#sym.expr<n>"), [out], {"n": 3})
    t = np.arange(64)
    np.testing.assert_array_equal(out.reshape(3, 64), np.broadcast_to(30000 + t // 32 * 100 + t % 32, (3, 64)))


@pytest.mark.parametrize("hint", ["", " hint stream"])
def test_predicated_vector_accesses(run: Run, hint: str):
    body = f"""
      %four = arith.constant 4 : i32
      %i = arith.muli %t, %four : i32
      %c = arith.cmpi slt, %i, %n : i32
      %v = simt.load %x[%i] if %c{hint} : {F32}, i32 -> vector<4xf32>
      %w = arith.addf %v, %v : vector<4xf32>
      simt.store %w, %y[%i] if %c{hint} : vector<4xf32>, {F32}, i32
      %s = simt.load %x[%t] if %c{hint} : {F32}, i32 -> f32
      simt.store %s, %z[%t] : f32, {F32}, i32"""
    x, y, z = normal(100), np.full(100, 7, np.float32), np.full(64, 7, np.float32)
    run(kernel(body, f"%x: {F32}, %y: {F32}, %z: {F32}, %n: i32"), [x, y, z], {"n": 100})
    np.testing.assert_array_equal(y, 2 * x)
    np.testing.assert_array_equal(z, np.where(np.arange(64) < 25, x[:64], 0))


def test_shared_memory_and_offsets(run: Run):
    body = f"""
      %p = simt.shared 256 : !simt.ptr<f32, shared>
      %c63 = arith.constant 63 : i32
      %zero = arith.constant 0 : i32
      %v = simt.load %x[%t] : {F32}, i32 -> f32
      %q = simt.offset %p[%t] : !simt.ptr<f32, shared>, i32 -> !simt.ptr<f32, shared>
      simt.store %v, %q[%zero] : f32, !simt.ptr<f32, shared>, i32
      simt.barrier block
      %r = arith.subi %c63, %t : i32
      %w = simt.load %p[%r] : !simt.ptr<f32, shared>, i32 -> f32
      simt.store %w, %y[%t] : f32, {F32}, i32"""
    x, y = normal(64), np.zeros(64, np.float32)
    run(kernel(body, f"%x: {F32}, %y: {F32}, %n: i32", smem=512), [x, y], {"n": 1})
    np.testing.assert_array_equal(y, x[::-1])


Lanes = Callable[[Array], Array]
SHUFFLES: list[tuple[str, int, int, Lanes]] = [
    ("xor", 5, 32, lambda t: t ^ 5),
    ("up", 3, 16, lambda t: np.where(t % 16 >= 3, t - 3, t)),
    ("down", 3, 8, lambda t: np.where(t % 8 + 3 < 8, t + 3, t)),
    ("idx", 9, 8, lambda t: t // 8 * 8 + 1),
]


@pytest.mark.parametrize(("mode", "step", "width", "source"), SHUFFLES)
def test_shuffles(run: Run, mode: str, step: int, width: int, source: Lanes):
    body = f"""
      %s = arith.constant {step} : i32
      %v = simt.load %x[%t] : {F32}, i32 -> f32
      %w = simt.shuffle {mode} %v, %s width {width} : f32
      simt.store %w, %y[%t] : f32, {F32}, i32"""
    x, y = normal(64), np.zeros(64, np.float32)
    run(kernel(body, f"%x: {F32}, %y: {F32}, %n: i32"), [x, y], {"n": 1})
    np.testing.assert_array_equal(y, x[source(np.arange(64))])


@pytest.mark.parametrize(("combiner", "reduce"), [("add", np.sum), ("mul", np.prod), ("max", np.max), ("min", np.min)])
@pytest.mark.parametrize("width", [1, 8, 32])
def test_warp_reductions(run: Run, combiner: str, reduce: Any, width: int):
    body = f"""
      %v = simt.load %x[%t] : {F32}, i32 -> f32
      %w = simt.reduce_warp {combiner} %v width {width} : f32
      simt.store %w, %y[%t] : f32, {F32}, i32"""
    x, y = normal(64), np.zeros(64, np.float32)
    run(kernel(body, f"%x: {F32}, %y: {F32}, %n: i32"), [x, y], {"n": 1})
    expected = reduce(x.astype(np.float64).reshape(-1, width), axis=1)
    np.testing.assert_allclose(y, np.repeat(expected, width), rtol=1e-5)


@pytest.mark.parametrize("block", [32, 64, 96, 1024])
def test_block_reductions_one_after_another(run: Run, block: int):
    body = f"""
      %red = simt.shared 0 : !simt.ptr<f32, shared>
      %v = simt.load %x[%t] : {F32}, i32 -> f32
      %m = simt.reduce_block max %v, %red : f32, !simt.ptr<f32, shared>
      %d = arith.subf %v, %m : f32
      %s = simt.reduce_block add %d, %red : f32, !simt.ptr<f32, shared>
      %w = arith.addf %s, %m : f32
      simt.store %w, %y[%t] : f32, {F32}, i32"""
    x, y = normal(block), np.zeros(block, np.float32)
    run(kernel(body, f"%x: {F32}, %y: {F32}, %n: i32", block=block, smem=128), [x, y], {"n": 1})
    wide = x.astype(np.float64)
    np.testing.assert_allclose(y, (wide - wide.max()).sum() + wide.max(), rtol=1e-5)


def test_integer_reductions(run: Run):
    body = """
      %v = simt.load %x[%t] : !simt.ptr<i32, global>, i32 -> i32
      %a = simt.reduce_warp and %v width 32 : i32
      %o = simt.reduce_warp or %v width 32 : i32
      %w = arith.extsi %v : i32 to i64
      %l = simt.reduce_warp max %w width 32 : i64
      %m = arith.trunci %l : i64 to i32
      %s = arith.addi %a, %o : i32
      %r = arith.addi %s, %m : i32
      simt.store %r, %y[%t] : i32, !simt.ptr<i32, global>, i32"""
    x, y = np.random.default_rng(0).integers(0, 1 << 20, 64).astype(np.int32), np.zeros(64, np.int32)
    run(kernel(body, f"%x: {I32}, %y: {I32}, %n: i32"), [x, y], {"n": 1})
    rows = x.reshape(2, 32)
    total = np.bitwise_and.reduce(rows, 1) + np.bitwise_or.reduce(rows, 1) + rows.max(1)
    np.testing.assert_array_equal(y, np.repeat(total, 32))


def test_reductions_of_a_number(run: Run):
    """A template takes the type from the IR, not from how numbers and choices of them are written: 3 is an int."""
    body = """
      %red = simt.shared 0 : !simt.ptr<i64, shared>
      %three = arith.constant 3 : i64
      %a = simt.reduce_block add %three, %red : i64, !simt.ptr<i64, shared>
      %b = simt.reduce_warp add %three width 32 : i64
      %one = arith.constant 1 : i64
      %first = arith.constant 0 : i32
      %is = arith.cmpi eq, %t, %first : i32
      %v = arith.select %is, %three, %one : i64
      %c = simt.reduce_block add %v, %red : i64, !simt.ptr<i64, shared>
      %ab = arith.addi %a, %b : i64
      %s = arith.addi %ab, %c : i64
      %r = arith.trunci %s : i64 to i32
      simt.store %r, %y[%t] : i32, !simt.ptr<i32, global>, i32"""
    y = np.zeros(64, np.int32)
    run(kernel(body, f"%x: {I32}, %y: {I32}, %n: i32", block=64, smem=128), [np.zeros(64, np.int32), y], {"n": 1})
    np.testing.assert_array_equal(y, 64 * 3 + 32 * 3 + 63 + 3)


def test_register_arrays(run: Run):
    body = f"""
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %two = arith.constant 2 : i32
      %four = arith.constant 4 : i32
      %i = arith.muli %t, %four : i32
      %fill = arith.constant 3.0 : f32
      %r = simt.regs fill %fill : f32 -> !simt.reg<2x4xf32>
      %v = simt.load %x[%i] : {F32}, i32 -> vector<4xf32>
      simt.reg_store %v, %r[%one] : vector<4xf32>, !simt.reg<2x4xf32>
      scf.for %k = %zero to %four step %one : i32 {{
        %a = simt.reg_load %r[%zero, %k] : !simt.reg<2x4xf32> -> f32
        %b = simt.reg_load %r[%one, %k] : !simt.reg<2x4xf32> -> f32
        %c = arith.mulf %a, %b : f32
        simt.reg_store %c, %r[%zero, %k] : f32, !simt.reg<2x4xf32>
      }} {{unroll}}
      %w = simt.reg_load %r[%zero] : !simt.reg<2x4xf32> -> vector<4xf32>
      simt.store %w, %y[%i] : vector<4xf32>, {F32}, i32"""
    x, y = normal(256), np.zeros(256, np.float32)
    run(kernel(body, f"%x: {F32}, %y: {F32}, %n: i32"), [x, y], {"n": 1})
    np.testing.assert_array_equal(y, 3 * x)


@pytest.mark.parametrize(("kind", "dtype"), [("f32", np.float32), ("i32", np.int32)])
def test_atomic_addition(run: Run, kind: str, dtype: Any):
    one = "1.0" if kind == "f32" else "1"
    body = f"""
      %three = arith.constant 3 : i32
      %i = arith.remsi %t, %three : i32
      %v = arith.constant {one} : {kind}
      simt.atomic_add %v, %p[%i] : {kind}, !simt.ptr<{kind}, global>, i32"""
    out = np.zeros(3, dtype)
    run(kernel(body, f"%p: !simt.ptr<{kind}, global>, %n: i32", grid="#sym.expr<n>"), [out], {"n": 5})
    np.testing.assert_array_equal(out, np.bincount(np.arange(64) % 3) * 5)


def test_grid_dependency_changes_no_value(run: Run):
    body = f"""
      simt.grid_wait
      %v = simt.load %x[%t] : {F32}, i32 -> f32
      simt.grid_release
      simt.store %v, %y[%t] : f32, {F32}, i32"""
    x, y = normal(64), np.zeros(64, np.float32)
    run(kernel(body, f"%x: {F32}, %y: {F32}, %n: i32"), [x, y], {"n": 1})
    np.testing.assert_array_equal(y, x)


def test_a_kernel_that_waits_does_not_promise_what_lets_loads_move_up(parse: Callable[[str], KernelOp]):
    text = kernel("simt.grid_wait", f"%x: {F32}, %n: i32")
    assert "__restrict__" not in cuda_source([parse(text)])
    assert "__restrict__" in cuda_source([parse(text.replace("simt.grid_wait", ""))])


def test_metal_refuses_doubles_and_too_much_shared_memory(parse: Callable[[str], KernelOp]):
    with pytest.raises(LoweringError, match="no type for f64"):
        metal_source([parse(kernel("", "%x: !simt.ptr<f64, global>, %n: i32"))])
    with pytest.raises(LoweringError, match="40000 bytes of threadgroup memory"):
        metal_source([parse(kernel("", "%n: i32", smem=40000))])


def test_two_kernels_in_one_text(parse: Callable[[str], KernelOp]):
    texts = [kernel(f"%v = simt.load %x[%t] : {F32}, i32 -> vector<4xf32>", f"%x: {F32}, %n: i32") for _ in range(2)]
    kernels = [parse(texts[0]), parse(texts[1].replace("@k", "@l"))]
    binary = compile_cuda(cuda_source(kernels))
    assert sorted(found.name for found in binary.kernels) == ["k", "l"]
