"""Architectures that do not compile whole on principle, and why; anything else must."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

REFUSED = ("unsupported", "break", "eager")
"""What may become of them: a clear refusal of ours, one of dynamo's, or eager itself does not run them."""

NUMBER_FROM_DATA = "reads a number from a tensor (`.item()`), on which sizes or assertions depend"
DYNAMO = "dynamo refuses it whatever the backend"

EXPECTED: Mapping[str, str] = MappingProxyType(
    {
        "fnet": "complex numbers (a Fourier transform); eager has no bfloat16 of it",
        "xlm": NUMBER_FROM_DATA,
        "flaubert": NUMBER_FROM_DATA,
        "jetmoe": NUMBER_FROM_DATA,
        "vilt": NUMBER_FROM_DATA,
        "funnel": f"{DYNAMO}: an arange of unbacked symbols",
        "nystromformer": "eager mixes float32 into bfloat16 and fails",
        "ctrl": f"{DYNAMO}: it calls a method of a tensor that is an attribute of a module",
        "switch-transformers": f"{DYNAMO}: a loop over experts that data chooses",
        "led": f"{DYNAMO}: a branch on whether any token is global",
        "llava": f"{DYNAMO}: a lock around collecting hidden states",
        "dpt": f"{DYNAMO}: a lock around collecting hidden states",
    }
)
