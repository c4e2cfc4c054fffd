"""What library calls mean on arrays: "cublaslt.matmul", as runtime/devices/cublaslt.py documents it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..op import Array


def run_matmul(config: Mapping[str, str], buffers: Sequence[Array]) -> None:
    """D = activation(A B + bias + C) for flat buffers A, B, bias if any, C if any, D and, if any, scratch; writes D."""
    rest = list(buffers)
    compute = np.float64 if config["compute"] == "f64" else np.float32
    a = _matrices(rest.pop(0), config, "a", ("m", "k"), config["lhs_transposed"] == "1").astype(compute)
    b = _matrices(rest.pop(0), config, "b", ("k", "n"), config["rhs_transposed"] == "1").astype(compute)
    if config["compute"] == "tf32":
        a, b = _tf32(a), _tf32(b)
    steps = config["epilogue"].split("_", 1) if config["epilogue"].startswith("bias") else ["", config["epilogue"]]
    with np.errstate(all="ignore"):
        y = a @ b
        if steps[0] == "bias":
            y = y + rest.pop(0)[: int(config["n"])].astype(compute)
        if config["add"] == "1":
            y = y + _matrices(rest.pop(0), config, "c", ("m", "n"), False).astype(compute)
        y = _activated(y, steps[-1])
    target = _matrices(rest.pop(0), config, "d", ("m", "n"), False)
    target[...] = y.astype(target.dtype)


def _matrices(x: Array, config: Mapping[str, str], name: str, dims: tuple[str, str], transposed: bool) -> Array:
    """The batch of matrices that lies in a flat buffer, as a view [batch, rows, columns]."""
    rows, columns, batch = (int(config[key]) for key in (*dims, "batch"))
    leading, stride = int(config[f"ld_{name}"]), int(config[f"stride_{name}"])
    inner = (1, leading) if transposed else (leading, 1)
    strides = tuple(s * x.itemsize for s in (stride, *inner))
    return np.lib.stride_tricks.as_strided(x, (batch, rows, columns), strides)


def _tf32(x: Array) -> Array:
    """The nearest numbers with 10 bits after the point, ties to even; NaN and infinities as they are."""
    bits = x.view(np.uint32)
    rounded = (bits + np.uint32(0xFFF) + ((bits >> np.uint32(13)) & np.uint32(1))) & np.uint32(0xFFFFE000)
    return np.where(np.isfinite(x), rounded.view(np.float32), x)


def _activated(y: Array, step: str) -> Array:
    if step == "relu":
        return np.maximum(y, 0)
    if step == "gelu_tanh":
        wide = y.astype(np.float64)
        inner = math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3)
        return (0.5 * wide * (1 + np.tanh(inner))).astype(y.dtype)
    return y
