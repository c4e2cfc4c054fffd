"""All architectures of the suite, by name."""

# pyright: basic

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from . import audio, decoders, encoder_decoders, experts, multimodal, text_encoders, vision
from .architecture import Architecture

FAMILIES = (text_encoders, decoders, experts, encoder_decoders, vision, audio, multimodal)

ARCHITECTURES: Mapping[str, Architecture] = MappingProxyType(
    {architecture.name: architecture for family in FAMILIES for architecture in family.ARCHITECTURES}
)
