"""An entry's inputs on which eager raises: the compiled call raises an error of the same class."""

from __future__ import annotations

# pyright: basic
from typing import TYPE_CHECKING, Any

import torch
from torch._dynamo.exc import BackendCompilerFailed, TorchDynamoException

from albumen.dialects.errors import CompileError

from .pairs import Pair, entries
from .refusals import DEFECTS, chain, line_of
from .samples import SEED, Sample, spread
from .states import ALBUMEN, CRASHED, NO_SAMPLE, PASSED, TORCH, UNSUPPORTED, WRONG, Result

if TYPE_CHECKING:
    from .checks import Setting


def run_errors(pair: Pair, setting: Setting) -> Result:
    """The state of an entry's error inputs.

    Dynamo raises its own classes in place of what a call raised while it traced: the class compared is that of the
    error which they carry. A refusal is no error of eager's: it counts as unsupported. Neither is an error of eager's
    class that a backend raises where torch's own backend compiles the call: it counts as crashed.
    """
    name, dtype = pair
    raw = [error.sample_input for error in entries()[name].error_inputs(setting.device)]
    samples = [Sample.of(entries()[name].op, sample) for sample in spread(raw, setting.count)]
    states: list[tuple[str, str, str]] = []
    for sample in samples:
        expected = raised(sample, None)
        if expected is not None:
            states.append(state_of(expected, raised(sample, setting.backend), sample))
            if states[-1][0] == WRONG and raised(sample, "aot_eager") is None:
                states[-1] = (UNSUPPORTED, TORCH, f"torch's trace raises nothing either: {states[-1][2]}")
    if not states:
        return Result(name, dtype, NO_SAMPLE, "eager raises on none")
    state, by, why = min(states, key=lambda found: (CRASHED, WRONG, UNSUPPORTED, PASSED).index(found[0]))
    return Result(name, dtype, state, why, by, len(states), sum(found[0] == PASSED for found in states))


def raised(sample: Sample, backend: Any) -> Exception | None:
    """What the call raises, in eager without a backend."""
    torch._dynamo.reset()
    function: Any = sample.call
    if backend is not None:
        function = torch.compile(function, backend=backend, fullgraph=True, dynamic=False)
    torch.manual_seed(SEED)
    try:
        function(sample.tensors())
    except Exception as error:  # its class is what is compared
        return error
    return None


def state_of(expected: Exception, found: Exception | None, sample: Sample) -> tuple[str, str, str]:
    """(state, who refused, why) of one call on which eager raised `expected`."""
    where = f"[{sample.text}]"
    if found is None:
        return WRONG, "", f"no error, eager raises {type(expected).__name__}: {str(expected)[:120]} {where}"
    causes = list(chain(found))
    for refusal in causes:
        if isinstance(refusal, DEFECTS):
            return CRASHED, "", f"{line_of(refusal)} {where}"
        if isinstance(refusal, CompileError):
            return UNSUPPORTED, ALBUMEN, f"{str(refusal)[:200]} {where}"
    if isinstance(found, BackendCompilerFailed) and raised(sample, "aot_eager") is None:
        return CRASHED, "", f"{line_of(causes[-1])} {where}"
    if any(type(cause) is type(expected) for cause in causes):
        return PASSED, "", ""
    if isinstance(found, type(expected)) and not isinstance(found, TorchDynamoException):
        return PASSED, "", ""
    if type(expected).__name__ in str(found):
        return PASSED, "", ""  # dynamo keeps the class of what it met in its message only
    return UNSUPPORTED, TORCH, f"{type(found).__name__}, eager raises {type(expected).__name__} {where}"
