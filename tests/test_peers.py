"""The harness of benchmarks/peers.py: what it counts, and that no run is lost."""

import importlib
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sympy

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
x = sympy.Symbol("x")


@pytest.fixture
def load(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Return the name of a data set whose target is a line."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(target=2 * X[:, 0] + 1)
    table.to_csv(tmp_path / "line.tsv.gz", sep="\t", index=False)
    monkeypatch.setenv("SYMGRAD_DATA", str(tmp_path))
    return "line"


@pytest.mark.parametrize(
    ("expression", "nodes"),
    [
        (x, 1),
        (1.0001 * x, 1),
        (1.5 * x + 0.25, 5),
        (0.0002 * x, 3),  # small, but a term
        (x**2.0003, 3),
        (x / sympy.sin(x), 6),  # a product with a power of -1
    ],
)
def test_size_counts_nodes_of_the_rounded_expression(load, expression, nodes):
    module = load("size")
    assert module.size(module.shorten(expression)) == nodes


def test_a_formula_that_takes_too_long_has_no_size(load):
    result = load("size").measure(signal.pause, 0.05)
    assert "size" not in result
    assert "TimeoutError" in result["error"]


def test_undefined_predictions_are_the_mean_and_clipping_is_to_the_training_range(load):
    module, adapters = load("one_run"), load("adapters")
    y, X = np.array([0.0, 1.0, 2.0]), np.zeros((3, 1))
    undefined = adapters.Model(lambda X: np.full(len(X), np.nan))
    far = adapters.Model(lambda X: np.array([-5.0, 1.0, 9.0]))
    assert module.scores(undefined, (X, X, y, y))["test_r2"] == 0
    scores = module.scores(far, (X, X, y, y))
    assert scores["test_r2"] < 0
    assert scores["test_r2_clipped"] == 1


def peers(folder, *options):
    command = [sys.executable, BENCHMARKS / "peers.py", "--results", folder / "r.csv", *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_runs_are_done_once(data, tmp_path):
    options = ("--methods", "lasso", "--datasets", data, "--seeds", "1", "--threads", "1")
    peers(tmp_path, *options)
    (row,) = pd.read_csv(tmp_path / "r.csv").to_dict("records")
    assert row["status"] == "ok"
    assert row["test_r2"] > 0.99
    assert row["features"] >= 1
    assert peers(tmp_path, *options) == ""
    assert "lasso" in peers(tmp_path, "--table")


def test_a_run_that_fails_is_a_row(load, data):
    module = load("peers")
    (row,) = module.Runner().run(module.Job(("lasso",), "nowhere", 0, 1.0, 1))
    assert row["status"] == "crash"
    assert "nowhere" in row["error"]


def test_a_run_that_does_not_end_is_killed(load, data):
    module = load("peers")
    (row,) = module.Runner().run(module.Job(("symgrad",), data, 0, -19.99, 1))  # limit 0.03 s
    assert row["status"] == "timeout"


def test_a_method_without_results_ranks_last(load):
    rows = pd.DataFrame(
        {
            "dataset": "d",
            "method": ["lasso", "forest", "boosting"],
            "status": ["ok", "ok", "crash"],
            "test_r2": [0.5, 0.7, np.nan],
            "size": [3, np.nan, np.nan],
            "features": [1, np.nan, np.nan],
            "seconds_taken": [1.0, 1.0, np.nan],
        }
    )
    table, ranked = load("tables").summary(rows, "test_r2")
    assert ranked == 1
    assert table["mean rank"].to_dict() == {"lasso": "2.00", "forest": "1.00", "boosting": "3.00"}
    assert table["wins"].to_dict() == {"lasso": "0", "forest": "1", "boosting": "0"}
