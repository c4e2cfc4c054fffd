"""An fx graph as `func.func @main`: its placeholders as arguments, its outputs as results, and how both meet torch's
tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy
import torch
from torch.fx import Graph, GraphModule, Node
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue

from ...dialects.dtype import I64
from ...dialects.errors import TypeRuleError, UnsupportedError
from ...dialects.hlir.creation import ConstantOp, LiteralOp
from ...dialects.hlir.types import ScalarAttr, ShapeAttr, tensor_type
from ...dialects.op import tensor_of
from ...dialects.sym.expr import Expr
from .assertions import is_token
from .draws import Draw
from .element_types import DTYPE_OF_TORCH, element_type
from .fx import sympy_of, traced
from .importer import GraphImporter, Parameter, Returned, build_module
from .layout import inverse, memory_order
from .linear_form import linear_form
from .randomness import randomness
from .returned import OutputSlot, ReturnedValues
from .symbols import SymbolTable
from .unsupported import UnsupportedNodeError

LITERAL_ELEMENTS = 256
"""Constant tensors up to this size become part of the program; larger ones are arguments."""


@dataclass(frozen=True)
class InputSlot:
    """Where an argument of the program comes from: a placeholder's value, or a constant of the graph.

    `order` lists the dims of the tensor from the outermost in memory; a tensor that is not dense must be copied first.
    The value of a scalar is divided by `divisor`. A tensor lies on `device`. What `draw` says is drawn at each call.
    """

    name: str
    role: str
    placeholder: int
    order: tuple[int, ...] = ()
    dense: bool = True
    constant: torch.Tensor | None = None
    divisor: int = 1
    draw: Draw | None = None
    device: torch.device | None = None


@dataclass(frozen=True)
class ImportedGraph:
    """A graph-level module and how it is called. `mutated` are the arguments that the program writes, in result order;
    `result_orders` how the dims of each other result lie in memory, from the outermost."""

    module: ModuleOp
    inputs: tuple[InputSlot, ...]
    outputs: tuple[OutputSlot, ...]
    mutated: tuple[int, ...]
    placeholders: int
    result_orders: tuple[tuple[int, ...], ...] = ()


def placeholders_of(graph: Graph) -> list[Node]:
    """The placeholders in order."""
    return [node for node in graph.nodes if node.op == "placeholder"]


def traced_symbols(placeholders: Sequence[Node], kind: type = object) -> list[sympy.Symbol]:
    """Every symbol in the sizes of the placeholders with a value of this kind, in the order in which they show them."""
    found: dict[sympy.Symbol, None] = {}
    for node in placeholders:
        val = traced(node)
        for size in val.shape if isinstance(val, torch.Tensor) else [val]:
            if isinstance(size, torch.SymInt) and isinstance(val, kind):
                found.update(dict.fromkeys(sorted(sympy_of(size).free_symbols, key=str)))
    return list(found)


class FunctionImporter:
    """Collects the arguments, runs the importer, collects the results."""

    def __init__(
        self, module: GraphModule, symbols: SymbolTable, *, views_outside: bool = False, random: str = "philox"
    ):
        """With `views_outside`, outputs that share memory with an argument are no results of the program at all.

        `random` is one of `randomness.MODES`.
        """
        self.graph_module = module
        self.symbols = symbols
        self.block = Block()
        self.importer = GraphImporter(self.block, symbols, randomness(random, self._add_draw))
        self.parameters: list[Parameter] = []
        self.slots: list[InputSlot] = []
        self.argument_of: dict[Node, int] = {}
        self.values = ReturnedValues(self.importer, self._shared_argument, views_outside=views_outside)
        self._scalars: list[tuple[Node, int, str]] = []

    def add_placeholder(self, node: Node, position: int, role: str, name: str) -> None:
        """One placeholder as an argument. Sizes become scalars only if no tensor shows them; other Python values are
        constants."""
        val = traced(node)
        if is_token(node):
            self.importer.values[node] = None
        elif isinstance(val, torch.Tensor):
            self.importer.placeholders[node] = position
            self._add_tensor(node, position, role, name)
        elif isinstance(val, torch.SymInt):
            self.importer.values[node] = self.symbols.lift(val)
            self._scalars.append((node, position, name))
        else:
            self.importer.values[node] = val

    def _add_tensor(
        self, node: Node, position: int, role: str, name: str, constant: torch.Tensor | None = None
    ) -> None:
        val = traced(node) if constant is None else constant
        try:
            dims, strides = self.symbols.lift_all(val.shape), self.symbols.lift_all(val.stride())
            dtype = element_type(val.dtype)
            if val.layout != torch.strided:
                raise UnsupportedNodeError(f"is a tensor of layout {val.layout}")
        except (TypeRuleError, UnsupportedNodeError) as error:
            if node.users:
                reason = error.reason if isinstance(error, UnsupportedNodeError) else error.message
                self.importer.failures.add(node, reason)
            return
        order = memory_order(dims, strides)
        kept = tuple(range(len(dims))) if order is None else order
        type_ = tensor_type([dims[i] for i in kept], dtype)
        self.argument_of[node] = len(self.parameters)
        self.parameters.append(Parameter(type_, role, self._unique(name)))
        self.slots.append(
            InputSlot(self.parameters[-1].name, role, position, kept, order is not None, constant, device=val.device)
        )
        argument = self.block.insert_arg(type_, len(self.block.args))
        self.importer.values[node] = self.importer.b.permute(argument, inverse(kept))

    def _add_draw(self, draw: Draw, name: str) -> SSAValue:
        order = memory_order(draw.dims, draw.strides)
        kept = tuple(range(len(draw.dims))) if order is None else order
        type_ = tensor_type([draw.dims[i] for i in kept], element_type(draw.dtype))
        self.parameters.append(Parameter(type_, "input", self._unique(name)))
        self.slots.append(
            InputSlot(self.parameters[-1].name, "input", -1, kept, order is not None, draw=draw, device=draw.device)
        )
        argument = self.block.insert_arg(type_, len(self.block.args))
        return self.importer.b.permute(argument, inverse(kept))

    def _unique(self, name: str) -> str:
        taken = {parameter.name for parameter in self.parameters}
        number, unique = 1, name
        while unique in taken:
            number, unique = number + 1, f"{name}_{number}"
        return unique

    def add_scalars(self, *, checked: bool = False) -> None:
        """Arguments for the sizes that no tensor has as a dim in one symbol. Call after all placeholders.

        With `checked` the other ones become arguments too, which must be equal to what the tensors show.
        """
        shown = {s for parameter in self.parameters for d in parameter.type.dims for s in linear_symbol(d)}
        for node, position, name in self._scalars:
            value = self.importer.values[node]
            for symbol in linear_symbol(value):
                if symbol not in shown:
                    shown.add(symbol)
                    self._add_scalar(node, position, name, symbol, value.terms[0][1])
            if checked and node not in self.argument_of:
                self._add_scalar(node, position, name, self.symbols.equal_to(value))

    def _add_scalar(self, node: Node, position: int, name: str, symbol: str, divisor: int = 1) -> None:
        self.argument_of[node] = len(self.parameters)
        self.parameters.append(Parameter(tensor_type([], I64), "scalar", self._unique(name), symbol))
        self.slots.append(InputSlot(self.parameters[-1].name, "scalar", position, divisor=divisor))
        self.block.insert_arg(tensor_type([], I64), len(self.block.args))

    def add_constants(self, values: Mapping[str, Any]) -> None:
        """The tensors that `get_attr` nodes name: small ones as literals, others as arguments."""
        for node in self.graph_module.graph.nodes:
            if node.op != "get_attr" or not node.users:
                continue
            value = values.get(str(node.target))
            if not isinstance(value, torch.Tensor):
                self.importer.values[node] = value  # the body of control flow, which its user refuses
            elif not self.add_literal(node, value):
                self._add_tensor(node, -1, "constant", str(node.target), value)

    def add_literal(self, node: Node, value: torch.Tensor) -> bool:
        """The value of a node as a literal, if it is small."""
        small = value.numel() <= LITERAL_ELEMENTS and value.layout == torch.strided and value.dtype in DTYPE_OF_TORCH
        if small:
            self.importer.values[node] = self._literal(value)
        return small

    def _literal(self, value: torch.Tensor) -> SSAValue:
        dtype = element_type(value.dtype)
        flat = value.detach().cpu().contiguous().reshape(-1)
        data = flat.view(torch.uint8).numpy().view(dtype.numpy).reshape(tuple(value.shape))
        b = self.importer.b
        if value.numel() == 1:
            bits = int.from_bytes(data.tobytes(), "little")
            scalar = ScalarAttr(type(ScalarAttr.get(0, dtype).data)(bits, dtype))
            return b.emit(ConstantOp, [], value=scalar, shape=ShapeAttr.get(value.shape))
        return b.emit(LiteralOp, [], **LiteralOp.of_array(data, dtype))

    def run(self) -> None:
        """Imports the calls of the graph.

        Raises:
            UnsupportedError: with everything that cannot be imported.
        """
        self.importer.run(self.graph_module.graph)
        self.importer.failures.check()

    def add_mutation(self, node: Node, argument: int) -> None:
        """The new contents of an argument."""
        self.values.add_mutation(node, argument, self.slots[argument].order, self.placeholder_of(argument))

    def add_outputs(self, nodes: Sequence[Any]) -> list[OutputSlot]:
        """The returned values, in order; tensors in the memory that eager gives them. Call after the mutations."""
        return self.values.slots(nodes)

    def placeholder_of(self, argument: int) -> Node:
        """The node of an argument."""
        (node,) = (node for node, number in self.argument_of.items() if number == argument)
        return node

    def _shared_argument(self, base: Node) -> int | None:
        """The argument that a node is, unless it is a constant, which nobody else holds."""
        argument = self.argument_of.get(base)
        return argument if argument is not None and self.slots[argument].constant is None else None

    def _asserting(self, returned: Sequence[Returned]) -> list[Returned]:
        """The results, of which one waits for what the graph asserts."""
        assertions, results = self.importer.assertions, list(returned)
        if not assertions:
            return results
        for number, result in enumerate(results):
            own = result.mutation or result.index is None
            if own and all(extent.as_int() != 0 for extent in tensor_of(result.value).dims):
                results[number] = replace(result, value=assertions.tied(result.value))
                return results
        raise UnsupportedError("the graph", ["asserts a condition on data and computes nothing"], stage="import")

    def finish(self, outputs: Sequence[OutputSlot]) -> ImportedGraph:
        """The module with everything that was added."""
        self.importer.failures.check()
        returned = self._asserting(self.values.returned)
        module = build_module(self.block, self.parameters, returned, self.symbols)
        count = len(placeholders_of(self.graph_module.graph))
        mutated = tuple(r.index for r in returned if r.mutation and r.index is not None)
        orders = tuple(self.values.orders)
        return ImportedGraph(module, tuple(self.slots), tuple(outputs), mutated, count, orders)


def linear_symbol(size: Expr) -> list[str]:
    """The symbol of a size a*s + b with a > 0, which the size determines; else nothing."""
    form = linear_form(size)
    return [] if form is None else [form[0]]
