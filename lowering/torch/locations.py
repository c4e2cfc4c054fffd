"""Where in the user's source an fx node comes from."""

from __future__ import annotations

import re
import sysconfig
import traceback
from functools import lru_cache
from pathlib import Path

import torch
from torch.fx import Node
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr, UnknownLoc
from xdsl.ir import Attribute

_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)')
_TORCH = str(Path(torch.__file__).parent) + "/"
_STANDARD_LIBRARY = re.compile(re.escape(sysconfig.get_path("stdlib")) + r"/(?!site-packages/|dist-packages/)")


@lru_cache(maxsize=4096)
def innermost_frame(stack_trace: str) -> tuple[str, int] | None:
    """File and line of the innermost frame outside torch itself, or of the innermost one if all are torch's."""
    frames = [(match["file"], int(match["line"])) for match in _FRAME.finditer(stack_trace)]
    outside = [frame for frame in frames if not frame[0].startswith((_TORCH, "<"))]
    return (outside or frames)[-1] if frames else None


def node_location(node: Node) -> Attribute:
    """The location attribute of a node."""
    frame = innermost_frame(node.meta.get("stack_trace") or "")
    if frame is None:
        return UnknownLoc()
    return FileLineColLoc(StringAttr(frame[0]), IntAttr(frame[1]), IntAttr(0))


def raising_line(error: Exception) -> str:
    """The file and line of the model on which torch's trace raised an error that was caught here; empty if unknown.

    It stands in the traceback, in torch's message, or in both.
    """
    text = "".join(traceback.format_tb(error.__traceback__)[1:]) + str(error)
    frames = [(match["file"], match["line"]) for match in _FRAME.finditer(text)]
    own = [f"{file}:{line}" for file, line in frames if not _of_libraries(file)]
    return own[-1] if own else ""


def _of_libraries(file: str) -> bool:
    return file.startswith((_TORCH, "<")) or _STANDARD_LIBRARY.match(file) is not None
