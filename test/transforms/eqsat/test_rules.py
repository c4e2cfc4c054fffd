"""Every rule fires on its theory's witness; every member of every class that results has the value of its class; and
near misses do not match."""

from __future__ import annotations

import numpy as np
import pytest
from witnesses import FOLDER, S, parse_module, read, witness_of_calls, witnesses
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from albumen.dialects.dtype import F32
from albumen.dialects.evaluate import find_function
from albumen.dialects.hlir.arithmetic import ErfOp
from albumen.dialects.hlir.dialect import HLIR
from albumen.dialects.hlir.types import TensorType, tensor_type
from albumen.dialects.op import Array, Environment, TensorOp, tensor_of
from albumen.transforms.eqsat.check import check_members
from albumen.transforms.eqsat.egraph_ops import classes, graphs, roots
from albumen.transforms.eqsat.eqsat import saturate_module
from albumen.transforms.eqsat.report import RegionReport
from albumen.transforms.eqsat.rule import Proposal, Rule, Strictness
from albumen.transforms.eqsat.rules.spelling import LONGEST
from albumen.transforms.eqsat.saturate import Bounds
from albumen.transforms.eqsat.signature import form_of
from albumen.transforms.eqsat.theories import THEORIES, RuleSet, rule_set

EXTENTS = (0, 1, 3, 7)
NEEDS = {
    "views": ("views",),
    "contraction": ("views", "contraction", "spelling"),
    "spelling": ("spelling",),
    "normalisation": ("views", "spelling", "normalisation"),
    "attention": ("views", "contraction", "spelling", "normalisation", "attention"),
    "library": ("views", "contraction", "library"),
    "epilogues": ("views", "contraction", "library", "epilogues"),
}
"""What each theory builds on: its witness is saturated with these."""


def saturated(module: ModuleOp, rules: RuleSet) -> list[RegionReport]:
    return saturate_module(module, rules, Bounds())


def hostile(type_: TensorType, extent: int, rng: np.random.Generator, finite: bool) -> Array:
    """Values of a type; with NaN, infinities, signed zeros and large numbers unless `finite`."""
    shape, dtype = Environment({"s": extent}).shape(type_), type_.dtype
    if not dtype.is_float:
        x = rng.integers(0, 2 if dtype.is_bool else 7, shape).astype(dtype.numpy)
        if finite and dtype.is_bool and 0 not in shape:
            x[..., 0] = True  # a mask that keeps nothing of a row makes infinities
        return x
    x = rng.standard_normal(shape).astype(np.float32)
    if not finite:
        special = [0.0, -0.0, np.nan, np.inf, -np.inf, 80.0, -80.0, 3e4, 1e-30]
        for at in np.ndindex(shape):
            if rng.random() < 0.3:
                x[at] = special[int(rng.integers(len(special)))]
    return x.astype(dtype.numpy)


def assert_members_agree(module: ModuleOp, rng: np.random.Generator, finite: bool) -> int:
    function = find_function(module, "main")
    total = 0
    for extent in EXTENTS:
        inputs = [hostile(tensor_of(a), extent, rng, finite) for a in function.body.block.args]
        count, found = check_members(module, "main", inputs, {"s": extent})
        assert not found, "\n".join(map(str, found[:5]))
        total += count
    return total


def firing(theory: str, numerics: str) -> tuple[list[Rule], list[Proposal]]:
    """The theory's own rules and proposals under the numerics."""
    chosen = rule_set((theory,), numerics)
    return list(chosen.rules), list(chosen.proposals)


@pytest.mark.parametrize("theory", list(THEORIES))
def test_every_rule_fires_and_every_member_agrees(theory: str, rng: np.random.Generator) -> None:
    rules, proposals = firing(theory, "fused")
    matches: dict[str, int] = {}
    proved: dict[str, int] = {}
    for module in witnesses(theory):
        for report in saturated(module, rule_set(NEEDS[theory], "fused")):
            assert report.stopped == "saturated"
            for name, count in report.matches.items():
                matches[name] = matches.get(name, 0) + count
            for name, count in report.proved.items():
                proved[name] = proved.get(name, 0) + count
        module.verify()
        assert assert_members_agree(module, rng, finite=True) > 0
    assert [r.name for r in rules if not matches.get(r.name)] == []
    assert [p.name for p in proposals if not proved.get(p.name)] == []


@pytest.mark.parametrize("theory", list(THEORIES))
def test_members_agree_on_hostile_values_where_rounding_is_kept(theory: str, rng: np.random.Generator) -> None:
    """NaN, infinities and signed zeros: what the rules of numerics=eager promise."""
    for module in witnesses(theory):
        saturated(module, rule_set(NEEDS[theory], "eager"))
        assert_members_agree(module, rng, finite=False)


