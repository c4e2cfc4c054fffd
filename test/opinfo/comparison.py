"""When a value equals eager's.

Element type, shape, device and the strides of dimensions of more than one element are equal, and an output shares
memory with the same inputs. Integers and booleans are equal. Floats are within `torch.testing.assert_close`'s default
tolerance of their element type, or within the tolerance that the entry of the database states for every test or for
torch's compiler tests (`TestInductorOpInfo`); NaN and infinities stand at the same places, and a zero has eager's sign.

A float beyond the tolerance is compared once more, with the call in double precision: where each such element is at
least as near to that as eager's own, which is finite, or nearer than what one unit in the last place of the inputs
changes, which may be no more than a last place of the largest element (sums that cancel: no order of summation is the
best for every element), eager is what is inexact, and the sample counts as `nearer`. What still differs is compared
with torch's own trace of the call (the backend `aot_eager`): where that differs from eager as well and ours equals it,
the sample counts as `traced`.
"""

from __future__ import annotations

# pyright: basic
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .pairs import entries

UNDECLARED_VIEWS = ("unsafe_split", "unsafe_chunk")
"""Their schema says that the outputs are new tensors; eager returns views all the same, and their memory may differ."""

ROUNDED_ZEROS = ("layer_norm", "batch_norm", "group_norm", "instance_norm")
"""In the name of an entry: its zeros come from a difference that happens to cancel, and their sign is of no meaning."""

COMPILER_TESTS = (None, "TestInductorOpInfo")


@dataclass(frozen=True)
class Tolerance:
    relative: float
    absolute: float


def tolerance_of(name: str, dtype: torch.dtype, output: torch.dtype, device: str) -> Tolerance | None:
    """The tolerance that the entry itself states for the element type; None for the default of `assert_close`."""
    from torch.testing._internal.common_device_type import toleranceOverride

    stated = None
    for info in entries()[name].decorators:
        for decorator in _decorators(info, dtype, device):
            if isinstance(decorator, toleranceOverride) and dtype in decorator.d and output == dtype:
                stated = Tolerance(decorator.d[dtype].rtol, decorator.d[dtype].atol)
    return stated


def _decorators(info: Any, dtype: torch.dtype, device: str) -> Sequence[Any]:
    """What a decorator of the entry puts on every test or on torch's compiler tests, for this element type."""
    from torch.testing._internal.opinfo.core import DecorateInfo

    if not isinstance(info, DecorateInfo):
        return (info,)
    applies = info.cls_name in COMPILER_TESTS and info.device_type in (None, device)
    return info.decorators if applies and (info.dtypes is None or dtype in info.dtypes) else ()


@dataclass(frozen=True)
class Reference:
    """The same nest in double precision, and again for inputs that are moved by a unit in the last place."""

    exact: Callable[[], Any]
    moved: Callable[[], Sequence[Any]] = lambda: ()

    def leaf(self, i: int) -> Reference:
        return Reference(
            lambda: pytree.tree_leaves(self.exact())[i], lambda: [pytree.tree_leaves(nest)[i] for nest in self.moved()]
        )


class Difference(Exception):
    """What differs from eager."""


@dataclass
class Comparer:
    """Compares nests for one pair. `nearer` and `traced` are set by what double precision or torch's trace decided."""

    name: str
    dtype: torch.dtype
    device: str
    nearer: bool = False
    traced: bool = False

    def compare(self, found: Any, expected: Any, reference: Reference, what: str) -> None:
        """Raise `Difference` unless the two nests are equal."""
        found_leaves, found_structure = pytree.tree_flatten(found)
        leaves, structure = pytree.tree_flatten(expected)
        if found_structure != structure:
            raise Difference(f"{what}: a structure {found_structure}, not {structure}")
        for i, (ours, eager) in enumerate(zip(found_leaves, leaves, strict=True)):
            self.compare_leaf(ours, eager, reference.leaf(i), f"{what} {i}")

    def compare_leaf(self, ours: Any, eager: Any, reference: Reference, what: str) -> None:
        if not isinstance(eager, torch.Tensor):
            if type(ours) is not type(eager) or (ours != eager and not (ours != ours and eager != eager)):
                raise Difference(f"{what}: {ours!r}, not {eager!r}")
            return
        if not isinstance(ours, torch.Tensor):
            raise Difference(f"{what}: a {type(ours).__name__}, not a tensor")
        compare_form(ours, eager, what)
        tolerance = tolerance_of(self.name, self.dtype, eager.dtype, self.device)
        limits: dict[str, Any] = {} if tolerance is None else {"rtol": tolerance.relative, "atol": tolerance.absolute}
        try:
            torch.testing.assert_close(ours, eager, equal_nan=True, check_stride=False, **limits)
        except AssertionError as error:
            exact = reference.exact()
            if not (is_nearer(ours, eager, exact, limits) or is_nearer(ours, eager, exact, limits, reference.moved())):
                raise Difference(f"{what}: {_joined(str(error))}") from None
            self.nearer = True
        if not any(part in self.name for part in ROUNDED_ZEROS):
            compare_zeros(ours, eager, what)


