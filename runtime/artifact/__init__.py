"""The artifact: what a compiled program is (model.py) and the file that holds one (archive.py). Needs the standard
library only.

This module is the one door through which the compiler reaches the runtime.
"""

from __future__ import annotations

from ..safetensors import Weight
from .archive import VERSION, Artifact, digest_of, read_artifact, write_artifact
from .check import check_program
from .cpu import cpu_features
from .model import (
    Argument,
    BufferArgument,
    Copy,
    Entry,
    Guard,
    HostProgram,
    Input,
    Kernel,
    Launch,
    LibraryCall,
    Mode,
    Output,
    Place,
    Reference,
    Role,
    ScalarArgument,
    Slice,
    Step,
    Symbol,
)

__all__ = [
    "VERSION",
    "Argument",
    "Artifact",
    "BufferArgument",
    "Copy",
    "Entry",
    "Guard",
    "HostProgram",
    "Input",
    "Kernel",
    "Launch",
    "LibraryCall",
    "Mode",
    "Output",
    "Place",
    "Reference",
    "Role",
    "ScalarArgument",
    "Slice",
    "Step",
    "Symbol",
    "Weight",
    "check_program",
    "cpu_features",
    "digest_of",
    "read_artifact",
    "write_artifact",
]
