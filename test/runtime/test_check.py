"""The invariants of a program: each broken one is refused by name before anything runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from albumen.runtime.artifact import Artifact, Guard, HostProgram, Launch, check_program
from albumen.runtime.errors import ArtifactError


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"arena_bytes": "t"}, "undeclared symbol"),
        ({"entry": "copied"}, "exactly a program of target c"),
        ({"kernels": ()}, "no kernel 'k'"),
        ({"slices": ()}, "slice 0 of 0"),
    ],
)
def test_invariants_of_a_program(
    cuda_program: HostProgram, affine: Artifact, change: dict[str, Any], message: str
) -> None:
    program = cuda_program
    check_program(program)
    if change.get("entry"):
        change = {"entry": affine.program.entry}
    with pytest.raises(ArtifactError, match=message):
        check_program(replace(program, **change))


def test_invariants_of_steps_and_tensors(cuda_program: HostProgram) -> None:
    program = cuda_program
    launch = program.steps[0]
    assert isinstance(launch, Launch)
    wrong: list[tuple[HostProgram, str]] = [
        (replace(program, steps=(replace(launch, arguments=launch.arguments[:2]),)), "for parameters"),
        (replace(program, steps=(replace(launch, block=(0, 1, 1)),)), "block"),
        (replace(program, steps=(replace(launch, grid=("s+", "1", "1")),)), "size expression"),
        (replace(program, inputs=(program.inputs[0], program.inputs[0])), "given twice"),
        (replace(program, inputs=(replace(program.inputs[0], align=12), program.inputs[1])), "no power of 2"),
        (replace(program, inputs=(replace(program.inputs[0], shape=("s*s", "4")), program.inputs[1])), "not solvable"),
        (replace(program, outputs=(replace(program.outputs[0], dtype="f31"),)), "unknown dtype"),
        (replace(program, outputs=(replace(program.outputs[0], alias=7),)), "alias of input 7"),
        (replace(program, symbols=(replace(program.symbols[0], minimum=9, maximum=3),)), "range 9..3"),
        (replace(program, kernels=(replace(program.kernels[0], source="abc"),)), "no sha256"),
        (replace(program, guards=(Guard("s", "==", ""),)), "has no message"),
    ]
    for changed, message in wrong:
        with pytest.raises(ArtifactError, match=message):
            check_program(changed)
