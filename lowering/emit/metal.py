"""Metal text of simt kernels: the spelling record, and the translation unit that Metal and the CPU shim compile.

Metal has no f64, and its compiler must be called without fast math: text is written for IEEE arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.apple import MatrixType, SimdgroupFillOp, SimdgroupLoadOp, SimdgroupMmaOp, SimdgroupStoreOp
from ...dialects.errors import LoweringError
from ...dialects.simt import Id, KernelOp, PtrType, Space
from . import arithmetic, control, device_math, simt
from .prelude import device_functions
from .printer import TextPrinter
from .simt_target import SMEM, SimtTarget
from .target import StatementHandler

PRELUDE = Path(__file__).with_name("metal_prelude.h")
MAX_THREADGROUP_BYTES = 32 * 1024
"""Threadgroup memory that every Apple GPU has."""

TYPES: Mapping[str, str] = {
    "i1": "bool",
    "i8": "char",
    "i16": "short",
    "i32": "int",
    "i64": "long",
    "ui8": "uchar",
    "ui16": "ushort",
    "ui32": "uint",
    "ui64": "ulong",
    "f16": "half",
    "bf16": "bfloat",
    "f32": "float",
}

NARROW = {"f16": ("float({0})", "half({0})"), "bf16": ("float({0})", "bfloat({0})")}

MISSING = ("erf", "erfc", "lgamma", "expm1", "log1p", "cbrt")
"""C functions that Metal lacks; the prelude has them as alb_<name>."""

PRECISE = frozenset(
    ("exp", "exp2", "log", "log2", "log10", "sin", "cos", "tan", "sqrt", "rsqrt", "tanh", "sinh", "cosh", "pow")
)
"""Functions that Metal offers in a fast and a precise form."""

SAME_BITS = (("i16", "f16", "bf16"), ("i32", "f32"))
"""Types of one width each, read as one another."""


def _function(name: str) -> str:
    if name in MISSING:
        return f"alb_{name}"
    return f"precise::{name}" if name in PRECISE else name


def _float_functions() -> dict[str, str]:
    table: dict[str, str] = {}
    forms = {name: (f"{_function(c)}({{0}})", 1) for name, c in device_math.UNARY.items()}
    forms |= {name: (f"{_function(c)}({{0}}, {{1}})", 2) for name, c in device_math.BINARY.items()}
    forms |= {n: (f"alb_{n}({{0}}, {{1}})", 2) for n in device_math.POLYNOMIALS}
    forms["fma"] = ("fma({0}, {1}, {2})", 3)
    forms["maxnum"] = ("fmax({0}, {1})", 2)
    forms["minnum"] = ("fmin({0}, {1})", 2)
    forms["recip"] = ("(1.0f / {0})", 1)
    for name, (single, arity) in forms.items():
        table[f"{name}.f32"] = single
        table |= {f"{name}.{dtype}": device_math.through_float(single, dtype, NARROW, arity) for dtype in NARROW}
    return table


def _casts() -> dict[str, str]:
    table: dict[str, str] = {}
    for narrow, (widen, round_) in NARROW.items():
        table |= {f"cast.{narrow}.f32": widen, f"cast.f32.{narrow}": round_}
        for integer in ("i1", *device_math.INTEGERS):
            table[f"cast.{narrow}.{integer}"] = f"({TYPES[integer]}){widen}"
            table[f"cast.{integer}.{narrow}"] = round_.format("float({0})")
        for other in NARROW:
            if other != narrow:
                table[f"cast.{other}.{narrow}"] = round_.format("float({0})")
    return table


class MetalTarget(SimtTarget):
    """Metal has a matrix type beside the scalars."""

    def scalar_type(self, attribute: Attribute) -> str:
        if isinstance(attribute, MatrixType):
            return f"simdgroup_matrix<{self.scalar_type(attribute.element)}, 8, 8>"
        return super().scalar_type(attribute)


def matrix(printer: TextPrinter, array: SSAValue, indices: Sequence[SSAValue]) -> str:
    """The text of one matrix of a register array."""
    return f"{printer.use(array)}[{simt.part(printer, array, indices)}]"


def simdgroup_fill(printer: TextPrinter, op: Operation) -> None:
    assert isinstance(op, SimdgroupFillOp)
    element = printer.type(op.value.type)
    place = matrix(printer, op.matrix, op.indices)
    printer.line(f"{place} = make_filled_simdgroup_matrix<{element}, 8, 8>({printer.use(op.value)});")


def _memory(printer: TextPrinter, op: SimdgroupLoadOp | SimdgroupStoreOp) -> str:
    return f"{simt.address(printer, op.pointer, op.offset)}, {printer.use(op.stride)}"


def simdgroup_load(printer: TextPrinter, op: Operation) -> None:
    assert isinstance(op, SimdgroupLoadOp)
    place = matrix(printer, op.matrix, op.indices)
    trans = ", ulong2(0, 0), true" if op.trans is not None else ""
    printer.line(f"simdgroup_load({place}, {_memory(printer, op)}{trans});")


def simdgroup_store(printer: TextPrinter, op: Operation) -> None:
    assert isinstance(op, SimdgroupStoreOp)
    printer.line(f"simdgroup_store({matrix(printer, op.matrix, op.indices)}, {_memory(printer, op)});")


def simdgroup_mma(printer: TextPrinter, op: Operation) -> None:
    assert isinstance(op, SimdgroupMmaOp)
    acc = matrix(printer, op.acc, op.acc_indices)
    lhs, rhs = matrix(printer, op.lhs, op.lhs_indices), matrix(printer, op.rhs, op.rhs_indices)
    printer.line(f"simdgroup_multiply_accumulate({acc}, {lhs}, {rhs}, {acc});")


APPLE_STATEMENTS: Mapping[type[Operation], StatementHandler] = {
    SimdgroupFillOp: simdgroup_fill,
    SimdgroupLoadOp: simdgroup_load,
    SimdgroupStoreOp: simdgroup_store,
    SimdgroupMmaOp: simdgroup_mma,
}

METAL = MetalTarget(
    name="metal",
    types=TYPES,
    functions=device_math.with_synonyms(
        _float_functions()
        | device_math.integer_functions(TYPES)
        | {"ctpop.i32": "popcount({0})", "ctlz.i32": "clz({0})", "ctpop.i64": "popcount({0})"}
        | _casts()
        | device_math.bit_casts("as_type<{type}>({{0}})", SAME_BITS, TYPES)
        | {
            "maximum": "alb_maximum({0}, {1})",
            "minimum": "alb_minimum({0}, {1})",
        }
    ),
    expressions={**arithmetic.EXPRESSIONS, **control.EXPRESSIONS, **simt.EXPRESSIONS},
    statements={**control.STATEMENTS, **simt.STATEMENTS, **APPLE_STATEMENTS},
    literals={"inf.f32": "INFINITY", "nan.f32": "NAN"},
    vector_declaration="struct alignas({align}) {name} {{ {element} e[{n}]; }};",
    unroll="#pragma unroll",
    restrict="",
    spaces={Space.Global: "device ", Space.Shared: "threadgroup "},
    ids={
        **{Id(f"block.{axis}"): f"(int)alb_block.{axis}" for axis in "xyz"},
        **{Id(f"thread.{axis}"): f"(int)alb_thread.{axis}" for axis in "xyz"},
        **{Id(f"grid.{axis}"): f"(int)alb_grid.{axis}" for axis in "xyz"},
        Id.Lane: "(int)alb_lane",
        Id.Warp: "(int)alb_warp",
    },
    barriers={
        "block": "threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);",
        "warp": "simdgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);",
    },
    shuffles={
        "xor": "simd_shuffle_xor({0}, ushort({1}))",
        "up": "alb_shuffle_up({0}, alb_lane, uint({1}), {2}u)",
        "down": "alb_shuffle_down({0}, alb_lane, uint({1}), {2}u)",
        "idx": "simd_shuffle({0}, ushort((alb_lane & ~({2}u - 1)) | (uint({1}) & ({2}u - 1))))",
    },
    reduce_warp="alb_reduce_warp<{combiner}, {width}>({0})",
    reduce_block="alb_reduce_block<{combiner}, {threads}, {fresh}>({0}, {1}, alb_lane, alb_warp)",
    atomic_add="atomic_fetch_add_explicit(({space}atomic_{element} *){0}, {1}, memory_order_relaxed);",
)

BUILTINS = (
    "uint3 alb_block [[threadgroup_position_in_grid]]",
    "uint3 alb_thread [[thread_position_in_threadgroup]]",
    "uint3 alb_grid [[threadgroups_per_grid]]",
    "uint alb_lane [[thread_index_in_simdgroup]]",
    "uint alb_warp [[simdgroup_index_in_threadgroup]]",
)


MAX_BUFFERS = 31
"""Entries of Metal's buffer argument table."""


