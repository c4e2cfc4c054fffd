"""What torch.compile is compiling, and why again: the second is told to the logger `albumen.recompiles`, level INFO."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, cast

from torch._dynamo.utils import get_metrics_context
from torch._guards import CompileContext

LOGGER = logging.getLogger("albumen.recompiles")


def frame_name() -> str:
    """The function that is being compiled, with torch's number of this compile."""
    parts = (_metrics().get("co_name"), CompileContext.current_compile_id())
    return " ".join(str(part) for part in parts if part is not None)


def tell_recompile() -> None:
    """Log the guard that failed, if the frame that is being compiled was compiled before."""
    reason = _metrics().get("recompile_reason")
    if reason:
        LOGGER.info("%s is compiled again: %s", frame_name(), reason)


def _metrics() -> Mapping[str, Any]:
    context: Any = get_metrics_context()
    return cast("dict[str, Any]", getattr(context, "_metrics", {}))
