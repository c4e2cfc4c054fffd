"""--check-each: translation validation.

The module's functions are evaluated before the first pass and after each one on the same random inputs, and the results
compared.
"""

from __future__ import annotations

import dataclasses
import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ..dialects.errors import EvaluationError, InternalError
from ..dialects.evaluate import evaluate_function, random_array, random_inputs
from ..dialects.host import ProgramOp, programs
from ..dialects.host.interpreter import run_program
from ..dialects.op import Environment
from ..dialects.sym.dialect import GuardOp, SymbolOp, relation_holds
from ..dialects.sym.substitute import evaluate_int
from ..lowering.toolchain.object_cache import MemoryCache, ObjectCache
from .observers import Observer

Array = NDArray[Any]

LARGEST = 9
"""The largest value a symbol is given, unless its minimum is larger: evaluation is exact but slow."""
DRAWS = 200


@dataclass(frozen=True)
class Case:
    """One call of one function."""

    function: str
    symbols: dict[str, int]
    inputs: list[Array]
    results: list[Array] = field(default_factory=list[Array])


def inputs_of(op: FuncOp | ProgramOp, rng: np.random.Generator, symbols: dict[str, int]) -> list[Array]:
    """Random arrays for the arguments of a function, or for the inputs of a program that the compiler did not add."""
    if isinstance(op, FuncOp):
        return random_inputs(op, rng, symbols)
    types = [given.buffer.type for given in op.inputs if given.data is None]
    return [random_array(type_.tensor, Environment(symbols), rng) for type_ in types]


def values(module: ModuleOp, case: Case, cache: ObjectCache) -> list[Array]:
    """The results of the function of a case, or of the program that was made from it, whose texts are run."""
    if not any(program.sym_name.data == case.function for program in programs(module)):
        return evaluate_function(module, case.function, case.inputs, case.symbols)
    # Compilers and the shim are imported only for modules that have a program.
    from .text_launcher import TextLauncher

    return run_program(module, case.function, case.inputs, case.symbols, TextLauncher(module, cache))


def has_egraph(module: ModuleOp) -> bool:
    """Whether some op of the module is an e-graph."""
    return any(op.name == "equivalence.graph" for op in module.walk())


def evaluable(module: ModuleOp) -> ModuleOp:
    """The module, or where it has e-graphs a copy with one member standing for each class."""
    if not has_egraph(module):
        return module
    from ..transforms.eqsat.check import plain_module

    return plain_module(module)


def unequal_members(module: ModuleOp, case: Case) -> str:
    """The members of the e-graph's classes that have not the value of their class, or an empty text."""
    from ..transforms.eqsat.check import check_members

    _, mismatches = check_members(module, case.function, case.inputs, case.symbols)
    return "\n    ".join(map(str, mismatches))


def symbol_choices(module: ModuleOp, rng: random.Random) -> Iterator[dict[str, int]]:
    """Two assignments of the module's symbols within their ranges and guards: the smallest, and small random ones.

    Raises:
        EvaluationError: no draw satisfies the guards.
    """
    symbols = [op for op in module.ops if isinstance(op, SymbolOp)]
    guards = [op for op in module.ops if isinstance(op, GuardOp)]
    allowed = {op.sym_name.data: small_values(op) for op in symbols}
    smallest = {name: values[0] for name, values in allowed.items()}
    drawn = [{name: rng.choice(values) for name, values in allowed.items()} for _ in range(DRAWS)]
    fitting = [one for one in (smallest, *drawn) if all(holds(guard, one) for guard in guards)]
    if not fitting:
        raise EvaluationError(f"no small values of the symbols {', '.join(allowed)} satisfy the guards of the module")
    yield fitting[0]
    yield from (one for one in fitting[1:2] if one != fitting[0])


