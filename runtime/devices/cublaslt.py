"""The library function "cublaslt.matmul" of programs: matrix products with epilogues, through nvmath's bindings.

    D[b, m, n] = activation(sum over k of A[b, m, k] * B[b, k, n] + bias[n] + C[b, m, n]), everything row-major.

Configuration (texts; sizes are expressions over the program's symbols, leading dimensions and strides count elements):
    m n k batch                        extents
    lhs_transposed rhs_transposed      "1": A lies as [k, m], B as [n, k]
    ld_a ld_b ld_c ld_d                leading dimensions (row strides)
    stride_a stride_b stride_c stride_d   from one matrix of the batch to the next
    dtype_a dtype_b dtype_d            f32 f64 f16 bf16 f8E4M3FN f8E5M2; C has dtype_d
    compute                            f32, tf32 (mode of f32 operands), f64
    epilogue                           none bias relu bias_relu gelu_tanh bias_gelu_tanh
    add                                "1": C is an operand
    workspace                          bytes of the scratch operand, 0 without one
    algorithm                          rank in the heuristic's list
Operands in order: A, B, bias if the epilogue has one, C if add, D, scratch if workspace > 0.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from ..errors import DeviceError
from .driver import LibraryInvocation

EXTENTS = ("m", "n", "k", "batch")
LAYOUTS = ("ld_a", "ld_b", "ld_c", "ld_d", "stride_a", "stride_b", "stride_c", "stride_d", "workspace")
_TYPES = MappingProxyType({"f32": 0, "f64": 1, "f16": 2, "bf16": 14, "f8E4M3FN": 28, "f8E5M2": 29})
_COMPUTE = MappingProxyType({"f32": (68, 0), "tf32": (77, 0), "f64": (70, 1)})
_EPILOGUES = MappingProxyType(
    {
        "none": "DEFAULT",
        "bias": "BIAS",
        "relu": "RELU",
        "bias_relu": "RELU_BIAS",
        "gelu_tanh": "GELU",
        "bias_gelu_tanh": "GELU_BIAS",
    }
)
_CANDIDATES = 16
_CALLEE = "cublaslt.matmul"
_HINT = "compile the model without library calls, or install nvmath-python and cuBLAS"


@dataclass(frozen=True, slots=True)
class _Plan:
    """The library's objects for one configuration."""

    description: int
    layouts: tuple[int, int, int, int]
    algorithm: Any
    workspace: int
    alpha: Any
    beta: Any
    with_bias: bool = False
    with_addend: bool = field(default=False)


