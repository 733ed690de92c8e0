"""Checkpoints: the same result after any interruption, and clear refusals."""

import json
import os
import pickle
import random
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import symgrad
from symgrad import DGPRegressor, estimator
from symgrad.data.dataset import Dataset
from symgrad.dgp.optimization import Optimization
from symgrad.evolution.constraints import Constraints
from symgrad.evolution.diversification import Diversification
from symgrad.evolution.islands import Islands
from symgrad.search import checkpoint
from symgrad.search.base import Budget, run
from symgrad.search.checkpoint import Checkpoint
from symgrad.search.gp import GP
from symgrad.search.guided import GuidedDGP

SMALL = Islands(islands=2, population=40, generations=2)


def table(rows=80, noise=0.01):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(rows, 4)), columns=["a", "b", "c", "d"])
    return X, X["a"] * X["b"] + np.sin(X["c"]) + noise * rng.normal(size=rows)


def quick(**changes):
    settings = {"max_evaluations": 2000, "random_state": 0, "islands": SMALL}
    return DGPRegressor(**(settings | changes))


@pytest.fixture
def file(tmp_path):
    return tmp_path / "run.ckpt"


@pytest.fixture
def written(file):
    quick().fit(*table(), checkpoint=file)
    return file


def same(a, b):
    assert a.equations_.equals(b.equations_)
    assert a.tree_.code.tobytes() == b.tree_.code.tobytes()
    assert a.tree_.value.tobytes() == b.tree_.value.tobytes()
    assert (a.n_iter_, a.n_evaluations_) == (b.n_iter_, b.n_evaluations_)
    assert a.history_.drop(columns="seconds").equals(b.history_.drop(columns="seconds"))
    assert a.history_["seconds"].is_monotonic_increasing


SEARCHES = {
    "default": GuidedDGP(islands=SMALL),
    "gp": GP(diversification=Diversification(population=50)),
}


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("noise", [0.01, 0.5])
def test_a_state_is_read_back_as_it_was_at_every_iteration(file, name, noise):
    search, budget, seen = SEARCHES[name], Budget(iterations=8), []
    X, y = table(noise=noise)
    data = Dataset(X, y, dtype=np.float64)

    def watch(state):
        Checkpoint(file, search, budget, data, 0).write(state)
        seen.append(Checkpoint(file, search, budget, data, 0).state(data.names))
        assert parts(seen[-1]) == parts(state)

    end = run(search, data, budget, np.random.default_rng(0), watch)
    if name == "default":
        assert (end.laws is not None) == (noise < 0.1)
    for state in seen[::3]:
        again = run(search, data, budget, state)
        again, whole = parts(again), parts(end)
        again.pop("seconds"), whole.pop("seconds")
        assert again == whole


def parts(state):
    """Return all that a state holds, as bytes and numbers."""
    found = {}
    for name, value in sorted(vars(state).items()):
        if name == "rng":
            found[name] = repr(value.bit_generator.state)
        elif name == "front":
            found[name] = [
                (size, e.loss, e.tree.code.tobytes(), e.tree.value.tobytes())
                for size, e in sorted(value.best.items())
            ]
            found["sets"] = [value.best[k].tree.primitives.specs for k in sorted(value.best)]
        elif hasattr(value, "offset"):
            arrays = (value.code, value.value, value.offset)
            found[name] = [*(a.tobytes() for a in arrays), value.primitives.specs]
        else:
            found[name] = value.tobytes() if isinstance(value, np.ndarray) else repr(value)
    return found


