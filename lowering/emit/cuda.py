"""CUDA text of simt kernels: the spelling record, and the translation unit that NVRTC and the CPU shim compile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from xdsl.ir import Operation, SSAValue

from ...dialects.nv import NV, CpAsyncCommitOp, CpAsyncOp, CpAsyncWaitOp, LdmatrixOp, MmaOp
from ...dialects.simt import GridWaitOp, Id, KernelOp, PtrType, Space
from ..toolchain.device_prelude import device_prelude
from . import arithmetic, control, device_math, simt
from .prelude import device_functions
from .printer import TextPrinter
from .simt_target import SMEM, SimtTarget
from .target import StatementHandler

PRELUDE = Path(__file__).with_name("cuda_prelude.h")
STATIC_SMEM_ALIGNMENT = 1024

TYPES: Mapping[str, str] = {
    "i1": "bool",
    "i8": "signed char",
    "i16": "short",
    "i32": "int",
    "i64": "long long",
    "ui8": "unsigned char",
    "ui16": "unsigned short",
    "ui32": "unsigned int",
    "ui64": "unsigned long long",
    "f16": "__half",
    "bf16": "__nv_bfloat16",
    "f32": "float",
    "f64": "double",
    "f8E4M3FN": "__nv_fp8_storage_t",
    "f8E5M2": "__nv_fp8_storage_t",
}
HEADERS = {
    "cuda_fp16.h": ("__half", "2half"),
    "cuda_bf16.h": ("bfloat16",),
    "cuda_fp8.h": ("__nv_fp8", "__nv_cvt"),
}
"""Headers that the text needs where it uses a type or a conversion: a value may be rounded and never stored."""

NARROW = {
    "f16": ("__half2float({0})", "__float2half_rn({0})"),
    "bf16": ("__bfloat162float({0})", "__float2bfloat16_rn({0})"),
    **{
        dtype: (
            f"__half2float(__half(__nv_cvt_fp8_to_halfraw({{0}}, {word})))",
            f"__nv_cvt_float_to_fp8({{0}}, __NV_NOSAT, {word})",
        )
        for dtype, word in (("f8E4M3FN", "__NV_E4M3"), ("f8E5M2", "__NV_E5M2"))
    },
}
"""How a narrow float becomes f32 and how f32 is rounded to it."""

INFINITY = "__int_as_float(0x7f800000)"
NAN = "__int_as_float(0x7fffffff)"

SAME_BITS = (("i8", "f8E4M3FN", "f8E5M2"), ("i16", "f16", "bf16"), ("i32", "f32"), ("i64", "f64"))
"""Types of one width each, read as one another."""


def _float_functions() -> dict[str, str]:
    table: dict[str, str] = {}
    forms = {name: (f"{c}f({{0}})", f"{c}({{0}})", 1) for name, c in device_math.UNARY.items()}
    forms |= {name: (f"{c}f({{0}}, {{1}})", f"{c}({{0}}, {{1}})", 2) for name, c in device_math.BINARY.items()}
    forms |= {n: (f"alb_{n}({{0}}, {{1}})", f"alb_{n}({{0}}, {{1}})", 2) for n in device_math.POLYNOMIALS}
    forms["fma"] = ("fmaf({0}, {1}, {2})", "fma({0}, {1}, {2})", 3)
    forms["maxnum"] = ("fmaxf({0}, {1})", "fmax({0}, {1})", 2)
    forms["minnum"] = ("fminf({0}, {1})", "fmin({0}, {1})", 2)
    forms["recip"] = ("(1.0f / {0})", "(1.0 / {0})", 1)
    for name, (single, double, arity) in forms.items():
        table |= {f"{name}.f32": single, f"{name}.f64": double}
        table |= {f"{name}.{dtype}": device_math.through_float(single, dtype, NARROW, arity) for dtype in NARROW}
    return table


def _casts() -> dict[str, str]:
    table: dict[str, str] = {}
    for narrow, (widen, round_) in NARROW.items():
        table |= {f"cast.{narrow}.f32": widen, f"cast.f32.{narrow}": round_}
        table[f"cast.{narrow}.f64"] = f"(double){widen}"
        table[f"cast.f64.{narrow}"] = {"f16": "__double2half({0})", "bf16": "__double2bfloat16({0})"}.get(
            narrow, round_.format("(float){0}")
        )
        for integer in ("i1", *device_math.INTEGERS):
            table[f"cast.{narrow}.{integer}"] = f"({TYPES[integer]}){widen}"
            table[f"cast.{integer}.{narrow}"] = round_.format("(float){0}")
        for other, (widen_other, _) in NARROW.items():
            if other != narrow:
                table[f"cast.{other}.{narrow}"] = round_.format(widen_other)
    return table


def cp_async(printer: TextPrinter, op: Operation) -> None:
    """Where the predicate is false nothing is read: 0 valid bytes, from an address that need not exist."""
    assert isinstance(op, CpAsyncOp)
    size = op.bytes.value.data
    target = simt.address(printer, op.target, op.target_offset)
    source = simt.address(printer, op.source, op.source_offset)
    valid = "" if op.predicate is None else f", {printer.use(op.predicate)} ? {size} : 0"
    printer.line(f"alb_cp_async{size}({target}, {source}{valid});")


def cp_async_commit(printer: TextPrinter, op: Operation) -> None:
    printer.line("alb_cp_async_commit();")


def cp_async_wait(printer: TextPrinter, op: Operation) -> None:
    assert isinstance(op, CpAsyncWaitOp)
    printer.line(f"alb_cp_async_wait<{op.pending.value.data}>();")


def words(printer: TextPrinter, array: SSAValue, indices: Sequence[SSAValue]) -> str:
    """A fragment of 32-bit words, which the instructions take as unsigned."""
    return f"(unsigned *)({simt.part_address(printer, array, indices)})"


def ldmatrix(printer: TextPrinter, op: Operation) -> None:
    assert isinstance(op, LdmatrixOp)
    name = f"alb_ldmatrix_x{op.count.value.data}<{'true' if op.trans is not None else 'false'}>"
    place = simt.address(printer, op.pointer, op.offset)
    printer.line(f"{name}({words(printer, op.fragment, op.indices)}, {place});")


def mma(printer: TextPrinter, op: Operation) -> None:
    assert isinstance(op, MmaOp)
    acc = simt.part_address(printer, op.acc, op.acc_indices)
    lhs, rhs = words(printer, op.lhs, op.lhs_indices), words(printer, op.rhs, op.rhs_indices)
    printer.line(f"alb_mma_{op.kind.data}({acc}, {lhs}, {rhs});")


NV_STATEMENTS: Mapping[type[Operation], StatementHandler] = {
    CpAsyncOp: cp_async,
    CpAsyncCommitOp: cp_async_commit,
    CpAsyncWaitOp: cp_async_wait,
    LdmatrixOp: ldmatrix,
    MmaOp: mma,
}

_THREAD = "(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))"

CUDA = SimtTarget(
    name="cuda",
    types=TYPES,
    functions=device_math.with_synonyms(
        _float_functions()
        | device_math.integer_functions(TYPES)
        | {"ctpop.i32": "__popc({0})", "ctlz.i32": "__clz({0})", "ctpop.i64": "__popcll({0})"}
        | _casts()
        | device_math.bit_casts("alb_bits<{type}>({{0}})", SAME_BITS, TYPES)
        | {
            "maximum": "alb_maximum({0}, {1})",
            "minimum": "alb_minimum({0}, {1})",
        }
    ),
    expressions={**arithmetic.EXPRESSIONS, **control.EXPRESSIONS, **simt.EXPRESSIONS},
    statements={**control.STATEMENTS, **simt.STATEMENTS, **NV_STATEMENTS},
    literals={
        "inf.f32": INFINITY,
        "nan.f32": NAN,
        "inf.f64": "__longlong_as_double(0x7ff0000000000000LL)",
        "nan.f64": "__longlong_as_double(0x7fffffffffffffffLL)",
    },
    vector_declaration="struct alignas({align}) {name} {{ {element} e[{n}]; }};",
    unroll="#pragma unroll",
    restrict="__restrict__",
    spaces={Space.Global: "", Space.Shared: ""},
    ids={
        **{Id(f"block.{axis}"): f"(int)blockIdx.{axis}" for axis in "xyz"},
        **{Id(f"thread.{axis}"): f"(int)threadIdx.{axis}" for axis in "xyz"},
        **{Id(f"grid.{axis}"): f"(int)gridDim.{axis}" for axis in "xyz"},
        Id.Lane: f"(int)({_THREAD} % 32)",
        Id.Warp: f"(int)({_THREAD} / 32)",
    },
    barriers={"block": "__syncthreads();", "warp": "__syncwarp();"},
    shuffles={
        mode: f"__shfl{word}_sync(0xffffffffu, {{0}}, {{1}}, {{2}})"
        for mode, word in (("xor", "_xor"), ("up", "_up"), ("down", "_down"), ("idx", ""))
    },
    reduce_warp="alb_reduce_warp<{combiner}, {width}>({0})",
    reduce_block="alb_reduce_block<{combiner}, {threads}, {fresh}>({0}, {1})",
    atomic_add="atomicAdd({0}, {1});",
    load_stream="alb_load_stream({0})",
    store_stream="alb_store_stream({0}, {1});",
    trap="__trap();",
    grid_wait="alb_grid_wait();",
    grid_release="alb_grid_release();",
)


def _parameters(printer: TextPrinter, kernel: KernelOp) -> list[str]:
    """Pointers promise not to overlap (`restrict`), except in a kernel that waits for the one before: the promise
    would let the compiler load what is only read before the wait."""
    restrict = "" if any(isinstance(op, GridWaitOp) for op in kernel.body.walk()) else CUDA.restrict
    modes = [mode.data for mode in kernel.modes or ()]
    parameters: list[str] = []
    for position, argument in enumerate(kernel.body.block.args):
        kind = printer.type(argument.type)
        if isinstance(argument.type, PtrType):
            read_only = position < len(modes) and modes[position] == "read"
            kind = f"{'const ' if read_only else ''}{kind}{restrict}{' ' if restrict else ''}"
        else:
            kind = f"const {kind} "
        parameters.append(f"{kind}{printer.name(argument)}")
    return parameters


def _print_kernel(printer: TextPrinter, kernel: KernelOp) -> None:
    # Without a number of blocks the compiler spills registers of some kernels to fit more of them.
    blocks = kernel.min_blocks.value.data if kernel.min_blocks is not None else 1
    bounds = f"{kernel.threads}, {blocks}"
    parameters = ", ".join(_parameters(printer, kernel))
    head = f'extern "C" __global__ void __launch_bounds__({bounds}) {kernel.sym_name.data}({parameters})'
    with printer.braces(head):
        if kernel.smem.value.data:
            printer.line(f"extern __shared__ __align__({STATIC_SMEM_ALIGNMENT}) unsigned char {SMEM}[];")
        printer.block(kernel.body.block)


def cuda_source(kernels: Sequence[KernelOp]) -> str:
    """The whole text of one or more kernels: headers, device functions and vector types they use, then the kernels."""
    bodies: list[str] = []
    vectors: dict[str, str] = {}
    for kernel in kernels:
        printer = TextPrinter(CUDA)
        _print_kernel(printer, kernel)
        bodies.append(printer.text())
        vectors |= printer.vectors
    body = "\n".join(bodies)
    declarations = "".join(f"{text}\n" for text in vectors.values())
    nv_ops = set(NV.operations)
    uses_nv = "alb_load_stream" in body or "alb_store_stream" in body or "alb_grid_" in body
    uses_nv = uses_nv or any(type(op) in nv_ops for kernel in kernels for op in kernel.body.walk())
    used = body + declarations
    includes = [f"#include <{header}>\n" for header, words in HEADERS.items() if any(word in used for word in words)]
    nv_text = device_prelude() + "\n" if uses_nv else ""
    functions = device_functions(PRELUDE, body)
    return "\n".join(part for part in ("".join(includes), nv_text + functions, declarations, body) if part)
