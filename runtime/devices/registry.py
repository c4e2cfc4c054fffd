"""The devices of this machine by name: the built-in ones and those that installed packages register.

A package adds a device by an entry point in the group "albumen.devices": the name is the device's kind, the value a
function from the device's number to a `Device`. Nothing is loaded or touched before a device of that kind is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points

from ..errors import DeviceError
from .device import Device

GROUP = "albumen.devices"
TARGET_DEVICE = {"c": "cpu", "cuda": "cuda", "metal": "metal"}
"""Target of an artifact -> kind of device that runs it by default."""


@dataclass(frozen=True, slots=True)
class DeviceReport:
    """Whether a kind of device can be used here; `detail` says what it is or why not, `hint` what to do."""

    kind: str
    available: bool
    detail: str
    hint: str = ""


def _cpu(number: int) -> Device:
    from .cpu import CpuDevice

    if number:
        raise DeviceError(f"there is no cpu:{number}", hint="use cpu")
    return CpuDevice()


def _cuda(number: int) -> Device:
    from .cuda import CudaDevice

    return CudaDevice.open(number)


def _factories() -> dict[str, Callable[[int], Device] | EntryPoint]:
    found: dict[str, Callable[[int], Device] | EntryPoint] = {"cpu": _cpu, "cuda": _cuda}
    for point in entry_points(group=GROUP):
        found.setdefault(point.name, point)
    return found


def device_kinds() -> tuple[str, ...]:
    """Every kind of device that is known here, present or not."""
    return tuple(_factories())


def find_device(name: str) -> Device:
    """The device called "kind" or "kind:number"; raises DeviceError for one that is unknown or absent."""
    kind, _, digits = name.partition(":")
    factories = _factories()
    if kind not in factories or (digits and not digits.isdecimal()):
        raise DeviceError(
            f"unknown device {name!r}", hint=f"known kinds: {', '.join(factories)}, with an optional :number"
        )
    factory = factories[kind]
    if isinstance(factory, EntryPoint):
        return _plugin(factory, int(digits or 0))
    return factory(int(digits or 0))


def _plugin(point: EntryPoint, number: int) -> Device:
    try:
        factory = point.load()
    except (ImportError, AttributeError) as error:
        raise DeviceError(f"device {point.name!r} ({point.value}) cannot be loaded: {error}") from error
    device = factory(number)
    if not isinstance(device, Device):
        raise DeviceError(
            f"device {point.name!r} ({point.value}) gave a {type(device).__name__}, which is no albumen device",
            hint="implement runtime/devices/device.py's Device",
        )
    return device


def device_for(target: str) -> Device:
    """The default device for artifacts of a target."""
    kind = TARGET_DEVICE[target]
    if kind not in _factories():
        raise DeviceError(f"nothing here runs programs of target {target}", hint="compile for target c or cuda")
    return find_device(kind)


def report_devices() -> tuple[DeviceReport, ...]:
    """For every known kind whether it can be used, and if not why."""
    reports: list[DeviceReport] = []
    for kind in device_kinds():
        try:
            device = find_device(kind)
        except DeviceError as error:
            reports.append(DeviceReport(kind, False, error.message, error.hint))
        else:
            reports.append(DeviceReport(kind, True, device.name))
    return tuple(reports)
