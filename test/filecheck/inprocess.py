"""A lit test format that runs RUN lines made of our own tools inside the lit worker, and any other line as ShTest does.

Starting Python costs many times what a small test does. A line runs in process when it is a pipeline of known tools,
each optionally behind `not` and ending in `2>&1`; with redirections, `&&` or another command it goes to lit's shell.
"""

# lit is not typed.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import contextlib
import io
import re
import shlex
import signal
import sys
import traceback
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import lit.formats
import lit.Test
import lit.TestRunner

Tool = Callable[[Sequence[str]], int | None]

SECONDS = 60
DEBUG_PREFIX = re.compile(r"%dbg\([^)]*\)\s*")
SHELL_SYNTAX = re.compile(r"[<>;&`$*]")


@dataclass(frozen=True)
class Stage:
    """One tool of a pipeline: `negated` for `not`, `merged` for `2>&1`."""

    tool: str
    arguments: tuple[str, ...]
    negated: bool
    merged: bool


def parse_pipeline(line: str, tools: Mapping[str, Tool]) -> list[Stage] | None:
    """The stages of a line, or None when it needs a shell."""
    stages: list[Stage] = []
    words: list[str] = []
    for word in [*shlex.split(DEBUG_PREFIX.sub("", line, count=1)), "|"]:
        if word != "|":
            words.append(word)
            continue
        negated = words[:1] == ["not"]
        merged = words[-1:] == ["2>&1"]
        words = words[negated : len(words) - merged]
        if not words or words[0] not in tools or any(SHELL_SYNTAX.search(argument) for argument in words[1:]):
            return None
        stages.append(Stage(words[0], tuple(words[1:]), negated, merged))
        words = []
    return stages


class Stream(io.TextIOWrapper):
    """A text stream in memory that has the `buffer` tools read and write bytes through."""

    def __init__(self, text: str = ""):
        super().__init__(io.BytesIO(text.encode()), encoding="utf-8", write_through=True)

    def text(self) -> str:
        self.seek(0)
        return self.read()


@contextlib.contextmanager
def time_limit(seconds: int) -> Generator[None]:
    """Raise TimeoutError in the main thread after some seconds."""

    def stop(signal_number: int, frame: object) -> None:
        raise TimeoutError(f"over {seconds} s")

    previous = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)


@dataclass(frozen=True)
class Outcome:
    """What a stage left: `passed` as the test sees it, and its output and error texts."""

    passed: bool
    output: str
    error: str


def run_stage(stage: Stage, tool: Tool, standard_input: str) -> Outcome:
    """Run one tool; an exception that leaves it fails the test even behind `not`, since no user may see one."""
    output = Stream()
    error = output if stage.merged else Stream()
    crashed = False
    code: int | str | None = 0
    old_input = sys.stdin
    sys.stdin = Stream(standard_input)
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(error), time_limit(SECONDS):
            code = tool(stage.arguments)
    except SystemExit as stop:
        code = stop.code if stop.code is None or isinstance(stop.code, int) else 1
    except BaseException:
        # Whatever a tool lets escape is reported as this test's failure; the worker goes on with the next test.
        error.write(traceback.format_exc())
        crashed = True
    finally:
        sys.stdin = old_input
    passed = not crashed and bool(code) == stage.negated
    return Outcome(passed, output.text(), "" if stage.merged else error.text())


class InProcessTest(lit.formats.ShTest):
    """ShTest whose lines run in this process where they can."""

    def __init__(self, tools: Mapping[str, Tool]):
        super().__init__(execute_external=False)
        self.tools = tools

    def execute(self, test: Any, litConfig: Any) -> Any:
        if test.config.unsupported:
            return lit.Test.Result(lit.Test.UNSUPPORTED, "")
        script = lit.TestRunner.parseIntegratedTestScript(test)
        if isinstance(script, lit.Test.Result):
            return script
        folder, base = lit.TestRunner.getTempPaths(test)
        substitutions = [*test.config.substitutions, *lit.TestRunner.getDefaultSubstitutions(test, folder, base)]
        limit = test.config.recursiveExpansionLimit
        lines = lit.TestRunner.applySubstitutions(script, substitutions, {}, recursion_limit=limit)
        pipelines = [parse_pipeline(line, self.tools) for line in lines]
        log: list[str] = []
        for pipeline in pipelines:
            if pipeline is None:
                return super().execute(test, litConfig)
        for pipeline in pipelines:
            if not self.run_pipeline(pipeline or [], log):
                return lit.Test.Result(lit.Test.FAIL, "\n".join(log))
        return lit.Test.Result(lit.Test.PASS, "")

    def run_pipeline(self, pipeline: Sequence[Stage], log: list[str]) -> bool:
        """Run stages one after the other, logging each; False at the first that fails."""
        text = ""
        for stage in pipeline:
            outcome = run_stage(stage, self.tools[stage.tool], text)
            text = outcome.output
            log.append(f"$ {'not ' * stage.negated}{shlex.join([stage.tool, *stage.arguments])}\n{outcome.error}")
            if not outcome.passed:
                log.append(text)
                return False
        return True
