"""One pair: its samples compiled as one program, called twice, and compared with eager."""

from __future__ import annotations

# pyright: basic
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import torch

from .comparison import Comparer, Difference, Reference, compare_memory
from .error_inputs import run_errors
from .pairs import ERRORS, Pair, is_core
from .randomness import compare_random
from .refusals import Compiled, explained, line_of
from .samples import SEED, Sample, copied, samples_of
from .seeding import UNDEFINED, is_random, without_seeds
from .states import CRASHED, NO_SAMPLE, PASSED, UNSUPPORTED, WRONG, Result
from .ties import settle_ties

MOVES = 3
"""So many times a call in double precision is repeated with moved inputs."""


@dataclass(frozen=True)
class Setting:
    """What all pairs of a run share: the backend (a name, or a function in tests), the device of the inputs, the most
    samples of a pair."""

    backend: Any = "albumen"
    device: str = "cpu"
    count: int = 4


def run_pair(pair: Pair, setting: Setting) -> Result:
    """The state of a pair, whatever happens in it."""
    started = time.monotonic()
    with warnings.catch_warnings(), without_seeds():
        warnings.simplefilter("ignore")
        try:
            result = run_errors(pair, setting) if pair[1] == ERRORS else run_samples(pair, setting)
        except Exception as error:  # a check that cannot be carried out proves nothing
            traceback.print_exc()
            result = Result(*pair, CRASHED, f"the check itself failed: {line_of(error)}")
    return replace(result, core=is_core(pair[0]), seconds=round(time.monotonic() - started, 2))


def run_samples(pair: Pair, setting: Setting) -> Result:
    """All samples in one program; where that raises, each alone, so that one cannot hide another."""
    name, dtype = pair
    samples = samples_of(name, getattr(torch, dtype), setting.device, setting.count)
    if not samples:
        return Result(name, dtype, NO_SAMPLE, "eager refuses every sample")
    result = run_program(pair, samples, setting)
    if result.state in (UNSUPPORTED, CRASHED) and len(samples) > 1:
        return combined([run_program(pair, [sample], setting) for sample in samples])
    return result


COUNTS = ("samples", "passed", "nearer", "traced", "random")


def combined(results: Sequence[Result]) -> Result:
    """The worst of the samples' results, with the counts of all."""
    worst = min(results, key=lambda result: (CRASHED, WRONG, UNSUPPORTED, PASSED).index(result.state))
    totals = {k: sum(getattr(result, k) for result in results) for k in COUNTS}
    return replace(worst, **totals)


def run_program(pair: Pair, samples: Sequence[Sample], setting: Setting) -> Result:
    """The samples as one compiled program. Dynamo's caches are empty before."""

    def program(tensors: Sequence[Sequence[torch.Tensor]]) -> list[Any]:
        return [sample.call(given) for sample, given in zip(samples, tensors, strict=True)]

    def compiled(backend: Any) -> Callable[[Any], Any]:
        return torch.compile(program, backend=backend, fullgraph=True, dynamic=False)

    def aot_eager() -> None:
        seeded(compiled("aot_eager"), [sample.tensors() for sample in samples], SEED)

    name, dtype = pair
    torch._dynamo.reset()
    function = compiled(setting.backend)
    calls: list[tuple[Any, list[list[torch.Tensor]]]] = []
    try:
        for _ in range(2):
            given = [sample.tensors() for sample in samples]
            calls.append((seeded(function, given, SEED), given))
    except Exception as error:  # every kind of failure is a state of the pair
        state, by, why = explained(error, aot_eager)
        return Result(name, dtype, state, why, by, len(samples))
    return compared(pair, samples, calls, function, setting)


def seeded(function: Callable[[Any], Any], given: Any, seed: int) -> Any:
    torch.manual_seed(seed)
    return function(given)


def compared(pair: Pair, samples: Sequence[Sample], calls: Sequence[Any], function: Any, setting: Setting) -> Result:
    """Every sample's outputs and inputs after both calls; the first call's after the second has run."""
    name, dtype = pair
    result = Result(name, dtype, PASSED, samples=len(samples))
    alike = one_after_another(samples)
    for i, sample in enumerate(samples):
        comparer = Comparer(name, getattr(torch, dtype), setting.device)
        random = name not in UNDEFINED and is_random(sample)
        of_sample = [(outputs[i], given[i]) for outputs, given in calls]
        difference = first_difference(comparer, alike[i], of_sample)
        random = random and difference is not None  # else these are the very numbers that eager draws
        if random:
            difference = distribution(function, samples, i, of_sample)
        if difference is not None:
            result = replace(result, state=WRONG, why=result.why or f"{difference} [{sample.text}]")
            continue
        counts = {"passed": 1, "nearer": int(comparer.nearer), "traced": int(comparer.traced), "random": int(random)}
        result = replace(result, **{k: getattr(result, k) + n for k, n in counts.items()})
    return result


