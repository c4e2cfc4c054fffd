"""Worker processes that run pairs and outlive none of a crash, a hang or an interrupt."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from .pairs import Pair, is_core
from .states import CRASHED, Result

HOME = Path(__file__).resolve().parents[1]
LIFE = 200
"""Pairs after which a worker is replaced: what torch and its caches hold grows with every compile."""


class Worker:
    """One process, started when it is first needed and again after it was stopped."""

    def __init__(self, setting: Any, limit: float):
        self.setting = setting
        self.limit = limit
        self.process: subprocess.Popen[bytes] | None = None
        self.log: IO[bytes] | None = None
        self.ran = 0

    def start(self) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HOME), os.environ.get("PYTHONPATH", "")])}
        environment.setdefault("OMP_NUM_THREADS", "1")
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 (closed by stop)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "opinfo.worker", json.dumps(asdict(self.setting))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=environment,
            start_new_session=True,  # an interrupt reaches the pool alone, which stops its workers
        )
        self.ran = 0
        assert self.process.stdout is not None
        if self.process.stdout.readline() != b"ready\n":
            self.process.wait()
            self.log.seek(0)
            raise RuntimeError(f"a worker cannot start:\n{self.log.read().decode(errors='replace')}")
        return self.process

    def run(self, pair: Pair) -> Result:
        """The pair's result; a process that ends or takes longer than the limit is one as well."""
        process = self.process or self.start()
        started = time.monotonic()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write((json.dumps(pair) + "\n").encode())
            process.stdin.flush()
        except BrokenPipeError:
            return self.lost(pair, started)
        ready, _, _ = select.select([process.stdout], [], [], self.limit)
        line = process.stdout.readline() if ready else b""
        if not line:
            return self.lost(pair, started, hung=not ready)
        self.ran += 1
        if self.ran >= LIFE:
            self.stop()
        return Result.of(json.loads(line))

    def lost(self, pair: Pair, started: float, *, hung: bool = False) -> Result:
        """The result of a pair that its process did not survive."""
        assert self.process is not None and self.log is not None
        seconds = round(time.monotonic() - started, 2)
        if hung:
            why = f"no answer within {self.limit:.0f} s"
        else:
            status = self.process.wait()
            self.log.seek(0)
            last = self.log.read().decode(errors="replace").strip().splitlines()[-1:]
            why = " ".join([f"the process ended with status {status}", *last])
        self.stop()
        return Result(*pair, CRASHED, why, core=is_core(pair[0]), seconds=seconds)

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            for stream in (self.process.stdin, self.process.stdout, self.log):
                if stream is not None:
                    stream.close()
        self.process = None


def run_all(
    pairs: Sequence[Pair],
    setting: Any,
    jobs: int,
    limit: float,
    report: Callable[[Result], None],
    budget: float | None = None,
) -> None:
    """Run the pairs in `jobs` workers; `report` is called with each result as it comes, never twice at once.

    No pair is started more than `budget` seconds after the first.
    """
    end = float("inf") if budget is None else time.monotonic() + budget
    waiting = list(reversed(pairs))
    lock = threading.Lock()
    stopping = threading.Event()
    workers = [Worker(setting, limit) for _ in range(min(jobs, len(pairs)))]
    failures: list[BaseException] = []

    def work(worker: Worker) -> None:
        try:
            while not stopping.is_set():
                with lock:
                    if not waiting or time.monotonic() > end:
                        return
                    pair = waiting.pop()
                result = worker.run(pair)
                with lock:
                    if not stopping.is_set():
                        report(result)
        except BaseException as error:  # handed to the caller below
            failures.append(error)

    threads = [threading.Thread(target=work, args=(worker,), daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    finally:
        stopping.set()
        for worker in workers:
            worker.stop()
    if failures:
        raise failures[0]
