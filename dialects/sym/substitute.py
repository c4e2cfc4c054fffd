"""Replacing atoms of expressions, and evaluating expressions on integers (numpy arrays of them too)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from .expr import Expr, floordiv, index, maximum, replace_atoms, symbol
from .monomial import Atom

Value = int | NDArray[np.int64]


def _rebuild(e: Expr, leaf: Callable[[Atom], Expr | None]) -> Expr:
    return replace_atoms(e, lambda atom: _rebuild_atom(atom, leaf))


def _rebuild_atom(atom: Atom, leaf: Callable[[Atom], Expr | None]) -> Expr:
    if atom.kind == "floordiv":
        return floordiv(*(_rebuild(arg, leaf) for arg in atom.args))
    if atom.kind == "max":
        return maximum(*(_rebuild(arg, leaf) for arg in atom.args))
    replaced = leaf(atom)
    if replaced is not None:
        return replaced
    return symbol(atom.name) if atom.kind == "symbol" else index(atom.number)


def substitute_symbols(e: Expr, values: Mapping[str, Expr]) -> Expr:
    """`e` with the named symbols replaced."""
    return _rebuild(e, lambda atom: values.get(atom.name) if atom.kind == "symbol" else None)


def substitute_indices(e: Expr, values: Mapping[int, Expr]) -> Expr:
    """`e` with the numbered index variables replaced."""
    return _rebuild(e, lambda atom: values.get(atom.number) if atom.kind == "index" else None)


def symbol_names(e: Expr) -> list[str]:
    """Names of the symbols in `e`, sorted."""
    return sorted({atom.name for atom in e.atoms() if atom.kind == "symbol"})


def index_numbers(e: Expr) -> list[int]:
    """Numbers of the index variables in `e`, sorted."""
    return sorted({atom.number for atom in e.atoms() if atom.kind == "index"})


def evaluate(e: Expr, symbols: Mapping[str, int], indices: Mapping[int, Value] | None = None) -> Value:
    """The value of `e`.

    Raises:
        KeyError: a symbol or index of `e` has no value.
    """
    total: Value = 0
    for monomial, coefficient in e.terms:
        term: Value = coefficient
        for atom, power in monomial:
            factor = _evaluate_atom(atom, symbols, indices or {})
            for _ in range(power):
                term = term * factor
        total = total + term
    return total


def _evaluate_atom(atom: Atom, symbols: Mapping[str, int], indices: Mapping[int, Value]) -> Value:
    if atom.kind == "symbol":
        return symbols[atom.name]
    if atom.kind == "index":
        return indices[atom.number]
    args = [evaluate(arg, symbols, indices) for arg in atom.args]
    if atom.kind == "floordiv":
        return args[0] // args[1]
    if all(isinstance(arg, int) for arg in args):
        return max(int(arg) for arg in args)
    return reduce(np.maximum, args)


def evaluate_int(e: Expr, symbols: Mapping[str, int]) -> int:
    """The value of an expression without index variables."""
    value = evaluate(e, symbols)
    assert isinstance(value, int)
    return value
