"""Embeds sentences with all-MiniLM-L6-v2 through `torch.compile(backend="albumen")`, checks and times it beside eager
and Inductor.

Everything goes to build/demo: a fresh compile cache, and the IR of every stage. The last line is for machines.
"""

# torch's own types are partly unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "build" / "demo"
SENTENCES = (
    "The cat sleeps on the warm windowsill.",
    "A kitten naps in the sunshine.",
    "Interest rates rose again this quarter.",
    "The central bank raised its key rate.",
    "She plays the violin in an orchestra.",
    "He practises the cello every evening.",
    "The train to Paris leaves at noon.",
    "Our flight to Rome departs tomorrow morning.",
)
LENGTHS = (14, 128)
ROUNDS, CALLS = 5, 20

Call = Callable[[], object]


def interleaved(calls: Mapping[str, Call]) -> dict[str, float]:
    """Median seconds of one call of each, measured in rounds so that all see the same state of the machine."""
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(CALLS):
                call()
            samples[name].append((time.perf_counter() - start) / CALLS)
    return {name: statistics.median(times) for name, times in samples.items()}


def compile_seconds(options: dict[str, str | int | bool | Callable[..., Any]]) -> tuple[float, Callable[..., object]]:
    """Seconds from `torch.compile` to the first results at both lengths, imports apart; and the compiled model."""
    import torch
    from minilm import SentenceTokenizer, load_embedder

    for module in ("torch._dynamo", "albumen.lowering.torch.backend"):
        importlib.import_module(module)
    model, tokenizer = load_embedder(), SentenceTokenizer()
    inputs = [tokenizer.encode(SENTENCES, length) for length in LENGTHS]
    start = time.perf_counter()
    compiled = torch.compile(model, backend="albumen", dynamic=False, options=options)
    with torch.no_grad():
        for batch in inputs:
            compiled(*batch)
    return time.perf_counter() - start, compiled


def print_neighbours(embeddings: object) -> None:
    """Each sentence with the one most like it."""
    import torch

    assert isinstance(embeddings, torch.Tensor)
    similar = embeddings @ embeddings.T
    similar.fill_diagonal_(-1.0)
    print("nearest pairs by cosine similarity:")
    pairs = {tuple(sorted((i, int(similar[i].argmax())))) for i in range(len(SENTENCES))}
    for i, j in sorted(pairs, key=lambda pair: -float(similar[pair])):
        print(f"  {float(similar[i, j]):.3f}  {SENTENCES[i]}  |  {SENTENCES[j]}")


def print_ir_folders(folder: Path) -> None:
    """Where the IR of each stage was written."""
    for graph in sorted(folder.iterdir()):
        files = sorted(path.name for path in graph.glob("*.mlir"))
        print(f"IR of {len(files)} stages in {os.path.relpath(graph)}: {files[0]} ... {files[-1]}")


def run_demo() -> str:
    """The whole demonstration; the line for machines."""
    import torch
    from minilm import SentenceTokenizer, load_embedder

    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    os.environ["ALBUMEN_CACHE_DIR"] = str(FOLDER / "cache")
    print("compiling all-MiniLM-L6-v2 for batches of 8 sentences of 14 and of 128 tokens ...", flush=True)
    compile_s, compiled = compile_seconds({"dump_ir": str(FOLDER / "ir")})
    model, tokenizer = load_embedder(), SentenceTokenizer()
    inductor = torch.compile(model, backend="inductor", dynamic=False)
    difference, ratios = 0.0, {}
    for length in LENGTHS:
        batch = tokenizer.encode(SENTENCES, length)
        with torch.no_grad():
            found, expected = compiled(*batch), model(*batch)
            assert isinstance(found, torch.Tensor)
            difference = max(difference, float((found - expected).abs().max()))
            seconds = interleaved(
                {
                    "eager": lambda batch=batch: model(*batch),
                    "albumen": lambda batch=batch: compiled(*batch),
                    "inductor": lambda batch=batch: inductor(*batch),
                }
            )
        print(f"length {length}: " + ", ".join(f"{name} {1e3 * s:.2f} ms" for name, s in seconds.items()), flush=True)
        ratios[length] = {name: s / seconds["eager"] for name, s in seconds.items()}
        if length == LENGTHS[0]:
            print_neighbours(found)
    print_ir_folders(FOLDER / "ir")
    values = {
        "max_abs_diff": f"{difference:.2e}",
        **{f"ratio{length}": f"{ratios[length]['albumen']:.2f}" for length in LENGTHS},
        **{f"inductor{length}": f"{ratios[length]['inductor']:.2f}" for length in LENGTHS},
        "compile_s": f"{compile_s:.1f}",
        "warm_s": f"{warm_seconds():.1f}",
    }
    return "demo: ok " + " ".join(f"{name}={value}" for name, value in values.items())


def warm_seconds() -> float:
    """What `compile_seconds` gives in a second process, with the cache that the first one filled."""
    command = [sys.executable, __file__, "--warm"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise SystemExit(f"the second process failed:\n{result.stderr}")
    return float(result.stdout.split()[-1])


def main() -> None:
    """Run the demonstration, or with --warm the second process of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--warm", action="store_true", help="only compile, with a filled cache, and print the seconds")
    if parser.parse_args().warm:
        print(compile_seconds({})[0])
    else:
        print(run_demo())


if __name__ == "__main__":
    main()
