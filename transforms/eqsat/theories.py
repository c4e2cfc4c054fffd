"""The theories by name, and what a choice of theories and numerics gives."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ...dialects.errors import OptionError
from .rule import NUMERICS, Proposal, Rule, Strictness, Theory
from .rules.attention import ATTENTION
from .rules.contraction import CONTRACTION
from .rules.epilogues import EPILOGUES
from .rules.library import LIBRARY
from .rules.normalisation import NORMALISATION
from .rules.spelling import SPELLING
from .rules.views import VIEWS

THEORIES: Mapping[str, Theory] = MappingProxyType(
    {t.name: t for t in (VIEWS, CONTRACTION, SPELLING, NORMALISATION, ATTENTION, LIBRARY, EPILOGUES)}
)


@dataclass(frozen=True)
class RuleSet:
    """What a saturation applies."""

    rules: tuple[Rule, ...]
    proposals: tuple[Proposal, ...]
    expands: bool

    @property
    def moves_rounding(self) -> bool:
        """Whether some rule keeps values only over the reals."""
        return any(r.strictness in (Strictness.REAL, Strictness.FAST) for r in (*self.rules, *self.proposals))

    def of_dtypes(self, dtypes: Collection[str]) -> RuleSet:
        """Those that can match in a program with these element types."""
        rules = tuple(r for r in self.rules if not r.dtypes or any(d in dtypes for d in r.dtypes))
        proposals = tuple(p for p in self.proposals if not p.dtypes or any(d in dtypes for d in p.dtypes))
        return RuleSet(rules, proposals, self.expands)


def _checked(names: Iterable[str], known: Iterable[str], what: str) -> None:
    choices = list(known)
    for name in names:
        if name not in choices:
            near = difflib.get_close_matches(name, choices, n=3, cutoff=0.5)
            hint = f"did you mean {' or '.join(near)}?" if near else f"use one of: {', '.join(choices)}"
            raise OptionError(f"no {what} is called {name!r}", hint=hint, stage="eqsat")


def rule_set(theories: Iterable[str] = (), numerics: str = "eager") -> RuleSet:
    """The rules of the named theories (none: all) that the numerics allow.

    Raises:
        OptionError: an unknown name.
    """
    names = tuple(theories)
    _checked(names, THEORIES, "theory")
    _checked((numerics,), NUMERICS, "numerics")
    allowed = NUMERICS[numerics]
    chosen = [t for t in THEORIES.values() if not names or t.name in names]
    rules = tuple(r for t in chosen for r in t.rules if r.strictness in allowed)
    proposals = tuple(p for t in chosen for p in t.proposals if p.strictness in allowed)
    return RuleSet(rules, proposals, any(t.expands for t in chosen))
