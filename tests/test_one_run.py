import json

import numpy as np
import pytest

from symgrad.bench import one_run
from symgrad.bench.problems import Problem
from symgrad.bench.task import Adapter, Model, symbol


def test_undefined_predictions_are_the_mean_and_clipping_is_to_the_training_range():
    y, X = np.array([0.0, 1.0, 2.0]), np.zeros((3, 1))
    data = Problem(X, X, y, y)
    undefined = Model(lambda X: np.full(len(X), np.nan))
    far = Model(lambda X: np.array([-5.0, 1.0, 9.0]))
    assert one_run.scores(undefined, data)["test_r2"] == 0
    scores = one_run.scores(far, data)
    assert scores["test_r2"] < 0
    assert scores["test_r2_clipped"] == 1
    assert scores["test_rmse"] == pytest.approx(np.sqrt((25 + 49) / 3))


def run(monkeypatch, tmp_path, problem, expression):
    """Return the row of a method that always gives the same formula."""

    def fit(task):
        return {"fixed": Model(lambda X: X[:, 0], expression, evaluations=7)}

    monkeypatch.setitem(one_run.BY_METHOD, "fixed", Adapter(fit, ("fixed",)))
    out = tmp_path / "rows.json"
    one_run.main(["fixed", problem, "0", "5 s", "1", str(out)])
    return json.loads(out.read_text())["fixed"]


def test_a_row_has_what_was_measured(monkeypatch, tmp_path):
    row = run(monkeypatch, tmp_path, "product d=10 n=50", lambda: 1.5 * symbol(0))
    assert row["split"] == "50/1000"
    assert (row["size"], row["depth"], row["features"], row["evaluations"]) == (3, 1, 1, 7)
    assert row["found"] == "no"
    assert row["seconds"] >= 0


def test_a_formula_is_compared_with_the_one_looked_for(monkeypatch, tmp_path):
    import sympy

    right = sympy.sin(symbol(0)) + sympy.sin(symbol(1) ** 2)
    assert run(monkeypatch, tmp_path, "S4", lambda: right)["recovered"] == "yes"
    assert run(monkeypatch, tmp_path, "S4", lambda: right + 1)["recovered"] == "no"


def test_a_formula_that_sympy_cannot_write_costs_no_result(monkeypatch, tmp_path):
    def broken():
        raise RecursionError("too deep")

    row = run(monkeypatch, tmp_path, "S4", broken)
    assert "size" not in row
    assert row["error"] == "no size: RecursionError: too deep"
    assert np.isfinite(row["test_r2"])
