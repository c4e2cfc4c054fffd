"""The `host` dialect: one program as buffers and steps, exactly what the runtime executes."""

from xdsl.ir import Dialect

from .buffers import ArenaOp, InputOp, OutputOp, SliceOp
from .program import ProgramOp, programs
from .source import SourceOp, sources
from .steps import CallOp, CopyOp, LaunchOp
from .symbols import GuardOp, SymbolOp
from .types import BufferType

HOST = Dialect(
    "host",
    [ProgramOp, SymbolOp, GuardOp, InputOp, OutputOp, ArenaOp, SliceOp, LaunchOp, CallOp, CopyOp, SourceOp],
    [BufferType],
)

__all__ = [
    "HOST",
    "ArenaOp",
    "BufferType",
    "CallOp",
    "CopyOp",
    "GuardOp",
    "InputOp",
    "LaunchOp",
    "OutputOp",
    "ProgramOp",
    "SliceOp",
    "SourceOp",
    "SymbolOp",
    "programs",
    "sources",
]
