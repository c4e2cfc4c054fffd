"""Every file of an IR dump is a module that albumen-opt reads back and verifies, locations included."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.export import Dim

import albumen
from albumen.lowering.options import CompileOptions
from albumen.lowering.pipeline import lower_module, stages_for
from albumen.lowering.torch.exported import import_exported
from albumen.tools.opt import main

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::FutureWarning")]

SHAPES = ({0: Dim("b", min=1, max=8), 1: Dim("t", min=2, max=64)},) * 2


class Block(nn.Module):
    """Gathers, matmuls, row reductions, a scan and attention scores of its rows; every kind of kernel but sorts."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.up, self.norm = nn.Embedding(20, 8), nn.Linear(8, 16), nn.LayerNorm(16)
        self.down = nn.Linear(16, 8)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, ...]:
        torch._check(ids.shape[0] * ids.shape[1] >= 10)
        x = self.table(ids)
        y = self.down(F.gelu(self.norm(self.up(x)))) + x
        p = torch.softmax(y @ y.transpose(1, 2) + mask[:, None, :], -1)
        return p @ y, torch.cumsum(y, 1)


class Sorted(nn.Module):
    """Sorts, which only C has yet."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.sort(x, -1)[0] + y


def check_dump(folder: Path, target: str) -> None:
    names = ["import", *(stage.name for stage in stages_for(CompileOptions(target=target)))]
    files = sorted(folder.iterdir())
    assert [file.name for file in files] == [f"{number:02}-{name}.mlir" for number, name in enumerate(names)]
    for file in files:
        assert "loc(" in file.read_text()
        assert main([str(file), "-o", os.devnull]) == 0, file.name


def example() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randint(0, 20, (2, 5)), torch.randn(2, 5)


def test_a_compile_for_c(tmp_path: Path) -> None:
    albumen.compile(Block(), example(), dynamic_shapes=SHAPES, options={"dump_ir": str(tmp_path)})
    check_dump(tmp_path, "c")
    assert 'host.guard s0*s1 - 10 ">="' in (tmp_path / "09-plan-memory.mlir").read_text()


def test_loops_for_c(tmp_path: Path) -> None:
    x, y = torch.randn(3, 40), torch.randn(3, 40)
    albumen.compile(Sorted(), (x, y), options={"dump_ir": str(tmp_path)})
    check_dump(tmp_path, "c")
    assert "scf.while" in (tmp_path / "10-lower-kernels.mlir").read_text()


@pytest.mark.parametrize("target", ["cuda", "metal"])
def test_a_compile_for_a_gpu(tmp_path: Path, target: str) -> None:
    program = torch.export.export(Block().eval(), example(), dynamic_shapes=SHAPES)
    lower_module(import_exported(program).module, CompileOptions(target=target, dump_ir=str(tmp_path)))
    check_dump(tmp_path, target)
