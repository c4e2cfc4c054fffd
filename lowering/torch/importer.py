"""fx graphs of ATen calls to hlir: one walk over the nodes, one handler an overload, every unsupported thing reported
at once."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._ops import HigherOrderOperator
from torch.fx import Graph, Node
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from ...dialects.errors import InternalError, TypeRuleError, location_text
from ...dialects.hlir.builder import GraphBuilder
from ...dialects.hlir.types import TensorType
from ...dialects.op import tensor_of
from .agreement import check_agreement
from .assertions import TOKENS, Assertions, asserted_by
from .call import Call, Fake, Results
from .decompositions.table import refusal
from .fx import overload_name, sympy_of, traced, traced_results, traced_tensors
from .handlers.table import HANDLERS
from .locations import node_location
from .random_states import repeated_call, state_of
from .randomness import Randomness
from .symbols import SymbolTable
from .unsupported import EagerRaisesError, Finding, UnsupportedNodeError, UnsupportedProgramError

WITHOUT_EFFECT = (
    "aten._assert_tensor_metadata.default",  # torch checked these facts while tracing
    "aten.sym_constrain_range_for_size.default",
    "aten.sym_constrain_range.default",
    *TOKENS,
)
ASSERTION = "aten._assert_scalar.default"


@dataclass
class Failures:
    """What could not be imported so far; importing goes on to find the rest."""

    findings: list[Finding] = field(default_factory=list[Finding])
    raised: EagerRaisesError | None = None
    """The first error of eager's own, which counts when nothing is missing."""

    def add(self, node: Node, reason: str) -> None:
        """Notes one node."""
        self.findings.append(Finding(_target_name(node), reason, location_text(node_location(node))))

    def check(self) -> None:
        """Raises UnsupportedProgramError if anything failed, else the error that eager raises."""
        if self.findings:
            raise UnsupportedProgramError(self.findings)
        if self.raised is not None:
            raise self.raised


def _without_overload(node: Node) -> str:
    """Why a call of something that is no operator of a library is refused."""
    if isinstance(node.target, HigherOrderOperator):
        triton = "triton" in node.target.name()
        return "is a Triton kernel of the model" if triton else "is control flow, or another call of a whole graph"
    return "is an operator of Python on values that depend on data"


def _target_name(node: Node) -> str:
    return overload_name(node) or node.name


