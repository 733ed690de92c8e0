"""Problems x methods x seeds: one process per run, every run a row, rows in one file.

Every method gets the same rows, the same budget and threads. A run that crashes is a row with the
status "crash" and its last words; one that is not over in time is killed, with all that it started,
and is a row with the status "timeout". Runs whose rows are in the file are not done again, unless
they failed and are to be retried; the last row of a run counts.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from symgrad.bench.adapters import BY_METHOD
from symgrad.bench.task import Adapter, Limit

KEY = ["method", "problem", "seed", "budget", "threads"]
COLUMNS = [
    *KEY, "version", "split", "train_r2", "test_r2", "test_r2_clipped", "test_rmse", "size",
    "depth", "features", "nodes", "seconds", "evaluations", "found", "recovered", "expression",
    "used", "status", "error", "commit", "machine",
]  # fmt: skip
THREAD_VARIABLES = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM")
PROGRAM = (sys.executable, "-m", "symgrad.bench.one_run")
UNLIMITED, BY_EVALUATIONS = 600.0, 7200.0
"""Seconds after which runs are killed that know no limit, or one in evaluations."""


class Part(NamedTuple):
    """A problem with the limit of a run and the number of seeds."""

    problem: str
    limit: Limit
    seeds: int


class Job(NamedTuple):
    """One process: the methods of one fit on one problem."""

    methods: tuple[str, ...]
    problem: str
    seed: int
    limit: Limit
    threads: int

    def key(self, method: str) -> tuple[Any, ...]:
        """Return what tells the run of a method from others."""
        return (method, self.problem, self.seed, str(self.limit), self.threads)

    @property
    def deadline(self) -> float:
        """Seconds after which the run is killed."""
        if not BY_METHOD[self.methods[0]].limited:
            return UNLIMITED
        return BY_EVALUATIONS if self.limit.seconds is None else 3 * self.limit.seconds + 60


class Runner:
    """Runs jobs in processes that can all be stopped."""

    def __init__(self, deadline: float | None = None, program: Iterable[str] = PROGRAM) -> None:
        self.live: set[subprocess.Popen[bytes]] = set()
        self.stopped = threading.Event()
        self.deadline = deadline
        self.program = program
        self.where = {"commit": commit(), "machine": machine()}

    def run(self, job: Job) -> list[dict[str, Any]]:
        """Return a row for each method of the job, whatever happens."""
        with tempfile.TemporaryDirectory() as temporary:
            out, log = Path(temporary, "rows.json"), Path(temporary, "log")
            status, error = self.process(job, out, log)
            found: dict[str, dict[str, Any]] = {}
            if out.exists():
                found = json.loads(out.read_text(encoding="utf-8"))
        same = self.where | {"version": BY_METHOD[job.methods[0]].version}
        failed = {"status": status, "error": error}
        return [
            dict(zip(KEY, job.key(method), strict=True))
            | same
            | ({"status": "ok"} | found[method] if method in found else failed)
            for method in job.methods
        ]

    def process(self, job: Job, out: Path, log: Path) -> tuple[str, str]:
        """Run a job; return its status and the last words of a failed one."""
        if self.stopped.is_set():
            return "stopped", ""
        deadline = self.deadline or job.deadline
        threads = {f"{name}_NUM_THREADS": str(job.threads) for name in THREAD_VARIABLES}
        command = [*self.program, *map(str, job.key(job.methods[0])), str(out)]
        with log.open("wb") as file:
            child = subprocess.Popen(
                command,
                env=os.environ | threads,
                stdout=file,
                stderr=file,
                start_new_session=True,  # so that its own processes can be killed with it
            )
            self.live.add(child)
            try:
                code = child.wait(deadline)
            except subprocess.TimeoutExpired:
                return "timeout", f"killed after {deadline:g} s"
            finally:
                kill(child)
                self.live.discard(child)
        if self.stopped.is_set():
            return "stopped", ""
        last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
        reason = [signal.Signals(-code).name] if code < 0 else []
        return "crash", "; ".join([*reason, *last])[:500] or f"exit status {code}"

    def stop(self) -> None:
        """Kill all runs and start no more."""
        self.stopped.set()
        for child in list(self.live):
            kill(child)


def kill(child: subprocess.Popen[bytes]) -> None:
    """End a process with all that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
    child.wait()


