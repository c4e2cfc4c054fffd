"""The e-graph engine behind typed calls: terms are added by node numbers, rules run one iteration at a time.

A node number names the class of a term for later commands. All commands are kept, so that a union of two types can be
replayed rule by rule and blamed on one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dialects.errors import RuleError
from ...dialects.hlir.types import TensorType
from .bindings import load_bindings
from .program import RUN, declaration, prelude
from .signature import AttributeTexts, TermForm, form_of_constructor
from .snapshot import Snapshot
from .theories import RuleSet


class EGraph:
    """One region's e-graph."""

    def __init__(self, rules: RuleSet, texts: AttributeTexts):
        self.rules = rules
        self.texts = texts
        self.program = prelude(rules)
        self.forms: dict[str, TermForm] = {}
        self.nodes = 0
        self._bindings: Any = load_bindings()
        self._span: Any = self._bindings.PanicSpan()
        self._pending: list[Any] = []
        self._log: list[list[Any] | None] = []
        self._engine = self._fresh()
        for line in self.program.splitlines():
            self._note_declaration(line)
        self._run: Any = self._engine.parse_program(RUN)

    def _fresh(self) -> Any:
        engine = self._bindings.EGraph()
        # Every node of a parsed text keeps a copy of it: line by line, 5 ms instead of seconds.
        for line in self.program.splitlines():
            engine.run_program(*engine.parse_program(line))
        return engine

    def _note_declaration(self, line: str) -> None:
        if line.startswith("(constructor "):
            known = form_of_constructor(name := line.split()[1])
            if known is not None:
                self.forms[name] = known[0]

    # Commands

    def _string(self, text: str) -> Any:
        return self._bindings.Lit(self._span, self._bindings.String(text))

    def _integer(self, value: int) -> Any:
        return self._bindings.Lit(self._span, self._bindings.Int(value))

    def _call(self, name: str, arguments: Sequence[Any]) -> Any:
        return self._bindings.Call(self._span, name, list(arguments))

    def _set(self, name: str, arguments: Sequence[Any], value: Any) -> None:
        self._pending.append(self._bindings.ActionCommand(self._bindings.Set(self._span, name, list(arguments), value)))

    def reference(self, node: int) -> Any:
        """The term that names a node."""
        return self._call("node", [self._integer(node)])

    def term(self, constructor: str, texts: Sequence[str], operands: Sequence[Any]) -> Any:
        """A term of an op; operands are terms."""
        if constructor not in self.forms:
            text = declaration(constructor)
            self._pending += self._engine.parse_program(text)
            self._note_declaration(text)
        return self._call(constructor, [*map(self._string, texts), *operands])

    def argument(self, number: int) -> Any:
        """A term of an argument of the region."""
        return self._call("arg", [self._integer(number)])

    def region(self, key: str, operands: Sequence[Any]) -> Any:
        """A term of an op with a region, which `key` names."""
        vector = self._call("vec-of", operands) if operands else self._call("vec-empty", [])
        return self._call("region", [self._string(key), vector])

    def result(self, of: Any, number: int) -> Any:
        """A term of one result of an op with several."""
        return self._call("get", [of, self._integer(number)])

    def add(self, term: Any) -> int:
        """Adds a term and returns its node number."""
        number = self.nodes
        self.nodes += 1
        self._set("node", [self._integer(number)], term)
        return number

    def set_type(self, node: int, type_: TensorType) -> None:
        """States the type of a node's class."""
        reference = self.reference(node)
        self._set("dims-of", [reference], self._string(self.texts.text(type_.shape)))
        self._set("dtype-of", [reference], self._string(self.texts.text(type_.element)))

    def union(self, a: int, b: int) -> None:
        """States that two nodes are equal."""
        action = self._bindings.Union(self._span, self.reference(a), self.reference(b))
        self._pending.append(self._bindings.ActionCommand(action))

    def answer(self, oracle: str, arguments: Sequence[str], value: str) -> None:
        """States what an oracle says."""
        self._set(oracle, [self._string(a) for a in arguments], self._string(value))

    # Running

    def flush(self, cause: str) -> bool:
        """Runs the commands added since the last flush; whether there were any.

        Raises:
            RuleError: they unite two types; `cause` says who made them.
        """
        if not self._pending:
            return False
        commands, self._pending = self._pending, []
        self._log.append(commands)
        try:
            self._engine.run_program(*commands)
        except self._bindings.EggSmolError as error:
            raise RuleError(f"{cause} unites values of different types: {error}", stage="eqsat") from None
        return True

    def run(self) -> Any:
        """One iteration; egglog's report of it.

        Raises:
            RuleError: a rule united two types.
        """
        try:
            report = self._engine.run_program(*self._run)[0].report
        except self._bindings.EggSmolError as error:
            raise RuleError(f"{self._guilty()} unites values of different types: {error}", stage="eqsat") from None
        self._log.append(None)
        return report

    def _guilty(self) -> str:
        """The first rule that fails when the last iteration is run again rule by rule."""
        engine = self._fresh()
        for entry in self._log:
            engine.run_program(*(self._run if entry is None else entry))
        for number, rule in enumerate(self.rules.rules):
            own = f"only-{number}"
            schedule = f"(run-schedule (seq (saturate (run {own})) (saturate (run types))))"
            try:
                for line in (f"(ruleset {own})", *rule.commands(own), schedule):
                    engine.run_program(*engine.parse_program(line))
            except self._bindings.EggSmolError:
                return f"the rule {rule.name!r}"
        return "a set of rules together"

    def snapshot(self) -> Snapshot:
        """The e-graph as it is now."""
        return Snapshot(self._engine, self.texts, self.forms)
