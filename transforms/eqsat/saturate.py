"""The saturation of one region: rules run an iteration, Python answers what they ask, and so on until nothing is
new."""

from __future__ import annotations

import time
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.ir import Block

from ...dialects.errors import CompileError, RuleError, TypeRuleError
from ...dialects.op import tensor_of
from .egraph import EGraph
from .encode import Encoded, encode
from .oracles import ORACLES
from .recognise import Recogniser
from .report import RegionReport
from .signature import AttributeTexts
from .snapshot import Class, Snapshot
from .theories import RuleSet
from .typing import Typing


class EqsatWarning(UserWarning):
    """A saturation that a bound stopped before it was complete."""


@dataclass(frozen=True)
class Bounds:
    """When to stop: at the end of the iteration that exceeds `nodes` terms, or after `iterations`; both are the same
    on every machine. Reaching `watchdog` seconds is an error instead."""

    nodes: int = 50000
    iterations: int = 30
    watchdog: float = 600.0


@dataclass(frozen=True)
class Saturated:
    """The e-graph of a region after the last iteration."""

    snapshot: Snapshot
    encoded: Encoded
    texts: AttributeTexts
    report: RegionReport

    @property
    def roots(self) -> list[Class]:
        """The classes of what the region returns."""
        return [self.snapshot.class_of[node] for node in self.encoded.roots]


def dtypes_in(block: Block) -> list[str]:
    """Names of the element types of a block's values and of those they are computed in."""
    found: dict[str, None] = {}
    for value in (*block.args, *(result for op in block.ops for result in op.results)):
        dtype = tensor_of(value).dtype
        found[dtype.name] = found[dtype.compute.name] = None
    return list(found)


class Saturation:
    """Runs rules on one region."""

    def __init__(self, block: Block, name: str, rules: RuleSet, bounds: Bounds):
        self.report = RegionReport(name)
        self.bounds = bounds
        self.texts = AttributeTexts()
        with self.timed("encode"):
            self.rules = rules.of_dtypes(dtypes_in(block))
            self.egraph = EGraph(self.rules, self.texts)
            self.encoded = encode(block, self.egraph)
            self.egraph.flush("the program itself")
        self.typing = Typing(self.texts)
        self.recogniser = Recogniser(self.egraph, self.report, self.encoded.locations)
        self.answered: set[tuple[str, ...]] = set()

    @contextmanager
    def timed(self, phase: str) -> Generator[None]:
        start = time.perf_counter()
        yield
        self.report.phases[phase] = self.report.phases.get(phase, 0.0) + time.perf_counter() - start

    def run(self) -> Saturated:
        """Saturates up to the bounds.

        Raises:
            RuleError: a rule united values of different types.
            CompileError: the watchdog.
        """
        deadline = time.monotonic() + self.bounds.watchdog
        self.report.stopped = "iterations"
        while self.report.iterations < self.bounds.iterations:
            self.report.iterations += 1
            updated, size = self._iterate()
            self.report.nodes = size
            if not updated:
                self.report.stopped = "saturated"
                break
            if size > self.bounds.nodes:
                self.report.stopped = "nodes"
                break
            if time.monotonic() > deadline:
                raise CompileError(
                    f"saturating {self.report.region} took over {self.bounds.watchdog:g} s",
                    stage="eqsat",
                    hint="lower nodes or iterations, or name fewer theories",
                )
        if self.report.stopped != "saturated":
            message = (
                f"eqsat: {self.report.region} stopped by its bound on {self.report.stopped}: some forms are missing"
            )
            warnings.warn(message, EqsatWarning, stacklevel=2)
        with self.timed("snapshot"):
            snapshot = self.egraph.snapshot()
            self.typing.complete(snapshot)
        return Saturated(snapshot, self.encoded, self.texts, self.report)

    def _iterate(self) -> tuple[bool, int]:
        """One iteration and what Python adds after it; whether anything is new, and how many terms there are."""
        with self.timed("rules"):
            report = self.egraph.run()
        self.report.note_rules(report)
        with self.timed("snapshot"):
            snapshot = self.egraph.snapshot()
        with self.timed("answers"):
            self.recogniser.look(snapshot)
            for of, type_ in self.typing.complete(snapshot).items():
                self.egraph.set_type(self.recogniser.node(of), type_)
            self._answer(snapshot)
        with self.timed("recognise"):
            reachable = snapshot.reachable([snapshot.class_of[node] for node in self.encoded.roots])
            if self.rules.expands:
                self.recogniser.expand(reachable)
            self.recogniser.propose(self.rules.proposals, reachable)
        with self.timed("insert"):
            added = self.egraph.flush("an expansion or an answer")
        return bool(report.updated) or added, snapshot.size

    def _answer(self, snapshot: Snapshot) -> None:
        """Answers the oracles' new demands."""
        for oracle in ORACLES.values():
            for arguments in snapshot.demands(oracle.name):
                key = (oracle.name, *arguments)
                if key in self.answered:
                    continue
                self.answered.add(key)
                self.report.asked[oracle.name] += 1
                try:
                    value = oracle.function(*(self.texts.attribute(a) for a in arguments))
                except TypeRuleError as error:
                    asked = f"{oracle.name} {' '.join(arguments)}"
                    raise RuleError(f"a rule asked {asked}: {error.message}", stage="eqsat") from None
                if value is not None:
                    self.egraph.answer(oracle.name, arguments, self.texts.text(value))