def compare_form(ours: torch.Tensor, eager: torch.Tensor, what: str) -> None:
    """Element type, shape, device and layout."""
    for aspect in ("dtype", "shape", "device", "layout"):
        if getattr(ours, aspect) != getattr(eager, aspect):
            raise Difference(f"{what}: {aspect} {getattr(ours, aspect)}, not {getattr(eager, aspect)}")


def compare_memory(name: str, ours: Sequence[Any], eager: Sequence[Any]) -> None:
    """Strides of the outputs and inputs, and which of them share memory. Each side is (outputs, inputs)."""
    tensors = [[leaf for leaf in pytree.tree_leaves(side) if isinstance(leaf, torch.Tensor)] for side in (ours, eager)]
    for a, b in zip(*tensors, strict=True):
        if b.layout is torch.strided and b.numel() > 1 and strides(a) != strides(b):
            raise Difference(f"strides {a.stride()}, not {b.stride()} (shape {tuple(b.shape)})")
    found, wanted = shared_memory(*ours), shared_memory(*eager)
    if found != wanted and name not in UNDECLARED_VIEWS:
        raise Difference(f"outputs and inputs that share memory: {found}, not {wanted}")


def strides(tensor: torch.Tensor) -> list[int]:
    """Those that an element depends on."""
    return [stride for stride, size in zip(tensor.stride(), tensor.shape, strict=True) if size > 1]


def compare_zeros(ours: torch.Tensor, eager: torch.Tensor, what: str) -> None:
    """Zeros have eager's sign."""
    if not eager.is_floating_point() or eager.layout is not torch.strided:
        return
    both = (ours == 0) & (eager == 0)
    if bool((both & (torch.signbit(ours) != torch.signbit(eager))).any()):
        raise Difference(f"{what}: the sign of a zero")


def is_nearer(
    ours: torch.Tensor, eager: torch.Tensor, exact: Any, limits: dict[str, Any], moved: Sequence[Any] = ()
) -> bool:
    """Whether each element beyond the tolerance is at least as near to the exact value as eager's, which is finite, or
    as one of the exact values for moved inputs: by no more than a last place of the largest element, which no jump is.
    """
    if not isinstance(exact, torch.Tensor) or not eager.is_floating_point() or eager.dtype is torch.float64:
        return False
    if exact.shape != eager.shape or exact.dtype is not torch.float64:
        return False
    close = torch.isclose(ours, eager, equal_nan=True, **_limits(eager.dtype, limits))
    allowed = (eager.double() - exact).abs()
    finite = exact.abs()[exact.isfinite()]
    most = torch.finfo(eager.dtype).eps * float(finite.max()) if finite.numel() else 0.0
    for other in moved:
        if other.dtype is torch.float64:  # else double precision cannot do the call
            allowed = torch.maximum(allowed, (other - exact).abs().nan_to_num(nan=0.0).clamp(max=most))
    near = eager.isfinite() & ours.isfinite() & ((ours.double() - exact).abs() <= allowed)
    return bool((close | near).all())


def _limits(dtype: torch.dtype, limits: dict[str, Any]) -> dict[str, Any]:
    if limits:
        return limits
    from torch.testing._comparison import default_tolerances

    relative, absolute = default_tolerances(dtype)
    return {"rtol": relative, "atol": absolute}


def shared_memory(outputs: Any, inputs: Sequence[torch.Tensor]) -> list[tuple[int, int]]:
    """(output, input) for all that lie in the same storage."""
    tensors = [leaf for leaf in pytree.tree_leaves(outputs) if isinstance(leaf, torch.Tensor)]
    return [
        (i, j)
        for i, output in enumerate(tensors)
        for j, given in enumerate(inputs)
        if _storage(output) is not None and _storage(output) == _storage(given)
    ]


def _storage(tensor: torch.Tensor) -> int | None:
    strided = tensor.layout is torch.strided and tensor.numel() > 0
    return tensor.untyped_storage().data_ptr() if strided else None


def _joined(text: str) -> str:
    return " ".join(text.split())
