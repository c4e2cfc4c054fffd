"""kernel.call_matmul as a call of cuBLASLt: one batch, m, n and k with constant strides, or no call at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from xdsl.dialects.builtin import DictionaryAttr, StringAttr

from ...dialects.errors import LoweringError
from ...dialects.hlir.index_map import IndexMap, flat_address, linear_coefficients, row_major_strides
from ...dialects.hlir.types import TensorType
from ...dialects.kernel import CallMatmulOp
from ...dialects.op import tensor_of
from ...dialects.sym.bounds import Bounds, proves_nonnegative
from ...dialects.sym.dialect import ExprAttr
from ...dialects.sym.expr import Expr, constant

CALLEE = "cublaslt.matmul"
WORKSPACE = 32 << 20
"""Bytes of scratch memory that the library may use."""
EPILOGUES = ("none", "bias", "relu", "bias_relu", "gelu_tanh", "bias_gelu_tanh")
DTYPES = ("f32", "f64", "f16", "bf16")

Strides = tuple[Expr, ...]


def matmul_config(op: CallMatmulOp, *, tf32: bool = False) -> dict[str, str | Expr] | None:
    """The configuration that runtime/devices/cublaslt.py documents, or None if the library cannot do this matmul. With
    `tf32` operands of f32 may be rounded to that."""
    steps = tuple(step for step in op.steps if step != "add")
    epilogue = "_".join(steps) or "none"
    dtype = op.result_type.dtype.name
    if epilogue not in EPILOGUES or dtype not in DTYPES or (dtype == "f64") != (op.accumulator.name == "f64"):
        return None
    form = _form(op)
    if form is None:
        return None
    return {
        **form,
        **{f"dtype_{x}": dtype for x in "abd"},
        "compute": "tf32" if tf32 and dtype == "f32" else op.accumulator.name,
        "epilogue": epilogue,
        "add": "1" if "add" in op.steps else "0",
        "workspace": constant(WORKSPACE),
        "algorithm": "0",
    }


def config_attribute(op: CallMatmulOp, *, tf32: bool = False) -> DictionaryAttr:
    """The configuration as an attribute, sorted by key.

    Raises:
        LoweringError: the library cannot do this matmul.
    """
    config = matmul_config(op, tf32=tf32)
    if config is None:
        raise LoweringError(f"{CALLEE} cannot compute this form", op=op, stage="plan-memory", hint="keep hlir.contract")
    values = ((key, config[key]) for key in sorted(config))
    return DictionaryAttr({key: ExprAttr(v) if isinstance(v, Expr) else StringAttr(v) for key, v in values})


def _form(op: CallMatmulOp) -> dict[str, str | Expr] | None:
    space = op.space.data
    lhs = _strides(op.lhs_map.data, tensor_of(op.lhs), space)
    rhs = _strides(op.rhs_map.data, tensor_of(op.rhs), space)
    if lhs is None or rhs is None:
        return None
    kept = [i for i in range(len(space)) if i not in op.axis_numbers]
    out: list[Expr] = [constant(0)] * len(space)
    for i, stride in zip(kept, row_major_strides([space[i] for i in kept]), strict=True):
        out[i] = stride
    groups = _groups(kept, op.axis_numbers, lhs, rhs)
    if groups is None:
        return None
    found: dict[str, tuple[Expr, Expr, Expr, Expr]] = {}
    for name, members in groups.items():
        joined = _joined(members, space, (lhs, rhs, tuple(out)))
        if joined is None:
            return None
        found[name] = joined
    return _settings(found)


def _strides(index_map: IndexMap, type_: TensorType, space: Sequence[Expr]) -> Strides | None:
    """Elements between neighbours of each index of the space, or None where they are not constant or start late."""
    address = flat_address(index_map, row_major_strides(type_.dims), space)
    linear = linear_coefficients(address, len(space))
    return linear[0] if linear is not None and not linear[1].terms else None


def _groups(kept: Sequence[int], axes: Sequence[int], lhs: Strides, rhs: Strides) -> dict[str, list[int]] | None:
    """The indices of batch, m, n and k."""
    groups: dict[str, list[int]] = {"batch": [], "m": [], "n": [], "k": list(axes)}
    for i in kept:
        in_lhs, in_rhs = bool(lhs[i].terms), bool(rhs[i].terms)
        if not in_lhs and not in_rhs:
            return None
        groups["batch" if in_lhs and in_rhs else "m" if in_lhs else "n"].append(i)
    return groups


def _joined(
    members: Sequence[int], space: Sequence[Expr], operands: tuple[Strides, Strides, Strides]
) -> tuple[Expr, Expr, Expr, Expr] | None:
    """(extent, stride in lhs, in rhs, in the result) of several indices as one, or None if some operand has gaps."""
    if not members:
        return (constant(1), constant(0), constant(0), constant(0))
    for outer, inner in pairwise(members):
        if any(strides[outer] != strides[inner] * space[inner] for strides in operands):
            return None
    extent: Expr = constant(1)
    for i in members:
        extent = extent * space[i]
    lhs, rhs, out = (strides[members[-1]] for strides in operands)
    return extent, lhs, rhs, out


def _settings(found: Mapping[str, tuple[Expr, Expr, Expr, Expr]]) -> dict[str, str | Expr] | None:
    m, n, k, batch = (found[name] for name in ("m", "n", "k", "batch"))
    a = _matrix(m[1], k[1], m[0], k[0])
    b = _matrix(k[2], n[2], k[0], n[0])
    d = _matrix(m[3], n[3], m[0], n[0])
    if a is None or b is None or d is None or d[0] == "1":
        return None
    sizes = {"m": m[0], "n": n[0], "k": k[0], "batch": batch[0]}
    sizes |= {"stride_a": batch[1], "stride_b": batch[2], "stride_c": batch[3], "stride_d": batch[3]}
    sizes |= {"ld_a": a[1], "ld_b": b[1], "ld_c": d[1], "ld_d": d[1]}
    return {"lhs_transposed": a[0], "rhs_transposed": b[0], **sizes}


def _matrix(row: Expr, column: Expr, rows: Expr, columns: Expr) -> tuple[str, Expr] | None:
    """("1" if the rows lie next to one another, leading dimension), or None where neither dim does, or lines
    overlap."""
    if column.as_int() in (0, 1):
        transposed, leading, length = "0", row, columns
    elif row.as_int() in (0, 1):
        transposed, leading, length = "1", column, rows
    else:
        return None
    if not leading.terms:
        leading = length
    return (transposed, leading) if proves_nonnegative(leading - length, Bounds()) else None
