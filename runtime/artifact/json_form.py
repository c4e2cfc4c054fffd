"""The frozen data of model.py as JSON and back, derived from the field annotations.

Unknown fields are ignored (a newer minor version may add some); a missing one without default, or one of another
type, is an error that names its path.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import MappingProxyType, UnionType
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

from ..errors import ArtifactError
from .model import BufferArgument, Copy, Launch, LibraryCall, ScalarArgument

_KINDS: Mapping[type, str] = MappingProxyType(
    {
        Launch: "launch",
        LibraryCall: "library_call",
        Copy: "copy",
        BufferArgument: "buffer",
        ScalarArgument: "scalar",
    }
)
T = TypeVar("T")


def to_json(value: object) -> Any:
    """Dataclasses become objects (members of a union carry their "kind"), tuples become lists."""
    if is_dataclass(value) and not isinstance(value, type):
        data = {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
        kind = _KINDS.get(type(value))
        return {"kind": kind, **data} if kind else data
    if isinstance(value, tuple):
        return [to_json(item) for item in cast("tuple[object, ...]", value)]
    return value


def from_json(cls: type[T], data: object, path: str) -> T:
    """An instance of the dataclass `cls`; `path` names the place in errors."""
    return cast("T", _decode(cls, data, path))


def _fail(path: str, expected: str, found: object) -> ArtifactError:
    text = repr(found)
    return ArtifactError(
        f"{path}: expected {expected}, found {text if len(text) < 60 else text[:57] + '...'}",
        hint="the artifact is damaged or was not written by Albumen; build it again",
    )


@cache
def _hints(cls: type) -> Mapping[str, Any]:
    return get_type_hints(cls)


def _decode(annotation: Any, data: object, path: str) -> object:
    origin = get_origin(annotation)
    if origin is Literal:
        if data not in get_args(annotation):
            raise _fail(path, f"one of {', '.join(map(str, get_args(annotation)))}", data)
        return data
    if origin is UnionType:
        return _decode_union(get_args(annotation), data, path)
    if origin is tuple:
        return _decode_tuple(get_args(annotation), data, path)
    if is_dataclass(annotation):
        return _decode_object(cast("type", annotation), data, path)
    if type(data) is not annotation:
        raise _fail(path, {int: "an integer", str: "a text", bool: "true or false"}[annotation], data)
    return data


def _decode_union(members: tuple[Any, ...], data: object, path: str) -> object:
    if type(None) in members:
        others = [member for member in members if member is not type(None)]
        return None if data is None else _decode(others[0], data, path)
    given = cast("dict[str, object]", data) if isinstance(data, dict) else {}
    for member in members:
        if _KINDS[member] == given.get("kind"):
            return _decode(member, given, path)
    raise _fail(path, f"an object of kind {' or '.join(_KINDS[member] for member in members)}", given.get("kind"))


def _decode_tuple(members: tuple[Any, ...], data: object, path: str) -> object:
    if not isinstance(data, list):
        raise _fail(path, "a list", data)
    items = cast("list[object]", data)
    if len(members) == 2 and members[1] is Ellipsis:
        return tuple(_decode(members[0], item, f"{path}[{index}]") for index, item in enumerate(items))
    if len(items) != len(members):
        raise _fail(path, f"a list of {len(members)}", items)
    return tuple(
        _decode(member, item, f"{path}[{i}]") for i, (member, item) in enumerate(zip(members, items, strict=True))
    )


def _decode_object(cls: type, data: object, path: str) -> object:
    if not isinstance(data, dict):
        raise _fail(path, "an object", data)
    given = cast("dict[str, object]", data)
    values: dict[str, object] = {}
    for field in fields(cls):
        if field.name in given:
            values[field.name] = _decode(_hints(cls)[field.name], given[field.name], f"{path}.{field.name}")
        elif field.default is MISSING:
            raise _fail(path, f"a field {field.name!r}", sorted(given))
    return cls(**values)
