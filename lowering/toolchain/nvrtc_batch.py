"""Many CUDA texts through NVRTC at once, in worker processes, since the library need not survive every candidate."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait

from ...dialects.errors import ToolchainError
from .nvrtc import CudaBinary, CudaJob, cached_binary, compile_cuda, store_binary
from .object_cache import ObjectCache

Result = CudaBinary | ToolchainError


def _serve(connection: Connection[Result, CudaJob | None]) -> None:
    """The loop of a worker: a job in, its result out, until None."""
    while (job := connection.recv()) is not None:
        try:
            result: Result = compile_cuda(job.source, arch=job.arch, form=job.form, reject=False)
        except ToolchainError as error:
            # Built anew, since an exception with keyword arguments does not survive pickling; the message has it all.
            result = ToolchainError(error.message)
        connection.send(result)


class _Worker:
    """A process and the index of the job it has; `deadline` is when it has used its time up."""

    def __init__(self) -> None:
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()
        self.index = -1
        self.deadline = 0.0
        self.usable = True

    def give(self, index: int, job: CudaJob, time_limit_s: float) -> None:
        self.index, self.deadline = index, time.monotonic() + time_limit_s
        self.connection.send(job)

    def result(self, now: float, time_limit_s: float) -> Result | None:
        """What became of the job, or None while it runs. After a crash or a time-out the worker is of no more use."""
        if self.connection.poll():
            try:
                return self.connection.recv()
            except (EOFError, ConnectionResetError):
                self.usable = False
                return ToolchainError("NVRTC crashed on this text", hint="report it with the source")
        if now >= self.deadline:
            self.usable = False
            return ToolchainError(
                f"NVRTC did not finish this text within {time_limit_s:g} s", hint="use a smaller kernel"
            )
        return None

    def stop(self) -> None:
        self._process.kill()
        self._process.join()
        self.connection.close()


def compile_cuda_batch(
    jobs: Iterable[CudaJob],
    *,
    cache: ObjectCache | None = None,
    workers: int | None = None,
    time_limit_s: float = 120.0,
) -> list[CudaBinary | ToolchainError]:
    """The results in the order of `jobs`, `workers` (default: one a core) at a time. A text that is refused, that kills
    the compiler, or that takes longer than `time_limit_s` has its error in place of a binary; the others are not
    touched. Kernels with problems are kept: see `CudaBinary.problems`."""
    listed = list(jobs)
    results: dict[int, Result] = {}
    for index, job in enumerate(listed):
        if (binary := cached_binary(job, cache)) is not None:
            results[index] = binary
    missing = {index: job for index, job in enumerate(listed) if index not in results}
    for index, result in _run(missing, workers or os.cpu_count() or 1, time_limit_s):
        results[index] = result
        if isinstance(result, CudaBinary):
            store_binary(listed[index], result, cache)
    return [results[index] for index in range(len(listed))]


def _run(jobs: Mapping[int, CudaJob], workers: int, time_limit_s: float) -> Iterator[tuple[int, Result]]:
    """Results as they come. A worker that crashed or was too slow is replaced while there is work for it."""
    waiting = list(jobs.items())[::-1]
    busy: list[_Worker] = []
    idle = [_Worker() for _ in range(min(workers, len(waiting)))]
    try:
        while waiting or busy:
            while waiting and idle:
                busy.append(idle.pop())
                busy[-1].give(*waiting.pop(), time_limit_s)
            pause = min(worker.deadline for worker in busy) - time.monotonic()
            wait([worker.connection for worker in busy], max(pause, 0.0))
            now = time.monotonic()
            for worker in list(busy):
                result = worker.result(now, time_limit_s)
                if result is None:
                    continue
                if worker.usable:
                    idle.append(worker)
                else:
                    worker.stop()
                    idle += [_Worker()] if waiting else []
                busy.remove(worker)
                yield worker.index, result
    finally:
        for worker in (*busy, *idle):
            worker.stop()
