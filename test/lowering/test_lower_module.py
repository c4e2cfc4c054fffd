"""lower_module on passes made here: IR dumps, progress, and what a failing stage leaves behind."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.passes import ModulePass

from albumen.dialects.errors import ContractError, InternalError, LoweringError
from albumen.dialects.sym.dialect import SymbolOp
from albumen.lowering import pipeline
from albumen.lowering.options import CompileOptions
from albumen.lowering.pipeline import Stage, lower_module


@dataclass(frozen=True)
class Mark(ModulePass):
    """Declares one more symbol, which every level allows."""

    name = "mark"

    numerics: str = "eager"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        op.body.block.add_op(SymbolOp(f"s{len(op.body.block.ops)}"))


@dataclass(frozen=True)
class Lower(ModulePass):
    """Claims to lower but leaves everything."""

    name = "lower"

    def apply(self, ctx: Context, op: ModuleOp) -> None: ...


@dataclass(frozen=True)
class Refuse(ModulePass):
    """Refuses, or breaks."""

    name = "refuse"

    nodes: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.nodes:
            raise KeyError("lost")
        raise LoweringError("cannot", hint="do otherwise")


PASSES = {"mark": Mark, "lower": Lower, "refuse": Refuse}


class Listener:
    def __init__(self) -> None:
        self.heard: list[str] = []

    def stage(self, name: str, number: int, total: int) -> None:
        self.heard.append(f"{number}/{total} {name}")

    def step(self, text: str, done: int, total: int) -> None:
        self.heard.append(text)

    def finished(self) -> None:
        self.heard.append("finished")


def use(monkeypatch: pytest.MonkeyPatch, *stages: Stage) -> None:
    monkeypatch.setattr(pipeline, "STAGES", stages)
    monkeypatch.setattr(pipeline, "load_pass", PASSES.__getitem__)


def empty_module() -> ModuleOp:
    function = FuncOp("f", ((), ()))
    function.body.block.add_op(ReturnOp())
    return ModuleOp([function])


def test_every_stage_is_dumped_and_announced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Stage("mark", "graph", "graph"), Stage("mark", "graph", "graph"))
    listener = Listener()
    lower_module(empty_module(), CompileOptions(dump_ir=str(tmp_path / "ir")), listener)
    files = sorted((tmp_path / "ir").iterdir())
    assert [path.name for path in files] == ["00-import.mlir", "01-mark.mlir", "02-mark.mlir"]
    assert [path.read_text().count("sym.symbol") for path in files] == [0, 1, 2]
    assert listener.heard == ["1/3 mark", "2/3 mark"]


def test_options_reach_the_fields_of_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch)
    assert Stage("mark", "graph", "graph").make(CompileOptions(numerics="fused")) == Mark(numerics="fused")
    assert Stage("refuse", "graph", "graph").make(CompileOptions(nodes=0)) == Refuse()


def test_a_refusing_stage_leaves_a_reproducer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Stage("mark", "graph", "graph"), Stage("refuse", "graph", "graph"))
    with pytest.raises(LoweringError) as caught:
        lower_module(empty_module(), CompileOptions(dump_ir=str(tmp_path)))
    reproducer = tmp_path / "reproduce-refuse.mlir"
    assert str(caught.value) == f"refuse: cannot\n  to do: do otherwise\n  reproducer: {reproducer}"
    text = reproducer.read_text()
    assert text.startswith(f"// albumen-opt {reproducer} -p refuse\n// refuse: cannot\n//   to do: do otherwise\n")
    assert text.count("sym.symbol") == 1


def test_without_a_dump_folder_the_reproducer_is_a_temporary_file(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Stage("refuse", "graph", "graph"))
    with pytest.raises(LoweringError) as caught:
        lower_module(empty_module(), CompileOptions())
    path = Path(caught.value.hint.split("reproducer: ")[1])
    assert path.read_text().startswith("// albumen-opt ")
    path.unlink()
    path.parent.rmdir()


def test_a_breaking_stage_is_our_bug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Stage("refuse", "graph", "graph"))
    with pytest.raises(InternalError, match="KeyError: 'lost'") as caught:
        lower_module(empty_module(), CompileOptions(dump_ir=str(tmp_path), nodes=1))
    assert caught.value.stage == "refuse"
    assert "-p 'refuse{nodes=1}'" in (tmp_path / "reproduce-refuse.mlir").read_text()


def test_a_stage_that_misses_its_level_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Stage("mark", "graph", "graph"), Stage("lower", "graph", "loop"))
    with pytest.raises(ContractError, match="not at level loop") as caught:
        lower_module(empty_module(), CompileOptions(dump_ir=str(tmp_path)))
    assert caught.value.stage == "lower"
