"""Rules that are wrong are caught: by types while saturating, by values in the check of members; and proposals need
proof."""

from __future__ import annotations

import numpy as np
import pytest
from graphs import Encoder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from albumen.dialects.errors import RuleError
from albumen.dialects.evaluate import find_function, random_inputs
from albumen.transforms.canonicalize import CanonicalizePass
from albumen.transforms.eqsat.check import check_members
from albumen.transforms.eqsat.eqsat import saturate_module
from albumen.transforms.eqsat.rule import Rule, rewrite
from albumen.transforms.eqsat.saturate import Bounds
from albumen.transforms.eqsat.theories import RuleSet, rule_set


def prepared(encoder: Encoder) -> ModuleOp:
    module = encoder.module()
    CanonicalizePass().apply(Context(), module)
    return module


def with_rule(rule: Rule) -> RuleSet:
    chosen = rule_set()
    return RuleSet((*chosen.rules, rule), chosen.proposals, chosen.expands)


@pytest.mark.parametrize(
    ("lhs", "rhs"),
    [
        ("(hlir_view m t (hlir_sum axes acc x))", "(hlir_view m t x)"),
        ("(hlir_gelu form x)", "(hlir_less_than x x)"),
        ("(hlir_sum axes acc x)", "x"),
        ("(hlir_add x (hlir_view m t y))", "(hlir_add x y)"),
    ],
)
def test_a_rule_that_unites_types_is_named(lhs: str, rhs: str) -> None:
    module = prepared(Encoder(whole=False))
    with pytest.raises(RuleError, match=r"planted rule|a rule (made|asked|unites)"):
        saturate_module(module, with_rule(rewrite("planted rule", lhs, rhs)), Bounds())


def test_a_rule_that_egglog_catches_is_named_exactly() -> None:
    module = prepared(Encoder(whole=False))
    wrong = rewrite("planted rule", "(hlir_gelu form x)", "(hlir_less_than x x)")
    with pytest.raises(RuleError, match="the rule 'planted rule' unites values of different types"):
        saturate_module(module, with_rule(wrong), Bounds())


@pytest.mark.parametrize(
    ("lhs", "rhs"),
    [("(hlir_sub x y)", "(hlir_sub y x)"), ("(hlir_rsqrt x)", "(hlir_recip x)"), ("(hlir_erf x)", "(hlir_tanh x)")],
)
def test_a_rule_that_unites_values_is_found_by_the_check(lhs: str, rhs: str, rng: np.random.Generator) -> None:
    module = prepared(Encoder(whole=False))
    saturate_module(module, with_rule(rewrite("planted rule", lhs, rhs)), Bounds())
    symbols = {"b": 1, "s": 3}
    _, found = check_members(module, "main", random_inputs(find_function(module, "main"), rng, symbols), symbols)
    assert found


def test_unproved_proposals_unite_nothing(rng: np.random.Generator) -> None:
    """Softmax-like code with a shift that is not the maximum is still softmax over the reals, but is not its
    definition."""
    module = prepared(Encoder(whole=False))
    reports = saturate_module(module, rule_set(("views", "normalisation")), Bounds())
    proposed, proved = (sum(sum(getattr(r, k).values()) for r in reports) for k in ("proposed", "proved"))
    assert proposed >= proved
    symbols = {"b": 1, "s": 3}
    assert check_members(module, "main", random_inputs(find_function(module, "main"), rng, symbols), symbols)[1] == []
