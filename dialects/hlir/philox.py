"""Philox4x32-10, the counter-based generator of Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (SC
2011)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ROUNDS = 10
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)
_MASK = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)


def philox_bits(seed: int, offset: int, count: int) -> NDArray[np.uint32]:
    """`count` words: four for each counter value from `offset` on, with the 64-bit key `seed`."""
    blocks = np.uint64(offset & (2**64 - 1)) + np.arange(-(-count // 4), dtype=np.uint64)
    zero = np.zeros_like(blocks)
    words = [blocks & _MASK, blocks >> _SHIFT, zero, zero]
    key = [seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF]
    for _ in range(ROUNDS):
        products = [words[0] * np.uint64(MULTIPLIERS[0]), words[2] * np.uint64(MULTIPLIERS[1])]
        words = [
            (products[1] >> _SHIFT) ^ words[1] ^ np.uint64(key[0]),
            products[1] & _MASK,
            (products[0] >> _SHIFT) ^ words[3] ^ np.uint64(key[1]),
            products[0] & _MASK,
        ]
        key = [(key[0] + WEYL[0]) & 0xFFFFFFFF, (key[1] + WEYL[1]) & 0xFFFFFFFF]
    return np.stack(words, axis=-1).astype(np.uint32).reshape(-1)[:count]
