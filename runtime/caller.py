"""The fast path of a call: straight-line Python generated once for a program and a tensor library.

A call compares where its unchanging inputs lie, looks up the plan for the shapes of the others, makes the outputs
and runs. Everything else (checks, symbols, binding) happens when an address or a shape is new.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from .adapter import TensorAdapter
from .arguments import ArgumentChecker, check_alignment, facts_of
from .array import DeviceArray
from .artifact import HostProgram
from .devices.device import Binding, Executable, Memory, Run
from .errors import LaunchError
from .expression import compile_expressions

Caller = Callable[[list[Any]], tuple[Any, ...]]
State = tuple[Callable[[Sequence[Any]], bool], dict[Hashable, tuple[Any, ...]], Binding]
"""(do the unchanging inputs lie where they did, plan by signature, the program bound to them): replaced as a whole."""

_MAXIMUM_PLANS = 256


class CallerFactory:
    """What a generated caller falls back on when something is new, and the text of the caller."""

    def __init__(
        self,
        program: HostProgram,
        executable: Executable,
        device: str,
        adapter: TensorAdapter[Any],
        bound: Mapping[int, Any],
        values: Mapping[int, DeviceArray],
    ) -> None:
        self.program = program
        self.executable = executable
        self.device = device
        self.adapter = adapter
        self.bound = dict(bound)
        self.values = dict(values)
        self.checker = ArgumentChecker(program)
        held = {*self.bound, *self.values}
        self.given = [index for index in range(len(program.inputs)) if index not in held]
        roles = [program.inputs[index].role for index in self.given]
        # Positions in the caller's list, by what a call does with them.
        self.fixed = [at for at, role in enumerate(roles) if role not in ("input", "scalar")]
        self.moving = [at for at, role in enumerate(roles) if role == "input"]
        self.scalars = [at for at, role in enumerate(roles) if role == "scalar"]
        self.made = [index for index, output in enumerate(program.outputs) if output.alias is None]
        self.lock = threading.Lock()
        texts = [text for item in program.outputs for text in (*item.shape, *item.strides, item.offset)]
        self.output_facts = compile_expressions(texts, [symbol.name for symbol in program.symbols])
        self.state: list[State] = [(_never, {}, _Unbound())]
        """One cell that the caller reads and `rebind` replaces. The factory must not refer to the caller: a cycle
        would keep device memory until the next collection."""

    def build(self) -> Caller:
        """Generate and compile the caller."""
        scope: dict[str, Any] = {
            "state": self.state,
            "pointer": self.adapter.pointer,
            "signature": self.adapter.signature,
            "stream": self.adapter.stream_source(self.device),
            "wrong_count": self.wrong_count,
            "rebind": self.rebind,
            "plan_for": self.plan_for,
            "misaligned": self.misaligned,
            **{f"held{index}": tensor for index, tensor in self.bound.items()},
        }
        exec(compile(self.text(), "<albumen caller>", "exec"), scope)
        return scope.pop("call")

    def text(self) -> str:
        """The Python text of the caller: `call(args)` takes the inputs without a value, in order, as a list."""
        lines = [f"    if len(args) != {len(self.given)}:", "        wrong_count(args)"]
        lines += [f"    x{at} = args[{at}]" for at in sorted({*self.moving, *self.scalars, *self._viewed()})]
        lines += ["    unchanged, plans, binding = state[0]"]
        lines += ["    if not unchanged(args):", "        unchanged, plans, binding = rebind(args)"]
        parts = [f"signature(x{at})" for at in self.moving] + [f"x{at}" for at in self.scalars]
        key = parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
        lines += [f"    plan = plans.get({key})"]
        lines += ["    if plan is None:", f"        plan = plan_for(args, {key}, plans, binding)"]
        makers = [f"make{index}" for index in range(len(self.program.outputs))]
        lines += [f"    {', '.join(['run', *makers])}, = plan"]
        for at in self.moving:
            lines += [f"    p{at} = pointer(x{at})"]
            mask = self.program.inputs[self.given[at]].align - 1
            if mask:
                lines += [f"    if p{at} & {mask}:", f"        misaligned({at}, p{at}, args)"]
        lines += [f"    y{index} = {self._output(index)}" for index in range(len(self.program.outputs))]
        pointers = [f"p{at}" for at in self.moving] + [f"pointer(y{index})" for index in self.made]
        lines += [f"    run({', '.join(['stream()', *pointers])})"]
        results = "".join(f"y{index}," for index in range(len(self.program.outputs)))
        return "\n".join(["def call(args):", *lines, f"    return ({results})", ""])

    def _viewed(self) -> list[int]:
        aliases = {output.alias for output in self.program.outputs}
        return [at for at, index in enumerate(self.given) if index in aliases]

    def _output(self, index: int) -> str:
        alias = self.program.outputs[index].alias
        if alias is None:
            return f"make{index}()"
        return f"make{index}({f'held{alias}' if alias in self.bound else f'x{self.given.index(alias)}'})"

    def wrong_count(self, args: Sequence[Any]) -> None:
        """Raise for a call with too many or too few inputs."""
        names = ", ".join(self.program.inputs[index].name for index in self.given[:8])
        more = ", ..." if len(self.given) > 8 else ""
        raise LaunchError(f"expected {len(self.given)} inputs ({names}{more}), found {len(args)}")

    def all_inputs(self, args: Sequence[Any]) -> list[Any]:
        """The inputs of the program in order, bound ones included."""
        held = {**self.bound, **self.values}
        tensors: list[Any] = [held.get(index) for index in range(len(self.program.inputs))]
        for at, index in enumerate(self.given):
            tensors[index] = args[at]
        return tensors

    def rebind(self, args: Sequence[Any]) -> State:
        """Bind the program to the unchanging inputs of this call; the next calls compare with them."""
        inputs = self.program.inputs
        tensors = self.all_inputs(args)
        pointers = [0] * (len(inputs) + len(self.program.outputs))
        fixed = sorted([*(self.given[at] for at in self.fixed), *self.bound])
        self.need_tensors(fixed, tensors)
        places = dict(zip(fixed, self.adapter.pointers([tensors[index] for index in fixed]), strict=True))
        places.update((index, value.pointer) for index, value in self.values.items())
        for index, address in places.items():
            tensor = tensors[index]
            check_alignment(inputs[index], address, facts_of(tensor, self.adapter).shape(tensor))
            pointers[index] = address
        unchanged = self.remember(args)
        changing = [self.given[at] for at in self.moving] + [len(inputs) + index for index in self.made]
        binding = self.executable.bind(pointers, changing, _memory_of(self.adapter, self.device))
        state: State = (unchanged, {}, binding)
        self.state[0] = state
        return state

    def need_tensors(self, indices: Sequence[int], tensors: Sequence[Any]) -> None:
        """Refuse an int where a tensor belongs, before anybody asks it for an address."""
        for index in indices:
            if type(tensors[index]) is int:
                raise LaunchError(f"input {self.program.inputs[index].name!r}: expected a tensor, found an int")

    def remember(self, args: Sequence[Any]) -> Callable[[Sequence[Any]], bool]:
        """The predicate over a call's list; bound tensors are compared too, since their storage may be swapped."""
        given = self.adapter.remember(args, self.fixed) if self.fixed else None
        held = list(self.bound.values())
        kept = self.adapter.remember(held, range(len(held))) if held else None
        if kept is None:
            return given or _always
        if given is None:
            return lambda _: kept(held)
        return lambda args: given(args) and kept(held)

    def plan_for(
        self, args: Sequence[Any], key: Hashable, plans: dict[Hashable, tuple[Any, ...]], binding: Binding
    ) -> tuple[Any, ...]:
        """Check a call whose shapes are new, and prepare what the next ones of these shapes need."""
        symbols = self.checker.check(self.adapter, self.all_inputs(args), self.device)
        plan = (binding.specialise(symbols), *self.makers(symbols))
        with self.lock:
            while len(plans) >= _MAXIMUM_PLANS:
                del plans[next(iter(plans))]
            plans[key] = plan
        return plan

    def makers(self, symbols: tuple[int, ...]) -> list[Callable[..., Any]]:
        """For every output a function that makes it (fresh), or a function from an input to it (a view)."""
        facts = iter(self.output_facts(*symbols))
        makers: list[Callable[..., Any]] = []
        for output in self.program.outputs:
            shape = tuple(next(facts) for _ in output.shape)
            strides = tuple(next(facts) for _ in output.strides)
            offset = next(facts)
            if output.alias is None:
                makers.append(self.adapter.allocator(shape, strides, output.dtype, self.device))
            else:
                makers.append(self.adapter.viewer(shape, strides, offset))
        return makers

    def misaligned(self, at: int, address: int, args: Sequence[Any]) -> None:
        """Raise unless the input is empty (then its address means nothing)."""
        check_alignment(self.program.inputs[self.given[at]], address, self.adapter.shape(args[at]))


def _memory_of(adapter: TensorAdapter[Any], device: str) -> Memory:
    """Scratch memory of the caller's library."""

    def memory(size: int) -> tuple[object, int]:
        owner = adapter.allocator((size,), (1,), "u8", device)()
        return owner, adapter.pointer(owner)

    return memory


class _Unbound:
    """What stands for a binding before the first call."""

    def specialise(self, symbols: tuple[int, ...]) -> Run:
        """Never asked: the first call always binds."""
        raise LaunchError("the program is not bound yet")


def _never(_: Sequence[Any]) -> bool:
    return False


def _always(_: Sequence[Any]) -> bool:
    return True