PROGRAM = """
    import sys
    import numpy as np
    from symgrad import DGPRegressor
    from symgrad.evolution.islands import Islands
    from symgrad.search import checkpoint

    checkpoint.INTERVAL = 0.0  # after every iteration
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 8))
    y = X[:, 0] * X[:, 1] + np.sin(X[:, 2]) + 0.01 * rng.normal(size=800)
    est = DGPRegressor(
        max_evaluations=60_000, random_state=0, n_jobs=1,
        islands=Islands(islands=2, population=50, generations=2),
    )
    print("ready", flush=True)
    est.fit(X, y, checkpoint=sys.argv[1] if len(sys.argv) > 2 else None)
    est.save(sys.argv[-1])
"""


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_run_that_is_killed_at_any_moment_ends_as_if_it_had_not_been(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM))
    whole, again, file = tmp_path / "whole.json", tmp_path / "again.json", tmp_path / "run.ckpt"
    subprocess.run([sys.executable, program, whole], check=True)
    moments, killed = random.Random(0), 0
    while not again.exists():
        process = subprocess.Popen([sys.executable, program, file, again], stdout=subprocess.PIPE)
        process.stdout.readline()
        if killed < 3:
            time.sleep(moments.uniform(0.0, 0.3))
            process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        process.stdout.close()
    assert killed >= 2
    a, b = (json.loads(file.read_text()) for file in (again, whole))
    for step in a["history"] + b["history"]:
        del step["seconds"]
    assert a == b
    same(symgrad.load(again), symgrad.load(whole))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"loss": "absolute"},
        {"primitives": ["+", "*", "gauss(x) = exp(-x*x)"]},
        {"constraints": Constraints(exclude=["d"], nesting={"sin": ["sin"]})},
        {
            "preset": "paper", "islands": None,
            "diversification": Diversification(population=50),
            "optimization": Optimization(epochs=5, trees=5),
        },
    ],
    ids=["default", "absolute", "primitives", "constraints", "paper"],
)  # fmt: skip
def test_an_estimator_goes_on_from_any_state(file, settings, monkeypatch):
    monkeypatch.setattr(checkpoint, "INTERVAL", 0.0)
    states, write = [], Checkpoint.write

    def kept(self, state):
        write(self, state)
        states.append(file.read_bytes())

    monkeypatch.setattr(Checkpoint, "write", kept)
    plain = quick(**settings).fit(*table())
    same(quick(**settings).fit(*table(), checkpoint=file), plain)
    assert len(states) >= 3
    for state in (states[0], states[len(states) // 2]):
        file.write_bytes(state)
        same(quick(n_jobs=1, **settings).fit(*table(), checkpoint=file), plain)


def test_a_finished_run_returns_at_once_and_removes_nothing(written, monkeypatch):
    whole = quick().fit(*table())

    def step(*_):
        raise AssertionError("there is nothing left to do")

    monkeypatch.setattr(GuidedDGP, "step", step)
    same(quick().fit(*table(), checkpoint=written), whole)
    assert [p.name for p in written.parent.iterdir()] == [written.name]


def test_without_a_seed_the_one_of_the_file_is_taken(file):
    one = quick(random_state=None).fit(*table(), checkpoint=file)
    two = quick(random_state=None).fit(*table(), checkpoint=file)
    same(one, two)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"max_size": 40}, "max_size was 68, is 40"),
        ({"max_evaluations": 3000}, "max_evaluations was 2000, is 3000"),
        ({"time_limit": 7}, "time_limit was None, is 7"),
        ({"islands": Islands(islands=3)}, "islands.islands was 2, is 3"),
        ({"loss": "huber"}, "loss.name was squared, is huber"),
        ({"random_state": 1}, "random_state is another"),
        ({"primitives": ["+", "*"]}, "primitives was .*, is .*"),
        ({"preset": "paper", "islands": None}, "preset was default, is paper"),
        ({"constraints": Constraints(require=["a"])}, "constraints.require was .*, is a"),
    ],
)
def test_other_settings_are_named(written, changes, sentence):
    before = written.read_bytes()
    with pytest.raises(ValueError, match=sentence):
        quick(**changes).fit(*table(), checkpoint=written)
    assert written.read_bytes() == before


def other_cell(X, y):
    X.loc[3, "c"] += 1e-12


def other_target(X, y):
    y[3] += 1e-12


def other_rows(X, y):
    X.loc[[3, 4], "c"] = X.loc[[4, 3], "c"].to_numpy()


def other_name(X, y):
    X.columns = ["a", "b", "e", "d"]


def other_order(X, y):
    X.insert(0, "d", X.pop("d"))


def new_column(X, y):
    X["e"] = 1.0


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (other_cell, "other values in column 'c'"),
        (other_target, "the target has other values"),
        (other_rows, "the same values in other rows"),
        (other_name, "no column 'c'"),
        (other_order, "in another order"),
        (new_column, "a new column 'e'"),
    ],
)
def test_other_data_are_named(written, change, sentence):
    X, y = table()
    change(X, y)
    with pytest.raises(ValueError, match=sentence):
        quick().fit(X, y, checkpoint=written)


