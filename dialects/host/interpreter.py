"""Runs a host.program on numpy buffers: kernels by the meaning of their symbol, memory as the plan says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ..errors import EvaluationError
from ..evaluate import bind_symbols, evaluate_op
from ..kernel.function import FuncOp
from ..loop.interpreter import run_kernel
from ..loop.kernel import KernelOp as LoopKernelOp
from ..loop.scalar_values import numpy_type
from ..loop.types import PtrType
from ..op import Array, Environment
from ..sym.dialect import ExprAttr
from ..sym.substitute import evaluate_int
from .buffers import OutputOp, SliceOp
from .library import run_matmul
from .program import ProgramOp, programs
from .source import sources
from .steps import CopyOp, LaunchOp, Step
from .types import BufferType

POISON = 0xFF
"""Fills memory before the program runs: a NaN in every float type."""


Launcher = Callable[[Operation, Sequence[Array | None], Mapping[str, int]], None]
"""Runs what has no meaning on arrays: the symbol's op, flat buffers, values of the symbols.

For a simt.kernel, or a host.source of a GPU language, the buffers are those of the step, in order. The one host.source
of a program of target c is run once for all steps; its buffers are the inputs, the outputs (None where there is no
memory), and the arena as bytes, as the entry takes them.
"""


def run_program(
    module: ModuleOp,
    name: str,
    inputs: Sequence[Array],
    symbols: Mapping[str, int] | None = None,
    launch: Launcher | None = None,
) -> list[Array]:
    """The results of the function that program `name` was made from: contents of mutated inputs, and outputs, in its
    order.

    The arrays of `inputs` are one for each input that is no constant of the compiler, and are left as they are.

    Raises:
        EvaluationError: no such program, or inputs that do not fit, or a step without a meaning on arrays.
    """
    program = next((p for p in programs(module) if p.sym_name.data == name), None)
    if program is None:
        raise EvaluationError(f"the module has no program @{name}", hint="name one of its host.program ops")
    return _Run(module, program, inputs, symbols or {}, launch).results()


class _Run:
    def __init__(
        self,
        module: ModuleOp,
        program: ProgramOp,
        inputs: Sequence[Array],
        symbols: Mapping[str, int],
        launch: Launcher | None,
    ):
        self.module = module
        self.program = program
        self.launch = launch
        given = [op for op in program.inputs if op.data is None]
        tensors = [_type(op.buffer).tensor for op in given]
        self.env = Environment(bind_symbols(tensors, inputs, symbols))
        self.memory: dict[SSAValue, Array] = {}
        for op, tensor, x in zip(given, tensors, inputs, strict=True):
            if x.shape != self.env.shape(tensor) or x.dtype != tensor.dtype.numpy:
                found = f"{x.dtype}{list(x.shape)}"
                raise EvaluationError(f"input {op.input_name.data!r} is {found}, expected {tensor}", op=op)
            self.memory[op.buffer] = np.array(x, order="C").reshape(-1)
        self._check_sizes()
        self._allocate()

    def _check_sizes(self) -> None:
        for op in (*self.program.symbols, *self.program.guards):
            if not op.holds(self.env.symbols):
                raise EvaluationError(f"the sizes {dict(self.env.symbols)} break `{op}`", op=op)

    def _allocate(self) -> None:
        for op in self.program.inputs:
            if op.data is not None:
                type_ = _type(op.buffer)
                self.memory[op.buffer] = np.frombuffer(bytes.fromhex(op.data.data), type_.dtype.numpy)
        for op in self.program.outputs:
            if op.alias is None:
                self.memory[op.buffer] = self._poisoned(self._count(op.buffer) * _type(op.buffer).dtype.bytes).view(
                    _type(op.buffer).dtype.numpy
                )
        arena = self.program.arena
        self.store = self._poisoned(evaluate_int(arena.size.data, self.env.symbols) if arena is not None else 0)
        for op in self.program.slices:
            self.memory[op.buffer] = self._slice(op, self.store)

    def _poisoned(self, count: int) -> NDArray[np.uint8]:
        return np.full(count, POISON, np.uint8)

    def _slice(self, op: SliceOp, store: NDArray[np.uint8]) -> Array:
        start = evaluate_int(op.offset.data, self.env.symbols)
        dtype = _type(op.buffer).dtype
        return store[start : start + self._count(op.buffer) * dtype.bytes].view(dtype.numpy)

    def _count(self, buffer: SSAValue) -> int:
        return int(np.prod(self.env.shape(_type(buffer).tensor), dtype=np.int64))

    def results(self) -> list[Array]:
        whole = next((op for op in sources(self.module) if op.language.data == "c"), None)
        if whole is not None and self.launch is not None:
            buffers = [self.memory.get(op.buffer) for op in (*self.program.inputs, *self.program.outputs)]
            self.launch(whole, [*buffers, self.store], self.env.symbols)
        else:
            for step in self.program.steps:
                self._step(step)
        mutated = {op.mutated.data: self._array(op.buffer) for op in self.program.inputs if op.mutated is not None}
        outputs = [self._output(op) for op in self.program.outputs]
        total = len(mutated) + len(outputs)
        rest = iter(outputs)
        return [mutated[i] if i in mutated else next(rest) for i in range(total)]

    def _array(self, buffer: SSAValue) -> Array:
        return self.memory[buffer].reshape(self.env.shape(_type(buffer).tensor))

    def _output(self, op: OutputOp) -> Array:
        if op.alias is None or op.strides is None or op.offset is None:
            return self._array(op.buffer)
        source = self.memory[op.alias][evaluate_int(op.offset.data, self.env.symbols) :]
        strides = [evaluate_int(s.data, self.env.symbols) * source.itemsize for s in op.strides]
        view = np.lib.stride_tricks.as_strided(source, self.env.shape(_type(op.buffer).tensor), strides)
        return np.array(view)

    def _step(self, step: Step) -> None:
        if isinstance(step, CopyOp):
            self.memory[step.destination][:] = self.memory[step.source]
        elif isinstance(step, LaunchOp):
            self._run(step)
        elif step.callee.data == "cublaslt.matmul":
            config = {key: self._setting(value) for key, value in step.config.data.items()}
            run_matmul(config, [self.memory[b] for b in step.buffers])
        else:
            raise EvaluationError(f"the library call {step.callee.data!r} has no meaning on arrays", op=step)

    def _setting(self, value: Attribute) -> str:
        """A value of a call's configuration as the runtime gets it."""
        if isinstance(value, ExprAttr):
            return str(evaluate_int(value.data, self.env.symbols))
        assert isinstance(value, StringAttr)
        return value.data

    def _run(self, step: LaunchOp) -> None:
        kernel = next((op for op in self.module.ops if _symbol(op) == step.kernel_name), None)
        if isinstance(kernel, LoopKernelOp):
            # The loop level's integers have no sign, and its booleans are as they lie in memory.
            types = [pointer.type for pointer in kernel.pointers if isinstance(pointer.type, PtrType)]
            views = [self.memory[b].view(numpy_type(t.element)) for b, t in zip(step.buffers, types, strict=True)]
            run_kernel(kernel, views, self.env.symbols)
        elif isinstance(kernel, FuncOp):
            count = len(kernel.function_type.inputs)
            read = [self._array(b) for b in step.buffers[:count]]
            values = evaluate_op(kernel.kernel, read, self.env)
            for buffer, value in zip(step.buffers[count:], values, strict=True):
                self.memory[buffer][:] = np.asarray(value).reshape(-1)
        elif kernel is not None and self.launch is not None:
            self.launch(kernel, [self.memory[b] for b in step.buffers], self.env.symbols)
        else:
            raise EvaluationError(f"the kernel @{step.kernel_name} has no meaning on arrays", op=step)


def _type(buffer: SSAValue) -> BufferType:
    assert isinstance(buffer.type, BufferType)
    return buffer.type


def _symbol(op: Operation) -> str:
    name = op.properties.get("sym_name")
    return getattr(name, "data", "")
