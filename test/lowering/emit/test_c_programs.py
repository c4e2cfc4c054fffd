"""C programs from loop kernels: every construct against the interpreter, threads, scratch memory, and the interface."""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects import arith, builtin, math, scf, vector
from xdsl.parser import Parser

from albumen.dialects.errors import EvaluationError, LoweringError
from albumen.dialects.loop import KernelOp
from albumen.dialects.loop.interpreter import run_kernel
from albumen.lowering.emit.c_program import kernel_source
from albumen.lowering.emit.c_runner import LoadedProgram
from albumen.lowering.toolchain.cc import compile_c
from albumen.runtime.abi import ABI_VERSION, STATUS_VERSION, Host, ParallelFor
from albumen.tools.registry import dialect_loaders

Array = NDArray[Any]


def parse(text: str) -> KernelOp:
    context = Context()
    for dialect in (builtin.Builtin, arith.Arith, math.Math, scf.Scf, vector.Vector):
        context.load_dialect(dialect)
    for name, loader in dialect_loaders().items():
        context.register_dialect(name, loader)
    module = Parser(context, text).parse_module()
    module.verify()
    return next(op for op in module.ops if isinstance(op, KernelOp))


def compiled(kernel: KernelOp) -> LoadedProgram:
    return loaded(kernel_source(kernel))


@functools.cache
def loaded(source: str) -> LoadedProgram:
    return LoadedProgram(compile_c(source, flags=("-Wall", "-Werror")).code)


def both(text: str, buffers: Sequence[Array], symbols: dict[str, int] | None = None, threads: int = 2) -> list[Array]:
    """The buffers after the kernel, which interpreter and C must agree on."""
    kernel = parse(text)
    by_interpreter, by_c = ([x.copy() for x in buffers] for _ in range(2))
    run_kernel(kernel, by_interpreter, symbols)
    values = [(symbols or {})[name.data] for name in kernel.symbols]
    compiled(kernel).run(by_c, values, threads)
    for one, other in zip(by_interpreter, by_c, strict=True):
        np.testing.assert_allclose(other.astype(np.float64), one.astype(np.float64), rtol=2e-6, atol=1e-6)
    return by_c


def test_control_flow_and_carried_values(rng: np.random.Generator) -> None:
    """scf.if with and without results, scf.for that swaps its carried values, scf.while."""
    text = """
loop.kernel @flow(%x: !loop.ptr<f32>, %y: !loop.ptr<f32>, %n: index) symbols ["n"] modes ["read", "write"] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  loop.parallel (%i) to (%n) mapping "grid" {
    %v = loop.load %x[%i] : !loop.ptr<f32> -> f32
    %p = arith.cmpf ogt, %v, %half : f32
    %r = scf.if %p -> (f32) {
      %a, %b = scf.for %k = %c0 to %i step %c1 iter_args(%u = %v, %w = %one) -> (f32, f32) {
        %s = arith.addf %u, %w : f32
        scf.yield %w, %s : f32, f32
      }
      %q = arith.divf %a, %b : f32
      scf.yield %q : f32
    } else {
      %m = scf.while (%u = %one) : (f32) -> f32 {
        %lt = arith.cmpf ogt, %u, %v : f32
        scf.condition(%lt) %u : f32
      } do {
      ^bb0(%u2: f32):
        %d = arith.subf %u2, %half : f32
        scf.yield %d : f32
      }
      scf.yield %m : f32
    }
    loop.store %r, %y[%i] : f32, !loop.ptr<f32>
    scf.if %p {
      loop.store %one, %y[%c0] : f32, !loop.ptr<f32>
    }
  }
}"""
    x = np.array([0.2, 0.9, 0.1, 0.7, 0.3], np.float32)
    both(text, [x, np.zeros(5, np.float32)], {"n": 5}, threads=1)


