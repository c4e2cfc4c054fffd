"""Gradients of PyTorch's operator database: forward and backward, compiled, against eager.

`python -m training.gradients -k '^(prod|cumsum)$' [-d float32] [--samples 2] [--shard 0/16] [--out FILE.jsonl]`
"""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

import argparse
import json
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from opinfo.comparison import is_nearer
from opinfo.seeding import without_seeds
from torch.utils import _pytree as pytree

from albumen.dialects.errors import CompileError, InternalError

Tensors = list[torch.Tensor]
Values = list[torch.Tensor | None]


@dataclass(frozen=True)
class Verdict:
    """What became of one op at one dtype: passed, unsupported, torch (dynamo refuses), wrong, crashed, no sample."""

    op: str
    dtype: str
    state: str
    why: str = ""
    seconds: float = 0.0


class Sample:
    """One use of an op, as a function of its tensors."""

    def __init__(self, op: Any, sample: Any):
        self.op = op
        self.values, self.spec = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
        self.places = [i for i, value in enumerate(self.values) if isinstance(value, torch.Tensor)]
        self.finish: Callable[[Any], Any] = sample.output_process_fn_grad or (lambda output: output)

    def __call__(self, tensors: Tensors) -> Any:
        values = list(self.values)
        for place, tensor in zip(self.places, tensors, strict=True):
            values[place] = tensor
        first, args, kwargs = pytree.tree_unflatten(values, self.spec)
        return self.op(first, *args, **kwargs)

    def tensors(self) -> Tensors:
        """Fresh leaves."""
        given = [self.values[place] for place in self.places]
        return [
            (t.detach().clone() if t.is_contiguous() else t.detach()).requires_grad_(t.requires_grad) for t in given
        ]

    def gradients(self, function: Callable[[Tensors], Any], *, exact: bool = False) -> Values | None:
        """Outputs and gradients under fixed seeds (`exact`: of the same numbers in f64); None where nothing has a
        gradient."""
        tensors = self.tensors()
        if exact:
            tensors = [
                t.detach().double().requires_grad_(t.requires_grad) if t.is_floating_point() else t for t in tensors
            ]
        torch.manual_seed(1)
        outputs = [
            o
            for o in pytree.tree_leaves(self.finish(function(tensors)))
            if isinstance(o, torch.Tensor) and o.requires_grad
        ]
        inputs = [t for t in tensors if t.requires_grad]
        if not outputs or not inputs:
            return None
        generator = torch.Generator().manual_seed(7)
        slopes = [torch.randn(o.shape, generator=generator, dtype=torch.bfloat16).to(o.dtype) for o in outputs]
        return [*(o.detach() for o in outputs), *torch.autograd.grad(outputs, inputs, slopes, allow_unused=True)]


def samples(op: Any, dtype: torch.dtype, count: int) -> Iterator[tuple[Sample, Values]]:
    """Some of the samples that eager differentiates, with what it finds."""
    torch.manual_seed(0)
    found = list(op.sample_inputs("cpu", dtype, requires_grad=True))
    for entry in found[:: max(1, len(found) // count)][:count]:
        sample = Sample(op, entry)
        try:
            expected = sample.gradients(sample)
        except (RuntimeError, NotImplementedError, TypeError, ValueError, IndexError):
            continue  # eager itself refuses the sample
        if expected is not None:
            yield sample, expected


def difference(found: Values, expected: Values, exact: Callable[[], Values]) -> str:
    """The first value that differs and of which an element beyond the tolerance is further from the exact one than
    eager's; a gradient that is missing is one of zeros."""
    for number, (a, b) in enumerate(zip(found, expected, strict=True)):
        present = a if a is not None else b
        if present is None:
            continue
        a, b = (torch.zeros_like(present) if value is None else value for value in (a, b))
        try:
            torch.testing.assert_close(a, b, equal_nan=True, check_stride=False)
        except AssertionError as error:
            if not is_nearer(a, b, exact()[number], {}):
                return f"value {number}: {' '.join(str(error).split())}"
    return ""


def refusal(error: BaseException) -> CompileError | None:
    """Our own error behind what dynamo raises."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, CompileError):
            return seen
        seen = getattr(seen, "inner_exception", None) or seen.__cause__ or seen.__context__
    return None


def judge(op: Any, dtype: torch.dtype, count: int) -> tuple[str, str]:
    """(state, why) of one op."""
    passed = 0
    for sample, expected in samples(op, dtype, count):
        torch._dynamo.reset()
        try:
            found = sample.gradients(torch.compile(sample, backend="albumen", fullgraph=True, dynamic=False))
        except Exception as error:  # a suite reports whatever is raised
            ours = refusal(error)
            if ours is not None:
                return ("crashed" if isinstance(ours, InternalError) else "unsupported"), str(ours)
            by_torch = type(error).__module__.startswith("torch._dynamo") and "Backend" not in type(error).__name__
            return ("torch" if by_torch else "crashed"), f"{type(error).__name__}: {str(error)[:300]}"
        why = (
            "nothing has a gradient"
            if found is None
            else difference(found, expected, lambda sample=sample: sample.gradients(sample, exact=True) or [])
        )
        if why:
            return "wrong", why
        passed += 1
    return ("passed" if passed else "no sample"), ""


def main() -> int:
    """Runs the ops that are asked for, and says how many of each state there are."""
    from torch.testing._internal.common_methods_invocations import op_db

    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-k", default="", help="a regular expression that names have")
    parser.add_argument("-d", default="float32", help="dtypes, with commas")
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("--shard", default="0/1")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    part, parts = map(int, options.shard.split("/"))
    pairs = [
        (f"{op.name}.{op.variant_test_name}".rstrip("."), op, dtype)
        for op in op_db
        for dtype in (getattr(torch, name) for name in options.d.split(","))
        if op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
    ]
    counts: Counter[str] = Counter()
    for name, op, dtype in [pair for pair in pairs[part::parts] if re.search(options.k, pair[0])]:
        start = time.perf_counter()
        with without_seeds():
            state, why = judge(op, dtype, options.samples)
        verdict = Verdict(name, str(dtype).removeprefix("torch."), state, why, round(time.perf_counter() - start, 1))
        counts[state] += 1
        if options.out:
            with options.out.open("a") as file:
                file.write(json.dumps(asdict(verdict)) + "\n")
        elif state != "passed":
            print(verdict, flush=True)
    print(dict(counts))
    return 1 if counts["wrong"] or counts["crashed"] else 0


if __name__ == "__main__":
    sys.exit(main())
