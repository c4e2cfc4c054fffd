"""Devices: what runs programs. `find_device` and `device_for` open one; nothing is touched before."""

from __future__ import annotations

from .device import Binding, Device, Executable, Memory, Recompile, Run
from .registry import DeviceReport, device_for, find_device, report_devices

__all__ = [
    "Binding",
    "Device",
    "DeviceReport",
    "Executable",
    "Memory",
    "Recompile",
    "Run",
    "device_for",
    "find_device",
    "report_devices",
]
