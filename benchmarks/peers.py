"""symgrad against other regression methods: data sets x methods x seeds, one process per run.

    python benchmarks/peers.py --methods symgrad,operon --datasets paper --seeds 10 --seconds 10
    python benchmarks/peers.py --table

`--datasets` is "paper", "other" (all else in the data folder), or names, those of needles.py
included. Every method gets the
same parts (75 % to train, 25 % to test, drawn by the seed), seconds and threads; its settings are
in adapters.py. A prediction that is not finite is replaced by the mean of the training target.
`test_r2` is the R2 of the predictions as they are, `test_r2_clipped` of those clipped to the range
of the training target. How size is counted is said in size.py.

Rows are appended to results/peers.csv; runs that are there already are skipped. A run that is not
over after 3 x seconds + 60 (or ten minutes, if the method knows no budget) is killed. That and a
crash are rows too, with a status and a message, and are tried again with --retry; the last row of
a run counts. Compare versions with --results.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from adapters import BY_METHOD
from problems import datasets, folder, is_needles
from tables import SCORES, markdown, table

HERE = Path(__file__).resolve().parent
KEY = ["method", "dataset", "seed", "seconds", "threads"]
COLUMNS = [
    *KEY, "version", "train_r2", "test_r2", "test_r2_clipped", "size", "features",
    "seconds_taken", "expression", "status", "error", "commit", "machine",
]  # fmt: skip
THREAD_VARIABLES = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM")
UNTIMED_LIMIT = 600.0


class Job(NamedTuple):
    """One process: the methods of one fit on one part of one data set."""

    methods: tuple[str, ...]
    dataset: str
    seed: int
    seconds: float
    threads: int

    def key(self, method: str) -> tuple[Any, ...]:
        """Return what tells the run of a method from others."""
        return (method, *self[1:])


class Runner:
    """Runs jobs in processes that can all be stopped."""

    def __init__(self) -> None:
        self.live: set[subprocess.Popen[bytes]] = set()
        self.stopped = threading.Event()
        self.where = {"commit": commit(), "machine": machine()}

    def run(self, job: Job) -> list[dict[str, Any]]:
        """Return a row for each method of the job, whatever happens."""
        with tempfile.TemporaryDirectory() as temporary:
            out, log = Path(temporary, "rows.json"), Path(temporary, "log")
            status, error = self.process(job, out, log)
            found: dict[str, dict[str, Any]] = {}
            if out.exists():
                found = json.loads(out.read_text(encoding="utf-8"))
        rows = []
        for method in job.methods:
            row = dict(zip(KEY, job.key(method), strict=True)) | self.where
            failed = {"status": status, "error": error}
            rows.append(row | ({"status": "ok"} | found[method] if method in found else failed))
        return rows

    def process(self, job: Job, out: Path, log: Path) -> tuple[str, str]:
        """Run a job; return its status and the last words of a failed one."""
        if self.stopped.is_set():
            return "stopped", ""
        limit = 3 * job.seconds + 60 if BY_METHOD[job.methods[0]].timed else UNTIMED_LIMIT
        threads = {f"{name}_NUM_THREADS": str(job.threads) for name in THREAD_VARIABLES}
        command = [sys.executable, str(HERE / "one_run.py"), job.methods[0]]
        command += [*map(str, job[1:]), str(out)]
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
                code = child.wait(limit)
            except subprocess.TimeoutExpired:
                return "timeout", f"killed after {limit:g} s"
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
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def commit() -> str:
    """Return the commit of this project, with a + if there are changes."""
    git = ["git", "-C", str(HERE)]
    try:
        head = subprocess.check_output([*git, "rev-parse", "--short", "HEAD"], text=True)
        changed = subprocess.check_output([*git, "status", "--porcelain"], text=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head.strip() + ("+" if changed else "")


def machine() -> str:
    """Return processor and number of cores."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        name = platform.processor() or platform.machine()
    return f"{name}, {os.cpu_count()} cores"


def last_rows(results: Path) -> pd.DataFrame:
    """Return the last row of every run."""
    rows: pd.DataFrame = pd.DataFrame(columns=COLUMNS)
    if results.exists():
        rows = pd.read_csv(results, dtype={"dataset": str, "seconds": float})
        rows = rows.drop_duplicates(KEY, keep="last")
    return rows


def jobs(o: argparse.Namespace, problems: Iterable[tuple[str, float]]) -> list[Job]:
    """Return the jobs that are still to do: data sets and seconds, with all methods and seeds."""
    rows = last_rows(o.results)
    if o.retry:
        rows = rows[rows["status"] == "ok"]
    done = set(rows[KEY].itertuples(index=False, name=None))
    for name in o.methods.split(","):
        if name not in BY_METHOD:
            raise SystemExit(f"unknown method {name!r}; the known ones are {', '.join(BY_METHOD)}")
    fits = list(dict.fromkeys(BY_METHOD[name] for name in o.methods.split(",")))
    todo = []
    for dataset, seconds in problems:
        for seed in range(o.first_seed, o.first_seed + o.seeds):
            for fit in fits:
                job = Job(fit.methods, dataset, seed, seconds, o.threads)
                left = tuple(m for m in fit.methods if job.key(m) not in done)
                if left:
                    todo.append(job._replace(methods=left))
    return todo


def words(row: dict[str, Any]) -> str:
    """Return a row in short."""
    what = f"{row['method']}, {row['dataset']}, seed {row['seed']}"
    if row["status"] != "ok":
        return f"{what}: {row['status']}: {row['error']}"
    cost = f"size {row['size']}, " if "size" in row else ""
    return f"{what}: R2 {row['test_r2']:.3f}, {cost}{row['seconds_taken']:.1f} s"


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--methods", default=",".join(BY_METHOD))
    parser.add_argument("--datasets", default="paper")
    parser.add_argument("--seeds", type=int, default=10, help="number of seeds")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=10.0, help="budget of one run")
    parser.add_argument("--threads", type=int, default=2, help="threads of one run")
    parser.add_argument("--processes", type=int, default=1, help="runs at the same time")
    parser.add_argument("--results", type=Path, default=Path("results/peers.csv"))
    parser.add_argument("--retry", action="store_true", help="try failed runs again")
    parser.add_argument("--table", action="store_true", help="print the results and stop")
    parser.add_argument("--markdown", type=Path, help="write the results to a file and stop")
    parser.add_argument("--score", choices=SCORES, default=SCORES[0], help="for the tables")
    return parser.parse_args()


def run(todo: list[Job], results: Path, processes: int, columns: list[str]) -> None:
    """Do the jobs and append their rows to the results."""
    runner = Runner()
    results.parent.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(processes) as pool, results.open("a", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        if not file.tell():
            writer.writeheader()
        try:
            for i, future in enumerate(as_completed(pool.submit(runner.run, j) for j in todo)):
                for row in future.result():
                    writer.writerow(row)
                    file.flush()
                    print(f"{i + 1}/{len(todo)} {words(row)}", flush=True)
        except KeyboardInterrupt:
            runner.stop()
            raise SystemExit("stopped; the same command goes on from here") from None


def main() -> None:
    o = options()
    if o.table or o.markdown:
        rows = last_rows(o.results)
        if o.table:
            table(rows, o.score)
        if o.markdown:
            o.markdown.write_text(markdown(rows, o.score), encoding="utf-8")
        return
    names = datasets(o.datasets)
    if not all(map(is_needles, names)):
        folder()
    run(jobs(o, [(name, o.seconds) for name in names]), o.results, o.processes, COLUMNS)


if __name__ == "__main__":
    main()
