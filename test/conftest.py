"""What every test gets: a cache folder of its own session, a seed made from its name, and a skip without a GPU."""

from __future__ import annotations

import ctypes
import hashlib
import random
import sys
from collections.abc import Iterator

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
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
