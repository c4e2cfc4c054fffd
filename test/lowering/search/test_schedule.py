"""schedule: tiles that suit small and large sizes, the machine's vectors, and nothing where something is given."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr

from albumen.dialects.kernel import FusedOp, MatmulOp
from albumen.lowering.levels import check_level
from albumen.lowering.search.cover import CoverPass
from albumen.lowering.search.extract import ExtractPass
from albumen.lowering.search.schedule import SchedulePass, samples

SameValues = Callable[[ModuleOp, ModuleOp], None]


def covered(encoder: Callable[..., ModuleOp]) -> ModuleOp:
    module = encoder()
    ExtractPass().apply(Context(), module)
    CoverPass().apply(Context(), module)
    return module


@pytest.mark.parametrize("target", ["c", "cuda", "metal"])
def test_every_matmul_gets_a_schedule(encoder: Callable[..., ModuleOp], same_values: SameValues, target: str) -> None:
    module = covered(encoder)
    before = module.clone()
    SchedulePass(target=target, simd=256).apply(Context(), module)
    module.verify()
    check_level(module, "kernel")
    matmuls = [op for op in module.walk() if isinstance(op, MatmulOp)]
    assert all(op.schedule.data for op in matmuls)
    if target == "c":
        assert {str(op.schedule) for op in matmuls} == {"{simd = 256 : i64}"}
    else:
        assert {op.schedule.data["template"] for op in matmuls} == {StringAttr("simt")}
    assert not any(op.schedule.data for op in module.walk() if isinstance(op, FusedOp))
    same_values(before, module)


def test_a_given_schedule_is_kept(encoder: Callable[..., ModuleOp]) -> None:
    module = covered(encoder)
    first = next(op for op in module.walk() if isinstance(op, MatmulOp))
    first.properties["schedule"] = DictionaryAttr({"tile": StringAttr("32x32")})
    SchedulePass(target="cuda").apply(Context(), module)
    assert first.schedule.data == {"tile": StringAttr("32x32")}


def test_samples_stay_in_range(encoder: Callable[..., ModuleOp]) -> None:
    assert samples(encoder()) == [{"b": 1, "s": 1}, {"b": 8, "s": 8}, {"b": 32, "s": 32}, {"b": 64, "s": 128}]
