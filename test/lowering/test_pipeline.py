"""The list of stages: names, levels that join, and that DESIGN's order is the documentation's."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from xdsl.passes import ModulePass

from albumen.dialects.errors import CompileError, OptionError
from albumen.lowering.levels import LEVELS
from albumen.lowering.options import TARGETS, CompileOptions
from albumen.lowering.passes import PASSES, load, load_pass
from albumen.lowering.pipeline import STAGES, stages_for

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("target", TARGETS)
def test_levels_join(target: str) -> None:
    stages = stages_for(CompileOptions(target=target))
    assert stages[0].level_before == "graph"
    assert stages[-1].level_after == "source"
    for before, after in itertools.pairwise(stages):
        assert before.level_after == after.level_before
    assert {level for stage in stages for level in (stage.level_before, stage.level_after)} <= set(LEVELS)


def test_threads_are_mapped_for_gpus_only() -> None:
    names = {target: [stage.name for stage in stages_for(CompileOptions(target=target))] for target in TARGETS}
    assert "map-threads" not in names["c"]
    assert names["cuda"] == names["metal"] == list(PASSES)


def test_architecture_page_draws_the_same_chain() -> None:
    page = (ROOT / "docs/architecture.md").read_text()
    chain = page.split("```")[1]
    at = [re.search(rf"(?<![a-z-]){name}(?![a-z])", chain) for name in PASSES]
    places = [match.start() if match else -1 for match in at]
    assert -1 not in places
    assert places == sorted(places)


@pytest.mark.parametrize("name", PASSES)
def test_every_pass_is_what_the_table_says(name: str) -> None:
    cls = load_pass(name)
    assert issubclass(cls, ModulePass)
    assert cls.name == name


@pytest.mark.parametrize("target", TARGETS)
def test_every_stage_takes_its_options(target: str) -> None:
    options = CompileOptions(target=target, theories=("views",), nodes=100, iterations=2)
    for stage in stages_for(options):
        one = stage.make(options)
        assert type(one).from_spec(one.spec()) == one


def test_an_unknown_pass_names_the_near_ones() -> None:
    with pytest.raises(OptionError, match="canonicalise") as caught:
        load_pass("canonicalise")
    assert "canonicalize" in caught.value.hint


def test_a_wrong_table_entry_says_so() -> None:
    with pytest.raises(CompileError, match=r"there is no module albumen\.transforms\.nothing"):
        load("pass 'x'", "transforms.nothing", "XPass")
    with pytest.raises(CompileError, match="that module has no such name"):
        load("pass 'x'", "lowering.options", "XPass")


def test_stages_are_unique_per_target() -> None:
    for target in TARGETS:
        names = [stage.name for stage in STAGES if target in stage.targets]
        assert len(names) == len(set(names))
