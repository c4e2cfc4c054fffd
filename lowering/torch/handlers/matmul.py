"""Matrix products: every one is a hlir.contract over an index space, or a whole hlir.linear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from xdsl.ir import SSAValue

from ....dialects.dtype import F32, F64, I1, I32
from ....dialects.hlir.builder import GraphBuilder
from ....dialects.hlir.elementwise import AddOp, MulOp
from ....dialects.hlir.index_map import IndexMap
from ....dialects.hlir.linear import LinearOp, contract
from ....dialects.hlir.types import ShapeAttr
from ....dialects.op import tensor_of
from ....dialects.sym.expr import Expr, constant, index
from ..call import Call, Handler
from ..element_types import SCALAR_NAMES
from ..promotion import number_tensor
from ..unsupported import EagerRaisesError

Dims = tuple[Expr, ...]


def product(b: GraphBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """torch.matmul: batched, with broadcasting of batch dims, and vectors as rows or columns."""
    left, right = tensor_of(lhs), tensor_of(rhs)
    if left.dtype.is_bool and right.dtype.is_bool:  # or over and
        return b.cast(product(b, b.cast(lhs, I32), b.cast(rhs, I32)), I1)
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
        if tensor_of(lhs).dtype != tensor_of(rhs).dtype:
            types = " != ".join(SCALAR_NAMES[tensor_of(x).dtype] for x in (lhs, rhs))
            raise EagerRaisesError(RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {types}"))
        return product(call.b, lhs, rhs)

    return handler


def product_plus(bias: str, first: str, second: str) -> Handler:
    """beta bias + alpha (first @ second), summed before the one rounding.

    With beta = 0 the bias is not read, and with alpha = 0 nor are the factors, as BLAS has it: eager gives narrow
    floats and batches to other kernels, which multiply by 0.
    """

    def handler(call: Call) -> SSAValue:
        compute = I32 if call.dtype.is_bool else call.dtype.compute
        lhs, rhs = (call.b.cast(call.tensor(name), compute) for name in (first, second))
        value = _scaled(call, product(call.b, lhs, rhs), "alpha")
        base = call.tensor(bias)
        if call.number("alpha") == 0 and call.dtype in (F32, F64) and not first.startswith("batch"):
            value = call.b.constant(0, tensor_of(value))
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
        turned = call.b.permute(operands[1], list(reversed(range(tensor_of(operands[1]).rank))))
        value = product(call.b, operands[0], turned)
        return value if bias is None else call.b.emit(AddOp, [value, call.b.broadcast(bias, tensor_of(value).dims)])
    return call.b.emit(LinearOp, operands if bias is None else [*operands, bias])


def sum_of_products(call: Call) -> SSAValue:
    """addbmm: beta self + alpha times the sum over the batch of batch1 @ batch2, added up one matrix after another as
    eager does, which rounds each time."""
    b, compute = call.b, call.dtype.compute
    lhs, rhs = (b.cast(call.tensor(name), compute) for name in ("batch1", "batch2"))
    alpha, beta = call.number("alpha"), call.number("beta")
    batch = tensor_of(lhs).dims[0].as_int()
    steps = [(lhs, rhs)]
    if call.dtype.is_float and batch is not None:
        steps = [(_matrix(b, lhs, i), _matrix(b, rhs, i)) for i in range(batch)]
    value: SSAValue | None = None
    if beta != 0:
        wide = b.broadcast(b.cast(call.tensor("self"), compute), call.dims)
        value = wide if beta == 1 else b.emit(MulOp, [wide, number_tensor(call, beta, tensor_of(wide))])
    else:
        call.ignore("self")
    for left, right in steps:
        term = _batch_product(b, left, right)
        if alpha != 1:
            term = b.emit(MulOp, [term, number_tensor(call, alpha, tensor_of(term))])
        total = term if value is None else b.emit(AddOp, [value, term])
        value = b.cast(b.cast(total, call.dtype), compute)
    return b.constant(0, call.type) if value is None else b.cast(value, call.dtype)


def _matrix(b: GraphBuilder, batch: SSAValue, number: int) -> SSAValue:
    dims = tensor_of(batch).dims[1:]
    return b.view(batch, IndexMap(3, (constant(number), index(1), index(2))), (1, *dims))


def _batch_product(b: GraphBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """The sum over batch and depth of lhs[batch, row, depth] rhs[batch, depth, column]."""
    batch, rows, depth = tensor_of(lhs).dims
    space = ShapeAttr.get((rows, tensor_of(rhs).dims[2], batch, depth))
    lhs_map = IndexMap(4, (index(2), index(0), index(3)))
    return contract(b, lhs, rhs, space, lhs_map, IndexMap(4, (index(2), index(3), index(1))), [2, 3])


def trilinear(call: Call) -> SSAValue:
    """The sum over some dims of i1 * i2 * i3, each with new dims where it is expanded: i1 and i2 are multiplied first,
    over the dims that i3 does not have, and rounded; then i3."""
    b = call.b
    call.ignore("unroll_dim")
    names = ("i1", "i2", "i3")
    expanded = [call.integers(f"expand{i}") for i in (1, 2, 3)]
    summed = call.integers("sumdim")
    factors = [b.cast(call.tensor(name), call.dtype) for name in names]
    rank = len(expanded[0]) + tensor_of(factors[0]).rank
    factors = [_with_dims(b, x, new) for x, new in zip(factors, expanded, strict=True)]
    first = [d for d in summed if d in expanded[2]]
    product = _summed_product(b, factors[0], factors[1], first, rank)
    product = _summed_product(b, product, factors[2], [d for d in summed if d not in first], rank)
    return b.reshape(product, call.dims)


def _with_dims(b: GraphBuilder, x: SSAValue, new: Sequence[int]) -> SSAValue:
    dims = list(tensor_of(x).dims)
    for place in sorted(new):
        dims.insert(place, constant(1))
    return b.reshape(x, dims)


def _summed_product(b: GraphBuilder, lhs: SSAValue, rhs: SSAValue, axes: Sequence[int], rank: int) -> SSAValue:
    """The product of two tensors of one rank with broadcasting, summed over axes that stay with extent 1."""
    left, right = tensor_of(lhs).dims, tensor_of(rhs).dims
    wide = [r if a.as_int() == 1 else a for a, r in zip(left, right, strict=True)]
    kept = [i for i in range(rank) if i not in axes]
    order = [*kept, *axes]
    place = {d: index(n) for n, d in enumerate(order)}
    maps = [
        IndexMap(rank, tuple(place[d] if dims[d] == wide[d] else constant(0) for d in range(rank)))
        for dims in (left, right)
    ]
    space = ShapeAttr.get([wide[d] for d in order])
    value = contract(b, lhs, rhs, space, maps[0], maps[1], list(range(len(kept), rank)))
    return b.reshape(value, [constant(1) if d in axes else wide[d] for d in range(rank)])


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
        "aten.addbmm.default": sum_of_products,
        "aten._trilinear.default": trilinear,
        "aten.linear.default": linear,
        "aten.outer.default": outer,
        "aten.ger.default": outer,
    }
)
