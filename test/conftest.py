"""What every test gets: a cache folder of its own session, a seed made from its name, and a skip without a GPU.

Suites too long for each run take a slice, chosen by `--slice-seed`: the commit's hash unless it is given.
"""

from __future__ import annotations

import ctypes
import hashlib
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest


def has_cuda_device() -> bool:
    """Whether the CUDA driver is there and counts at least one device."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slice-seed", help="what the slices of long suites are chosen by (default: the commit's hash)")
    parser.addoption("--full", action="store_true", help="run long suites whole, with the tests marked `full`")


def commit_hash() -> str:
    """The commit that is checked out; "0" where there is no repository."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "0"


def pytest_configure(config: pytest.Config) -> None:
    if config.option.slice_seed is None:
        config.option.slice_seed = commit_hash()


def pytest_report_header(config: pytest.Config) -> str:
    return f"slice seed: {config.option.slice_seed}"


@pytest.fixture(scope="session")
def slice_seed(pytestconfig: pytest.Config) -> str:
    """What a slice of a long suite is chosen by."""
    return str(pytestconfig.option.slice_seed)


@pytest.fixture(scope="session")
def full(pytestconfig: pytest.Config) -> bool:
    """Whether long suites run whole."""
    return bool(pytestconfig.option.full)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.option.full:
        left_out = [item for item in items if item.get_closest_marker("full")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("full")]
    gpu_items = [item for item in items if item.get_closest_marker("gpu")]
    if gpu_items and not has_cuda_device():
        for item in gpu_items:
            item.add_marker(pytest.mark.skip(reason="needs a CUDA device"))


def seed_of(node: pytest.Item) -> int:
    """A seed that depends on the test's name alone, so that a test draws the same values in any order and process."""
    return int.from_bytes(hashlib.sha256(node.nodeid.encode()).digest()[:4], "little")


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The cache folder of this test session; inherited by every process that a test starts."""
    folder = str(tmp_path_factory.mktemp("albumen-cache"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALBUMEN_CACHE_DIR", folder)
        yield folder


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A generator seeded from the test's name."""
    return np.random.default_rng(seed_of(request.node))


@pytest.fixture(autouse=True)
def seeded(request: pytest.FixtureRequest) -> None:
    """Seed the generators that tests may use without asking for `rng`."""
    seed = seed_of(request.node)
    random.seed(seed)
    np.random.seed(seed)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(seed)
