"""Types of classes: read where rules state them, inferred by the op's type rule elsewhere, and checked for every
form."""

from __future__ import annotations

from ...dialects.errors import RuleError, TypeRuleError
from ...dialects.hlir.types import TensorType
from ...dialects.hlir.view import ViewOp
from .encode import is_typed_by_rules
from .signature import AttributeTexts
from .snapshot import Class, Member, Snapshot

Key = tuple[str, tuple[str, ...], tuple[TensorType, ...]]


class Typing:
    """Result types of terms, remembered by constructor, properties and operand types."""

    def __init__(self, texts: AttributeTexts):
        self._texts = texts
        self._known: dict[Key, tuple[TensorType, ...]] = {}

    def results(self, member: Member, operands: tuple[TensorType, ...]) -> tuple[TensorType, ...]:
        """The result types of a form.

        Raises:
            RuleError: a rule made a term that its op's type rule refuses.
        """
        key = (member.constructor, member.texts, operands)
        known = self._known.get(key)
        if known is None:
            form = member.form
            try:
                known = form.op_class.infer(list(operands), self._texts.properties(form, member.texts))
            except TypeRuleError as error:
                raise RuleError(f"a rule made {_describe(member, operands)}: {error.message}", stage="eqsat") from None
            self._known[key] = known
        return known

    def complete(self, snapshot: Snapshot) -> dict[Class, TensorType]:
        """Infers the types of classes that have none, adds them to the snapshot, and returns them.

        Raises:
            RuleError: two forms of one class have different types.
        """
        found: dict[Class, TensorType] = {}
        waiting = [(of, members) for of, members in snapshot.classes.items() if of not in snapshot.types]
        while waiting:
            later: list[tuple[Class, list[Member]]] = []
            for of, members in waiting:
                type_ = next((t for t in (self._of(m, snapshot) for m in members) if t is not None), None)
                if type_ is None:
                    later.append((of, members))
                else:
                    found[of] = snapshot.types[of] = type_
            if len(later) == len(waiting):
                break
            waiting = later
        self._check(snapshot)
        return found

    def _check(self, snapshot: Snapshot) -> None:
        """Every form that rules do not type has the type of its class; views are checked for their maps."""
        for of, members in snapshot.classes.items():
            for member in members:
                if member.constructor in ("arg", "get"):
                    continue
                op_class = member.form.op_class
                if op_class is not ViewOp and is_typed_by_rules(op_class):
                    continue
                type_ = self._of(member, snapshot)
                if type_ is not None and type_ != snapshot.types[of]:
                    others = " ".join(sorted({m.constructor for m in members}))
                    raise RuleError(
                        f"a rule unites values of different types: {member.constructor} of type {type_}"
                        f" is in a class of type {snapshot.types[of]} with {others}",
                        stage="eqsat",
                    )

    def _of(self, member: Member, snapshot: Snapshot) -> TensorType | None:
        if member.constructor == "arg":
            return None
        if member.constructor == "get":
            return self._of_result(member, snapshot)
        operands = self._operands(member, snapshot)
        return None if operands is None else self.results(member, operands)[0]

    def _of_result(self, member: Member, snapshot: Snapshot) -> TensorType | None:
        for form in snapshot.tuples[member.operands[0]]:
            operands = self._operands(form, snapshot)
            if form.constructor != "region" and operands is not None:
                return self.results(form, operands)[int(member.texts[0])]
        return None

    @staticmethod
    def _operands(member: Member, snapshot: Snapshot) -> tuple[TensorType, ...] | None:
        types = [snapshot.types.get(o) for o in member.operands]
        return None if None in types else tuple([t for t in types if t is not None])


def _describe(member: Member, operands: tuple[TensorType, ...]) -> str:
    types = ", ".join(map(str, operands))
    return f"{member.constructor} {' '.join(member.texts)} of ({types})"
