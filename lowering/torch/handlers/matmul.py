"""Matrix products: every one is a hlir.contract over an index space, or a whole hlir.linear."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from xdsl.ir import SSAValue

from ....dialects.hlir.builder import GraphBuilder
from ....dialects.hlir.elementwise import AddOp, MulOp
from ....dialects.hlir.index_map import IndexMap
from ....dialects.hlir.linear import LinearOp, contract
from ....dialects.hlir.types import ShapeAttr
from ....dialects.op import tensor_of
from ....dialects.sym.expr import Expr, constant, index
from ..call import Call, Handler
from ..promotion import number_tensor
from ..unsupported import UnsupportedNodeError

Dims = tuple[Expr, ...]


def product(b: GraphBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """torch.matmul: batched, with broadcasting of batch dims, and vectors as rows or columns."""
    left, right = tensor_of(lhs), tensor_of(rhs)
    rows, columns = left.dims[-2:-1], right.dims[-1:] if right.rank > 1 else ()
    batch = _broadcast_batch(left.dims[:-2], right.dims[:-2])
    space = ShapeAttr.get((*batch, *rows, *columns, left.dims[-1]))
    k, n = len(batch), len(batch) + len(rows)
    last = space.rank - 1
    lhs_map = [*_batch_indices(left.dims[:-2], batch), *([index(k)] if rows else []), index(last)]
    rhs_map = [*_batch_indices(right.dims[:-2], batch), index(last), *([index(n)] if columns else [])]
    return contract(
        b, lhs, rhs, space, IndexMap(space.rank, tuple(lhs_map)), IndexMap(space.rank, tuple(rhs_map)), [last]
    )


def _broadcast_batch(left: Dims, right: Dims) -> Dims:
    rank = max(len(left), len(right))
    padded = [(constant(1),) * (rank - len(dims)) + dims for dims in (left, right)]
    return tuple(b if a.as_int() == 1 else a for a, b in zip(*padded, strict=True))


def _batch_indices(dims: Dims, batch: Dims) -> list[Expr]:
    shift = len(batch) - len(dims)
    return [index(i + shift) if extent == batch[i + shift] else constant(0) for i, extent in enumerate(dims)]


def matrix_product(first: str, second: str) -> Handler:
    """first @ second."""

    def handler(call: Call) -> SSAValue:
        lhs, rhs = call.tensor(first), call.tensor(second)
        return product(call.b, lhs, rhs)

    return handler


def product_plus(bias: str, first: str, second: str) -> Handler:
    """beta bias + alpha (first @ second), summed before the one rounding. With beta = 0 the bias is not read."""

    def handler(call: Call) -> SSAValue:
        compute = call.dtype.compute
        lhs, rhs = (call.b.cast(call.tensor(name), compute) for name in (first, second))
        value = _scaled(call, product(call.b, lhs, rhs), "alpha")
        base = call.tensor(bias)
        if call.number("beta") != 0:
            scaled = _scaled(call, call.b.cast(base, compute), "beta")
            value = call.b.emit(AddOp, [value, call.b.broadcast(scaled, tensor_of(value).dims)])
        return call.b.cast(value, call.dtype)

    return handler


def _scaled(call: Call, x: SSAValue, name: str) -> SSAValue:
    factor = call.number(name)
    return x if factor == 1 else call.b.emit(MulOp, [x, number_tensor(call, factor, tensor_of(x))])


def linear(call: Call) -> SSAValue:
    """input @ weight^T + bias as one op."""
    operands = [call.tensor("input"), call.tensor("weight")]
    bias = call.optional_tensor("bias")
    if tensor_of(operands[1]).rank != 2 or not call.dtype.is_float:
        raise UnsupportedNodeError(f"has a weight of rank {tensor_of(operands[1]).rank} or integers")
    return call.b.emit(LinearOp, operands if bias is None else [*operands, bias])


def outer(call: Call) -> SSAValue:
    """self[i] * vec2[j]."""
    rows, columns = call.tensor("self"), call.tensor("vec2")
    wide = [call.b.cast(x, call.dtype) for x in (rows, columns)]
    left = call.b.view(wide[0], IndexMap(2, (index(0),)), call.dims)
    return call.b.emit(MulOp, [left, call.b.view(wide[1], IndexMap(2, (index(1),)), call.dims)])


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten.mm.default": matrix_product("self", "mat2"),
        "aten.bmm.default": matrix_product("self", "mat2"),
        "aten.mv.default": matrix_product("self", "vec"),
        "aten.dot.default": matrix_product("self", "tensor"),
        "aten.vdot.default": matrix_product("self", "other"),
        "aten.matmul.default": matrix_product("self", "other"),
        "aten.addmm.default": product_plus("self", "mat1", "mat2"),
        "aten.addmv.default": product_plus("self", "mat", "vec"),
        "aten.baddbmm.default": product_plus("self", "batch1", "batch2"),
        "aten.linear.default": linear,
        "aten.outer.default": outer,
        "aten.ger.default": outer,
    }
)
