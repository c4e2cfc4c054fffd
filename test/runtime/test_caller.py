"""The fast path: rebinding when memory moves, plans per shape, bound tensors, and its cost beside a null launch."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from albumen.runtime.adapter import NumpyAdapter
from albumen.runtime.array import wrap_numpy
from albumen.runtime.artifact import HostProgram, Input, Output, Symbol
from albumen.runtime.caller import CallerFactory
from albumen.runtime.devices.device import Memory, Run
from albumen.runtime.errors import LaunchError, ShapeError

F32 = np.float32


class NullExecutable:
    """Records how it is bound and run, and does nothing."""

    def __init__(self) -> None:
        self.bound: list[list[int]] = []
        self.specialised: list[tuple[int, ...]] = []
        self.runs: list[tuple[int, ...]] = []

    def bind(self, pointers: Sequence[int], changing: Sequence[int], memory: Memory) -> NullExecutable:
        self.bound.append(list(pointers))
        self.changing = list(changing)
        self.memory = memory
        return self

    def specialise(self, symbols: tuple[int, ...]) -> Run:
        self.specialised.append(symbols)
        return lambda *pointers: self.runs.append(pointers)


class NullRun:
    """The cheapest launch there is."""

    def bind(self, pointers: Sequence[int], changing: Sequence[int], memory: Memory) -> NullRun:
        return self

    def specialise(self, symbols: tuple[int, ...]) -> Run:
        def run(stream: int, *pointers: int) -> None:
            pass

        return run


def linear_program(weights: int = 64) -> HostProgram:
    parameters = [Input(f"w{at}", "f32", ("4", "4"), ("4", "1"), align=4, role="parameter") for at in range(weights)]
    return HostProgram(
        target="c",
        arch="any",
        symbols=(Symbol("s", 1, 4096, 1, 0, 0),),
        inputs=(Input("x", "f32", ("s", "512"), ("512", "1"), align=16), *parameters),
        outputs=(Output("y", "f32", ("s", "512"), ("512", "1")),),
        arena_bytes="s*64",
    )


def build(
    executable: Any, program: HostProgram, bound: dict[int, Any] | None = None, values: dict[int, Any] | None = None
) -> Callable[[list[Any]], Any]:
    return CallerFactory(program, executable, "cpu", NumpyAdapter(), bound or {}, values or {}).build()


def address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def test_binds_once_and_rebinds_when_an_input_moves() -> None:
    executable = NullExecutable()
    call = build(executable, linear_program(2))
    args = [np.zeros((3, 512), F32), np.zeros((4, 4), F32), np.zeros((4, 4), F32)]
    results = [call(args)[0] for _ in range(3)]
    assert executable.bound == [[0, address(args[1]), address(args[2]), 0]]
    assert executable.changing == [0, 3]
    assert executable.runs == [(0, address(args[0]), address(result)) for result in results]
    assert len({address(result) for result in results}) == 3
    args[2] = np.zeros((4, 4), F32)
    call(args)
    call(args)
    assert [pointers[2] for pointers in executable.bound] == [executable.bound[0][2], address(args[2])]


def test_one_plan_for_each_shape() -> None:
    executable = NullExecutable()
    call = build(executable, linear_program(1))
    w = np.zeros((4, 4), F32)
    for rows in (3, 5, 3, 5, 7):
        assert call([np.zeros((rows, 512), F32), w])[0].shape == (rows, 512)
    assert executable.specialised == [(3,), (5,), (7,)]


def test_plans_are_bounded() -> None:
    executable = NullExecutable()
    call = build(executable, linear_program(1))
    w, x = np.zeros((4, 4), F32), np.zeros((600, 512), F32)
    for rows in range(1, 601):
        call([x[:rows], w])
    call([x[:600], w])
    assert len(executable.specialised) == 600
    call([x[:1], w])
    assert len(executable.specialised) == 601


def test_a_new_binding_is_checked() -> None:
    call = build(NullExecutable(), linear_program(1))
    x, w = np.zeros((3, 512), F32), np.zeros((4, 4), F32)
    call([x, w])
    with pytest.raises(ShapeError, match="'w0': shape"):
        call([x, np.zeros((4, 5), F32)])
    with pytest.raises(LaunchError, match="'w0': expected dtype f32, found f64"):
        call([x, np.zeros((4, 4))])
    with pytest.raises(LaunchError, match="expected a tensor, found an int"):
        call([x, 5])
    call([x, w])


def test_bound_inputs_are_not_in_the_list() -> None:
    executable = NullExecutable()
    w = np.zeros((4, 4), F32)
    call = build(executable, linear_program(2), {1: w})
    x, v = np.zeros((3, 512), F32), np.zeros((4, 4), F32)
    call([x, v])
    call([x, v])
    assert executable.bound == [[0, address(w), address(v), 0]]
    with pytest.raises(LaunchError, match=r"expected 2 inputs \(x, w1\), found 3"):
        call([x, w, v])


def test_values_that_the_runtime_holds_are_used_where_they_lie() -> None:
    executable = NullExecutable()
    w, v, x = np.zeros((4, 4), F32), np.zeros((4, 4), F32), np.zeros((3, 512), F32)
    call = build(executable, linear_program(2), {1: w}, {2: wrap_numpy(v, "f32")})
    call([x])
    call([x])
    assert executable.bound == [[0, address(w), address(v), 0]]
    call = build(executable, linear_program(2), {1: w}, {2: wrap_numpy(np.zeros((4, 5), F32), "f32")})
    with pytest.raises(ShapeError, match="'w1': shape"):
        call([x])


def test_memory_comes_from_the_adapter() -> None:
    executable = NullExecutable()
    build(executable, linear_program(1))([np.zeros((3, 512), F32), np.zeros((4, 4), F32)])
    owner, start = executable.memory(100)
    assert isinstance(owner, np.ndarray) and start == address(owner)


def test_strided_outputs() -> None:
    program = linear_program(1)
    outputs = (Output("y", "f32", ("s", "3"), ("1", "s")), Output("z", "bf16", ("2", "3"), ("3", "1")))
    call = build(NullExecutable(), HostProgram("c", "any", program.symbols, program.inputs, outputs, "0"))
    y, z = call([np.zeros((5, 512), F32), np.zeros((4, 4), F32)])
    assert y.shape == (5, 3) and y.strides == (4, 20)
    assert z.dtype.name == "bfloat16"


def test_no_inputs_at_all() -> None:
    executable = NullExecutable()
    call = build(executable, HostProgram("c", "any", (), (), (Output("y", "f32", ("2",), ("1",)),), "0"))
    assert call([])[0].shape == (2,)
    call([])
    assert executable.specialised == [()]


def seconds_of(call: Callable[[list[Any]], Any], args: list[Any], count: int = 2000) -> float:
    rounds: list[float] = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(count):
            call(args)
        rounds.append((time.perf_counter() - start) / count)
    return statistics.median(rounds)


def test_cost_of_a_call_with_65_unchanged_inputs(record_property: Callable[[str, object], None]) -> None:
    """Python beside a null launch, output creation included: the bar is 10 us; the bound is loose for loaded
    machines.
    """
    call = build(NullRun(), linear_program(64))
    args = [np.zeros((16, 512), F32), *(np.zeros((4, 4), F32) for _ in range(64))]
    call(args)
    cost = seconds_of(call, args)
    record_property("microseconds", cost * 1e6)
    assert cost < 40e-6
