"""A slice of torch's operator database as CUDA and Metal text on the CPU shim: its shapes meet the whole pipeline for
GPUs where there is none. The rest is `python -m opinfo --device cuda`, on a device."""

from __future__ import annotations

import pytest
import torch

from albumen.lowering.emit.simt_runner import Language

pytest.importorskip("expecttest")

from opinfo.samples import samples_of
from opinfo.text import Batch, assert_close, graphs_of

pytestmark = pytest.mark.slow

ENTRIES = (
    ("softmax", "float32"),  # one row, several loops
    ("nn.functional.layer_norm", "bfloat16"),
    ("isin", "float32"),  # booleans across threads
    ("nanquantile", "float32"),  # sorts, and numbers looked up twice
    ("topk", "int64"),
    ("cumsum", "bfloat16"),
    ("index_add", "float32"),
    ("gather", "int64"),
    ("cat", "bool"),
    ("nn.functional.conv2d", "float32"),
    ("nn.functional.max_pool2d", "float32"),
    ("floor_divide", "int64"),
    ("atan2", "bfloat16"),
)
"""What each is here for, where the name does not say it."""


@pytest.mark.parametrize("language", ["cuda", "metal"])
def test_samples(language: Language) -> None:
    batch = Batch(language)
    for name, dtype in ENTRIES:
        samples = samples_of(name, getattr(torch, dtype), "cpu", 2)
        assert samples, name
        for sample in samples:
            for graph in graphs_of(sample):
                batch.add(graph)
    for text, found in zip(batch.texts, batch.results(), strict=True):
        assert_close(found, text.expected)
