"""Devices that installed packages register: found by name, loaded when asked for, refused when they are no device."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from albumen.runtime.artifact import Artifact
from albumen.runtime.devices import find_device, registry, report_devices
from albumen.runtime.devices.cpu import CpuDevice
from albumen.runtime.errors import DeviceError
from albumen.runtime.program import Program


class Second(CpuDevice):
    """A device of a third party that runs C programs too; its memory is the host's, so it calls itself cpu."""

    opened: int = -1

    @classmethod
    def open(cls, number: int) -> Second:
        cls.opened = number
        return cls()


def not_a_device(number: int) -> object:
    return object()


@pytest.fixture(autouse=True)
def plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = ModuleType("some_plugin")
    module.open_device, module.not_a_device = Second.open, not_a_device
    monkeypatch.setitem(sys.modules, "some_plugin", module)
    names = {"second": "some_plugin:open_device", "broken": "no_such_module:f", "odd": "some_plugin:not_a_device"}
    points = [EntryPoint(name, value, registry.GROUP) for name, value in names.items()]
    points.append(EntryPoint("cpu", "some_plugin:not_a_device", registry.GROUP))

    def entry_points(group: str) -> list[EntryPoint]:
        return points if group == registry.GROUP else []

    monkeypatch.setattr(registry, "entry_points", entry_points)


def test_a_plugin_runs_programs(affine: Artifact) -> None:
    program = Program(affine, "second:3")
    program.bind_parameters({"w": np.ones(4, np.float32)})
    assert Second.opened == 3
    np.testing.assert_array_equal(program(np.ones((1, 4), np.float32)), [[2, 2, 2, 2]])


def test_plugins_that_cannot_be_used() -> None:
    with pytest.raises(DeviceError, match=r"device 'broken' \(no_such_module:f\) cannot be loaded"):
        find_device("broken")
    with pytest.raises(DeviceError, match="gave a object, which is no albumen device"):
        find_device("odd")
    assert isinstance(find_device("cpu"), CpuDevice)  # a plug-in cannot take a built-in name


def test_report_lists_every_kind() -> None:
    reports = {report.kind: report for report in report_devices()}
    assert set(reports) >= {"cpu", "cuda", "second", "broken", "odd"}
    assert reports["second"].available and not reports["broken"].available
    assert "no_such_module" in reports["broken"].detail
