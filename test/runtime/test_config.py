"""The environment's one reader: defaults, values, refusals, and that the table documents what is read."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from albumen.runtime import config
from albumen.runtime.config import VARIABLES, available_cores, configuration
from albumen.runtime.errors import ConfigurationError


def test_defaults() -> None:
    found = configuration({"HOME": "/home/someone", "ALBUMEN_CC": ""})
    assert found.cache_dir == Path("/home/someone/.cache/albumen")
    assert found.cache_limit == 4 << 30
    assert found.threads == found.jobs == available_cores()
    assert (found.cc, found.device, found.dump_ir, found.blas) == (None, None, None, "numpy")
    assert configuration({"XDG_CACHE_HOME": "/x"}).cache_dir == Path("/x/albumen")


def test_values() -> None:
    given = {"ALBUMEN_CACHE_DIR": "/c", "ALBUMEN_CACHE_LIMIT": "500m", "ALBUMEN_THREADS": "3", "ALBUMEN_JOBS": "1"}
    found = configuration({**given, "ALBUMEN_CC": "clang", "ALBUMEN_DEVICE": "cuda:1", "ALBUMEN_DUMP_IR": "/d"})
    assert (found.cache_dir, found.cache_limit, found.threads, found.jobs) == (Path("/c"), 500 << 20, 3, 1)
    assert (found.cc, found.device, found.dump_ir) == ("clang", "cuda:1", Path("/d"))


@pytest.mark.parametrize(
    ("name", "value"),
    [("ALBUMEN_THREADS", "0"), ("ALBUMEN_THREADS", "two"), ("ALBUMEN_JOBS", "-1"), ("ALBUMEN_CACHE_LIMIT", "4 GB")],
)
def test_refused(name: str, value: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(f"{name} is {value!r}")):
        configuration({name: value})


def test_table_lists_what_is_read() -> None:
    read = set(re.findall(r"\"(ALBUMEN_\w+)\"", inspect.getsource(config)))
    assert read == {variable.name for variable in VARIABLES}
    assert len(VARIABLES) <= 10
