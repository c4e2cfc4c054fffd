"""The entry of a program in C: its buffers and symbols by name, and its steps as calls in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue

from ...dialects.errors import LoweringError
from ...dialects.host import CopyOp, LaunchOp, OutputOp, ProgramOp, SliceOp
from ...dialects.host.types import BufferType
from ...dialects.loop import KernelOp
from ...dialects.sym.expr import Expr
from ...dialects.sym.monomial import Atom
from .c_kernel import function_name


def expression_text(expr: Expr, symbols: Mapping[str, str]) -> str:
    """A symbolic integer in C, over the texts of its symbols."""
    if not expr.terms:
        return "0"
    text = ""
    for monomial, coefficient in expr.terms:
        factors = [_atom_text(atom, symbols) for atom, power in monomial for _ in range(power)]
        if abs(coefficient) != 1 or not factors:
            factors.append(f"{abs(coefficient)}{'LL' if abs(coefficient) >= 2**31 else ''}")
        sign = "-" if coefficient < 0 else "+"
        product = " * ".join(factors)
        text = f"{text} {sign} {product}" if text else (f"-{product}" if coefficient < 0 else product)
    return text


def _atom_text(atom: Atom, symbols: Mapping[str, str]) -> str:
    if atom.kind == "symbol":
        return symbols[atom.name]
    args = [expression_text(arg, symbols) for arg in atom.args]
    if atom.kind == "floordiv":
        return f"alb_floordiv({args[0]}, {args[1]})"
    text = args[0]
    for arg in args[1:]:
        text = f"alb_max_i64({text}, {arg})"
    return text


def entry_text(program: ProgramOp, kernels: Mapping[str, KernelOp]) -> str:
    """The body of the entry: pointers of the buffers, then the steps; the first failure ends it."""
    symbols = {op.symbol.data: f"symbols[{n}]" for n, op in enumerate(program.symbols)}
    lines = ["(void)symbols;", "(void)arena;", "if (host->version != ALBUMEN_ABI_VERSION) return ALBUMEN_VERSION;"]
    names: dict[SSAValue, str] = {}
    for number, op in enumerate((*program.inputs, *program.outputs)):
        if not (isinstance(op, OutputOp) and op.alias is not None):
            names[op.buffer] = f"buffers[{number}]"
    for number, op in enumerate(program.slices):
        names[op.buffer] = f"t{number}"
        lines.append(_slice_text(op, f"t{number}", symbols))
    lines.append("int status = ALBUMEN_OK;")
    for step in program.steps:
        if isinstance(step, LaunchOp):
            call = _launch_text(step, kernels, names, symbols)
            lines.append(f"if ((status = {call}) != ALBUMEN_OK) return status;")
        elif isinstance(step, CopyOp):
            assert isinstance(step.source.type, BufferType)
            size = expression_text(step.source.type.bytes, symbols)
            lines.append(f"memcpy({names[step.destination]}, {names[step.source]}, (size_t)({size}));")
        else:
            raise LoweringError(f"target c has no library call {step.callee.data!r}", op=step, stage="emit")
    lines.append("return status;")
    return "".join(f"  {line}\n" for line in lines)


def _slice_text(op: SliceOp, name: str, symbols: Mapping[str, str]) -> str:
    return f"void *const {name} = (char *)arena + ({expression_text(op.offset.data, symbols)});"


def _launch_text(
    step: LaunchOp, kernels: Mapping[str, KernelOp], names: Mapping[SSAValue, str], symbols: Mapping[str, str]
) -> str:
    kernel = kernels.get(step.kernel_name)
    if kernel is None:
        raise LoweringError(f"there is no loop.kernel @{step.kernel_name} to launch", op=step, stage="emit")
    arguments: Sequence[str] = [
        "host",
        *(names[buffer] for buffer in step.buffers),
        *(symbols[name.data] for name in kernel.symbols),
    ]
    return f"{function_name(kernel)}({', '.join(arguments)})"