def _parameters(printer: TextPrinter, kernel: KernelOp) -> list[str]:
    modes = [mode.data for mode in kernel.modes or ()]
    parameters: list[str] = []
    if len(kernel.body.block.args) > MAX_BUFFERS:
        raise LoweringError(
            f"@{kernel.sym_name.data} takes {len(kernel.body.block.args)} buffers, Metal has {MAX_BUFFERS}",
            op=kernel,
            stage="emit",
            hint="join fewer tensors in one step",
        )
    for position, argument in enumerate(kernel.body.block.args):
        if isinstance(argument.type, PtrType):
            read_only = position < len(modes) and modes[position] == "read"
            element = printer.target.scalar_type(argument.type.element)
            kind = f"device {'const ' if read_only else ''}{element} *"
        else:
            kind = f"constant {printer.type(argument.type)} &"
        parameters.append(f"{kind}{printer.name(argument)} [[buffer({position})]]")
    return [*parameters, *BUILTINS]


def _print_kernel(printer: TextPrinter, kernel: KernelOp) -> None:
    smem = kernel.smem.value.data
    if smem > MAX_THREADGROUP_BYTES:
        raise LoweringError(
            f"@{kernel.sym_name.data} needs {smem} bytes of threadgroup memory, Metal has {MAX_THREADGROUP_BYTES}",
            op=kernel,
            stage="emit",
            hint="choose a schedule with a smaller tile",
        )
    parameters = ",\n    ".join(_parameters(printer, kernel))
    with printer.braces(f"kernel void {kernel.sym_name.data}(\n    {parameters})"):
        if smem:
            printer.line(f"threadgroup float4 alb_memory[{-(-smem // 16)}];")
            printer.line(f"threadgroup uchar *{SMEM} = (threadgroup uchar *)alb_memory;")
        printer.block(kernel.body.block)


def metal_source(kernels: Sequence[KernelOp]) -> str:
    """The whole text of one or more kernels."""
    bodies: list[str] = []
    vectors: dict[str, str] = {}
    for kernel in kernels:
        printer = TextPrinter(METAL)
        _print_kernel(printer, kernel)
        bodies.append(printer.text())
        vectors |= printer.vectors
    body = "\n".join(bodies)
    declarations = "".join(f"{text}\n" for text in vectors.values())
    headers = ["metal_stdlib", *(["metal_simdgroup_matrix"] if "simdgroup_matrix<" in body else [])]
    head = (
        "".join(f"#include <{header}>\n" for header in headers)
        + "using namespace metal;\n#pragma clang fp contract(off)\n"
    )
    functions = device_functions(PRELUDE, body)
    return "\n".join(part for part in (head, functions, declarations, body) if part)