def commit() -> str:
    """Return the commit of this project, with a + if there are changes."""
    git = ["git", "-C", str(Path(__file__).parent)]
    quiet: dict[str, Any] = {"stderr": subprocess.DEVNULL, "text": True}
    try:
        subprocess.check_output([*git, "ls-files", "--error-unmatch", Path(__file__).name], **quiet)
        head = subprocess.check_output([*git, "rev-parse", "--short", "HEAD"], **quiet)
        changed = subprocess.check_output([*git, "status", "--porcelain"], **quiet)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return str(head).strip() + ("+" if changed else "")


def machine() -> str:
    """Return processor, number of cores, and the GPU if NVIDIA's tools know of one."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        name = platform.processor() or platform.machine()
    asked = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    gpu = ""
    if shutil.which(asked[0]):
        gpu = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    return ", ".join([name, f"{os.cpu_count()} cores", *gpu.splitlines()])


def last_rows(results: Path) -> pd.DataFrame:
    """Return the last row of every run."""
    rows: pd.DataFrame = pd.DataFrame(columns=COLUMNS)
    if results.exists() and results.stat().st_size:
        rows = pd.read_csv(results, dtype={"problem": str, "used": str}, keep_default_na=True)
        if list(rows.columns) != COLUMNS:
            raise ValueError(
                f"{results} has other columns than these benchmarks; take another --out"
            )
        rows = rows.drop_duplicates(KEY, keep="last")
    return rows


def jobs(
    adapters: list[Adapter], parts: Iterable[Part], threads: int, first_seed: int,
    rows: pd.DataFrame,
) -> list[Job]:  # fmt: skip
    """Return what is not among the rows: seed by seed, so that methods take turns."""
    done = set(rows[KEY].itertuples(index=False, name=None))
    todo = []
    pairs = [(seed, part) for part in parts for seed in range(first_seed, first_seed + part.seeds)]
    for seed, part in sorted(pairs, key=lambda pair: pair[0]):
        for adapter in adapters:
            job = Job(adapter.methods, part.problem, seed, part.limit, threads)
            left = tuple(m for m in adapter.methods if job.key(m) not in done)
            if left:
                todo.append(job._replace(methods=left))
    return todo


def words(row: dict[str, Any]) -> str:
    """Return a row in short."""
    what = f"{row['method']}, {row['problem']}, seed {row['seed']}"
    if row["status"] != "ok":
        return f"{what}: {row['status']}: {row['error']}"
    cost = f"size {row['size']}, " if "size" in row else ""
    return f"{what}: R2 {row['test_r2']:.3f}, {cost}{row['seconds']:.1f} s"


def run(todo: list[Job], results: Path, processes: int, runner: Runner) -> None:
    """Do the jobs and append their rows to the results."""
    results.parent.mkdir(parents=True, exist_ok=True)
    _end_last_line(results)
    with (
        _stopped_by(signal.SIGTERM),
        ThreadPoolExecutor(processes) as pool,
        results.open("a", newline="", encoding="utf-8") as file,
        _shown(len(todo)) as show,
    ):
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore")
        if not file.tell():
            writer.writeheader()
        try:
            for future in as_completed([pool.submit(runner.run, job) for job in todo]):
                rows = future.result()
                writer.writerows(rows)
                file.flush()
                show([words(row) for row in rows])
        except BaseException:
            runner.stop()
            raise


@contextlib.contextmanager
def _shown(total: int) -> Iterator[Callable[[list[str]], None]]:
    """Give a way to tell of each finished run: above a bar in a terminal, else in plain lines."""
    console = Console(stderr=True, highlight=False)
    bar = Progress(
        TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        console=console, transient=True, disable=not console.is_terminal,
    )  # fmt: skip
    task = bar.add_task("runs", total=total)
    done = 0

    def show(lines: list[str]) -> None:
        nonlocal done
        done += 1
        for line in lines:
            text = f"{done}/{total} {line}"
            console.print(text, markup=False, soft_wrap=True)
        bar.advance(task)

    with bar:
        yield show


@contextlib.contextmanager
def _stopped_by(number: int) -> Iterator[None]:
    """Make an order to end what Ctrl-C is, so that no process is left behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(number, before)


def _end_last_line(results: Path) -> None:
    """Cut off a row that was not written to its end, when the machine was switched off."""
    if results.exists():
        text = results.read_bytes()
        if not text.endswith(b"\n"):
            results.write_bytes(text[: text.rfind(b"\n") + 1])
