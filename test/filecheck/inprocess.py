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
LASTING_FLAGS = {"--disable-verify", "--syntax-highlight"}
"""Flags by which xDSL's driver changes its classes for the rest of the process."""


@dataclass(frozen=True)
class Stage:
    """One tool of a pipeline: `negated` for `not`, `merged` for `2>&1`."""

    tool: str
    arguments: tuple[str, ...]
    negated: bool
    merged: bool


def needs_shell(word: str) -> bool:
    """Whether a word, found outside its quotes, may mean something to a shell or outlast the run."""
    return bool(SHELL_SYNTAX.search(word)) or word in LASTING_FLAGS


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
        if not words or words[0] not in tools or any(map(needs_shell, words[1:])):
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


def run_opt(arguments: Sequence[str]) -> int:
    """albumen-opt."""
    from albumen.tools.opt import main

    return main(arguments)


def run_albumen(arguments: Sequence[str]) -> int:
    """albumen."""
    from albumen.tools.albumen import main

    return main(arguments)


def run_filecheck(arguments: Sequence[str]) -> None:
    """filecheck, which takes its own name as the first argument and exits by itself."""
    from filecheck.main import main

    main(["filecheck", *arguments])


# lit sends the format to its workers by pickle, so the tools stand in a module.
TOOLS: Mapping[str, Tool] = {"albumen-opt": run_opt, "albumen": run_albumen, "filecheck": run_filecheck}


class InProcessTest(lit.formats.ShTest):
    """ShTest whose lines run in this process where they can."""

    def __init__(self) -> None:
        super().__init__(execute_external=False)

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
        pipelines = [parse_pipeline(line, TOOLS) for line in lines]
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
            outcome = run_stage(stage, TOOLS[stage.tool], text)
            text = outcome.output
            log.append(f"$ {'not ' * stage.negated}{shlex.join([stage.tool, *stage.arguments])}\n{outcome.error}")
            if not outcome.passed:
                log.append(text)
                return False
        return True