def test_vectors(rng: np.random.Generator) -> None:
    """Broadcast, multiply-add, lanes in and out, elementwise functions on lanes, reductions, unaligned access."""
    text = """
loop.kernel @vectors(%x: !loop.ptr<f32>, %y: !loop.ptr<f32>) modes ["read", "write"] {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %two = arith.constant 2.0 : f32
  %splat = arith.constant dense<0.25> : vector<8xf32>
  %v = loop.load %x[%c1] : !loop.ptr<f32> -> vector<8xf32>
  %t = vector.broadcast %two : f32 to vector<8xf32>
  %f = vector.fma %v, %t, %splat : vector<8xf32>
  %s = arith.subf %f, %v : vector<8xf32>
  %e = math.exp %s : vector<8xf32>
  %m = arith.maximumf %e, %t : vector<8xf32>
  %l = vector.extract %m[3] : f32 from vector<8xf32>
  %o = vector.insert %two, %m [0] : f32 into vector<8xf32>
  %r = vector.reduction <add>, %o : vector<8xf32> into f32
  %q = vector.reduction <maximumf>, %o, %l : vector<8xf32> into f32
  loop.store %o, %y[%c1] : vector<8xf32>, !loop.ptr<f32>
  %c0 = arith.constant 0 : index
  loop.store %r, %y[%c0] : f32, !loop.ptr<f32>
  %c9 = arith.constant 9 : index
  loop.store %q, %y[%c9] : f32, !loop.ptr<f32>
}"""
    both(text, [rng.random(10).astype(np.float32), np.zeros(10, np.float32)])


