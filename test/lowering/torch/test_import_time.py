"""How long importing a 12-layer model takes, in processor time beside what torch takes anyway."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

import time
from typing import Any

import pytest
import torch
from transformers import BertConfig, BertModel

import albumen
from albumen.lowering.torch.exported import import_exported

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")]

SECONDS = 3.0


def test_import_and_checks_of_twelve_layers() -> None:
    sizes: dict[str, Any] = {"hidden_size": 48, "num_attention_heads": 12, "intermediate_size": 192, "vocab_size": 100}
    model = BertModel(BertConfig(num_hidden_layers=12, **sizes), add_pooling_layer=False).eval()
    inputs = {"input_ids": torch.randint(0, 100, (2, 32)), "attention_mask": torch.ones(2, 32, dtype=torch.int64)}
    clock = time.process_time
    start = clock()
    program = torch.export.export(model, (), inputs)
    program.run_decompositions()
    torch_takes = clock() - start
    start = clock()
    import_exported(program).module.verify()
    assert clock() - start < SECONDS
    start = clock()
    assert albumen.check(model, (), inputs).ok
    assert clock() - start < torch_takes + SECONDS
