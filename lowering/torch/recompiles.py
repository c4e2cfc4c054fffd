"""Why torch.compile asks for a program again: told to the logger `albumen`, at level INFO."""

from __future__ import annotations

import logging
from typing import Any, cast

from torch._dynamo.utils import get_metrics_context
from torch._guards import CompileContext

LOGGER = logging.getLogger("albumen.recompiles")


def tell_recompile() -> None:
    """Log the guard that failed, if the frame that is being compiled was compiled before."""
    context: Any = get_metrics_context()
    metrics = cast("dict[str, Any]", getattr(context, "_metrics", {}))
    reason = metrics.get("recompile_reason")
    if reason:
        name = str(metrics.get("co_name") or "a function")
        LOGGER.info("%s is compiled again (%s): %s", name, CompileContext.current_compile_id(), reason)
