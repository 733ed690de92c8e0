"""The harness: no run is lost, none is done twice, none is left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from symgrad.bench import harness
from symgrad.bench.adapters import BY_METHOD
from symgrad.bench.harness import COLUMNS, Job, Part, Runner, jobs, last_rows, run
from symgrad.bench.task import Limit

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs process groups")

TINY = "product d=10 n=40"


def job(method="lasso", problem=TINY, seed=0):
    return Job((method,), problem, seed, Limit(1), 1)


def program(text):
    """Return a program that is run instead of a method; its last argument is the file for rows."""
    return (sys.executable, "-c", text)


GOOD = program(
    "import json, sys\n"
    "row = {'test_r2': 0.5, 'seconds': 1}\n"
    "json.dump({sys.argv[1]: row}, open(sys.argv[-1], 'w'))\n"
)


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rsplit(")")[-1].split()[0] != "Z"


def test_a_run_is_a_row():
    (row,) = Runner().run(job())
    assert row["status"] == "ok"
    assert row["version"].startswith("scikit-learn ")
    assert set(row) <= set(COLUMNS)
    assert row["features"] >= 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("raise ValueError('no luck')", "ValueError: no luck"),
        ("import os; os.abort()", "SIGABRT"),
        ("raise SystemExit(3)", "exit status 3"),
    ],
)
def test_a_crash_is_a_row(text, words):
    (row,) = Runner(program=program(text)).run(job())
    assert row["status"] == "crash"
    assert words in row["error"]
    assert (row["method"], row["problem"], row["seed"]) == ("lasso", TINY, 0)


def test_a_hang_is_killed_with_all_that_it_started(tmp_path):
    note = tmp_path / "pid"
    text = (
        "import subprocess, sys, time\n"
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(note)!r}, 'w').write(str(p.pid)); time.sleep(60)"
    )
    start = time.perf_counter()
    (row,) = Runner(deadline=1.0, program=program(text)).run(job())
    assert time.perf_counter() - start < 10
    assert row["status"] == "timeout"
    assert row["error"] == "killed after 1 s"
    deadline = time.perf_counter() + 5
    while alive(int(note.read_text())):
        assert time.perf_counter() < deadline
        time.sleep(0.02)


def test_what_was_measured_before_a_crash_counts():
    text = GOOD[2] + "raise SystemExit(1)"
    (row,) = Runner(program=program(text)).run(job())
    assert (row["status"], row["test_r2"]) == ("ok", 0.5)


def test_methods_are_limited_to_their_threads():
    text = "import os, sys; sys.exit(os.environ['OMP_NUM_THREADS'] + ' threads')"
    (row,) = Runner(program=program(text)).run(job()._replace(threads=3))
    assert row["error"] == "3 threads"


def test_deadlines_follow_the_limits():
    assert job("symgrad")._replace(limit=Limit(10)).deadline == 90
    assert job("symgrad")._replace(limit=Limit(evaluations=5)).deadline == harness.BY_EVALUATIONS
    assert job("lasso").deadline == harness.UNLIMITED


def todo(results, retry=False, seeds=2):
    rows = last_rows(results)
    if retry:
        rows = rows[rows["status"] == "ok"]
    adapters = [BY_METHOD["lasso"], BY_METHOD["operon"]]
    return jobs(adapters, [Part(TINY, Limit(1), seeds), Part("S1", Limit(1), seeds)], 1, 0, rows)


def test_a_stopped_benchmark_goes_on(tmp_path, capsys):
    results = tmp_path / "deep" / "rows.csv"
    every = todo(results)
    assert [(j.seed, j.problem, j.methods[0]) for j in every][:3] == [
        (0, TINY, "lasso"),
        (0, TINY, "operon"),  # methods take turns
        (0, "S1", "lasso"),
    ]
    run(every[:3], results, 2, Runner(program=GOOD))
    assert "3/3 " in capsys.readouterr().err
    rows = last_rows(results)
    assert len(rows) == 4  # one fit of Operon gives two methods
    assert (rows["status"] == "ok").sum() == 3  # of which this program knows one
    left = todo(results)
    assert len(left) == 5
    with results.open("a") as file:
        file.write("lasso,S1,7,half a li")  # the machine was switched off
    run(left, results, 2, Runner(program=program("raise ValueError('no luck')")))
    assert todo(results) == []
    rows = last_rows(results)
    assert len(rows) == 12
    assert (rows["status"] == "crash").sum() == 9
    assert len(todo(results, retry=True)) == 6  # Operon's second method failed at first
    run(todo(results, retry=True), results, 2, Runner(program=GOOD))
    assert len(last_rows(results)) == 12  # the last row of a run counts


def test_rows_of_other_benchmarks_are_refused(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="other columns"):
        last_rows(tmp_path / "rows.csv")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_behind_when_it_is_stopped(tmp_path, number):
    note, results = tmp_path / "pid", tmp_path / "rows.csv"
    hang = f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    script = (
        "import sys; from pathlib import Path\n"
        "from symgrad.bench.harness import *\n"
        "from symgrad.bench.task import Limit\n"
        f"job = Job(('lasso',), {TINY!r}, 0, Limit(1), 1)\n"
        f"hang = (sys.executable, '-c', {hang!r})\n"
        f"run([job], Path({str(results)!r}), 1, Runner(program=hang))\n"
    )
    child = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    deadline = time.perf_counter() + 20
    while not (note.exists() and note.read_text()):
        assert time.perf_counter() < deadline
        time.sleep(0.05)
    child.send_signal(number)
    assert child.wait(10) != 0
    assert not alive(int(note.read_text()))
    assert last_rows(results).empty  # to be done again


def test_the_commit_is_that_of_this_project(monkeypatch, tmp_path):
    monkeypatch.setattr(harness, "__file__", str(tmp_path / "harness.py"))
    assert harness.commit() == "unknown"


def test_the_machine_is_named_with_its_gpu(monkeypatch, tmp_path):
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho Some GPU\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert harness.machine().endswith("cores, Some GPU")


def test_empty_results_have_all_columns(tmp_path):
    assert list(last_rows(tmp_path / "none.csv").columns) == COLUMNS
    assert isinstance(last_rows(tmp_path / "none.csv"), pd.DataFrame)