@pytest.mark.parametrize("theory", [t for t in THEORIES if (FOLDER / f"{t}-not.mlir").exists()])
def test_near_misses_do_not_match(theory: str, rng: np.random.Generator) -> None:
    module = read(f"{theory}-not")
    own = {op.name for op in read(f"{theory}-not").walk()}
    reports = saturated(module, rule_set(NEEDS[theory], "fused"))
    proved = [name for report in reports for name in report.proved]
    own_proposals = [p.name for p in THEORIES[theory].proposals]
    assert [name for name in proved if name in own_proposals and not name.startswith(("linear", "rms"))] == []
    new = forms_of_results(module) - own
    assert not new & FORBIDDEN[theory], new
    assert_members_agree(module, rng, finite=True)


def forms_of_results(module: ModuleOp) -> set[str]:
    """Names of the ops that are forms of something the function returns."""
    (graph,) = graphs(module)
    members = {c.value: c.members for c in classes(graph)}
    return {m.owner.name for root in roots(graph) for m in members[root] if isinstance(m.owner, Operation)}


FORBIDDEN = {
    "views": {"hlir.sum", "hlir.contract"},
    "contraction": {"hlir.contract"},
    "spelling": {"hlir.exp", "hlir.silu", "hlir.relu"},
    "normalisation": {"hlir.softmax", "hlir.layer_norm"},
    "attention": {"hlir.sdpa"},
    "library": set[str](),
    "epilogues": set[str](),
}
"""Ops that must not become forms of the results of a near miss."""


def test_calls_that_no_library_can_make_are_not_made(rng: np.random.Generator) -> None:
    module = read("library-not")
    saturated(module, rule_set(NEEDS["library"], "fused"))
    calls = [op for op in module.walk() if op.name == "kernel.call_matmul"]
    x, h = (find_function(module, "main").body.block.args[i] for i in (0, 3))
    # A view in between is a copy, which a library can read.
    assert calls and not any(o in (x, h) for op in calls for o in op.operands)


def test_what_no_epilogue_computes_stays_outside() -> None:
    module = read("epilogues-not")
    saturated(module, rule_set(NEEDS["epilogues"], "fused"))
    calls = [op for op in module.walk() if op.name == "kernel.call_matmul"]
    # The front of a longer vector is no bias, but, spread, a tensor to add.
    assert calls and {str(op.properties["epilogue"]) for op in calls} == {'"none"', '"add"'}


def test_repeating_views_stay_outside_sums_and_products() -> None:
    module = read("views-not")
    (report,) = saturated(module, rule_set(("views",), "eager"))
    assert report.matches["view through hlir.sum"] == 0
    assert report.matches["view through hlir.contract"] == 0


def test_long_expansions_take_no_part() -> None:
    module = witness_of_calls([(ErfOp, [tensor_type([S, 3], F32)])], "called")
    (report,) = saturated(module, rule_set(("spelling",), "eager"))
    assert report.members == report.classes
    assert LONGEST < 30


def test_names_of_rules_are_unique() -> None:
    names = [r.name for t in THEORIES.values() for r in (*t.rules, *(p.as_rule() for p in t.proposals))]
    assert len(names) == len(set(names))


def test_exact_rules_state_no_dropped_cast() -> None:
    """An exact rule that removes a cast is one of those that define narrow arithmetic."""
    for theory in THEORIES.values():
        for rule in theory.rules:
            if rule.strictness is Strictness.EXACT and rule.when.count("hlir_cast") > rule.then.count("hlir_cast"):
                assert any(ask.oracle == "computes-in" for ask in rule.asks), rule.name


def test_every_op_has_a_term() -> None:
    for op in (o for o in HLIR.operations if issubclass(o, TensorOp)):
        form = form_of(op)
        assert form.declaration(max(form.fixed, 1)).startswith("(constructor hlir_")


def test_shuffles_of_equal_rows_come_to_an_end() -> None:
    """A tensor of equal rows is a view of itself by a shuffle, and by every power of it."""
    wide = "!hlir.tensor<[10, 8], f32>"
    module = parse_module(f"""
      func.func @main(%b: !hlir.tensor<[8], f32>) -> {wide} {{
        %rows = hlir.view %b (d0, d1) -> (d1) : (!hlir.tensor<[8], f32>) -> {wide}
        %shuffled = hlir.view %rows (d0, d1) -> (d0*2 - floordiv(d0, 5)*9, d1) : {wide}
        func.return %shuffled : {wide}
      }}""")
    (report,) = saturated(module, rule_set(("views",), "eager"))
    assert report.stopped == "saturated"