class GraphImporter:
    """Builds hlir at the end of a block from the nodes of a graph. Set the values of placeholders first."""

    def __init__(self, block: Block, symbols: SymbolTable, random: Randomness):
        self.b = GraphBuilder(block)
        self.symbols = symbols
        self.random = random
        self.failures = Failures()
        self.assertions = Assertions(self.b)
        self.values: dict[Node, Any] = {}
        self.placeholders: dict[Node, int] = {}
        """Where a call passes the values of tensors."""

    def run(self, graph: Graph) -> None:
        """Imports every call of the graph. What cannot be imported is in `failures`; its users are left out."""
        for node in graph.nodes:
            if node.op == "call_function":
                self.b.location = node_location(node)
                self._import_call(node)
            elif node.op not in ("placeholder", "get_attr", "output"):
                self.failures.add(node, f"is a {node.op} of {node.target}, which is no ATen call")
        self.b.location = None

    def _import_call(self, node: Node) -> None:
        val = traced(node)
        if node.target is operator.getitem and node.args[0] in self.values:
            self.values[node] = self.values[node.args[0]][node.args[1]]  # pyright: ignore[reportArgumentType]
        elif any(source not in self.values for source in node.all_input_nodes):
            return  # follows from a failure noted before
        elif overload_name(node) in WITHOUT_EFFECT:
            self.values[node] = None
        else:
            try:
                self.values[node] = self._value(node, val)
            except EagerRaisesError as error:
                self.failures.raised = self.failures.raised or error
            except (UnsupportedNodeError, TypeRuleError) as error:
                self.failures.add(node, error.reason if isinstance(error, UnsupportedNodeError) else error.message)
            except ZeroDivisionError:
                self.failures.add(node, "divides by a size that may be 0")

    def _value(self, node: Node, val: Any) -> Any:
        """What a node computes: a tensor, several, or a size, whose expression torch has already worked out."""
        if isinstance(val, int | float | bool):
            return val
        if isinstance(val, torch.SymInt):
            return self.symbols.lift(val)
        if isinstance(val, torch.SymFloat):
            return self.symbols.lift_float(val)
        if isinstance(val, torch.SymBool):
            return sympy_of(val)
        if overload_name(node) == ASSERTION:
            return self.symbols.assume(self.values[node.args[0]] if isinstance(node.args[0], Node) else node.args[0])
        asserted = asserted_by(node)
        if asserted is not None:
            self.assertions.add(asserted.overload, self.values[asserted.tensor])
            return asserted.results
        results = self._results(node)
        if overload_name(node) == "aten.copy_.default" and isinstance(node.args[0], Node):
            self.values[node.args[0]] = results  # later readers see what was written
        return results

    def _results(self, node: Node) -> Any:
        repeated = repeated_call(node)
        if repeated is None:
            return self._handled(node, self.random)
        if repeated.state is not None:
            return self._handled(repeated.call, self.random.alone(self.placeholders.get(repeated.state)))
        state = self.random.state(state_of(node, self.symbols))
        return [state, self._handled(repeated.call, self.random.alone(None))]

    def _handled(self, node: Node, random: Randomness) -> Any:
        name = overload_name(node)
        if not name:
            raise UnsupportedNodeError(_without_overload(node))
        handler = HANDLERS.get(name)
        if handler is None:
            raise UnsupportedNodeError(refusal(node.target))
        call = Call(node, self.values, self.b, self.symbols, random)
        self._check_types(node, call)
        check_agreement(node)
        results = handler(call)
        rest = call.unconsumed()
        if rest:
            raise UnsupportedNodeError(f"has {', '.join(rest)}, which is not supported")
        return self._checked(node, call, results)

    def _check_types(self, node: Node, call: Call) -> None:
        """Refuses element types that do not exist here before a handler sees them."""
        for source in (node, *node.all_input_nodes):
            for tensor in traced_tensors(source):
                _ = call.fake_of(tensor).type

    def _checked(self, node: Node, call: Call, results: Results) -> Any:
        """The results, each with the type that torch says it has."""
        fakes = traced_results(node)
        if isinstance(results, SSAValue):
            checked = self._as_traced(call, call.fake_of(fakes[0]), results)
            return checked if isinstance(traced(node), torch.Tensor) else [checked]
        pairs = zip(fakes, results, strict=True)
        return [None if value is None else self._as_traced(call, call.fake_of(fake), value) for fake, value in pairs]

    def _as_traced(self, call: Call, fake: Fake, value: SSAValue) -> SSAValue:
        found, expected = tensor_of(value), fake.type
        if found == expected:
            return value
        if found.dtype != expected.dtype or found.rank != expected.rank:
            raise InternalError(f"{call.name} was imported as {found}, torch says {expected}")
        return call.with_sizes(value, expected.dims)  # the same numbers in another form


@dataclass(frozen=True)
class Parameter:
    """One argument of the imported function: its type, its role, its unique name, for a scalar its symbol."""

    type: TensorType
    role: str
    name: str
    symbol: str = ""

    def attributes(self) -> DictionaryAttr:
        """The argument's attributes in the function."""
        entries: dict[str, Attribute] = {"hlir.role": StringAttr(self.role), "hlir.name": StringAttr(self.name)}
        if self.symbol:
            entries["hlir.symbol"] = StringAttr(self.symbol)
        return DictionaryAttr(entries)


@dataclass(frozen=True)
class Returned:
    """One result of the imported function; `index` is the mutated input, or the input that eager's output is a view
    of."""

    value: SSAValue
    mutation: bool = False
    index: int | None = None

    def attributes(self) -> DictionaryAttr:
        """The entry of the result in `hlir.outputs`."""
        entries: dict[str, Attribute] = {"kind": StringAttr("mutation" if self.mutation else "output")}
        if self.index is not None:
            entries["input" if self.mutation else "alias"] = IntegerAttr(self.index, i64)
        return DictionaryAttr(entries)


def build_module(
    block: Block, parameters: Sequence[Parameter], returned: Sequence[Returned], symbols: SymbolTable
) -> ModuleOp:
    """The module around an imported body: symbols, guards and `@main`; mutations come first among the results."""
    ordered = sorted(returned, key=lambda r: not r.mutation)
    values = [r.value for r in ordered]
    block.add_op(ReturnOp(*values))
    function = FuncOp("main", ([p.type for p in parameters], [v.type for v in values]), Region(block))
    function.properties["arg_attrs"] = ArrayAttr([p.attributes() for p in parameters])
    function.attributes["hlir.outputs"] = ArrayAttr([r.attributes() for r in ordered])
    return ModuleOp([*symbols.operations(), function])
