"""Other schedules for the matmuls of a program, for when the code of a chosen one does not fit the device."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp

from ...dialects.host import SourceOp
from ...dialects.kernel import FuncOp, MatmulOp
from ...dialects.sym.dialect import SymbolOp
from ..emit.emit import gpu_source
from ..templates.matmul import matmul_kernel, matmul_schedules


class Alternatives:
    """The matmuls of a module at the program level, as they were before they became thread-level code."""

    def __init__(self, module: ModuleOp):
        functions = [op for op in module.ops if isinstance(op, FuncOp) and isinstance(op.kernel, MatmulOp)]
        symbols = [op for op in module.ops if isinstance(op, SymbolOp)]
        self.functions = {op.sym_name.data: op.clone() for op in functions}
        self.module = ModuleOp([*(op.clone() for op in symbols), *self.functions.values()])

    def schedules(self, name: str, target: str) -> Iterator[DictionaryAttr]:
        """The schedules for a kernel that it does not have: its template's from the next smaller tile on, and the
        larger ones; then those of other templates."""
        function = self.functions.get(name)
        if function is None:
            return
        known = list(matmul_schedules(function, self.module, target))
        chosen = function.kernel.schedule
        first = known.index(chosen) + 1 if chosen in known else 0
        others = [one for one in (*known[first:], *known[:first]) if one != chosen]
        yield from sorted(others, key=lambda one: one.data["template"] != chosen.data.get("template"))

    def sources(self, name: str, target: str, arch: str) -> Iterator[tuple[DictionaryAttr, SourceOp]]:
        """Each other schedule of a kernel with the text that it gives; nothing for a kernel that is no matmul."""
        for schedule in self.schedules(name, target):
            function = self.functions[name].clone()
            function.kernel.properties["schedule"] = schedule
            yield schedule, gpu_source(matmul_kernel(function, self.module, target, arch), target)
