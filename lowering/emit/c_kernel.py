"""One loop kernel as C: a function that runs it, and a body function for each loop that threads share."""

from __future__ import annotations

import re
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, Region, SSAValue

from ...dialects.errors import LoweringError
from ...dialects.loop import AllocOp, KernelOp, ParallelOp, PtrType
from ...dialects.loop import Mapping as LoopMapping
from .c_memory import element_of, pointer_type, stack_count, storage_type
from .c_pack import pack_function
from .printer import TextPrinter, byte_width
from .target import Target

LITERAL = re.compile(r"\(?-?(\d[\w.+]*|true|false|NAN|INFINITY)\)?")


def captured_values(region: Region) -> list[SSAValue]:
    """Values from outside that the ops of a region use, in order of first use."""
    inside: set[SSAValue] = set()
    found: dict[SSAValue, None] = {}

    def visit(current: Region) -> None:
        for block in current.blocks:
            inside.update(block.args)
            for op in block.ops:
                for operand in op.operands:
                    if operand not in inside:
                        found[operand] = None
                inside.update(op.results)
                for nested in op.regions:
                    visit(nested)

    visit(region)
    return list(found)


@dataclass(frozen=True)
class Body:
    """A loop that threads share: its function's number, what it takes from outside, and the extents of its space."""

    op: ParallelOp
    name: str
    number: int
    captured: tuple[tuple[SSAValue, str], ...]
    extents: tuple[str, ...]

    @property
    def context(self) -> str:
        return f"{self.name}_context{self.number}"

    @property
    def function(self) -> str:
        return f"{self.name}_body{self.number}"


def function_name(kernel: KernelOp) -> str:
    """The C function of a kernel; no symbol name can clash with a word or function of C."""
    return "kernel_" + re.sub(r"\W", "_", kernel.sym_name.data)