def one_after_another(samples: Sequence[Sample]) -> list[Sample]:
    """The samples with what eager gives when all run after one seed, as they do in the compiled program."""
    torch.manual_seed(SEED)
    again: list[Sample] = []
    for sample in samples:
        tensors = sample.tensors()
        again.append(replace(sample, expected=sample.call(tensors), expected_inputs=tensors))
    return again


def distribution(function: Compiled, samples: Sequence[Sample], which: int, calls: Sequence[Any]) -> Difference | None:
    """How the strides, the shared memory or the distribution of a random sample differ from eager's."""
    sample = samples[which]
    try:
        for call in calls:
            compare_memory("", call, (sample.expected, sample.expected_inputs))
        compare_random(partial(drawn, function, samples, which), partial(eager, sample))
    except Difference as difference:
        return difference
    return None


def first_difference(comparer: Comparer, sample: Sample, calls: Sequence[Any]) -> Difference | None:
    """What differs in the first call that equals neither eager nor torch's own trace."""
    for outputs, given in calls:
        try:
            compare_sample(comparer, sample, outputs, given)
        except Difference as difference:
            try:
                compare_sample(comparer, as_traced(sample), outputs, given)
            except Difference:
                return difference
            comparer.traced = True
    return None


def as_traced(sample: Sample) -> Sample:
    """The sample with what torch's trace of the call gives, run operator by operator.

    Dynamo and AOTAutograd rewrite some calls before a backend sees them: dynamo takes addcdiv apart, which rounds
    between the steps, and a view that an operator's schema does not declare becomes a copy.
    """
    tensors = sample.tensors()
    torch._dynamo.reset()
    function = torch.compile(sample.call, backend="aot_eager", fullgraph=True, dynamic=False)
    return replace(sample, expected=seeded(function, tensors, SEED), expected_inputs=tensors)


def compare_sample(comparer: Comparer, sample: Sample, outputs: Any, given: Sequence[torch.Tensor]) -> None:
    """One sample after one call: what it returned, what became of its inputs, and which memory they share."""

    @cache
    def exact() -> tuple[Any, Any]:
        return in_double(sample, sample.in_double())

    @cache
    def moved() -> list[tuple[Any, Any]]:
        return [in_double(sample, sample.in_double_moved(draw)) for draw in range(MOVES)]

    undefined = comparer.name in UNDEFINED
    found = zeroed(outputs) if undefined else settle_ties(comparer.name, sample, outputs)
    expected = zeroed(sample.expected) if undefined else sample.expected
    for part, ours, eager, what in (
        (0, found, expected, "output"),
        (1, list(given), sample.expected_inputs, "input"),
    ):
        reference = Reference(lambda part=part: exact()[part], lambda part=part: [run[part] for run in moved()])
        comparer.compare(ours, eager, reference, what)
    compare_memory(comparer.name, (outputs, given), (sample.expected, sample.expected_inputs))


def zeroed(outputs: Any) -> Any:
    """The same tensors in form, all zero."""
    from torch.utils import _pytree as pytree

    return pytree.tree_map_only(torch.Tensor, lambda tensor: copied(tensor).zero_(), outputs)


def in_double(sample: Sample, call: Sample) -> tuple[Any, list[torch.Tensor]]:
    """A call in double precision: outputs and inputs after it; the sample's own where torch cannot do it."""
    tensors = call.tensors()
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        torch.manual_seed(SEED)
        return call.call(tensors), tensors
    except (RuntimeError, ValueError, TypeError, NotImplementedError):
        return sample.expected, sample.expected_inputs
    finally:
        torch.set_default_dtype(before)


def drawn(function: Compiled, samples: Sequence[Sample], which: int, seed: int) -> Any:
    """What the compiled program gives for one sample under a seed, with what it leaves in the inputs."""
    given = [sample.tensors() for sample in samples]
    return seeded(function, given, seed)[which], given[which]


def eager(sample: Sample, seed: int) -> Any:
    tensors = sample.tensors()
    return seeded(sample.call, tensors, seed), tensors
