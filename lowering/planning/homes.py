"""Where the results of a function end up: written there at once by their kernel where that is right, else copied
last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ...dialects.errors import LoweringError
from ...dialects.kernel import LiteralOp
from .results import Result

Place = tuple[Literal["output", "input"], int]
"""Output or input number n of the program."""


@dataclass
class Homes:
    """`direct`: values that their kernel writes into an output or a mutated input. Then, after all kernels, in this
    order: `output_copies`, `saved` (inputs kept aside since they are both copied from and written), `input_copies`."""

    direct: dict[SSAValue, Place] = field(default_factory=dict[SSAValue, Place])
    output_copies: list[tuple[SSAValue, Place]] = field(default_factory=list[tuple[SSAValue, Place]])
    saved: list[SSAValue] = field(default_factory=list[SSAValue])
    input_copies: list[tuple[SSAValue, Place]] = field(default_factory=list[tuple[SSAValue, Place]])


def decide(results: Sequence[Result], steps: Sequence[Operation], block: Block) -> Homes:
    """The homes of the results of a function whose kernels and calls are `steps`."""
    homes = Homes()
    outputs = [r for r in results if r.mutates is None]
    mutations = [r for r in results if r.mutates is not None]
    mutated = [r.mutates for r in mutations]
    if len(set(mutated)) < len(mutated):
        raise LoweringError("two results mutate the same input", stage="plan-memory")
    for number, result in enumerate(outputs):
        place: Place = ("output", number)
        if _is_made_by_kernel(result.value) and result.value not in homes.direct:
            homes.direct[result.value] = place
        else:
            homes.output_copies.append((result.value, place))
    sources = {r.value for r in results}
    for result in mutations:
        assert result.mutates is not None
        target = block.args[result.mutates]
        if result.value is target:
            continue
        if result.value not in homes.direct and _may_write_in_place(result.value, target, sources, steps):
            homes.direct[result.value] = ("input", result.mutates)
        else:
            homes.input_copies.append((result.value, ("input", result.mutates)))
    written = {block.args[m] for m in mutated if m is not None}
    homes.saved = list(dict.fromkeys(value for value, _ in homes.input_copies if value in written))
    return homes


def _is_made_by_kernel(value: SSAValue) -> bool:
    return not isinstance(value, BlockArgument) and not isinstance(value.owner, LiteralOp)


def _may_write_in_place(value: SSAValue, target: SSAValue, sources: set[SSAValue], steps: Sequence[Operation]) -> bool:
    """Whether the kernel that makes the value may write it over the input: nothing reads the input then or later."""
    if not _is_made_by_kernel(value) or target in sources:
        return False
    positions = {op: n for n, op in enumerate(steps)}
    assert isinstance(value.owner, Operation)
    made = positions[value.owner]
    return all(positions[use.operation] < made for use in target.uses if use.operation in positions)