class CPrinter(TextPrinter):
    """Prints one loop kernel. `bodies` are the texts that stand before the kernel's function."""

    def __init__(self, target: Target, kernel: KernelOp):
        super().__init__(target)
        self.kernel = kernel
        self.bodies: list[str] = []
        self.packers: dict[str, str] = {}
        self.flags: dict[str, str] = {}
        """Maximum or minimum of a SIMD loop -> the flag that remembers a NaN."""
        self.scratch: set[SSAValue] = set()
        """Large scratch arrays that have been declared."""
        self._in_body = False

    @property
    def may_outline(self) -> bool:
        """Whether a grid loop here is shared by threads; inside another one it is a plain loop."""
        return not self._in_body

    def packer(self, source: str, target: str, width: int) -> str:
        """The name of the packing function for these dtypes and this width."""
        name = f"alb_pack_{source}_{target}_{width}"
        self.packers.setdefault(name, pack_function(name, source, target, width, self.target))
        return name

    def declaration(self, value: SSAValue, name: str) -> str:
        """`T name`; `name` may carry qualifiers of its own."""
        if isinstance(value.type, PtrType):
            return f"{pointer_type(self, value)}{name}"
        return f"{self.type(value.type)} {name}"

    def kernel_text(self) -> str:
        """The definitions of this kernel: contexts, body functions, and `static int NAME(host, pointers, symbols)`."""
        name = function_name(self.kernel)
        parameters = ["const albumen_host *host"]
        for argument in self.kernel.body.block.args:
            restrict = "restrict " if isinstance(argument.type, PtrType) else ""
            parameters.append(self.declaration(argument, f"{restrict}{self.name(argument)}"))
        with self.braces(f"static int {name}({', '.join(parameters)})"):
            self.line("(void)host;")
            self.line("_Atomic int status = ALBUMEN_OK;")
            self.line("_Atomic int *const failed = &status;")
            self.block(self.kernel.body.block)
            self.line("return *failed;")
        return "".join([*self.bodies, self.text()])

    def take_kernel_scratch(self) -> None:
        """Declares all large scratch arrays that belong to the kernel as a whole; their sizes must be known here."""
        allocs = [op for op in kernel_allocs(self.kernel.body) if stack_count(op) is None]
        self._take_scratch(allocs, 1, "return ALBUMEN_MEMORY;")

    def _take_scratch(self, allocs: list[AllocOp], slot: int, failure: str) -> None:
        if not allocs:
            return
        size = self.fresh("scratch_size")
        self.line(f"size_t {size} = 64;")
        offsets: list[str] = []
        for op in allocs:
            offsets.append(self.fresh("scratch_offset"))
            self.line(f"const size_t {offsets[-1]} = {size};")
            width = byte_width(element_of(op.result))
            self.line(f"{size} += ((size_t)({self.use(op.count)}) * {width} + 63) & ~(size_t)63;")
        base = self.fresh("scratch")
        self.line(f"char *const {base} = alb_scratch({slot}, {size});")
        self.line(f"if ({base} == NULL) {failure}")
        for op, offset in zip(allocs, offsets, strict=True):
            element = storage_type(self, op.result)
            self.line(f"{element} *restrict const {self.name(op.result)} = ({element} *)({base} + {offset});")
            self.scratch.add(op.result)

    def outline(self, op: ParallelOp) -> None:
        """Prints the loop as a body function over a range of its flat index, and the call that shares it."""
        if any(self.use(extent) == "0" for extent in op.extents):
            return  # runs nothing, and the flat index could not be divided
        body = self._captured(op)
        self._body_function(body)
        context = self.fresh("context")
        values = "".join(f"{text}, " for _, text in body.captured)
        self.line(f"struct {body.context} {context} = {{{values}failed}};")
        grain = op.attributes.get("grain")
        least = grain.value.data if isinstance(grain, IntegerAttr) else 1
        guard = " && ".join(f"{text} > 0" for text in body.extents)
        count = " * ".join(body.extents)
        self.line(f"if ({guard}) alb_parallel(host, {body.function}, &{context}, {count}, {least});")

    def _captured(self, op: ParallelOp) -> Body:
        fields: dict[str, SSAValue] = {}
        for value in captured_values(op.body):
            text = self.use(value)
            if not LITERAL.fullmatch(text):
                fields[text if isinstance(value.type, PtrType) else self.variable(value)] = value
        extents: list[str] = []
        for position, value in enumerate(op.extents):
            text = self.use(value)
            literal = LITERAL.fullmatch(text) is not None
            extents.append(text if literal else self.variable(value))
            if not literal and position:  # the flat index is divided by all extents but the first
                fields[extents[-1]] = value
        captured = tuple((value, text) for text, value in fields.items())
        return Body(op, function_name(self.kernel), len(self.bodies), captured, tuple(extents))

    def _body_function(self, body: Body) -> None:
        outer = self.suspend()
        self._in_body = True
        with self.braces(f"static void {body.function}(void *context_, int64_t begin, int64_t end)"):
            self.line(f"const struct {body.context} *const context = context_;")
            self.line("_Atomic int *const failed = context->failed;")
            self.line("(void)failed;")
            for value, text in body.captured:
                restrict = "restrict " if isinstance(value.type, PtrType) else ""
                self.line(f"{self.declaration(value, f'{restrict}const {text}')} = context->{text};")
            allocs = [op for op in body.op.body.walk() if isinstance(op, AllocOp) and stack_count(op) is None]
            for alloc in allocs:
                self._check_count(body.op, alloc)
            self._take_scratch(allocs, 0, "{ *failed = ALBUMEN_MEMORY; return; }")
            self._flat_loop(body)
        self._in_body = False
        fields = "".join(f"  {self.declaration(value, text)};\n" for value, text in body.captured)
        self.bodies.append(f"struct {body.context} {{\n{fields}  _Atomic int *failed;\n}};\n{self.resume(outer)}")

    def _check_count(self, loop: ParallelOp, alloc: AllocOp) -> None:
        owner = alloc.count.owner
        definer = owner if isinstance(owner, Operation) else owner.parent_op()
        if definer is not None and loop.is_ancestor(definer):
            raise LoweringError(
                "large scratch has its size known outside the loop over threads", op=alloc, stage="emit"
            )

    def _flat_loop(self, body: Body) -> None:
        args = body.op.body.block.args
        if len(args) == 1:
            name = self.name(args[0])
            self.open(f"for (int64_t {name} = begin; {name} < end; ++{name})")
        else:
            rest = self.fresh("flat")
            self.open(f"for (int64_t {rest} = begin; {rest} < end; ++{rest})")
            for position in reversed(range(1, len(args))):
                self.line(f"const int64_t {self.name(args[position])} = {rest} % {body.extents[position]};")
                outer = self.fresh("rest") if position > 1 else self.name(args[0])
                self.line(f"const int64_t {outer} = {rest} / {body.extents[position]};")
                rest = outer
        self.block(body.op.body.block)
        self.close()


def kernel_allocs(region: Region) -> list[AllocOp]:
    """Scratch that belongs to the kernel as a whole: outside the loops that threads share."""
    found: list[AllocOp] = []
    for block in region.blocks:
        for op in block.ops:
            if isinstance(op, AllocOp):
                found.append(op)
            elif not (isinstance(op, ParallelOp) and op.mapping.data is LoopMapping.Grid):
                for nested in op.regions:
                    found += kernel_allocs(nested)
    return found