def test_other_weights_and_rows_are_named(written):
    X, y = table()
    with pytest.raises(ValueError, match="weights"):
        quick().fit(X, y, np.arange(len(y)) + 1.0, checkpoint=written)
    with pytest.raises(ValueError, match="had 80 different rows, and have 79"):
        quick().fit(X[1:], y[1:], checkpoint=written)


def test_sparse_data(file, monkeypatch):
    monkeypatch.setattr(estimator, "MERGE_LIMIT", 0)  # small ones are made dense
    X, y = table()
    X = sparse.csc_array(X.to_numpy() * (X > 0).to_numpy())
    whole = quick().fit(X, y)
    same(quick().fit(X, y, checkpoint=file), whole)
    same(quick().fit(X, y, checkpoint=file), whole)
    other = X.copy()
    other.data[-1] += 1
    with pytest.raises(ValueError, match="other values in column 'x3'"):
        quick().fit(other, y, checkpoint=file)


def test_the_order_of_the_rows_does_not_matter(written):
    X, y = table()
    same(quick().fit(X[::-1], y[::-1], checkpoint=written), quick().fit(X, y))


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_truncated_file_is_refused(written, share):
    data = written.read_bytes()
    written.write_bytes(data[: int(share * len(data))])
    with pytest.raises(ValueError, match=r"run\.ckpt is no checkpoint, or a damaged one"):
        quick().fit(*table(), checkpoint=written)


def test_a_damaged_byte_is_found_or_does_not_matter(written):
    data, places, refused = written.read_bytes(), random.Random(0), 0
    whole = quick().fit(*table())
    for _ in range(40):
        place = places.randrange(len(data))
        written.write_bytes(data[:place] + bytes([data[place] ^ 64]) + data[place + 1 :])
        try:
            same(quick().fit(*table(), checkpoint=written), whole)
        except ValueError:
            refused += 1
    assert refused >= 20


class Bomb:
    def __reduce__(self):
        return exec, ("raise SystemExit('code was run')",)


def foreign(name, file):
    if name == "pickle":
        file.write_bytes(pickle.dumps(Bomb()))
    elif name == "objects":
        with open(file, "wb") as out:
            np.savez(out, header=np.array([Bomb()], object))
    elif name == "array":
        with open(file, "wb") as out:
            np.save(out, np.zeros(3))
    elif name == "archive":
        with open(file, "wb") as out:
            np.savez(out, header=np.frombuffer(json.dumps({"format": "x"}).encode(), np.uint8))
    else:
        file.write_text("a,b\n1,2\n")


@pytest.mark.parametrize("name", ["pickle", "objects", "array", "archive", "text"])
def test_a_foreign_file_is_refused_and_left_alone(file, name):
    foreign(name, file)
    before = file.read_bytes()
    with pytest.raises(ValueError, match="is no checkpoint, or a damaged one"):
        quick().fit(*table(), checkpoint=file)
    assert file.read_bytes() == before


def test_what_a_killed_run_leaves_behind_does_not_matter(written):
    written.with_name("run.ckpt.tmp").write_bytes(b"half a file")
    same(quick().fit(*table(), checkpoint=written), quick().fit(*table()))


def test_a_failed_write_leaves_the_old_file(written, monkeypatch):
    before = written.read_bytes()

    def full(*_, **__):
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="no space"):
        quick().fit(*table(), checkpoint=written)
    assert written.read_bytes() == before
    assert [p.name for p in written.parent.iterdir()] == [written.name]


def test_states_are_written_as_often_as_it_is_cheap(file, monkeypatch):
    now, count = [0.0], []
    monkeypatch.setattr(checkpoint.time, "perf_counter", lambda: now[0])
    X, y = table()
    data = Dataset(X, y, dtype=np.float64)
    store = Checkpoint(file, GP(), Budget(), data, 0)
    state = GP(diversification=Diversification(population=10)).init(
        np.random.default_rng(0), data, Budget()
    )
    write = Checkpoint.write

    def slow(self, state):
        write(self, state)
        self._cost = cost
        count.append(now[0])

    monkeypatch.setattr(Checkpoint, "write", slow)
    for cost in (0.02, 10.0):
        count.clear()
        store._written, store._cost = -np.inf, 0.0
        for _ in range(80):
            now[0] += 1.0
            store(state)
        gaps = np.diff(count)
        assert (gaps == min(30.0, cost * 100)).all()
        assert gaps.size
