"""Analyses a kernel.matmul for the CPU: which index is M, N, K or batch, how operands lie in memory, the tile sizes.

Schedule keys, all integers: `mr` rows and `nv` vectors of the register tile, `mb` rows and `nb` columns of a task, `kb`
depth of a packed block, `simd` bits of a vector register. What is missing is chosen here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr
from xdsl.ir import SSAValue

from ...dialects.errors import OptionError
from ...dialects.hlir.contraction import ContractOp
from ...dialects.hlir.index_map import linear_coefficients
from ...dialects.hlir.view import ViewOp
from ...dialects.op import TensorOp
from ...dialects.sym.bounds import Bounds, interval, simplify
from ...dialects.sym.expr import Expr, constant, floordiv, index
from ...dialects.sym.substitute import Value, evaluate, index_numbers, substitute_indices, symbol_names
from .coordinates import Coordinates, choose_coordinates
from .reads import At, Key, Reader

KEYS = ("mr", "nv", "mb", "nb", "kb", "simd")
UNKNOWN = 1024
"""What an extent without a maximum is taken for when sizes are chosen."""


@dataclass(frozen=True)
class Tiles:
    """Sizes of the blocked loops. `width` is the lanes of a vector, a register tile is mr x (nv * width)."""

    width: int
    mr: int
    nv: int
    mb: int
    nb: int
    kb: int

    @property
    def nr(self) -> int:
        return self.nv * self.width


@dataclass(frozen=True)
class Operand:
    """One factor. `strides` are those of its outer index (m or n) and of k where memory is read linearly, else None."""

    value: SSAValue
    at: At
    source: SSAValue | None = None
    offset: Expr | None = None
    strides: tuple[Expr, Expr] | None = None


@dataclass(frozen=True)
class Problem:
    """The contraction over batch variables 0..b-1, then m, n and k, in that order of variables."""

    contraction: ContractOp
    coordinates: Coordinates
    batch: int
    lhs: Operand
    rhs: Operand

    @property
    def m(self) -> Expr:
        return self.coordinates.extents[self.batch]

    @property
    def n(self) -> Expr:
        return self.coordinates.extents[self.batch + 1]

    @property
    def k(self) -> Expr:
        return self.coordinates.extents[self.batch + 2]


def factor_keys(op: ContractOp, coordinates: Coordinates, symbols: Bounds) -> tuple[Key, Key]:
    """The elements of the two factors that one product reads."""
    reader = coordinates.reader(symbols)
    lhs, rhs = reader.reads(op, coordinates.parallel)
    return lhs, rhs


def memory_reads(key: Key, reader: Reader) -> list[Key]:
    """The elements in memory that an element is computed from."""
    op = key[0].owner
    if not isinstance(op, TensorOp):
        return [key]
    return [found for read in reader.reads(op, key[1]) for found in memory_reads(read, reader)]


def analyse(
    op: ContractOp, parallel: Sequence[Expr], reduced: Sequence[Expr], symbols: Bounds, swapped: bool = False
) -> Problem:
    """The contraction as one product of matrices for each batch index; `swapped` exchanges the factors, and m and n."""
    rows = len(parallel)
    whole = tuple(index(i) for i in range(rows + len(reduced)))
    start = Coordinates(whole[:rows], whole[rows:], (*parallel, *reduced), rows)

    def addresses(coordinates: Coordinates) -> list[Expr]:
        reader = coordinates.reader(symbols)
        keys = factor_keys(op, coordinates, symbols)
        return [reader.address(*read) for key in keys for read in memory_reads(key, reader)]

    coordinates = choose_coordinates(start, addresses, symbols)
    used = [{n for e in at for n in index_numbers(e)} for _, at in factor_keys(op, coordinates, symbols)]
    groups: list[list[int]] = [[], [], [], list(range(coordinates.rows, len(coordinates.extents)))]
    for number in range(coordinates.rows):
        in_lhs, in_rhs = number in used[0], number in used[1]
        groups[1 if in_lhs and not in_rhs else 2 if in_rhs and not in_lhs else 0].append(number)
    if swapped:
        groups[1], groups[2] = groups[2], groups[1]
    grouped = _grouped(coordinates, groups, symbols)
    lhs, rhs = factor_keys(op, grouped, symbols)[:: -1 if swapped else 1]
    batch = len(groups[0])
    operands = [_operand(key, grouped, outer, batch + 2, symbols) for key, outer in ((lhs, batch), (rhs, batch + 1))]
    return Problem(op, grouped, batch, *operands)


def _grouped(coordinates: Coordinates, groups: Sequence[Sequence[int]], symbols: Bounds) -> Coordinates:
    """Batch variables as they are, then one variable for each of m, n and k."""
    extents: list[Expr] = [coordinates.extents[n] for n in groups[0]]
    values: dict[int, Expr] = {n: index(i) for i, n in enumerate(groups[0])}
    for group in groups[1:]:
        flat, inner = index(len(extents)), constant(1)
        if any(coordinates.extents[n].as_int() == 0 for n in group):  # no element, so any index will do
            values.update(dict.fromkeys(group, constant(0)))
            extents.append(constant(0))
            continue
        for position, number in enumerate(reversed(group)):
            quotient = floordiv(flat, inner)
            extent = coordinates.extents[number]
            outermost = position == len(group) - 1
            values[number] = quotient if outermost else quotient - extent * floordiv(flat, inner * extent)
            inner = inner * extent
        extents.append(inner)
    bounds = Bounds(symbols.symbols, tuple(extents))

    def moved(at: At) -> At:
        return tuple(simplify(substitute_indices(e, values), bounds) for e in at)

    parallel, reduced = moved(coordinates.parallel), moved(coordinates.reduced)
    return Coordinates(parallel, reduced, tuple(extents), len(extents) - 1)


def _operand(key: Key, coordinates: Coordinates, outer: int, depth: int, symbols: Bounds) -> Operand:
    reader = coordinates.reader(symbols)
    value, at = key
    while isinstance(value.owner, ViewOp):
        ((value, at),) = reader.reads(value.owner, at)
    if isinstance(value.owner, TensorOp):
        return Operand(*key)
    address = reader.address(value, at)
    linear = linear_coefficients(address, len(coordinates.extents))
    if linear is None:
        return Operand(*key)
    strides = (linear[0][outer], linear[0][depth])
    return Operand(*key, value, address - index(outer) * strides[0] - index(depth) * strides[1], strides)


def is_stored_by_columns(problem: Problem, addresses: Sequence[Expr]) -> bool:
    """Whether neighbours along m are stored side by side more often than neighbours along n; looks at the first two."""
    along = [0, 0]
    for address in addresses:
        symbols = dict.fromkeys(symbol_names(address), UNKNOWN)
        indices: dict[int, Value] = dict.fromkeys(range(len(problem.coordinates.extents)), 0)
        first = evaluate(address, symbols, indices)
        for side in (0, 1):
            along[side] += evaluate(address, symbols, {**indices, problem.batch + side: 1}) == first + 1
    return along[0] > along[1]


def column_group(problem: Problem, addresses: Sequence[Expr]) -> int:
    """The number q by which the addresses divide n: loops over n are then split into n = a*q + b, so that elements with
    equal a are contiguous. 1 where nothing divides n, or not by one number that divides N."""
    number = problem.batch + 1
    count = len(problem.coordinates.extents)
    found: set[int] = set()
    for address in addresses:
        for atom in address.atoms():
            if atom.kind != "floordiv" or number not in index_numbers(atom.args[0]):
                continue
            divisor, linear = atom.args[1].as_int(), linear_coefficients(atom.args[0], count)
            if divisor is None or linear is None or linear[0][number].as_int() != 1:
                return 1
            found.add(divisor)
    smallest = min(found, default=1)
    extent = problem.n.as_int()
    fits = extent is not None and extent % smallest == 0 and all(q % smallest == 0 for q in found)
    return smallest if fits else 1


def size_of(extent: Expr, symbols: Bounds) -> int:
    """The extent, or its largest value, or a guess."""
    value = extent.as_int()
    if value is None:
        value = interval(extent, symbols).high
    return UNKNOWN if value is None else value


def schedule_numbers(schedule: DictionaryAttr) -> dict[str, int]:
    """The integers of a schedule.

    Raises:
        OptionError: a key that matmuls of the C target do not have, or a value below 1.
    """
    numbers: dict[str, int] = {}
    for key, value in schedule.data.items():
        if key not in KEYS or not isinstance(value, IntegerAttr) or value.value.data < 1:
            raise OptionError(f"schedule of a matmul has {key} = {value}", hint=f"positive integers {', '.join(KEYS)}")
        numbers[key] = int(value.value.data)
    return numbers


REGISTERS: Mapping[int, int] = {512: 32, 256: 16, 128: 16}
"""Vector registers by their size in bits; Arm's 128-bit machines have 32, which these sizes do not need."""


