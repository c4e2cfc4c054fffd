"""What becomes of the results of a function: outputs of the program, or new contents of mutated inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue

from ...dialects.errors import LoweringError
from ...dialects.evaluate import returned


@dataclass(frozen=True)
class Result:
    """Result number `position` of a function; `mutates` is the number of the input that takes it, or None for an
    output."""

    position: int
    value: SSAValue
    mutates: int | None


def results_of(function: FuncOp) -> list[Result]:
    """The results with their roles, as the attribute `hlir.outputs` says: an array with a dictionary for each result,
    {kind = "output"} or {kind = "mutation", input = i : i64}; without it all are outputs.

    Raises:
        LoweringError: the attribute does not fit the function.
    """
    values = returned(function)
    attribute = function.attributes.get("hlir.outputs")
    if attribute is None:
        return [Result(i, v, None) for i, v in enumerate(values)]
    entries: list[Attribute] = (
        list(cast(ArrayAttr[Attribute], attribute).data) if isinstance(attribute, ArrayAttr) else []
    )
    if len(entries) != len(values):
        raise LoweringError(f"hlir.outputs has {len(entries)} entries for {len(values)} results", op=function)
    return [Result(i, v, _mutated(e, function)) for i, (v, e) in enumerate(zip(values, entries, strict=True))]


def _mutated(entry: Attribute, function: FuncOp) -> int | None:
    assert isinstance(entry, DictionaryAttr)
    kind, position = entry.data.get("kind"), entry.data.get("input")
    if not isinstance(kind, StringAttr) or kind.data not in ("output", "mutation"):
        raise LoweringError(f"the kind of a result is output or mutation, found {kind}", op=function)
    if kind.data == "output":
        return None
    count = len(function.body.block.args)
    if not isinstance(position, IntegerAttr) or not 0 <= position.value.data < count:
        raise LoweringError(f"a mutation names one of the {count} inputs, found {position}", op=function)
    return position.value.data
