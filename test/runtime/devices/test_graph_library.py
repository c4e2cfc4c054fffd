"""Library calls in graphs: issued first, captured once, replaced or instantiated anew."""

from __future__ import annotations

from typing import Any

import pytest

from albumen.runtime.devices.resolve import Resolver
from albumen.runtime.errors import DeviceError

X, W, Y = 0x1000, 0x2000, 0x3000
BASE = 0x100100
"""The arena of the first allocation, aligned to 256."""


def test_library_calls_are_issued_first_and_then_captured_once(make_rig: Any, kit: Any) -> None:
    rig = make_rig(kit.with_library())
    run = rig.bind().specialise((5,))
    run(1, X, Y)
    assert rig.driver.names() == ["launch_kernel", "copy"]
    run(1, X, Y)
    assert rig.driver.names()[2:] == [
        "create_graph",
        "add_kernel",
        "capture",
        "add_child",
        "add_copy",
        "instantiate",
        "launch_graph",
    ]
    assert rig.driver.ran == kit.library_run() * 2
    run(1, X, 0x4000)
    assert rig.driver.names().count("capture") == 1
    assert rig.driver.ran[-3:] == kit.library_run(y=0x4000)


def test_a_moved_operand_of_a_library_call_is_captured_anew(make_rig: Any, kit: Any) -> None:
    rig = make_rig(kit.with_library())
    run = rig.bind().specialise((5,))
    run(1, X, Y)
    run(1, X, Y)
    mark = len(rig.driver.log)
    run = rig.bind(0x9000).specialise((5,))
    run(1, X, Y)
    assert rig.since(mark) == ["capture", "set_child", "launch_graph"]
    assert rig.driver.ran[-3:] == kit.library_run(w=0x9000)


def test_another_topology_of_a_library_call_is_instantiated_anew(make_rig: Any, kit: Any) -> None:
    rig = make_rig(kit.with_library())
    run = rig.bind().specialise((5,))
    run(1, X, Y)
    run(1, X, Y)
    rig.driver.same_topology = False
    mark = len(rig.driver.log)
    run = rig.bind(0x9000).specialise((5,))
    run(1, X, Y)
    assert rig.since(mark)[:4] == ["capture", "set_child", "destroy_executable", "destroy_graph"]
    assert rig.since(mark)[-2:] == ["instantiate", "launch_graph"]
    assert rig.driver.ran[-3:] == kit.library_run(w=0x9000)
    assert len(rig.driver.executables) == 1


def test_missing_library(kit: Any) -> None:
    program = kit.with_library()
    with pytest.raises(DeviceError, match="calls the library function 'lib', which is not there"):
        Resolver(program, {"k0": "k0"}, {}, kit.driver())
