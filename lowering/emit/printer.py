"""The printer of C-like text: names, lines, blocks and types; what an op prints comes from the target's handler tables.

A pure op with one use in its own block is written inside that use, any other value gets a `const` variable.
"""

from __future__ import annotations

import math
import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager

import numpy as np
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects.errors import LoweringError
from .target import ExpressionHandler, Target, lanes

LONGEST_INLINE = 72
"""An expression longer than this gets its own variable, so that lines stay readable."""

RESERVED = frozenset(
    """
    alignas auto bool break case char class const constant continue default device do double else enum extern false
    float for fragment global goto half if index inline int kernel long main namespace new operator private public
    register restrict return shared short signed sizeof static struct switch template this thread threadgroup
    true typedef union unsigned using vertex void volatile while blockIdx threadIdx blockDim gridDim warpSize
    j0 j1 y0 y1 log exp sin cos tan pow sqrt abs min max floor ceil round trunc fma host buffers symbols arena
    status failed context begin end
    """.split()  # noqa: SIM905 (a hundred quoted words are harder to read)
)


class TextPrinter:
    """Writes the text of one kernel (or several: names are kept apart by `scope`)."""

    def __init__(self, target: Target):
        self.target = target
        self.lines: list[str] = []
        self.functions: dict[str, None] = {}
        """Formats of functions used so far, in order of first use: what a prelude must provide."""
        self.vectors: dict[str, str] = {}
        """Declarations of the vector types used so far, by name."""
        self._names: dict[SSAValue, str] = {}
        self._taken: dict[str, int] = {}
        self._depth = 0
        self._yields: list[tuple[str, ...]] = []

    # Lines

    def line(self, text: str) -> None:
        self.lines.append("  " * self._depth + text if text else "")

    @contextmanager
    def braces(self, head: str = "", tail: str = "}") -> Generator[None]:
        """`head {` ... `}` around what is printed inside."""
        self.open(head)
        yield
        self.close(tail)

    def open(self, head: str) -> None:
        self.line(f"{head} {{".lstrip())
        self._depth += 1

    def close(self, tail: str = "}") -> None:
        self._depth -= 1
        self.line(tail)

    def otherwise(self) -> None:
        """`} else {` inside braces."""
        self._depth -= 1
        self.line("} else {")
        self._depth += 1

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def suspend(self) -> tuple[list[str], int]:
        """Starts a text of its own, in which names stay known; `resume` ends it."""
        outer = (self.lines, self._depth)
        self.lines, self._depth = [], 0
        return outer

    def resume(self, outer: tuple[list[str], int]) -> str:
        """Goes back to the text before `suspend` and returns the one since."""
        text = self.text()
        self.lines, self._depth = outer
        return text

    # Names

    def fresh(self, hint: str | None = None) -> str:
        """A new identifier, made from the hint where there is one."""
        stem = re.sub(r"\W", "_", hint or "v")
        stem = f"v{stem}" if stem[0].isdigit() else stem
        if stem in RESERVED:
            stem += "_"
        count = self._taken.get(stem, 0)
        self._taken[stem] = count + 1
        if hint is not None and count == 0:
            return stem
        name = f"{stem}{count}"
        if name in self._taken or name in RESERVED:
            return self.fresh(f"{stem}_{count}")
        self._taken[name] = 1
        return name

    def bind(self, value: SSAValue, text: str) -> None:
        """From here on the value is written as this text (a name, or a pure expression)."""
        self._names[value] = text

    def name(self, value: SSAValue) -> str:
        """Binds the value to a fresh identifier and returns it."""
        self._names[value] = name = self.fresh(value.name_hint)
        return name

    def use(self, value: SSAValue) -> str:
        """The text of a value: its name, or the expression that was kept for its only use."""
        text = self._names.get(value)
        if text is None:
            owner = value.owner if isinstance(value.owner, Operation) else None
            raise LoweringError(f"value %{value.name_hint or '?'} is used before it is printed", op=owner, stage="emit")
        return text

    def operands(self, op: Operation) -> list[str]:
        return [self.use(operand) for operand in op.operands]

    def define(self, value: SSAValue, text: str) -> str:
        """Writes `const T name = text;` and binds the value to the name."""
        name = self.fresh(value.name_hint)
        self.line(f"const {self.type(value.type)} {name} = {bare(text)};")
        self._names[value] = name
        return name

    # Types and literals

    def type(self, attribute: Attribute) -> str:
        parts = lanes(attribute)
        if parts is None:
            return self.target.scalar_type(attribute)
        count, element = parts
        name = self.target.vector_type.format(n=count, t=self.target.type_name(element))
        size = count * byte_width(element)
        self.vectors[name] = self.target.vector_declaration.format(
            name=name,
            element=self.target.scalar_type(element),
            n=count,
            bytes=size,
            align=min(size & -size, 16),
            unit=byte_width(element),
        )
        return name

    def literal(self, value: float | int, attribute: Attribute) -> str:
        """A constant of a scalar type that reads back to the same bits."""
        kind = self.target.type_name(attribute)
        if kind == "i1":
            return "true" if value else "false"
        if isinstance(value, int) and not kind.startswith(("f", "bf")):
            return integer_literal(value, 64 if kind == "index" else int(kind.lstrip("siu")))
        if kind in ("f32", "f64"):
            return self._float_literal(float(value), kind)
        # The sign goes in before the conversion: what stands for a narrow float may be its bits.
        return self.call(f"cast.f32.{kind}", kind, [self._float_literal(float(value), "f32")])

    def _float_literal(self, number: float, kind: str) -> str:
        if math.isnan(number) or math.isinf(number):
            word = "nan" if math.isnan(number) else "inf"
            text = self.target.literals.get(f"{word}.{kind}", "NAN" if word == "nan" else "INFINITY")
            return f"(-{text})" if math.copysign(1.0, number) < 0 and word == "inf" else text
        return signed(f"{decimal(np.float32(number))}f") if kind == "f32" else signed(repr(number))

    # Functions

    def call(self, function: str, dtype: str, operands: Sequence[str]) -> str:
        """The text of a target function on operand texts; refuses one that the target does not spell."""
        form = self.target.function(function, dtype)
        if form is None:
            raise LoweringError(
                f"target {self.target.name} has no spelling of {function} for {dtype}",
                stage="emit",
                hint="compute it in another dtype, or expand the op before lowering",
            )
        self.functions[form] = None
        return form.format(*operands)

    def cast(self, text: str, source: Attribute, result: Attribute) -> str:
        """A conversion between scalar types: the function cast.FROM.TO where the target has one, else a C cast."""
        name = f"cast.{self.target.type_name(source)}.{self.target.type_name(result)}"
        form = self.target.functions.get(name)
        if form is None:
            return f"({self.type(result)}){text}"
        self.functions[form] = None
        return form.format(text)

    # Ops

    def block(self, block: Block) -> None:
        for op in block.ops:
            self.op(op)

    def region(self, block: Block, targets: Sequence[str]) -> None:
        """Prints a block whose terminator assigns the yielded values to `targets`."""
        self._yields.append(tuple(targets))
        self.block(block)
        self._yields.pop()

    def op(self, op: Operation) -> None:
        """Prints one op by the target's tables."""
        statement = self.target.statements.get(type(op))
        if statement is not None:
            statement(self, op)
        else:
            self.expression(op)

    def expression(self, op: Operation) -> None:
        """An op that is an expression: kept for its only use, or given a variable."""
        expression = self.target.expressions.get(type(op))
        if expression is None:
            raise LoweringError(f"target {self.target.name} cannot print this op", op=op, stage="emit")
        result = op.results[0]
        if lanes(result.type) and type(op) not in self.target.native_vector_ops:
            self._lanes(op, result, expression)
            return
        text = expression(self, op, self.operands(op))
        if self._inline(op, text):
            self._names[result] = text
        else:
            self.define(result, text)

    def _inline(self, op: Operation, text: str) -> bool:
        if len(text) > LONGEST_INLINE:
            return False
        if re.fullmatch(r"\(?-?[\w.]+\)?", text):
            return True
        uses = list(op.results[0].uses)
        return len(uses) == 1 and uses[0].operation.parent is op.parent

    def _lanes(self, op: Operation, result: SSAValue, expression: ExpressionHandler) -> None:
        """An elementwise op on vectors, as a loop over lanes."""
        parts = lanes(result.type)
        assert parts is not None
        count = parts[0]
        name, lane = self.fresh(result.name_hint), self.fresh("l")
        texts = [
            self.target.lane.format(self.variable(operand), lane) if lanes(operand.type) else self.use(operand)
            for operand in op.operands
        ]
        self.line(f"{self.type(result.type)} {name};")
        self.line(self.target.unroll.format(n=count))
        text = expression(self, op, texts)
        self.line(f"for (int {lane} = 0; {lane} < {count}; ++{lane}) {self.target.lane.format(name, lane)} = {text};")
        self._names[result] = name

    def variable(self, value: SSAValue) -> str:
        """The value as a plain identifier: an expression that was kept for its use is given a variable first."""
        text = self.use(value)
        return text if text.isidentifier() else self.define(value, text)

    @property
    def targets(self) -> tuple[str, ...]:
        """The variables that the terminator of the enclosing region assigns."""
        return self._yields[-1]

    def assign(self, values: Sequence[SSAValue]) -> None:
        """What a terminator does: gives the values to the variables of the enclosing region, all at once."""
        targets = self.targets
        texts = [self.use(value) for value in values]
        for position, (value, text) in enumerate(zip(values, texts, strict=True)):
            words = set(re.findall(r"\w+", text))
            if words & set(targets[:position]):
                texts[position] = self.define(value, text)
        for target, text in zip(targets, texts, strict=True):
            if target != text:
                self.line(f"{target} = {bare(text)};")


def byte_width(attribute: Attribute) -> int:
    """Bytes that one element takes in memory; an i1 takes one."""
    width = getattr(attribute, "bitwidth", 64)
    return max(1, int(width) // 8)


def bare(text: str) -> str:
    """The text without the parentheses around all of it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return text[1:-1] if position == len(text) - 1 else text
    return text


def signed(text: str) -> str:
    return f"({text})" if text.startswith("-") else text


def decimal(value: np.float32) -> str:
    """The shortest decimal text that reads back to the same float, always with a point or an exponent."""
    text = str(value)
    return text if any(mark in text for mark in ".en") else f"{text}.0"


def integer_literal(value: int, width: int) -> str:
    """A signed integer constant of a width; values of the unsigned range wrap to the signed one."""
    value = (value + (1 << (width - 1))) % (1 << width) - (1 << (width - 1))
    suffix = "LL" if not -(2**31) < value < 2**31 else ""
    if value == -(1 << 63):
        return "(-9223372036854775807LL - 1)"
    return signed(f"{value}{suffix}")