def small_values(op: SymbolOp) -> list[int]:
    """The multiples within the range of a symbol, from the smallest up to a bound on size."""
    step, low = op.multiple_of.data, op.minimum.data
    first = -(-low // step) * step
    last = max(LARGEST, first + step)
    if op.maximum is not None:
        last = min(last, op.maximum.data)
    return list(range(first, last + 1, step)) or [first]


def holds(guard: GuardOp, symbols: dict[str, int]) -> bool:
    """Whether a guard is true of an assignment."""
    return relation_holds(evaluate_int(guard.expr.data, symbols), guard.relation.data)


def difference(expected: Sequence[Array], found: Sequence[Array]) -> str:
    """How two lists of results differ, or an empty text.

    Integers and booleans must be equal. Floats may differ as a composite and its expansion do: by a few units in the
    last place of the largest magnitude in the array, since a sum may be taken in another order.
    """
    if len(expected) != len(found):
        return f"{len(expected)} results before, {len(found)} after"
    for number, (before, after) in enumerate(zip(expected, found, strict=True)):
        if before.dtype != after.dtype or before.shape != after.shape:
            return (
                f"result {number} is {before.dtype}{list(before.shape)} before, {after.dtype}{list(after.shape)} after"
            )
        wrong = ~close(before, after)
        if wrong.any():
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            return f"result {number} differs at {list(at)}: {before[at]} before, {after[at]} after"
    return ""


def close(before: Array, after: Array) -> NDArray[np.bool_]:
    """Elementwise: equal, or floats within the tolerance."""
    if before.dtype.kind in "biu":
        return np.asarray(before == after)
    wide_before, wide_after = before.astype(np.float64), after.astype(np.float64)
    with np.errstate(invalid="ignore"):
        same = (wide_before == wide_after) | (np.isnan(wide_before) & np.isnan(wide_after))
        finite = np.isfinite(wide_before) & np.isfinite(wide_after)
        scale = max(1.0, float(np.max(np.abs(wide_before), where=finite, initial=0.0)))
        near = finite & (np.abs(wide_before - wide_after) <= 16 * unit(before) * scale)
    return same | near


def unit(array: Array) -> float:
    """The gap between 1 and the next number of a float dtype; numpy's finfo does not know the narrow ones."""
    one = np.ones((), array.dtype)
    step = 1.0
    while (one + np.asarray(step / 2, array.dtype)).astype(np.float64) > 1.0:
        step /= 2
    return step


@dataclass
class CheckEach(Observer):
    """Compares the values of every function before and after each pass."""

    seed: int = 0
    _cases: list[Case] = field(default_factory=list[Case], init=False)
    _cache: ObjectCache = field(default_factory=MemoryCache, init=False)

    def start(self, module: ModuleOp) -> None:
        rng = random.Random(self.seed)
        callable_ops = [op for op in module.ops if isinstance(op, FuncOp | ProgramOp)]
        self._cases = []
        plain = evaluable(module)
        for op in callable_ops:
            if isinstance(op, FuncOp) and op.is_declaration:
                continue
            name = op.sym_name.data
            for symbols in symbol_choices(module, rng):
                call = Case(name, symbols, inputs_of(op, self._generator(name), symbols))
                self._cases.append(dataclasses.replace(call, results=values(plain, call, self._cache)))

    def _generator(self, name: str) -> np.random.Generator:
        digest = hashlib.sha256(f"{self.seed} {name}".encode()).digest()
        return np.random.default_rng(int.from_bytes(digest[:8], "little"))

    def after(self, one: ModulePass, module: ModuleOp) -> None:
        plain, saturated = evaluable(module), has_egraph(module)
        for case in self._cases:
            wrong = unequal_members(module, case) if saturated else ""
            wrong = wrong or difference(case.results, values(plain, case, self._cache))
            if wrong:
                where = f"@{case.function}" + (f" with {case.symbols}" if case.symbols else "")
                raise InternalError(f"--check-each: {where}: {wrong}", op=self._named(module, case.function))

    @staticmethod
    def _named(module: ModuleOp, name: str) -> Operation | None:
        named = (op for op in module.ops if isinstance(op, FuncOp | ProgramOp) and op.sym_name.data == name)
        return next(named, None)
