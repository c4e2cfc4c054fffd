"""`albumen run`: an artifact (.alb) on arrays from .npy files."""

from __future__ import annotations

import argparse
import errno
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..runtime.artifact import Entry
from ..runtime.config import configuration
from ..runtime.errors import DeviceError, LaunchError

Array = NDArray[Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("artifact", type=Path, metavar="FILE.alb", help="what `albumen compile` wrote")
    parser.add_argument("--input", nargs="*", default=[], metavar="X", help="inputs in order: .npy files or integers")
    parser.add_argument("-o", "--output-dir", type=Path, metavar="DIR", help="folder that gets result0.npy, ...")
    parser.add_argument("--device", help="cpu, cuda, cuda:1, ... (default: ALBUMEN_DEVICE, else what fits)")
    parser.add_argument("--weights", type=Path, help="safetensors file, for an artifact that holds none")


def read_input(text: str) -> Any:
    """An array from a .npy file, or an integer."""
    if text.removeprefix("-").isdecimal():
        return int(text)
    if not Path(text).exists():
        raise FileNotFoundError(errno.ENOENT, "no such file", text)
    try:
        array = np.load(text, allow_pickle=False)
    except ValueError as error:
        raise LaunchError(f"{text} is no .npy file of numbers: {error}", hint="write it with numpy.save") from error
    # numpy's files do not know the narrow floats; the program takes their bits.
    return array.view(f"u{array.itemsize}") if array.dtype.kind == "V" else array


def describe(number: int, array: Array) -> str:
    """One line about a result: type, shape and, if it is not empty, range."""
    text = f"result {number}: {array.dtype}{list(array.shape)}"
    if array.size and array.dtype.kind in "biuf":
        text += f" from {array.min()} to {array.max()}"
    return text


def save(results: Sequence[Array], folder: Path) -> None:
    """Write each result to a file of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, array in enumerate(results):
        np.save(folder / f"result{number}.npy", array)


def rebuild(entry: Entry, source: bytes) -> bytes:
    """Rebuild a C program for this machine's processor, which takes the compiler's packages."""
    from ..dialects.errors import ToolchainError
    from ..lowering.recompile import recompile

    try:
        return recompile(entry, source, configuration().cc)
    except ToolchainError as error:
        raise DeviceError(error.message, hint=error.hint) from error


def run(options: argparse.Namespace) -> int:
    """Run one artifact once."""
    from ..runtime.program import load

    program = load(options.artifact, device=options.device, weights=options.weights, recompile=rebuild)
    found = program(*map(read_input, options.input))
    results = cast(tuple[Array, ...], found if isinstance(found, tuple) else (found,))
    for number, array in enumerate(results):
        print(describe(number, array))
    if options.output_dir is not None:
        save(results, options.output_dir)
    return 0
