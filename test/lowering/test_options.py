"""CompileOptions: what is refused, what its digest depends on, and that the page names all."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from albumen.dialects.errors import OptionError
from albumen.lowering.options import CompileOptions
from albumen.runtime.config import VARIABLES


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        ({"taget": "c"}, "no option is called 'taget'", "target"),
        ({"target": "cdua"}, "option target has no value 'cdua'", "cuda"),
        ({"target": "opencl"}, "option target has no value 'opencl'", "use one of: c, cuda, metal"),
        ({"numerics": "Fast"}, "option numerics has no value 'Fast'", "fast"),
        ({"nodes": "10"}, "option nodes must be of type int, found '10'", ""),
        ({"nodes": True}, "option nodes must be of type int, found True", ""),
        ({"iterations": -1}, "option iterations must not be negative, found -1", ""),
        ({"theories": "views"}, "option theories must be a tuple of strings, found 'views'", ""),
        ({"theories": [1]}, "option theories must be a tuple of strings, found (1,)", ""),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str, hint: str) -> None:
    with pytest.raises(OptionError) as caught:
        CompileOptions.from_mapping(options)
    assert caught.value.message == message
    assert hint in caught.value.hint


def test_defaults_and_lists() -> None:
    assert CompileOptions.from_mapping(None) == CompileOptions()
    assert CompileOptions.from_mapping({"theories": ["views", "spelling"]}).theories == ("views", "spelling")


def test_digest_depends_on_what_changes_the_result() -> None:
    plain = CompileOptions()
    assert plain.digest == CompileOptions(dump_ir="/tmp/ir").digest
    others = [CompileOptions(target="cuda"), CompileOptions(numerics="fused"), CompileOptions(theories=("views",))]
    assert len({plain.digest, *(one.digest for one in others)}) == 4


def test_digest_is_the_same_in_another_process() -> None:
    code = "from albumen.lowering.options import CompileOptions; print(CompileOptions(target='cuda').digest)"
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert result.stdout.strip() == CompileOptions(target="cuda").digest


def test_the_page_has_every_option_and_variable() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/options.md").read_text()
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    named = {name.strip(" `") for row in rows for name in row.split(",")}
    assert named == {field.name for field in dataclasses.fields(CompileOptions)} | {v.name for v in VARIABLES}
