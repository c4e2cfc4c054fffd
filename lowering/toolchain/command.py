"""Runs a compiler as a process; what goes wrong becomes a ToolchainError with command, output and source line."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ...dialects.errors import ToolchainError

TIME_LIMIT_S = 600.0


def run_command(
    command: Sequence[str], directory: Path | None = None, time_limit_s: float = TIME_LIMIT_S
) -> tuple[int, str]:
    """Exit status and everything printed, in the order printed."""
    try:
        done = subprocess.run(
            list(command),
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=time_limit_s,
            check=False,
        )
    except OSError as error:
        raise ToolchainError(
            f"{command[0]} cannot be run: {error.strerror}",
            command=shlex.join(command),
            hint="check that the compiler is installed and may be executed",
        ) from error
    except subprocess.TimeoutExpired as error:
        raise ToolchainError(
            f"{Path(command[0]).name} did not finish within {time_limit_s:g} s",
            command=shlex.join(command),
            hint="compile smaller sources, or allow more time",
        ) from error
    return done.returncode, done.stdout.decode(errors="replace")


def source_excerpt(source: str, name: str, output: str) -> str:
    """The line of `source` that the first error in `output` names (as `name:12:` or `name(12)`), or an empty text."""
    place = re.search(rf"{re.escape(name)}[:(](\d+)[^\n]*?error", output)
    lines = source.splitlines()
    if place is None or not 1 <= (number := int(place[1])) <= len(lines):
        return ""
    return f"{name}:{number}: {lines[number - 1].strip()}"


def refused(
    compiler: str, source: str, name: str, command: Sequence[str], output: str, hint: str = ""
) -> ToolchainError:
    """The error of a text that a compiler does not accept."""
    excerpt = source_excerpt(source, name, output)
    message = f"{compiler} refused the generated text" + (f"\n  source: {excerpt}" if excerpt else "")
    return ToolchainError(
        message,
        command=shlex.join(command),
        output=output,
        hint=hint or "the text comes from Albumen, so this is most likely its bug: report it with the source",
    )