def choose_tiles(problem: Problem, given: Mapping[str, int], lane_bits: int, group: int, symbols: Bounds) -> Tiles:
    """Register and cache tiles: what the schedule says, else the cheapest by a small model of the machine."""
    simd = given.get("simd", 512)
    width = max(1, simd // lane_bits)
    m, n, k = (max(1, size_of(e, symbols)) for e in (problem.m, problem.n, problem.k))
    mr, nv = given.get("mr"), given.get("nv")
    if mr is None or nv is None:
        mr, nv = min(
            ((r, v) for r in _rows(given) for v in _vectors(given) if r * v + v + 1 <= REGISTERS.get(simd, 16)),
            key=lambda tile: (_cost(tile, m, n, width), -tile[0] * tile[1]),
        )
    nr = nv * width
    step = reduce(lambda a, b: a * b // _gcd(a, b), (nr, group))
    nb = given.get("nb") or _block(n, step, max(step, 96 // step * step))
    mb = given.get("mb") or _block(m, mr, max(mr, 512 // mr * mr))
    kb = given.get("kb") or (k if problem.k.as_int() is not None and k <= 2048 else 1024)
    if nb % step:
        raise OptionError(f"nb = {nb} must be a multiple of {step}", hint="leave nb out of the schedule")
    return Tiles(width, mr, nv, -(-mb // mr) * mr, nb, kb)


def _gcd(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a


def _rows(given: Mapping[str, int]) -> Sequence[int]:
    return [given["mr"]] if "mr" in given else range(1, 15)


def _vectors(given: Mapping[str, int]) -> Sequence[int]:
    return [given["nv"]] if "nv" in given else range(1, 5)


def _cost(tile: tuple[int, int], m: int, n: int, width: int) -> float:
    """Cycles for all register tiles and one step of k: two multiply-adds or two loads a cycle, and the loop's own."""
    rows, vectors = tile
    tiles = -(-m // rows) * -(-n // (vectors * width))
    return tiles * (max(rows * vectors, rows + vectors, 8) / 2 + 0.7)


def _block(extent: int, step: int, target: int) -> int:
    """A multiple of `step` near `target` that cuts the extent evenly."""
    pieces = max(1, round(extent / target))
    return -(-extent // (pieces * step)) * step
