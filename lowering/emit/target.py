"""The spelling record of a target: what differs between C, CUDA and Metal in printed text, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import IndexType, VectorType
from xdsl.ir import Attribute, Operation

from ...dialects.errors import LoweringError

if TYPE_CHECKING:
    from .printer import TextPrinter

ExpressionHandler = Callable[["TextPrinter", Operation, Sequence[str]], str]
"""(printer, op, operand texts) -> text of the op's only result. Must be pure: the text may be moved to its only use."""
StatementHandler = Callable[["TextPrinter", Operation], None]
"""(printer, op) -> None; writes lines and names the op's results through `printer.define` or `printer.bind`."""


def lanes(attribute: Attribute) -> tuple[int, Attribute] | None:
    """Lane count and element type of a vector type; None for a scalar type."""
    if not isinstance(attribute, VectorType):
        return None
    kind = cast("VectorType[Attribute]", attribute)
    return prod(kind.get_shape()), kind.element_type


def scalar(attribute: Attribute) -> Attribute:
    """The element type of a vector type, or the type itself."""
    parts = lanes(attribute)
    return attribute if parts is None else parts[1]


@dataclass(frozen=True)
class Target:
    """Spellings of one target.

    `types`, `functions`, `literals` are keyed by dtype name as MLIR writes it ("f32", "bf16", "i32", "index"); the
    unsigned types that wrapping arithmetic goes through are "ui32" and so on. A function is looked up as "name.dtype",
    then "name"; its text is a format of the operand texts, as "fmaf({0}, {1}, {2})"; `{t}` in it is the dtype name.
    A cast is the function "cast.FROM.TO"; one that is missing prints as a plain C cast. A bitcast is "bits.FROM.TO".
    """

    name: str
    types: Mapping[str, str]
    functions: Mapping[str, str]
    expressions: Mapping[type[Operation], ExpressionHandler]
    statements: Mapping[type[Operation], StatementHandler]
    literals: Mapping[str, str] = field(default_factory=dict[str, str])
    """Texts of "inf.f32", "nan.f64" and so on."""
    vector_type: str = "V{n}{t}"
    """Name of a vector of n elements of dtype t."""
    vector_declaration: str = "typedef struct {{ {element} e[{n}]; }} {name};"
    """What declares it once before the kernels; formats: name, element (spelled), n, bytes, align, unit (of a lane)."""
    lane: str = "{0}.e[{1}]"
    """Lane {1} of the vector {0}."""
    native_vector_ops: frozenset[type[Operation]] = frozenset()
    """Ops whose scalar text is also right for whole vectors; every other op on vectors prints as a loop over lanes."""
    unroll: str = '_Pragma("unroll")'
    """Written before a loop to unroll it fully; `{n}` is the trip count or factor where it is known, else 16."""
    restrict: str = "restrict"

    def type_name(self, attribute: Attribute) -> str:
        """The dtype name of a scalar type: "f32", "i64", "index"."""
        return "index" if isinstance(attribute, IndexType) else str(attribute)

    def scalar_type(self, attribute: Attribute) -> str:
        name = self.type_name(attribute)
        if name not in self.types:
            raise LoweringError(
                f"target {self.name} has no type for {name}",
                stage="emit",
                hint=f"use one of {', '.join(sorted(self.types))}, or another target",
            )
        return self.types[name]

    def function(self, name: str, dtype: str) -> str | None:
        """The format of a function for a dtype, or None when this target does not spell it."""
        text = self.functions.get(f"{name}.{dtype}", self.functions.get(name))
        return None if text is None else text.replace("{t}", dtype)
