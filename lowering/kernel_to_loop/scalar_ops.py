"""Elementwise hlir ops as scalar ops of the loop level: narrow floats are widened, computed in f32 and rounded once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IndexType, IntegerAttr, IntegerType, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.dtype import F32, I64, U8, DType
from ...dialects.hlir.indexing import CheckIndexOp
from ...dialects.hlir.scalar import Scalar
from ...dialects.loop import ApplyOp
from ...dialects.loop import CheckIndexOp as LoopCheckIndexOp
from ...dialects.op import TensorOp, tensor_of
from .division import quotient, remainder

Add = Callable[[Operation], SSAValue]
"""Appends an op and returns its result."""
Rule = Callable[[Add, DType, Sequence[SSAValue]], SSAValue]
"""(add, dtype of the operands before widening, widened operands) -> result, in the compute dtype or i1."""


def element_type(dtype: DType) -> Attribute:
    """The loop-level type of a dtype: integers are signless."""
    return dtype.attr if dtype.is_float else integer_type(dtype)


def integer_type(dtype: DType) -> IntegerType:
    return IntegerType(dtype.bits)


def float_type(dtype: DType) -> AnyFloat:
    assert isinstance(dtype.attr, AnyFloat)
    return dtype.attr


def constant(add: Add, scalar: Scalar) -> SSAValue:
    """The number as a constant of its own type."""
    dtype = scalar.dtype
    if dtype.is_float:
        return add(arith.ConstantOp(FloatAttr(float(scalar.value), float_type(dtype))))
    value = int(scalar.value)
    wrapped = value - (1 << dtype.bits) if dtype.is_integer and value >= 1 << (dtype.bits - 1) else value
    return add(arith.ConstantOp(IntegerAttr(wrapped, integer_type(dtype))))


def number(add: Add, value: float, dtype: DType) -> SSAValue:
    return constant(add, Scalar(dtype.encode(value), dtype))


def widen(add: Add, value: SSAValue, dtype: DType) -> SSAValue:
    """The value in the dtype that scalar functions of `dtype` are computed in."""
    return value if dtype.compute == dtype else add(arith.ExtFOp(value, dtype.compute.attr))


def narrow(add: Add, value: SSAValue, dtype: DType) -> SSAValue:
    """The inverse of `widen`: rounds once."""
    return value if dtype.compute == dtype else add(arith.TruncFOp(value, dtype.attr))


def _by_category(
    on_floats: type[Operation] | None, signed: type[Operation] | None, unsigned: type[Operation] | None = None
) -> Rule:
    """The op for floats, for signed and for unsigned integers (default: that for signed ones)."""

    def rule(add: Add, dtype: DType, xs: Sequence[SSAValue]) -> SSAValue:
        op = on_floats if dtype.is_float else signed if dtype.category == "signed" else unsigned or signed
        assert op is not None
        return add(op(*xs))

    return rule


def _unary(op: type[Operation]) -> Rule:
    return lambda add, dtype, xs: add(op(*xs))


def _comparison(on_floats: str, signed: str, unsigned: str) -> Rule:
    def rule(add: Add, dtype: DType, xs: Sequence[SSAValue]) -> SSAValue:
        if dtype.is_float:
            return add(arith.CmpfOp(xs[0], xs[1], on_floats))
        return add(arith.CmpiOp(xs[0], xs[1], signed if dtype.category == "signed" else unsigned))

    return rule


def _mod(add: Add, dtype: DType, xs: Sequence[SSAValue]) -> SSAValue:
    return add(ApplyOp("mod", xs)) if dtype.is_float else remainder(add, dtype, xs)


def _through_i64(name: str) -> Rule:
    """A function whose low bits depend on the value of its operands alone, so that i64 stands for all integers."""

    def rule(add: Add, dtype: DType, xs: Sequence[SSAValue]) -> SSAValue:
        if dtype.is_float:
            return add(ApplyOp(name, xs))
        wide = [cast(add, x, dtype, I64) for x in xs]
        return cast(add, add(ApplyOp(name, wide)), I64, dtype)

    return rule


def _abs(add: Add, dtype: DType, xs: Sequence[SSAValue]) -> SSAValue:
    if dtype.is_float:
        return add(math.AbsFOp(xs[0]))
    return add(math.AbsIOp(xs[0])) if dtype.category == "signed" else xs[0]


def _neg(add: Add, dtype: DType, xs: Sequence[SSAValue]) -> SSAValue:
    return add(arith.NegfOp(xs[0]) if dtype.is_float else arith.SubiOp(number(add, 0, dtype), xs[0]))


def _recip(add: Add, dtype: DType, xs: Sequence[SSAValue]) -> SSAValue:
    return add(arith.DivfOp(number(add, 1.0, dtype.compute), xs[0]))


def _sigmoid(add: Add, dtype: DType, xs: Sequence[SSAValue]) -> SSAValue:
    raised = add(math.ExpOp(add(arith.NegfOp(xs[0]))))
    one = number(add, 1.0, dtype.compute)
    return add(arith.DivfOp(one, add(arith.AddfOp(raised, one))))


def _relu(add: Add, dtype: DType, xs: Sequence[SSAValue]) -> SSAValue:
    """The larger of 0 and x; of equal numbers the second, so that -0.0 stays -0.0."""
    zero = number(add, 0, dtype.compute)
    return _by_category(arith.MaximumfOp, arith.MaxSIOp, arith.MaxUIOp)(add, dtype, [zero, xs[0]])


def _log_add_exp(add: Add, dtype: DType, xs: Sequence[SSAValue]) -> SSAValue:
    """m + ln(1 + e^(n - m)) with the larger m; m itself where n - m is NaN because both are the same infinity."""
    high, low = add(arith.MaximumfOp(xs[0], xs[1])), add(arith.MinimumfOp(xs[0], xs[1]))
    total = add(arith.AddfOp(high, add(math.Log1pOp(add(math.ExpOp(add(arith.SubfOp(low, high))))))))
    infinite = add(arith.CmpfOp(add(math.AbsFOp(high)), number(add, float("inf"), dtype.compute), "oeq"))
    return add(arith.SelectOp(infinite, high, total))


def _bit_not(add: Add, dtype: DType, xs: Sequence[SSAValue]) -> SSAValue:
    return add(arith.XOrIOp(xs[0], add(arith.ConstantOp(IntegerAttr(-1, integer_type(dtype))))))


def _is_nan(add: Add, dtype: DType, xs: Sequence[SSAValue]) -> SSAValue:
    return add(arith.CmpfOp(xs[0], xs[0], "uno"))


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "add": _by_category(arith.AddfOp, arith.AddiOp),
        "sub": _by_category(arith.SubfOp, arith.SubiOp),
        "mul": _by_category(arith.MulfOp, arith.MuliOp),
        "div": _by_category(arith.DivfOp, None),
        "maximum": _by_category(arith.MaximumfOp, arith.MaxSIOp, arith.MaxUIOp),
        "minimum": _by_category(arith.MinimumfOp, arith.MinSIOp, arith.MinUIOp),
        "floor_div": quotient(arith.FloorDivSIOp),
        "trunc_div": quotient(arith.DivSIOp),
        "mod": _mod,
        "gcd": _through_i64("gcd"),
        "pow": _through_i64("pow"),
        "abs": _abs,
        "neg": _neg,
        "recip": _recip,
        "sigmoid": _sigmoid,
        "relu": _relu,
        "fma": _unary(math.FmaOp),
        "less_than": _comparison("olt", "slt", "ult"),
        "less_equal": _comparison("ole", "sle", "ule"),
        "equal": _comparison("oeq", "eq", "eq"),
        "not_equal": _comparison("une", "ne", "ne"),
        "is_nan": _is_nan,
        "bit_and": _unary(arith.AndIOp),
        "bit_or": _unary(arith.OrIOp),
        "bit_xor": _unary(arith.XOrIOp),
        "bit_not": _bit_not,
        "log_add_exp": _log_add_exp,
        "shift_left": _unary(arith.ShLIOp),
        "shift_right": _by_category(None, arith.ShRSIOp, arith.ShRUIOp),
        "round_even": _unary(math.RoundEvenOp),
        **{op.name.removeprefix("math."): _unary(op) for op in (
            math.ExpOp, math.Exp2Op, math.LogOp, math.Log2Op, math.SinOp, math.CosOp, math.TanhOp, math.ErfOp,
            math.SqrtOp, math.RsqrtOp, math.FloorOp, math.CeilOp, math.TruncOp,
        )},
    }
)  # fmt: skip
"""The scalar function that an hlir op names as its SPELLING -> what it is at the loop level. A primitive that is not
here is a `loop.apply`, a composite is expanded first."""

UNCHANGED = ("select", "cast", "bitcast", "check_index")
"""Ops whose operands are not widened."""


def has_rule(op: TensorOp) -> bool:
    """Whether an elementwise composite can be spelled; otherwise it has to be expanded."""
    return op.SPELLING in RULES or op.SPELLING in UNCHANGED


def scalar_op(add: Add, op: TensorOp, operands: Sequence[SSAValue]) -> SSAValue:
    """One element of an elementwise op from one element of each operand."""
    dtype, result = tensor_of(op.operands[0]).dtype, op.result_type.dtype
    if op.SPELLING == "select":
        return add(arith.SelectOp(*operands))
    if op.SPELLING == "cast":
        return cast(add, operands[0], dtype, result)
    if op.SPELLING == "bitcast":
        same = element_type(dtype) == element_type(result)
        return operands[0] if same else add(arith.BitcastOp(operands[0], element_type(result)))
    if isinstance(op, CheckIndexOp):
        index, last = (add(arith.IndexCastOp(x, IndexType())) for x in operands)
        extent = add(arith.AddiOp(last, add(arith.ConstantOp.from_int_and_width(1, IndexType()))))
        return from_index(add, add(LoopCheckIndexOp(index, extent, op.error)), result)
    wide = [widen(add, x, dtype) for x in operands]
    rule = RULES.get(op.SPELLING)
    value = rule(add, dtype, wide) if rule is not None else add(ApplyOp(op.SPELLING, wide))
    return narrow(add, value, dtype) if result == dtype else value


def cast(add: Add, value: SSAValue, source: DType, result: DType) -> SSAValue:
    """numpy's conversion: floats round to nearest even, float to integer truncates, anything to i1 is x != 0."""
    if source == result:
        return value
    if result.is_bool:
        zero = number(add, 0, source.compute)
        wide = widen(add, value, source)
        return add(arith.CmpfOp(wide, zero, "une") if source.is_float else arith.CmpiOp(wide, zero, "ne"))
    if source.is_float:
        return _from_float(add, widen(add, value, source), source.compute, result)
    if result.is_float:
        wide = F32 if result.compute == F32 else result
        unsigned = source.category != "signed"
        return narrow(add, add((arith.UIToFPOp if unsigned else arith.SIToFPOp)(value, float_type(wide))), result)
    return _between_integers(add, value, source, result)


def _from_float(add: Add, value: SSAValue, source: DType, result: DType) -> SSAValue:
    if result.is_float:
        if result.compute != source:
            value = add((arith.ExtFOp if result.bits > source.bits else arith.TruncFOp)(value, result.compute.attr))
        return narrow(add, value, result)
    kind = IntegerType(result.bits)
    if result == U8:
        # Through i64, as torch converts to bytes alone: a negative float is undefined in C, and GPUs make it 0.
        return add(arith.TruncIOp(add(arith.FPToSIOp(value, i64)), kind))
    return add(arith.FPToSIOp(value, kind) if result.category == "signed" else arith.FPToUIOp(value, kind))


def _between_integers(add: Add, value: SSAValue, source: DType, result: DType) -> SSAValue:
    kind = IntegerType(result.bits)
    if source.bits == result.bits:
        return value
    if source.bits > result.bits:
        return add(arith.TruncIOp(value, kind))
    return add(arith.ExtSIOp(value, kind) if source.category == "signed" else arith.ExtUIOp(value, kind))


def from_index(add: Add, value: SSAValue, result: DType) -> SSAValue:
    """An index as a number of the dtype, through i64."""
    return cast(add, add(arith.IndexCastOp(value, i64)), I64, result)
