"""Reading the properties of an op in its type rule: present, of the right kind, in range, or a TypeRuleError."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import Attribute

from ..errors import TypeRuleError
from ..op import require

A = TypeVar("A", bound=Attribute)


def property_of(properties: Mapping[str, Attribute], name: str, kind: type[A]) -> A:
    """The property `name`, which must be a `kind`."""
    value = properties.get(name)
    if not isinstance(value, kind):
        raise TypeRuleError(f"needs the property '{name}'")
    return value


def int_property(properties: Mapping[str, Attribute], name: str) -> int:
    """The integer in the property `name`."""
    value = properties.get(name)
    if not isinstance(value, IntAttr):
        raise TypeRuleError(f"needs the property '{name}'")
    return int(value.data)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


def axis_property(properties: Mapping[str, Attribute], rank: int) -> int:
    """The property `axis`, a dimension of a tensor of `rank`."""
    axis = int_property(properties, "axis")
    require(0 <= axis < rank, f"axis {axis} is outside a tensor of rank {rank}")
    return axis