def test_integers_wrap_and_never_trap() -> None:
    text = """
loop.kernel @integers(%x: !loop.ptr<i32>, %y: !loop.ptr<i32>, %z: !loop.ptr<i32>) modes ["read", "read", "write"] {
  %n = arith.constant 6 : index
  %n2 = arith.constant 12 : index
  %n3 = arith.constant 18 : index
  %n4 = arith.constant 24 : index
  loop.parallel (%i) to (%n) mapping "vector" {
    %a = loop.load %x[%i] : !loop.ptr<i32> -> i32
    %b = loop.load %y[%i] : !loop.ptr<i32> -> i32
    %m = arith.muli %a, %b : i32
    loop.store %m, %z[%i] : i32, !loop.ptr<i32>
    %d = arith.divsi %a, %b : i32
    %i2 = arith.addi %i, %n : index
    loop.store %d, %z[%i2] : i32, !loop.ptr<i32>
    %f = arith.floordivsi %a, %b : i32
    %i3 = arith.addi %i, %n2 : index
    loop.store %f, %z[%i3] : i32, !loop.ptr<i32>
    %u = arith.remui %a, %b : i32
    %i4 = arith.addi %i, %n3 : index
    loop.store %u, %z[%i4] : i32, !loop.ptr<i32>
    %w = arith.maxui %a, %b : i32
    %i5 = arith.addi %i, %n4 : index
    loop.store %w, %z[%i5] : i32, !loop.ptr<i32>
  }
}"""
    x, y = (np.array(v, np.int32) for v in ([7, -7, 2**31 - 1, 5, 0, -3], [2, 2, 3, 0, 5, -2]))
    z = both(text, [x, y, np.zeros(30, np.int32)])[2]
    assert list(z[:6]) == [14, -14, 2**31 - 3, 0, 0, 6]
    assert list(z[6:12]) == [3, -3, (2**31 - 1) // 3, 0, 0, 1]
    assert list(z[12:18]) == [3, -4, (2**31 - 1) // 3, 0, 0, 1]


@pytest.mark.parametrize(("combine", "init"), [("add", "0.0"), ("mul", "1.0"), ("max", "0xFF800000"), ("min", "9.0")])
@pytest.mark.parametrize("mapping", ["vector", "row"])
@pytest.mark.parametrize("poison", [None, 5])
def test_reductions_keep_nan(
    rng: np.random.Generator, combine: str, init: str, mapping: str, poison: int | None
) -> None:
    text = f"""
loop.kernel @reduce(%x: !loop.ptr<f32>, %y: !loop.ptr<f32>, %n: index) symbols ["n"] modes ["read", "write"] {{
  %c0 = arith.constant 0 : index
  %z = arith.constant {init} : f32
  %r = loop.reduce (%i) to (%n) {combine} init %z : f32 mapping "{mapping}" {{
    %v = loop.load %x[%i] : !loop.ptr<f32> -> f32
    loop.yield %v : f32
  }}
  loop.store %r, %y[%c0] : f32, !loop.ptr<f32>
}}"""
    x = (rng.random(37) + 0.5).astype(np.float32)
    if poison is not None:
        x[poison] = np.nan
    for n in (0, 1, 37):
        found = both(text, [x, np.zeros(1, np.float32)], {"n": n})[1]
        assert np.isnan(found[0]) == (poison is not None and n > poison)


PACK = """
loop.kernel @pack(%x: !loop.ptr<{source}>, %y: !loop.ptr<f32>, %lanes: index, %depth: index, %si: index, %sk: index)
    symbols ["lanes", "depth", "si", "sk"] modes ["read", "write"] {{
  loop.pack %x strides %si, %sk into %y lanes %lanes depth %depth width {width}
    : !loop.ptr<{source}>, !loop.ptr<f32>
}}"""


@pytest.mark.parametrize("source", ["f32", "f16"])
@pytest.mark.parametrize("width", [6, 14, 32])
@pytest.mark.parametrize(("lanes", "depth"), [(32, 40), (5, 17), (19, 16), (0, 3), (3, 0), (1, 1)])
def test_packing(rng: np.random.Generator, source: str, width: int, lanes: int, depth: int) -> None:
    """Panels from rows, from columns, and from a strided block, with missing lanes filled."""
    x = rng.random(50 * 50).astype({"f32": np.float32, "f16": np.float16}[source])
    for si, sk in ((50, 1), (1, 50), (7, 3)):
        symbols = {"lanes": min(lanes, width), "depth": depth, "si": si, "sk": sk}
        both(PACK.format(source=source, width=width), [x, np.full(width * max(depth, 1), 9, np.float32)], symbols)


SUM_OF_SQUARES = """
loop.kernel @rows(%x: !loop.ptr<f32>, %y: !loop.ptr<f32>, %s: index, %n: index)
    symbols ["s", "n"] modes ["read", "write"] {
  %zero = arith.constant 0.0 : f32
  %w = loop.alloc %s : !loop.ptr<f32, align 64>
  loop.parallel (%i) to (%s) mapping "grid" {
    %row = arith.muli %i, %n : index
    %t = loop.alloc %n : !loop.ptr<f32, align 64>
    loop.parallel (%k) to (%n) mapping "vector" {
      %o = arith.addi %row, %k : index
      %v = loop.load %x[%o] : !loop.ptr<f32> -> f32
      %q = arith.mulf %v, %v : f32
      loop.store %q, %t[%k] : f32, !loop.ptr<f32, align 64>
    }
    %r = loop.reduce (%k) to (%n) add init %zero : f32 mapping "vector" {
      %v = loop.load %t[%k] : !loop.ptr<f32, align 64> -> f32
      loop.yield %v : f32
    }
    loop.store %r, %w[%i] : f32, !loop.ptr<f32, align 64>
  }
  loop.parallel (%i) to (%s) mapping "grid" {
    %r = loop.load %w[%i] : !loop.ptr<f32, align 64> -> f32
    loop.store %r, %y[%i] : f32, !loop.ptr<f32>
  }
}"""


@pytest.mark.parametrize("threads", [1, 2, 7, 300])
def test_scratch_of_threads(rng: np.random.Generator, threads: int) -> None:
    """Scratch of the kernel and of each iteration, of sizes that no stack holds."""
    for s, n in ((0, 3), (1, 1), (50, 10), (9, 100000)):
        x = rng.random(s * n).astype(np.float32)
        both(SUM_OF_SQUARES, [x, np.zeros(s, np.float32)], {"s": s, "n": n}, threads)


def expected_rows(x: Array, s: int, n: int) -> Array:
    return (x.reshape(s, n).astype(np.float64) ** 2).sum(1)


def test_callers_on_several_threads(rng: np.random.Generator) -> None:
    """Calls at the same time share the workers or do without; every result is right."""
    program = compiled(parse(SUM_OF_SQUARES))
    s, n = 64, 3000
    inputs = [rng.random(s * n).astype(np.float32) for _ in range(4)]
    failures: list[str] = []

    def work(x: Array) -> None:
        for _ in range(30):
            y = np.zeros(s, np.float32)
            program.run([x, y], [s, n], 3)
            if not np.allclose(y, expected_rows(x, s, n), rtol=1e-4):
                failures.append("wrong result")

    threads = [threading.Thread(target=work, args=(x,)) for x in inputs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_fork_starts_workers_anew(rng: np.random.Generator) -> None:
    program = compiled(parse(SUM_OF_SQUARES))
    s, n = 64, 3000
    x, y = rng.random(s * n).astype(np.float32), np.zeros(s, np.float32)
    program.run([x, y], [s, n], 2)
    child = os.fork()
    if child == 0:
        z = np.zeros(s, np.float32)
        program.run([x, z], [s, n], 2)
        os._exit(0 if np.array_equal(y, z) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_pool_of_the_host(rng: np.random.Generator) -> None:
    """A caller's own thread pool is used instead of the program's."""
    program = compiled(parse(SUM_OF_SQUARES))
    pieces: list[tuple[int, int]] = []

    def run(pool: int, body: Callable[[int, int, int], None], context: int, count: int, grain: int) -> None:
        for begin in range(0, count, 10):
            pieces.append((begin, min(begin + 10, count)))
            body(context, *pieces[-1])

    hook = ParallelFor(run)
    host = Host(version=ABI_VERSION, threads=2, parallel_for=hook)
    s, n = 35, 100
    x, y = rng.random(s * n).astype(np.float32), np.zeros(s, np.float32)
    pointers = (ctypes.c_void_p * 2)(x.ctypes.data, y.ctypes.data)
    symbols = (ctypes.c_int64 * 2)(s, n)
    assert program.entry(pointers, symbols, None, ctypes.byref(host)) == 0
    np.testing.assert_allclose(y, expected_rows(x, s, n), rtol=1e-4)
    assert pieces[:4] == [(0, 10), (10, 20), (20, 30), (30, 35)]


def test_host_of_another_version() -> None:
    program = compiled(parse(SUM_OF_SQUARES))
    host = Host(version=ABI_VERSION + 1, threads=1)
    assert program.entry(None, None, None, ctypes.byref(host)) == STATUS_VERSION


def test_index_out_of_range() -> None:
    text = """
loop.kernel @pick(%x: !loop.ptr<f32>, %i: !loop.ptr<i64>, %y: !loop.ptr<f32>) modes ["read", "read", "write"] {
  %c0 = arith.constant 0 : index
  %n = arith.constant 4 : index
  %r = loop.load %i[%c0] : !loop.ptr<i64> -> i64
  %j = arith.index_cast %r : i64 to index
  %k = loop.check_index %j below %n
  %v = loop.load %x[%k] : !loop.ptr<f32> -> f32
  loop.store %v, %y[%c0] : f32, !loop.ptr<f32>
}"""
    x = np.arange(4, dtype=np.float32)
    assert both(text, [x, np.array([3]), np.zeros(1, np.float32)])[2][0] == 3
    program = compiled(parse(text))
    for wrong in (4, -1):
        with pytest.raises(EvaluationError, match="out of range"):
            program.run([x, np.array([wrong]), np.zeros(1, np.float32)])


def test_narrow_arithmetic_is_refused() -> None:
    text = """
loop.kernel @narrow(%x: !loop.ptr<bf16>) modes ["readwrite"] {
  %c0 = arith.constant 0 : index
  %v = loop.load %x[%c0] : !loop.ptr<bf16> -> bf16
  %w = arith.addf %v, %v : bf16
  loop.store %w, %x[%c0] : bf16, !loop.ptr<bf16>
}"""
    with pytest.raises(LoweringError, match="C has no arithmetic on bf16"):
        kernel_source(parse(text))


def test_names_of_c_are_no_trouble(rng: np.random.Generator) -> None:
    text = """
loop.kernel @main(%double: !loop.ptr<f32>, %exp: !loop.ptr<f32>, %int: index) symbols ["int"] modes ["read", "write"] {
  loop.parallel (%for) to (%int) mapping "vector" {
    %failed = loop.load %double[%for] : !loop.ptr<f32> -> f32
    %host = math.exp %failed : f32
    loop.store %host, %exp[%for] : f32, !loop.ptr<f32>
  }
}"""
    both(text, [rng.random(5).astype(np.float32), np.zeros(5, np.float32)], {"int": 5})
