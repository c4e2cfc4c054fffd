"""Lowers the kernel functions of a module and compares interpreter and compiled C with the evaluator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects import arith, builtin, func, math, scf, vector
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from albumen.dialects.evaluate import evaluate_block
from albumen.dialects.hlir.types import TensorType
from albumen.dialects.kernel.function import FuncOp, kernel_functions
from albumen.dialects.loop import KernelOp
from albumen.dialects.loop.interpreter import run_kernel
from albumen.dialects.op import Environment
from albumen.lowering.emit.c_kernel import function_name
from albumen.lowering.emit.c_program import CHECK, program_source
from albumen.lowering.emit.c_runner import LoadedProgram
from albumen.lowering.kernel_to_loop.frame import function_symbols
from albumen.lowering.kernel_to_loop.lower_kernels import lower_kernel
from albumen.lowering.toolchain.cc import compile_c
from albumen.tools.registry import dialect_loaders

Array = NDArray[Any]
Draw = Callable[[np.random.Generator, TensorType, tuple[int, ...]], Array]


@pytest.fixture(scope="session")
def parse() -> Callable[[str], ModuleOp]:
    def run(text: str) -> ModuleOp:
        context = Context()
        for dialect in (builtin.Builtin, arith.Arith, math.Math, scf.Scf, vector.Vector, func.Func):
            context.load_dialect(dialect)
        for name, loader in dialect_loaders().items():
            context.register_dialect(name, loader)
        module = Parser(context, text).parse_module()
        module.verify()
        return module

    return run


def draw(rng: np.random.Generator, kind: TensorType, shape: tuple[int, ...]) -> Array:
    """Random values of every dtype; floats in (-2, 2), integers in [0, 5)."""
    dtype = kind.dtype
    if dtype.is_bool:
        return rng.integers(0, 2, shape).astype(np.bool_)
    if dtype.is_integer:
        return rng.integers(0, 5, shape).astype(dtype.numpy)
    return (rng.random(shape) * 4 - 2).astype(dtype.numpy)


def error_bound(dtype: Any, size: int) -> float:
    """Relative to the largest magnitude: a few roundings of the dtype, and of the sum of `size` terms."""
    epsilon = {"float32": 2**-23, "float64": 2**-52, "float16": 2**-10, "bfloat16": 2**-7}.get(str(dtype), 2**-3)
    return epsilon * (2 + np.sqrt(size) / 4)


def assert_close(found: Array, expected: Array, size: int, what: str) -> None:
    if expected.dtype.kind in "biu":
        np.testing.assert_array_equal(found, expected, err_msg=what)
        return
    a, b = found.astype(np.float64), expected.astype(np.float64)
    assert np.array_equal(np.isnan(a), np.isnan(b)), f"{what}: NaN in other places"
    finite = np.isfinite(b)
    np.testing.assert_array_equal(a[~finite & ~np.isnan(b)], b[~finite & ~np.isnan(b)], err_msg=what)
    if finite.any():
        scale = max(1.0, float(np.abs(b[finite]).max()))
        worst = float(np.abs(a[finite] - b[finite]).max())
        assert worst <= error_bound(expected.dtype, size) * scale, f"{what}: off by {worst} at scale {scale}"


class Kernels:
    """The kernel functions of a module, lowered and compiled into one program whose first symbol chooses the kernel."""

    def __init__(self, module: ModuleOp):
        module.verify()
        self.functions = list(kernel_functions(module))
        lowered = ModuleOp([])
        for function in self.functions:
            op = lower_kernel(function, module)
            assert isinstance(op, KernelOp)
            lowered.body.block.add_op(op)
        lowered.verify()
        self.kernels = [op for op in lowered.ops if isinstance(op, KernelOp)]
        self.source = program_source(self.kernels, CHECK + "".join(self._cases()) + "  (void)arena;\n  return -1;\n")
        self.program = LoadedProgram(compile_c(self.source, flags=("-Wall", "-Werror")).code)

    def _cases(self) -> Iterator[str]:
        for number, kernel in enumerate(self.kernels):
            pointers = [f"buffers[{i}]" for i in range(len(kernel.pointers))]
            symbols = [f"symbols[{i + 1}]" for i in range(len(kernel.symbols))]
            call = ", ".join(["host", *pointers, *symbols])
            yield f"  if (symbols[0] == {number}) return {function_name(kernel)}({call});\n"

    def check(self, rng: np.random.Generator, symbols: Mapping[str, int], make: Draw = draw, threads: int = 2) -> None:
        """Compares every kernel with the evaluator on random inputs."""
        for number in range(len(self.kernels)):
            self.check_one(number, rng, symbols, make, threads)

    def check_one(
        self, number: int, rng: np.random.Generator, symbols: Mapping[str, int], make: Draw = draw, threads: int = 2
    ) -> None:
        env, function = Environment(symbols), self.functions[number]
        kinds = [a.type for a in function.body.block.args]
        inputs = [make(rng, t, env.shape(t)) for t in kinds if isinstance(t, TensorType)]
        expected = evaluate_block(function.body.block, inputs, env)
        self._compare(number, function, self.kernels[number], inputs, expected, symbols, threads)

    def _compare(
        self,
        number: int,
        function: FuncOp,
        kernel: KernelOp,
        inputs: Sequence[Array],
        expected: Sequence[Array],
        symbols: Mapping[str, int],
        threads: int,
    ) -> None:
        size = max([x.size for x in inputs], default=1)
        names = function_symbols(function)
        for how in ("interpreter", "C"):
            flat = [np.ascontiguousarray(_signless(x)).reshape(-1).copy() for x in inputs]
            results = [np.full(x.size, 0, _signless(x).dtype) for x in expected]
            if how == "interpreter":
                run_kernel(kernel, [*flat, *results], symbols)
            else:
                self.program.run([*flat, *results], [number, *(symbols[n] for n in names)], threads)
            for position, (found, wanted) in enumerate(zip(results, expected, strict=True)):
                shaped = found.view(wanted.dtype).reshape(wanted.shape)
                what = f"@{kernel.sym_name.data} result {position} by {how} with {dict(symbols)}"
                assert_close(shaped, np.asarray(wanted), size, what)


def _signless(x: Array) -> Array:
    return x.view(f"i{x.dtype.itemsize}") if x.dtype.kind == "u" else x


@pytest.fixture(scope="session")
def kernels(parse: Callable[[str], ModuleOp]) -> Callable[[str | ModuleOp], Kernels]:
    """A module of kernel functions, or its text, to the lowered and compiled kernels; each text is compiled once."""
    made: dict[str, Kernels] = {}

    def make(module: str | ModuleOp) -> Kernels:
        if isinstance(module, ModuleOp):
            return Kernels(module)
        if module not in made:
            made[module] = Kernels(parse(module))
        return made[module]

    return make
