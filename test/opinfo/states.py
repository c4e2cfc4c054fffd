"""What is known of one pair (an entry of the database, an element type) after it ran."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

PASSED = "passed"
UNSUPPORTED = "unsupported"
WRONG = "wrong"
CRASHED = "crashed"
NO_SAMPLE = "no sample"
STATES = (PASSED, UNSUPPORTED, WRONG, CRASHED, NO_SAMPLE)

ALBUMEN = "albumen"
TORCH = "torch"


_MISSING = re.compile(r"^\s+(\S+?)(?: at \S+)?: (.*)$", re.MULTILINE)
_SYMBOL = re.compile(r"\bu\d+\b")


@dataclass(frozen=True)
class Result:
    """The state of a pair.

    `samples` ran, `passed` of them equal eager. `by` says who refused an unsupported pair: Albumen, or torch, when its
    own tracing fails in front of any backend. `nearer` counts samples with an element beyond the tolerance that is at
    least as near to the value in double precision as eager's, `traced` those that equal torch's own trace of the call
    and not eager. `random` counts samples whose distribution was compared.
    `core` marks an entry whose operator torch tags as core ATen.
    """

    op: str
    dtype: str
    state: str
    why: str = ""
    by: str = ""
    samples: int = 0
    passed: int = 0
    nearer: int = 0
    traced: int = 0
    random: int = 0
    core: bool = False
    seconds: float = 0.0

    @property
    def key(self) -> tuple[str, str]:
        return self.op, self.dtype

    def to_json(self) -> str:
        """One line; fields that say nothing are left out."""
        return json.dumps({k: v for k, v in asdict(self).items() if v not in ("", 0)})

    def lasting(self) -> Result:
        """The result without what differs from run to run, and with the reason in a few words."""
        missing = dict.fromkeys(f"{name} {reason}" for name, reason in _MISSING.findall(self.why) if name != "to")
        why = "\n".join(missing) or " ".join(self.why.split())
        return replace(self, why=_SYMBOL.sub("u", why)[:300], seconds=0.0)

    @staticmethod
    def of(fields: Mapping[str, Any]) -> Result:
        return Result(**fields)
