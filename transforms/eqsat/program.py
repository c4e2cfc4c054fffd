"""The egglog program of a saturation: sorts, constructors, type rules derived from the ops, oracles and rules, as
text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...dialects.hlir.creation import ConstantOp, IotaOp, LiteralOp
from ...dialects.hlir.elementwise import BitcastOp, CastOp, Elementwise, SelectOp
from ...dialects.hlir.view import ViewOp
from ...dialects.op import TensorOp
from .oracles import ORACLES
from .rule import Rule, rule_text, ruleset_name
from .signature import OP_CLASSES, form_of, form_of_constructor, pattern, quote
from .theories import RuleSet

HEAD = """(sort T)
(sort Tuple)
(sort Ts (Vec T))
(constructor arg (i64) T)
(constructor region (String Ts) Tuple)
(constructor get (Tuple i64) T)
(function node (i64) T :no-merge)
(function dims-of (T) String :no-merge)
(function dtype-of (T) String :no-merge)"""

RUN = "(run-schedule (seq (run main) (saturate (run types))))"
"""One iteration: every rule once, then the types of what is new."""

_NAME = re.compile(r"\((hlir_\w+|kernel_\w+)")


def names_in(text: str) -> list[str]:
    """The constructors that egglog text mentions, in order, each once."""
    return list(dict.fromkeys(_NAME.findall(text)))


def declaration(name: str) -> str:
    """The command that declares a constructor."""
    known = form_of_constructor(name)
    assert known is not None, name
    form, operands = known
    return form.declaration(operands)


def type_rules() -> list[Rule]:
    """Dims and dtype of elementwise ops, views and creations from those of their operands and properties.

    Each operand says the dims, so operands that differ stop the saturation. The other ops are typed by their `infer`.
    """
    rules: list[Rule] = []
    for op in OP_CLASSES:
        if issubclass(op, Elementwise):
            rules += _elementwise_types(op)
    view = pattern(ViewOp, ["m", "t"], ["x"])
    rules.append(Rule("dims of hlir.view", f"(= e {view})", "(set (dims-of e) t)"))
    rules.append(Rule("dtype of hlir.view", f"(= e {view}) (= d (dtype-of x))", "(set (dtype-of e) d)"))
    rules.append(_creation_dims(ConstantOp, "v t"))
    for op in (IotaOp, LiteralOp):
        rules.append(_creation_dims(op, "v t d"))
        rules.append(Rule(f"dtype of {op.name}", f"(= e {pattern(op, ['v', 't', 'd'], [])})", "(set (dtype-of e) d)"))
    return rules


def _creation_dims(op: type[TensorOp], variables: str) -> Rule:
    assert form_of(op).properties[1] == "shape"
    return Rule(f"dims of {op.name}", f"(= e {pattern(op, variables.split(), [])})", "(set (dims-of e) t)")


def _elementwise_types(op: type[Elementwise]) -> list[Rule]:
    form = form_of(op)
    properties = [f"p{i}" for i in range(len(form.properties))]
    operands = [f"x{i}" for i in range(form.fixed)]
    term = f"(= e {pattern(op, properties, operands)})"
    rules = [Rule(f"dims of {op.name} by {x}", f"{term} (= d (dims-of {x}))", "(set (dims-of e) d)") for x in operands]
    if op.RESULT is not None:
        rules.append(Rule(f"dtype of {op.name}", term, f"(set (dtype-of e) {quote(str(op.RESULT.attr))})"))
    elif op in (CastOp, BitcastOp):
        rules.append(Rule(f"dtype of {op.name}", term, "(set (dtype-of e) p0)"))
    else:
        like = operands[1:] if op is SelectOp else operands
        for x in like:
            premise = f"{term} (= d (dtype-of {x}))"
            rules.append(Rule(f"dtype of {op.name} by {x}", premise, "(set (dtype-of e) d)"))
    return rules


def prelude(rules: RuleSet) -> str:
    """The whole program before any term."""
    typing = type_rules()
    proposals = [p.as_rule() for p in rules.proposals]
    lines = [HEAD]
    parts = [text for rule in (*typing, *rules.rules, *proposals) for text in rule.commands()]
    lines += [declaration(name) for name in names_in("\n".join(parts))]
    lines += [p.declaration() for p in rules.proposals]
    for oracle in ORACLES.values():
        sorts = " ".join(["String"] * oracle.arity)
        lines += [f"(relation need-{oracle.name} ({sorts}))", f"(function {oracle.name} ({sorts}) String :no-merge)"]
    lines += parts
    lines.append(combined("types", typing))
    lines.append(combined("main", (*rules.rules, *proposals)))
    return "\n".join(lines)


def combined(name: str, rules: Iterable[Rule]) -> str:
    """A ruleset that is several."""
    names = [own for rule in rules for own in rule.rulesets]
    return f"(unstable-combined-ruleset {name} {' '.join(names)})" if names else f"(ruleset {name})"


__all__ = ["RUN", "declaration", "names_in", "prelude", "rule_text", "ruleset_name", "type_rules"]
