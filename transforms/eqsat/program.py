"""The egglog program of a saturation: sorts, constructors, type rules derived from the ops, oracles and rules, as
text."""

from __future__ import annotations

import re

from ...dialects.hlir.conversion import BitcastOp, CastOp, SelectOp
from ...dialects.hlir.creation import ConstantOp, IotaOp, LiteralOp
from ...dialects.hlir.elementwise import Elementwise
from ...dialects.hlir.view import ViewOp
from ...dialects.op import TensorOp
from .oracles import ORACLES
from .rule import Rule
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

RUN = "(run-schedule (seq (run main) (repeat 8 (run push)) (saturate (run types))))"
"""One iteration: every rule once, those that push up to eight times, then the types of what is new.

Pushing has no end of its own where values are views of one another, until Python has said which views compose to none;
by then eight rounds have made few terms. A chain of more than eight ops is pushed through by the next iterations.
"""

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

    Each operand says both, so operands that differ stop the saturation. The other ops are typed by their `infer`.
    """
    rules: list[Rule] = []
    for op in OP_CLASSES:
        if issubclass(op, Elementwise):
            rules.append(_elementwise_types(op))
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


def _elementwise_types(op: type[Elementwise]) -> Rule:
    form = form_of(op)
    properties = [f"p{i}" for i in range(len(form.properties))]
    operands = [f"x{i}" for i in range(form.fixed)]
    when = f"(= e {pattern(op, properties, operands)})"
    then = ""
    for number, x in enumerate(operands):
        when += f" (= d{number} (dims-of {x}))"
        then += f"(set (dims-of e) d{number}) "
    if op.RESULT is not None:
        return Rule(f"type of {op.name}", when, f"{then}(set (dtype-of e) {quote(str(op.RESULT.attr))})")
    if op in (CastOp, BitcastOp):
        return Rule(f"type of {op.name}", when, f"{then}(set (dtype-of e) p0)")
    for number, x in list(enumerate(operands))[1 if op is SelectOp else 0 :]:
        when += f" (= t{number} (dtype-of {x}))"
        then += f"(set (dtype-of e) t{number}) "
    return Rule(f"type of {op.name}", when, then.rstrip())


def prelude(rules: RuleSet) -> str:
    """The whole program before any term."""
    types = [command for rule in type_rules() for command in rule.commands("types")]
    main: list[str] = []
    for rule in (*rules.rules, *(p.as_rule() for p in rules.proposals)):
        main += rule.commands("push" if rule.pushes else "main")
    lines = [HEAD, *(declaration(name) for name in names_in("\n".join([*types, *main])))]
    lines += [p.declaration() for p in rules.proposals]
    for oracle in ORACLES.values():
        sorts = " ".join(["String"] * oracle.arity)
        lines += [f"(relation need-{oracle.name} ({sorts}))", f"(function {oracle.name} ({sorts}) String :no-merge)"]
    return "\n".join([*lines, "(ruleset types)", "(ruleset push)", "(ruleset main)", *types, *main])
