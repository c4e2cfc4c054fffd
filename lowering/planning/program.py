"""Building one host.program from one function of kernels."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects.dtype import U8
from ...dialects.errors import LoweringError
from ...dialects.hlir.types import tensor_type
from ...dialects.host import ArenaOp, CallOp, CopyOp, InputOp, LaunchOp, OutputOp, ProgramOp, SliceOp
from ...dialects.host.buffers import ARENA_ALIGNMENT, INPUT_ALIGNMENT
from ...dialects.host.steps import Step, Use
from ...dialects.host.types import BufferType
from ...dialects.kernel import CallMatmulOp, KernelOp, LiteralOp
from ...dialects.op import tensor_of
from ...dialects.sym.bounds import interval
from ...dialects.sym.dialect import declared_bounds
from ...dialects.sym.expr import Expr, constant
from ..search.cost import CostModel, machine_of, representative
from .arena import Plan, Request, plan_arena
from .homes import Place, decide
from .library_call import CALLEE, WORKSPACE, config_attribute
from .outline import Outliner
from .results import results_of
from .symbols import bind, check_bound, guards

CONSTANT_ARENA = 256 << 20
"""Largest arena, in bytes, whose offsets are fixed for the largest sizes, so that a new size changes no address."""


class Planner:
    """Decides where each value of a function lives, and writes the program down."""

    def __init__(self, module: ModuleOp, function: FuncOp, target: str, outliner: Outliner, *, tf32: bool = False):
        self.module = module
        self.function = function
        self.target = target
        self.tf32 = tf32
        self.outliner = outliner
        self.bounds = declared_bounds(module)
        self.model = CostModel(machine_of(target), representative(module))
        body = function.body.block
        self.steps = [op for op in body.ops if isinstance(op, KernelOp | CallMatmulOp)]
        self.results = results_of(function)
        self.homes = decide(self.results, self.steps, body)
        self.inputs = self._inputs()
        self.outputs = [
            OutputOp(f"output{n}", _buffer(r.value)) for n, r in enumerate(r for r in self.results if r.mutates is None)
        ]
        self.buffers: dict[SSAValue, SSAValue] = {}
        self.workspaces: dict[Operation, SSAValue] = {}
        self.aside: dict[SSAValue, SSAValue] = {}

    def program(self) -> ProgramOp:
        """The host.program of the function; its kernels go to the outliner."""
        constants = self._constants()
        for argument, op in zip(self.function.body.block.args, self.inputs, strict=True):
            self.buffers[argument] = op.buffer
        for value, place in self.homes.direct.items():
            self.buffers[value] = self._at(place)
        slices, plan = self._slices()
        steps = [*map(self._step, self.steps), *self._copies()]
        symbols = bind(self.module, self.inputs, self._attributes())
        checks = guards(self.module)
        check_bound([*self._expressions(slices), *(op.expr.data for op in checks)], symbols)
        block = Block([*self.inputs, *constants, *symbols, *checks, *self.outputs])
        if slices:
            block.add_ops([ArenaOp(plan.size, plan.bound), *slices])
        block.add_ops(steps)
        return ProgramOp(self.function.sym_name.data, self.target, block)

    def _attributes(self) -> list[dict[str, Attribute]]:
        """The attributes of each argument of the function."""
        given = self.function.arg_attrs.data if self.function.arg_attrs is not None else ()
        found = [dict(a.data) for a in given]
        return found or [{} for _ in self.function.body.block.args]

    def _inputs(self) -> list[InputOp]:
        mutated = {r.mutates: r.position for r in self.results if r.mutates is not None}
        inputs: list[InputOp] = []
        for n, (argument, attributes) in enumerate(zip(self.function.body.block.args, self._attributes(), strict=True)):
            name, role = attributes.get("hlir.name"), attributes.get("hlir.role")
            text = name.data if isinstance(name, StringAttr) else argument.name_hint or f"input{n}"
            kind = role.data if isinstance(role, StringAttr) else "input"
            type_ = _buffer(argument)
            inputs.append(InputOp(text, kind, type_, align=self._alignment(type_), mutated=mutated.get(n)))
        return inputs

    def _alignment(self, type_: BufferType) -> int:
        """What kernels need of an input's address: C reads elements, GPUs read vectors of them."""
        return type_.dtype.bytes if self.target == "c" else INPUT_ALIGNMENT

    def _constants(self) -> list[InputOp]:
        """An input for each distinct literal."""
        made: dict[tuple[str, Attribute], InputOp] = {}
        for op in self.function.body.block.ops:
            if isinstance(op, LiteralOp):
                key = (op.data.data, op.result.type)
                if key not in made:
                    name, type_ = f"constant{len(made)}", _buffer(op.result)
                    align = self._alignment(type_)
                    made[key] = InputOp(name, "constant", type_, align=align, data=op.data.data)
                self.buffers[op.result] = made[key].buffer
            elif not isinstance(op, KernelOp | CallMatmulOp) and op is not self.function.body.block.last_op:
                raise LoweringError("only kernels and library calls can be planned", op=op, stage="plan-memory")
        return list(made.values())

    def _at(self, place: Place) -> SSAValue:
        kind, number = place
        return self.outputs[number].buffer if kind == "output" else self.inputs[number].buffer

    def _slices(self) -> tuple[list[SliceOp], Plan]:
        """A slice for every value, workspace and input kept aside that has no other place."""
        wanted = self._requests()
        requests = [request for request, _, _ in wanted]
        plan = self._plan(requests)
        slices: list[SliceOp] = []
        for (_, type_, target), offset in zip(wanted, plan.offsets, strict=True):
            op = SliceOp(offset, type_)
            slices.append(op)
            if isinstance(target, Operation):
                self.workspaces[target] = op.buffer
            elif target in self.homes.saved:
                self.aside[target] = op.buffer
            else:
                self.buffers[target] = op.buffer
                op.buffer.name_hint = target.name_hint
        return slices, plan

    def _requests(self) -> list[tuple[Request, BufferType, SSAValue | Operation]]:
        last: dict[SSAValue, int] = {}
        for n, op in enumerate(self.steps):
            for operand in op.operands:
                last[operand] = n
        end = len(self.steps)
        for value, _ in self.homes.output_copies + self.homes.input_copies:
            last[value] = end
        wanted: list[tuple[Request, BufferType, SSAValue | Operation]] = []
        for n, op in enumerate(self.steps):
            for value in op.results:
                if value not in self.buffers:
                    type_ = _buffer(value)
                    wanted.append((Request(type_.bytes, n, last.get(value, n)), type_, value))
            if isinstance(op, CallMatmulOp):
                type_ = BufferType(tensor_type([WORKSPACE], U8))
                wanted.append((Request(type_.bytes, n, n), type_, op))
        for value in self.homes.saved:
            type_ = _buffer(value)
            wanted.append((Request(type_.bytes, end, end), type_, value))
        return wanted

    def _plan(self, requests: Sequence[Request]) -> Plan:
        """The plan with offsets fixed for the largest sizes where the target and the sizes allow it, else one that
        follows the symbols."""
        if self.target != "c":
            highs = [interval(r.size, self.bounds).high for r in requests]
            if None not in highs:
                fixed = [Request(constant(high or 0), r.first, r.last) for r, high in zip(requests, highs, strict=True)]
                plan = plan_arena(fixed, ARENA_ALIGNMENT, self.bounds, self.model.extent)
                if (plan.size.as_int() or 0) <= CONSTANT_ARENA:
                    return plan
        return plan_arena(requests, ARENA_ALIGNMENT, self.bounds, self.model.extent)

    def _step(self, op: Operation) -> Step:
        uses: list[Use] = [("read", self.buffers[o]) for o in op.operands]
        uses += [("write", self.buffers[r]) for r in op.results]
        if isinstance(op, KernelOp):
            step: Step = LaunchOp(self.outliner.name_of(op), uses)
        else:
            assert isinstance(op, CallMatmulOp)
            step = CallOp(CALLEE, config_attribute(op, tf32=self.tf32), [*uses, ("scratch", self.workspaces[op])])
        step.location = op.location
        return step

    def _copies(self) -> list[CopyOp]:
        copies = [CopyOp(self.buffers[value], self._at(place)) for value, place in self.homes.output_copies]
        copies += [CopyOp(self.buffers[value], self.aside[value]) for value in self.homes.saved]
        copies += [
            CopyOp(self.aside.get(value, self.buffers[value]), self._at(place))
            for value, place in self.homes.input_copies
        ]
        return copies

    def _expressions(self, slices: Sequence[SliceOp]) -> list[Expr]:
        """Every expression that the running program evaluates."""
        found = [slice_.offset.data for slice_ in slices]
        for op in self.steps:
            for value in (*op.operands, *op.results):
                found += tensor_of(value).dims
        return found


def _buffer(value: SSAValue) -> BufferType:
    return BufferType(tensor_of(value))
