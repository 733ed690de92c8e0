import json

import numpy as np
import pytest

from symgrad import DGPRegressor
from symgrad.dgp.optimization import Optimization
from symgrad.evolution.diversification import Diversification
from symgrad.evolution.islands import Islands
from symgrad.history import COLUMNS


def data():
    X = np.random.default_rng(0).normal(size=(80, 4))
    return X, 10 * X[:, 0] * X[:, 1] + np.random.default_rng(1).normal(size=80)


def check(est, y):
    history = est.history_
    assert tuple(history.columns) == COLUMNS
    assert history["evaluations"].is_monotonic_increasing
    assert history["seconds"].is_monotonic_increasing
    assert history["error"].is_monotonic_decreasing
    assert history["evaluations"].iloc[-1] == est.n_evaluations_
    # The search judges in other units and precision than the table of formulas.
    assert abs(history["error"].iloc[-1] - est.equations_["loss"].min() / np.var(y)) < 0.02


def test_the_default_search_is_recorded():
    X, y = data()
    islands = Islands(islands=2, population=50, generations=3)
    check(DGPRegressor(max_evaluations=3000, random_state=0, islands=islands).fit(X, y), y)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"version": 1}, "a checkpoint of version 1, and this symgrad reads version 8"),
        ({"history": [[1.0, 2.0]]}, "no checkpoint, or a damaged one"),
        ({"history": [[np.nan, 0.1, 0.1, 2.0]]}, "no checkpoint, or a damaged one"),
    ],
)
def test_checkpoints_without_a_history_are_refused(tmp_path, changes, sentence):
    file = tmp_path / "run.npz"
    est = DGPRegressor(max_evaluations=1000, random_state=0, islands=Islands(population=50))
    est.fit(*data(), checkpoint=file)
    with np.load(file) as archive:
        arrays = dict(archive)
    assert len(arrays["history"]) == len(est.history_) > 0
    arrays["history"] = np.array(changes.pop("history", arrays["history"]))
    text = json.dumps(json.loads(arrays["header"].tobytes()) | changes).encode()
    np.savez(file, **(arrays | {"header": np.frombuffer(text, np.uint8)}))
    with pytest.raises(ValueError, match=sentence):
        est.fit(*data(), checkpoint=file)


def test_so_is_the_paper_preset_in_the_same_units():
    X, y = data()
    est = DGPRegressor(
        "paper",
        max_evaluations=1500,
        random_state=0,
        diversification=Diversification(population=100),
        optimization=Optimization(epochs=10, trees=10),
    )
    check(est.fit(X, y), y)
