"""Every rule fires on its theory's witness; every member of every class that results has the value of its class; and
near misses do not match."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from graphs import module_of
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import Parser

from albumen.dialects.dtype import BF16, F16, F32, F64, I1, I32, I64, DType
from albumen.dialects.errors import TypeRuleError
from albumen.dialects.evaluate import find_function
from albumen.dialects.hlir import elementwise as el
from albumen.dialects.hlir.arithmetic import ErfOp, ExpOp, NegOp
from albumen.dialects.hlir.builder import GraphBuilder
from albumen.dialects.hlir.composite import Composite
from albumen.dialects.hlir.dialect import HLIR
from albumen.dialects.hlir.types import TensorType, tensor_type
from albumen.dialects.op import Array, Environment, TensorOp, tensor_of
from albumen.dialects.sym.dialect import SYM, SymbolOp
from albumen.dialects.sym.expr import symbol
from albumen.transforms.eqsat.check import check_members
from albumen.transforms.eqsat.egraph_ops import classes, graphs, roots
from albumen.transforms.eqsat.eqsat import saturate_module
from albumen.transforms.eqsat.report import RegionReport
from albumen.transforms.eqsat.rule import Proposal, Rule, Strictness
from albumen.transforms.eqsat.rules.spelling import LONGEST
from albumen.transforms.eqsat.saturate import Bounds
from albumen.transforms.eqsat.signature import form_of
from albumen.transforms.eqsat.theories import THEORIES, RuleSet, rule_set

FOLDER = Path(__file__).parent / "rules"
S = symbol("s")
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


def read(name: str) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, Func, HLIR, SYM):
        context.load_dialect(dialect)
    module = Parser(context, (FOLDER / f"{name}.mlir").read_text()).parse_module()
    module.body.block.insert_op_before(SymbolOp("s"), next(iter(module.ops)))
    module.verify()
    return module


def arguments_of(op: type[TensorOp], dtype: DType) -> list[TensorType] | None:
    """Operand types [s, 3] of an elementwise op, or None where it has no such dtype."""
    assert issubclass(op, el.Elementwise)
    types = [tensor_type([S, 3], dtype)] * op.ARITY
    if op is el.SelectOp:
        types[0] = tensor_type([S, 3], I1)
    try:
        op.infer(types, settings(op)[0])
    except TypeRuleError:
        return None
    return types


def settings(op: type[TensorOp]) -> list[dict[str, Attribute]]:
    """The distinct properties in the valid samples of an op, a few of them."""
    found: list[dict[str, Attribute]] = []
    for sample in op.SAMPLES:
        properties = dict(sample.properties)
        if not sample.error and properties not in found:
            found.append(properties)
    return found[:2]


ELEMENTWISE = [op for op in HLIR.operations if issubclass(op, el.Elementwise)]
ALL_DTYPES = (F32, F64, I32, I64)


def each_elementwise(dtypes: Sequence[DType]) -> list[tuple[type[TensorOp], list[TensorType]]]:
    found: list[tuple[type[TensorOp], list[TensorType]]] = []
    for op in ELEMENTWISE:
        fitting = [types for types in (arguments_of(op, d) for d in dtypes) if types is not None]
        found += [(op, types) for types in fitting]
    return found


def witness_of_calls(cases: Sequence[tuple[type[TensorOp], list[TensorType]]], use: str) -> ModuleOp:
    """A function that calls each op on arguments of its own and returns a `use` of the results."""
    arguments = {f"x{i}_{j}": t for i, (_, types) in enumerate(cases) for j, t in enumerate(types)}

    def build(b: GraphBuilder, v: dict[str, SSAValue]) -> list[SSAValue]:
        results: list[SSAValue] = []
        for i, (op, types) in enumerate(cases):
            operands = [v[f"x{i}_{j}"] for j in range(len(types))]
            for properties in settings(op):
                results.append(USES[use](b, op, operands, properties))
        return results

    return module_of(arguments, build, ["s"])


def transposed(
    b: GraphBuilder, op: type[TensorOp], operands: list[SSAValue], properties: dict[str, Attribute]
) -> SSAValue:
    return b.permute(b.emit(op, operands, **properties), [1, 0])


def called(b: GraphBuilder, op: type[TensorOp], operands: list[SSAValue], properties: dict[str, Attribute]) -> SSAValue:
    return b.emit(op, operands, **properties)


def written_out(
    b: GraphBuilder, op: type[TensorOp], operands: list[SSAValue], properties: dict[str, Attribute]
) -> SSAValue:
    made = op.make(operands, properties)
    (result,) = made.expand(b)
    made.erase()
    return result


def in_f32(b: GraphBuilder, op: type[TensorOp], operands: list[SSAValue], properties: dict[str, Attribute]) -> SSAValue:
    wide = [b.cast(x, F32) for x in operands]
    return b.cast(b.emit(op, wide, **properties), tensor_of(operands[0]).dtype)


USES = {"transposed": transposed, "called": called, "written out": written_out, "in f32": in_f32}


def is_composite(op: type[TensorOp]) -> bool:
    return issubclass(op, Composite) and op is not ErfOp


def same_dtype(op: type[TensorOp]) -> bool:
    assert issubclass(op, el.Elementwise)
    return op.RESULT is None and op not in (el.CastOp, el.BitcastOp, el.SelectOp)


def activations() -> ModuleOp:
    """gelu, silu and reciprocals in the other ways of writing them."""

    def build(b: GraphBuilder, v: dict[str, SSAValue]) -> list[SSAValue]:
        results: list[SSAValue] = []
        for x in v.values():
            like = tensor_of(x)
            one, half = b.constant(1.0, like), b.constant(0.5, like)
            results.append(b.emit(el.DivOp, [one, x]))
            if like.dtype in (F32, F64):
                root = b.constant(np.sqrt(0.5), like)
                twice = b.emit(el.AddOp, [b.emit(ErfOp, [b.emit(el.MulOp, [x, root])]), one])
                results.append(b.emit(el.MulOp, [x, b.emit(el.MulOp, [twice, half])]))
                results.append(b.emit(el.MulOp, [b.emit(el.MulOp, [x, twice]), half]))
                below = b.emit(el.AddOp, [b.emit(ExpOp, [b.emit(NegOp, [x])]), one])
                results.append(b.emit(el.DivOp, [x, below]))
        return results

    return module_of({d.name: tensor_type([S, 3], d) for d in (F32, F64, F16, BF16)}, build, ["s"])


def witnesses(theory: str) -> list[ModuleOp]:
    if theory == "views":
        return [read("views"), witness_of_calls(each_elementwise([F32, I32, I1]), "transposed")]
    if theory == "spelling":
        composites = [case for case in each_elementwise([F32, F64, I32, I64]) if is_composite(case[0])]
        narrow = [case for case in each_elementwise([BF16]) if same_dtype(case[0])]
        commuting = [c for c in each_elementwise([F32, I32, I1]) if getattr(c[0], "COMMUTATIVE", False)]
        return [
            witness_of_calls(composites, "written out"),
            witness_of_calls(narrow, "in f32"),
            witness_of_calls(commuting, "called"),
            activations(),
        ]
    return [read(theory)]


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
    assert calls and {str(op.properties["epilogue"]) for op in calls} == {'"none"'}


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
