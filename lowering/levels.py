"""The contract of each level of IR as data: which ops a module at that level may hold, and where.

`check_level` also checks dominance, which xDSL's verifier does not: a value must be defined before it is used. An
e-graph is exempt, since its classes refer to one another in cycles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, Region, SSAValue

from ..dialects.errors import ContractError, location_text

SHOWN = 20
"""How many offending ops an error lists."""


@dataclass(frozen=True)
class Level:
    """A level of IR. A pattern is an op name, or a prefix ended by `*`.

    `ops` may stand anywhere; below an op that matches a key of `inside` its patterns hold instead (the first such key).
    """

    name: str
    ops: tuple[str, ...]
    inside: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    dominance: bool = True


MODULE = ("builtin.module", "sym.*")
FUNCTION = ("func.func", "func.return")
SCALAR_CODE = ("arith.*", "math.*", "scf.*", "vector.*")
KERNEL_BODIES = {"kernel.func": ("kernel.*",), "kernel.*": ("hlir.*", "kernel.yield")}
LOOP_BODIES = {"loop.kernel": ("loop.*", *SCALAR_CODE)}
# Scalar functions without an upstream op keep their spelling of the loop dialect.
SIMT_BODIES = {"simt.kernel": ("simt.*", "nv.*", "apple.*", "loop.apply", *SCALAR_CODE)}

LEVELS: Mapping[str, Level] = MappingProxyType(
    {
        level.name: level
        for level in (
            Level("graph", (*MODULE, *FUNCTION, "hlir.*")),
            Level("e-graph", (*MODULE, *FUNCTION, "hlir.*", "equivalence.*", "kernel.call_*"), dominance=False),
            # What extraction chose: plain tensor code in which library calls stand for the parts that they compute.
            Level("selection", (*MODULE, *FUNCTION, "hlir.*", "kernel.call_*")),
            Level("kernel", (*MODULE, *FUNCTION, "kernel.*", "hlir.loop", "hlir.yield"), KERNEL_BODIES),
            Level("program", (*MODULE, "host.*", "kernel.func"), KERNEL_BODIES),
            # A matmul template for a GPU is thread-level code from the start.
            Level("loop", (*MODULE, "host.*", "loop.kernel", "simt.kernel"), {**LOOP_BODIES, **SIMT_BODIES}),
            Level("simt", (*MODULE, "host.*", "simt.kernel"), SIMT_BODIES),
            Level("source", (*MODULE, "host.*")),
        )
    }
)


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether an op name is one of the patterns."""
    return any(name.startswith(p[:-1]) if p.endswith("*") else name == p for p in patterns)


def _allowed_below(op: Operation, level: Level, allowed: tuple[str, ...]) -> tuple[str, ...]:
    return next((inner for outer, inner in level.inside.items() if matches(op.name, (outer,))), allowed)


def _illegal_ops(op: Operation, level: Level, allowed: tuple[str, ...], found: list[Operation]) -> None:
    if not matches(op.name, allowed):
        found.append(op)
        return
    below = _allowed_below(op, level, allowed)
    for region in op.regions:
        for block in region.blocks:
            for inner in block.ops:
                _illegal_ops(inner, level, below, found)


def _undominated_uses(region: Region, visible: set[SSAValue], found: list[Operation]) -> None:
    """Collect the ops of a region with an operand that is not defined before them, in this region or around it."""
    defined: list[SSAValue] = []
    for block in region.blocks:
        defined += block.args
        visible.update(block.args)
        for op in block.ops:
            if not all(operand in visible for operand in op.operands):
                found.append(op)
            for inner in op.regions:
                _undominated_uses(inner, visible, found)
            defined += op.results
            visible.update(op.results)
    visible.difference_update(defined)


def _listing(ops: list[Operation]) -> str:
    lines = [f"{op.name} {location_text(op.location)}".rstrip() for op in ops[:SHOWN]]
    if len(ops) > SHOWN:
        lines.append(f"and {len(ops) - SHOWN} more")
    return "".join(f"\n    {line}" for line in lines)


def check_dominance(module: Operation) -> None:
    """Raise ContractError listing the ops that use a value before its definition."""
    found: list[Operation] = []
    for region in module.regions:
        _undominated_uses(region, set(), found)
    if found:
        raise ContractError(f"values are used before they are defined, by:{_listing(found)}", op=found[0])


def check_level(module: ModuleOp, level: str | Level, *, stage: str = "", hint: str = "") -> None:
    """Raise ContractError unless every op of the module is legal at the level and, where it applies, dominated."""
    contract = LEVELS[level] if isinstance(level, str) else level
    found: list[Operation] = []
    _illegal_ops(module, contract, contract.ops, found)
    if found:
        message = f"the module is not at level {contract.name}, which does not allow:{_listing(found)}"
        raise ContractError(message, op=found[0], stage=stage, hint=hint)
    if contract.dominance:
        check_dominance(module)
