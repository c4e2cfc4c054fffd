"""The graph logic on a recording driver: updates, reuse, streams, captures, failures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from albumen.runtime.errors import DeviceError

X, W, Y = 0x1000, 0x2000, 0x3000
BASE = 0x100100
"""The arena of the first allocation, aligned to 256."""


def test_first_call_builds_and_the_next_only_launches(make_rig: Any, kit: Any) -> None:
    rig = make_rig()
    run = rig.bind().specialise((5,))
    run(1, X, Y)
    kernels = ["add_kernel"] * 3
    assert rig.driver.names() == ["create_graph", *kernels, "instantiate", "launch_graph"]
    assert rig.driver.ran == kit.expected_run()
    mark = len(rig.driver.log)
    for _ in range(3):
        run(1, X, Y)
    assert rig.since(mark) == ["launch_graph"] * 3
    assert rig.driver.ran == kit.expected_run() * 4
    assert rig.arena.sizes == [5 * 64 + 256]
    assert rig.driver.entered == 0


def test_programmatic_edges_and_order(make_rig: Any) -> None:
    rig = make_rig()
    rig.bind().specialise((5,))(1, X, Y)
    assert [entry[1] for entry in rig.driver.log if entry[0] == "add_kernel"] == [False, True, True]
    (edges,) = rig.driver.edges.values()
    assert edges == [(), (0,), (1,)]


def test_a_moved_weight_is_one_update(make_rig: Any, kit: Any) -> None:
    rig = make_rig()
    run = rig.bind().specialise((5,))
    run(1, X, Y)
    mark = len(rig.driver.log)
    run = rig.bind(0x9000).specialise((5,))  # replaces the only user of the first graph
    run(1, X, Y)
    assert rig.driver.log[mark:] == [("set_kernel", 1), ("launch_graph", 1)]
    assert rig.driver.ran[3:] == kit.expected_run(w=0x9000)


def test_another_size_updates_grids_and_scalars(make_rig: Any, kit: Any) -> None:
    rig = make_rig()
    binding = rig.bind()
    run = binding.specialise((5,))
    run(1, X, Y)
    del run
    mark = len(rig.driver.log)
    run = binding.specialise((4,))
    run(1, X, Y)
    assert rig.since(mark) == ["set_kernel"] * 3 + ["launch_graph"]
    assert rig.driver.ran[3:] == kit.expected_run(s=4)


def test_graphs_are_kept_up_to_the_capacity_then_the_oldest_is_repointed(make_rig: Any) -> None:
    rig = make_rig(capacity=2)
    run = rig.bind().specialise((5,))
    run(1, X, Y)
    run(1, X, 0x4000)
    assert rig.driver.names().count("instantiate") == 2
    run(1, X, Y)
    mark = len(rig.driver.log)
    run(1, X, 0x5000)
    assert rig.driver.log[mark:] == [("set_kernel", 2), ("launch_graph", 1)]
    run(1, X, Y)  # was used after the one that was repointed
    assert rig.driver.names()[-1] == "launch_graph" and rig.driver.names().count("set_kernel") == 1
    run(1, X, 0x4000)
    assert rig.driver.names().count("set_kernel") == 2
    assert rig.driver.ran[-1] == ("k2", (5, 1, 1), (BASE + 80, 0x4000))
    assert rig.driver.names().count("instantiate") == 2


def test_every_call_runs_with_its_own_addresses(make_rig: Any, kit: Any, rng: np.random.Generator) -> None:
    rig = make_rig(capacity=3)
    bindings = {w: rig.bind(w) for w in (W, 0x8000)}
    runs = {(w, s): bindings[w].specialise((s,)) for w in bindings for s in (1, 2, 7)}
    for _ in range(300):
        w, s = int(rng.choice([W, 0x8000])), int(rng.choice([1, 2, 7]))
        x, y = (0x10000 + 0x100 * int(value) for value in rng.integers(0, 3, 2))
        before = len(rig.driver.ran)
        runs[w, s](1, x, y)
        base = rig.driver.ran[before][2][1]
        assert rig.driver.ran[before:] == kit.expected_run(x, w, y, s, base)


def test_growing_arena_repoints_old_graphs(make_rig: Any, kit: Any) -> None:
    rig = make_rig()
    binding = rig.bind()
    small, large = binding.specialise((5,)), binding.specialise((50,))
    small(1, X, Y)
    large(1, X, Y)
    assert rig.arena.sizes == [5 * 64 + 256, 50 * 64 + 256]
    mark = len(rig.driver.ran)
    small(1, X, Y)
    large(1, X, Y)
    new = 0x200100
    assert rig.driver.ran[mark:] == kit.expected_run(base=new) + kit.expected_run(s=50, base=new)
    assert len(rig.arena.sizes) == 2


def test_streams_have_arenas_of_their_own(make_rig: Any, kit: Any) -> None:
    rig = make_rig()
    run = rig.bind().specialise((5,))
    run(1, X, Y)
    run(2, X, Y)
    assert len(rig.arena.sizes) == 2
    assert rig.driver.ran == kit.expected_run() + kit.expected_run(base=0x200100)
    for stream in range(3, 9):
        run(stream, X, Y)
    assert rig.driver.names().count("destroy_executable") == 4
    run(1, X, Y)
    assert rig.driver.ran[-3:] == kit.expected_run(base=0x100000 * len(rig.arena.sizes) + 0x100)


def test_capture_issues_every_step_and_builds_nothing(make_rig: Any, kit: Any) -> None:
    rig = make_rig()
    run = rig.bind().specialise((5,))
    rig.driver.capturing.add(1)
    run(1, X, Y)
    assert rig.driver.log == [
        ("launch_kernel", "k0", 1, False),
        ("launch_kernel", "k1", 1, True),
        ("launch_kernel", "k2", 1, True),
    ]
    assert rig.driver.ran == kit.expected_run()
    rig.driver.capturing.clear()
    run(1, X, Y)
    assert rig.driver.names()[-1] == "launch_graph"


def test_empty_grids_launch_nothing(make_rig: Any, kit: Any) -> None:
    rig = make_rig()
    binding = rig.bind()
    binding.specialise((0,))(1, 0, 0)
    assert rig.driver.ran == []
    assert rig.driver.names().count("add_empty") == 3
    run = binding.specialise((5,))
    run(1, X, Y)
    assert rig.driver.ran[-3:] == kit.expected_run(base=0x200100)
    rig.driver.capturing.add(1)
    mark = len(rig.driver.log)
    binding.specialise((0,))(1, 0, 0)
    assert rig.driver.log[mark:] == []


@pytest.mark.parametrize("call", ["add_kernel", "instantiate", "set_kernel", "launch_graph"])
def test_a_refusal_leaves_a_usable_program(make_rig: Any, kit: Any, call: str) -> None:
    rig = make_rig(capacity=1)
    run = rig.bind().specialise((5,))
    if call == "set_kernel":
        run(1, X, Y)
    rig.driver.fail = call
    with pytest.raises(DeviceError, match=f"{call}: CUDA_ERROR_INVALID_VALUE"):
        run(1, X, 0x4000)
    assert rig.driver.entered == 0
    rig.driver.fail = ""
    run(1, X, 0x4000)
    assert rig.driver.ran[-3:] == kit.expected_run(y=0x4000)
    assert len(rig.driver.executables) == 1
    assert len(rig.driver.graphs) == 1


def test_dropping_the_program_frees_its_graphs(make_rig: Any) -> None:
    rig = make_rig()
    run = rig.bind().specialise((5,))
    run(1, X, Y)
    driver = rig.driver
    del rig, run
    assert driver.executables == {} and driver.graphs == {}


def test_large_shared_memory_is_allowed_once(make_rig: Any, kit: Any) -> None:
    step = replace(kit.chain().steps[0], shared_bytes="s*16384")
    rig = make_rig(kit.chain([step]))
    binding = rig.bind()
    for rows in (1, 5, 5, 4, 6):
        binding.specialise((rows,))(1, X, Y)
    allowed = [entry[1:] for entry in rig.driver.log if entry[0] == "allow_shared"]
    assert allowed == [("k0", 5 * 16384), ("k0", 6 * 16384)]
