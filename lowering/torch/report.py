"""What of a model cannot be compiled, all of it at once and before anything is compiled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch._dynamo.exc import TorchDynamoException
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    UnsupportedFakeTensorException,
)
from torch.export import ExportedProgram
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.utils import _pytree as pytree

from ...dialects.errors import CompileError, UnsupportedError
from .element_types import DTYPE_OF_TORCH
from .locations import raising_line
from .unsupported import Finding, UnsupportedProgramError

TRACING_ERRORS = (TorchDynamoException, GuardOnDataDependentSymNode, UnsupportedFakeTensorException)
"""How torch.export says that it cannot trace a model."""
DATA_DEPENDENT = (DataDependentOutputException, DynamicOutputShapeException)
"""How it says that a Python value or a size depends on data; the message is the op alone."""
_PLACES = 3
_TENSOR_CLASSES = (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)
_DISTRIBUTED = ("torch.distributed.", "torch.nn.parallel.distributed")


@dataclass(frozen=True)
class Row:
    """One op and the reason why it cannot be compiled; `places` are its lines in the model's source."""

    name: str
    reason: str
    count: int
    places: tuple[str, ...]


@dataclass(frozen=True)
class Report:
    """The result of `albumen.check`: what is unsupported, most frequent first. Its text is a table."""

    rows: tuple[Row, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is unsupported."""
        return not self.rows

    def __str__(self) -> str:
        if self.ok:
            return "everything in the model is supported"
        cells = [("count", "what", "why", "where"), *(self._cells(row) for row in self.rows)]
        widths = [max(len(line[column]) for line in cells) for column in range(3)]
        lines = ["  ".join([*(c.ljust(w) for c, w in zip(line, widths, strict=False)), line[3]]) for line in cells]
        return "\n".join(line.rstrip() for line in lines)

    @staticmethod
    def _cells(row: Row) -> tuple[str, str, str, str]:
        rest = len(row.places) - _PLACES
        more = [f"and {rest} more"] if rest > 0 else []
        return str(row.count), row.name, row.reason, ", ".join([*row.places[:_PLACES], *more])


def report_of(findings: Sequence[Finding]) -> Report:
    """The findings with equal ones together."""
    counts = Counter((finding.name, finding.reason) for finding in findings)
    rows: list[Row] = []
    for (name, reason), count in counts.most_common():
        places = dict.fromkeys(f.where for f in findings if (f.name, f.reason) == (name, reason) and f.where)
        rows.append(Row(name, reason, count, tuple(places)))
    return Report(tuple(rows))


def check_program(program: ExportedProgram) -> Report:
    """What of an exported program cannot be imported."""
    from .exported import import_exported

    try:
        import_exported(program)
    except UnsupportedProgramError as error:
        return report_of(error.findings)
    except UnsupportedError as error:
        return report_of([Finding("the program", item, "") for item in error.items])
    except CompileError as error:
        return report_of([Finding(error.op_name or "the program", error.message, error.where)])
    return Report(())


def check_model(
    model: torch.nn.Module | ExportedProgram,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
) -> Report:
    """What of a model, called with these arguments, or of an exported program cannot be compiled.

    Raises:
        TypeError: what was given is no module, or its arguments are no sequence.
    """
    if isinstance(model, ExportedProgram):
        return check_program(model)
    require_model("albumen.check", model, args)
    findings = tensors_without_counterpart(model, args, kwargs or {})
    if findings:
        return report_of(findings)
    try:
        program = exported(model, tuple(args), dict(kwargs or {}), dynamic_shapes)
    except UnsupportedProgramError as error:
        return report_of(error.findings)
    except TRACING_ERRORS as error:
        return report_of([Finding("torch.export", str(error).strip().splitlines()[0], raising_line(error))])
    return check_program(program)


def exported(
    model: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic_shapes: Any
) -> ExportedProgram:
    """What torch.export makes of a model.

    Raises:
        UnsupportedProgramError: a Python value or a size depends on data.
    """
    try:
        with torch.no_grad():
            return torch.export.export(model, args, kwargs, dynamic_shapes=dynamic_shapes)
    except DATA_DEPENDENT as error:
        reason = "gives a Python value, or a size, that depends on data"
        raise UnsupportedProgramError([Finding(str(error), reason, raising_line(error))]) from error


def require_model(caller: str, model: object, args: object) -> None:
    """Raises TypeError unless this is a module and a sequence of arguments."""
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"{caller} takes a torch.nn.Module, found {type(model).__name__}")
    if isinstance(args, torch.Tensor):
        raise TypeError(f"{caller} takes the model's arguments as a sequence: write (x,) for one tensor")


def tensors_without_counterpart(
    model: torch.nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> list[Finding]:
    """The arguments, parameters and buffers that no program can hold: sparse, quantised, nested, complex, subclasses of
    torch.Tensor, ...; and the modules that spread a model over processes or devices."""
    named: list[tuple[str, Any]] = [
        (f"argument {pytree.keystr(path)}", value)
        for path, value in pytree.tree_leaves_with_path((tuple(args), dict(kwargs)))
    ]
    named += [(f"parameter {name!r}", value) for name, value in model.named_parameters()]
    named += [(f"buffer {name!r}", value) for name, value in model.named_buffers()]
    reasons = [(name, _reason(value)) for name, value in named if isinstance(value, torch.Tensor)]
    found = [Finding(name, reason, "") for name, reason in reasons if reason]
    return [*distributed_modules(model), *found]


def distributed_modules(model: torch.nn.Module) -> list[Finding]:
    """The modules of a model that are made to run in several processes or on several devices."""
    found: list[Finding] = []
    modules: dict[str, torch.nn.Module] = dict(cast(Any, model).named_modules())
    for path, module in modules.items():
        bases = (c for c in type(module).__mro__ if c.__module__.startswith(_DISTRIBUTED))
        wrapper = next(bases, None)
        several = isinstance(module, torch.nn.DataParallel) and len(module.device_ids) > 1
        if wrapper is not None or several:
            name = f"module {path!r}" if path else "the model"
            kind = "DataParallel" if wrapper is None else wrapper.__name__
            found.append(Finding(name, f"is spread over processes or devices by {kind}", ""))
    return found


def nested_arguments(examples: Mapping[str, Any]) -> list[Finding]:
    """The arguments of a traced graph that are nested tensors."""
    found = (name for name, value in examples.items() if isinstance(value, torch.Tensor) and value.is_nested)
    return [Finding(f"argument {name!r}", "is a nested tensor", "") for name in found]


def _reason(tensor: torch.Tensor) -> str:
    if type(tensor) not in _TENSOR_CLASSES and not tensor.is_nested:
        return f"is a tensor of the subclass {type(tensor).__name__}"
    if tensor.is_nested:
        return "is a nested tensor"
    if tensor.is_quantized:
        return f"is a quantised tensor of {tensor.dtype}"
    if tensor.layout != torch.strided:
        return f"is a tensor of layout {tensor.layout}"
    return "" if tensor.dtype in DTYPE_OF_TORCH else f"is a tensor of {tensor.dtype}"