class CublasltMatmul:
    """The library with one handle. Plans are made once a configuration and kept."""

    def __init__(self, bindings: Any) -> None:
        self._lt = bindings
        self._errors = (RuntimeError, bindings.cuBLASLtError)
        self._handle = bindings.create()
        self._plans: dict[tuple[Any, ...], _Plan] = {}
        self._lock = threading.Lock()

    @classmethod
    def open(cls) -> CublasltMatmul:
        """Load the bindings; raises DeviceError where they or the library are missing."""
        try:
            bindings = importlib.import_module("nvmath.bindings.cublasLt")
        except ImportError as error:
            raise DeviceError(
                f"the program calls cuBLASLt, whose bindings are not there ({error})", hint=_HINT
            ) from error
        try:
            return cls(bindings)
        except (RuntimeError, bindings.cuBLASLtError) as error:  # the library is missing, or refuses
            raise DeviceError(f"cuBLASLt cannot be opened: {error}", call="cublasLtCreate", hint=_HINT) from error

    def expressions(self, config: Mapping[str, str]) -> tuple[str, ...]:
        """See Library."""
        return tuple(key for key in (*EXTENTS, *LAYOUTS) if key in config)

    def prepare(
        self, config: Mapping[str, str], sizes: Callable[[str], int], pointers: Sequence[int]
    ) -> LibraryInvocation:
        """See Library."""
        known: dict[str, int | float | str] = {**config, **{key: sizes(key) for key in self.expressions(config)}}
        resolved = tuple(sorted(known.items()))
        if not all((known["m"], known["n"], known["batch"])):
            return LibraryInvocation(_CALLEE, resolved, tuple(pointers), lambda stream: None, empty=True)
        key = (resolved, _alignments(pointers))

        def enqueue(stream: int) -> None:
            with self._lock:
                plan = self._plans.get(key)
                if plan is None:
                    plan = self._plans[key] = self._plan(known, _alignments(pointers))
                self._enqueue(plan, pointers, stream)

        return LibraryInvocation(_CALLEE, resolved, tuple(pointers), enqueue)

    def _plan(self, known: Mapping[str, Any], alignments: Sequence[int]) -> _Plan:
        if not known["k"]:
            raise DeviceError(f"{_CALLEE}: k is 0, which the library does not take", hint=_HINT)
        compute, scale = _COMPUTE[known["compute"]]
        with_bias = "bias" in known["epilogue"]
        with_addend = known["add"] == "1"
        description = self._lt.matmul_desc_create(compute, scale)
        attributes = self._lt.MatmulDescAttribute
        # The library is column-major: it computes the transpose of D as op(B)ᵀ · op(A)ᵀ, so its first matrix is our B.
        self._describe(description, attributes.TRANSA, int(known["rhs_transposed"]), np.int32)
        self._describe(description, attributes.TRANSB, int(known["lhs_transposed"]), np.int32)
        epilogue = getattr(self._lt.Epilogue, _EPILOGUES[known["epilogue"]])
        self._describe(description, attributes.EPILOGUE, int(epilogue), np.uint32)
        m, n, k = known["m"], known["n"], known["k"]
        first = (k, n) if known["rhs_transposed"] == "1" else (n, k)
        second = (m, k) if known["lhs_transposed"] == "1" else (k, m)
        addend = "c" if with_addend else "d"
        layouts = (
            self._layout(known, "b", "dtype_b", *first),
            self._layout(known, "a", "dtype_a", *second),
            self._layout(known, addend, "dtype_d", n, m),
            self._layout(known, "d", "dtype_d", n, m),
        )
        workspace = known.get("workspace", 0)
        outputs = alignments[2 + int(with_bias) :]
        order = (alignments[1], alignments[0], outputs[0], outputs[int(with_addend)])
        algorithm = self._algorithm(description, layouts, workspace, order, int(known.get("algorithm", "0")))
        number = np.float64 if scale == 1 else np.float32
        alpha, beta = np.ones(1, number), np.full(1, with_addend, number)
        return _Plan(description, layouts, algorithm, workspace, alpha, beta, with_bias, with_addend)

    def _describe(self, description: int, attribute: Any, value: int, kind: Any) -> None:
        data = np.array([value], kind)
        self._lt.matmul_desc_set_attribute(description, attribute, data.ctypes.data, data.nbytes)

    def _layout(self, known: Mapping[str, Any], operand: str, dtype: str, rows: int, columns: int) -> int:
        layout: int = self._lt.matrix_layout_create(_TYPES[known[dtype]], rows, columns, known[f"ld_{operand}"])
        attributes = self._lt.MatrixLayoutAttribute
        batch, stride = np.array([known["batch"]], np.int32), np.array([known[f"stride_{operand}"]], np.int64)
        if known["batch"] != 1:
            self._lt.matrix_layout_set_attribute(layout, attributes.BATCH_COUNT, batch.ctypes.data, batch.nbytes)
            self._lt.matrix_layout_set_attribute(
                layout, attributes.STRIDED_BATCH_OFFSET, stride.ctypes.data, stride.nbytes
            )
        return layout

    def _algorithm(
        self, description: int, layouts: Sequence[int], workspace: int, alignments: Sequence[int], rank: int
    ) -> Any:
        lt = self._lt
        preference = lt.matmul_preference_create()
        keys = lt.MatmulPreferenceAttribute
        settings = [(keys.MAX_WORKSPACE_BYTES, workspace, np.uint64)]
        names = (
            keys.MIN_ALIGNMENT_A_BYTES,
            keys.MIN_ALIGNMENT_B_BYTES,
            keys.MIN_ALIGNMENT_C_BYTES,
            keys.MIN_ALIGNMENT_D_BYTES,
        )
        settings += [(name, value, np.uint32) for name, value in zip(names, alignments, strict=True)]
        for attribute, value, kind in settings:
            data = np.array([value], kind)
            lt.matmul_preference_set_attribute(preference, attribute, data.ctypes.data, data.nbytes)
        found: Any = np.zeros(_CANDIDATES, lt.matmul_heuristic_result_dtype)
        count = np.zeros(1, np.int32)
        try:
            lt.matmul_algo_get_heuristic(
                self._handle, description, *layouts, preference, _CANDIDATES, found.ctypes.data, count.ctypes.data
            )
        except self._errors as error:
            raise DeviceError(f"{_CALLEE}: {error}", call="cublasLtMatmulAlgoGetHeuristic", hint=_HINT) from error
        finally:
            lt.matmul_preference_destroy(preference)
        if count[0] < 1:
            raise DeviceError(f"{_CALLEE}: the library has no algorithm for this product", hint=_HINT)
        rank = min(rank, int(count[0]) - 1)
        return found["algo"][rank : rank + 1].copy()

    def _enqueue(self, plan: _Plan, pointers: Sequence[int], stream: int) -> None:
        a, b, *rest = pointers
        if plan.with_bias:
            self._describe(plan.description, self._lt.MatmulDescAttribute.BIAS_POINTER, rest.pop(0), np.uint64)
        d = rest[plan.with_addend]
        addend = rest[0]
        scratch = rest[1 + plan.with_addend] if plan.workspace else 0
        first, second, third, fourth = plan.layouts
        scalars = (plan.alpha.ctypes.data, plan.beta.ctypes.data)
        tail = (plan.algorithm.ctypes.data, scratch, plan.workspace, stream)
        try:
            self._lt.matmul(
                self._handle,
                plan.description,
                scalars[0],
                b,
                first,
                a,
                second,
                scalars[1],
                addend,
                third,
                d,
                fourth,
                *tail,
            )
        except self._errors as error:
            raise DeviceError(f"{_CALLEE}: {error}", call="cublasLtMatmul") from error


def _alignments(pointers: Sequence[int]) -> tuple[int, ...]:
    return tuple(min(256, pointer & -pointer) if pointer else 256 for pointer in pointers)
