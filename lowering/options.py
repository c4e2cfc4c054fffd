"""What a compile may be asked for: one frozen record, checked when made, whose digest is part of every cache key."""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self, cast, get_args, get_type_hints

from ..dialects.errors import OptionError

TARGETS = ("c", "cuda", "metal")
NUMERICS = ("eager", "fused", "fast")
RANDOM = ("", "eager", "philox")
MATMUL_PRECISIONS = ("highest", "high", "medium")


def closest(word: str, choices: Iterable[str]) -> str:
    """A hint that names the choices near a mistyped word, or all of them."""
    names = list(choices)
    near = difflib.get_close_matches(word, names, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(near)}?" if near else f"use one of: {', '.join(names)}"


def check_target(target: str, targets: Iterable[str] = TARGETS) -> None:
    """Raise OptionError unless the target is one of these."""
    names = list(targets)
    if target not in names:
        raise OptionError(f"there is no target {target!r} here", hint=closest(target, names))


@dataclass(frozen=True)
class CompileOptions:
    """How to compile a module.

    `target` is what is emitted; `arch` the architecture it is compiled for (empty: that of this machine for c, sm_90a
    for cuda). `numerics` says where values are rounded: "eager" as eager PyTorch does, "fused" in f32 inside a kernel,
    "fast" with approximations. `theories` names the rule files of `eqsat` (empty: all that `numerics` allows); `nodes`
    and `iterations` bound it (0: the pass's own bounds). `libraries` names the library calls that extraction may
    choose, such as "kernel.call_matmul" (empty: none; the torch frontend allows on a GPU what is installed).
    `matmul_precision` is torch's setting of that name for products of f32: "highest" computes them in f32, "high" and
    "medium" let a library round their operands to tf32 (target cuda; the frontends take torch's setting).
    `random` says where random numbers come from: "eager" draws them with torch before each call, "philox" computes them
    in the program under a seed (empty: eager for torch.compile, philox for albumen.compile).
    `compiler` is the C compiler (empty: found on PATH).
    `dump_ir` is a folder that gets the IR of every stage, and the reproducer of a stage that fails.
    """

    target: str = "c"
    arch: str = ""
    numerics: str = "eager"
    theories: tuple[str, ...] = ()
    nodes: int = 0
    iterations: int = 0
    libraries: tuple[str, ...] = ()
    matmul_precision: str = "highest"
    random: str = dataclasses.field(default="", metadata={"result": False})
    compiler: str = ""
    dump_ir: str = dataclasses.field(default="", metadata={"result": False})

    def __post_init__(self) -> None:
        for name, kind in get_type_hints(type(self)).items():
            value = getattr(self, name)
            if get_args(kind):
                parts = cast(tuple[object, ...], value) if isinstance(value, tuple) else (None,)
                if not all(isinstance(part, str) for part in parts):
                    raise OptionError(f"option {name} must be a tuple of strings, found {value!r}")
            elif type(value) is not kind:
                raise OptionError(f"option {name} must be of type {kind.__name__}, found {value!r}")
        self._check_choice("target", TARGETS)
        self._check_choice("numerics", NUMERICS)
        self._check_choice("matmul_precision", MATMUL_PRECISIONS)
        self._check_choice("random", RANDOM)
        for name in ("nodes", "iterations"):
            if getattr(self, name) < 0:
                raise OptionError(f"option {name} must not be negative, found {getattr(self, name)}")

    def _check_choice(self, name: str, choices: tuple[str, ...]) -> None:
        value = getattr(self, name)
        if value not in choices:
            raise OptionError(f"option {name} has no value {value!r}", hint=closest(value, choices))

    @classmethod
    def from_mapping(cls, options: Mapping[str, Any] | None) -> Self:
        """The record of a mapping of option names to values; a name that is no option is an error."""
        names = [field.name for field in dataclasses.fields(cls)]
        values: dict[str, Any] = {}
        for name, value in (options or {}).items():
            if name not in names:
                raise OptionError(f"no option is called {name!r}", hint=closest(name, names))
            values[name] = tuple(cast(list[Any], value)) if isinstance(value, list) else value
        return cls(**values)

    @property
    def digest(self) -> str:
        """A stable hash of the options that change the result."""
        fields = [field for field in dataclasses.fields(self) if field.metadata.get("result", True)]
        text = json.dumps({field.name: getattr(self, field.name) for field in fields}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()
