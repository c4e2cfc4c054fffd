"""eqsat: all known forms of every value of a module, as `equivalence` classes in each function and loop body."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.equivalence import GraphOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block
from xdsl.passes import ModulePass

from ...dialects.errors import OptionError
from .decode import Decoder
from .egraph_ops import MOVES_ROUNDING, member_ops
from .program import prelude
from .report import RegionReport, explain_report
from .saturate import Bounds, Saturation
from .theories import RuleSet, rule_set

REPORTS = ("", "rules", "program")


@dataclass(frozen=True)
class EqsatPass(ModulePass):
    """Leaves every function body and loop body as one `equivalence.graph`, with classes and members in the order of
    their smallest terms.

    `theories` names the rule files that apply (none: all); `numerics` says which strictness of rules. A region stops
    at the end of the iteration in which it exceeds `nodes` terms, or after `iterations`, with a warning. `report`
    prints on stderr the rules that matched ("rules") or the egglog program ("program").
    """

    name: ClassVar[str] = "eqsat"

    theories: tuple[str, ...] = ()
    numerics: str = "eager"
    nodes: int = 50000
    iterations: int = 30
    watchdog: int = 600
    report: str = ""

    def __post_init__(self) -> None:
        if self.report not in REPORTS:
            raise OptionError(
                f"report is one of {', '.join(map(repr, REPORTS))}, found {self.report!r}", stage=self.name
            )
        if min(self.nodes, self.iterations, self.watchdog) < 1:
            raise OptionError("nodes, iterations and watchdog are positive", stage=self.name)
        self.rules()

    def rules(self) -> RuleSet:
        """The rules that the options choose."""
        return rule_set(self.theories, self.numerics)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rules = self.rules()
        if self.report == "program":
            print(prelude(rules), file=sys.stderr)
        reports = saturate_module(op, rules, Bounds(self.nodes, self.iterations, float(self.watchdog)))
        if self.report == "rules":
            print(explain_report(reports), file=sys.stderr)


def saturate_module(module: ModuleOp, rules: RuleSet, bounds: Bounds) -> list[RegionReport]:
    """Saturates every function of the module, and every region inside one, each on its own."""
    reports: list[RegionReport] = []
    for function in module.ops:
        if isinstance(function, FuncOp) and not function.is_declaration:
            _saturate_block(function.body.block, f"@{function.sym_name.data}", rules, bounds, reports)
    return reports


def _saturate_block(block: Block, name: str, rules: RuleSet, bounds: Bounds, reports: list[RegionReport]) -> None:
    graph = saturate_block(block, name, rules, bounds, reports)
    inner = [op for op in member_ops(graph) if op.regions]
    for number, op in enumerate(inner):
        for region in op.regions:
            _saturate_block(region.block, f"{name} {op.name} {number}", rules, bounds, reports)


def saturate_block(block: Block, name: str, rules: RuleSet, bounds: Bounds, reports: list[RegionReport]) -> GraphOp:
    """Saturates one block, not what is inside its ops, and puts the e-graph in the place of its ops."""
    saturation = Saturation(block, name, rules, bounds)
    saturated = saturation.run()
    reports.append(saturated.report)
    with saturation.timed("decode"):
        graph = Decoder(block, saturated).decode()
    if rules.moves_rounding:
        graph.attributes[MOVES_ROUNDING] = UnitAttr()
    return graph
