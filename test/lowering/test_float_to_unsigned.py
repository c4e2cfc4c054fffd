"""Floats as bytes on every target: the whole part modulo 256, also of negative ones, as torch converts."""

from __future__ import annotations

import numpy as np
import pytest

from albumen.dialects.dtype import F32, U8
from albumen.dialects.hlir.conversion import CastOp
from albumen.dialects.hlir.types import tensor_type
from albumen.dialects.host.interpreter import run_program
from albumen.dialects.op import Sample
from albumen.lowering.toolchain.object_cache import MemoryCache
from albumen.tools.support import Use, lower_without_search, program_of
from albumen.tools.text_launcher import TextLauncher


@pytest.mark.parametrize("target", ["c", "cuda", "metal"])
def test_negative_floats(target: str) -> None:
    x = np.array([-2.0, -0.5, -255.9, 1.9, 255.9, 300.0, -70000.0, 0.0, 65535.5], np.float32)
    type_ = tensor_type([x.size], F32)
    uses: list[Use] = [(CastOp, Sample((type_,), {"dtype": U8.attr}))]
    module = program_of(uses)
    lower_without_search(module, target, "emit" if target == "c" else "map-threads")
    found = run_program(module, "main", [x], None, TextLauncher(module, MemoryCache()))
    assert [int(value) for value in found[0]] == [int(value) % 256 for value in x]
