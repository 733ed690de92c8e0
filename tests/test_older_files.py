"""Files that older versions have written."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd

from symgrad import DGPRegressor, files
from symgrad.data.loss import Loss
from symgrad.evolution.constraints import Constraints
from symgrad.evolution.diversification import Diversification
from symgrad.evolution.islands import Islands
from symgrad.files import load

VERSION_1 = r"""{
 "format": "symgrad model", "version": 1, "symgrad": "0.1.0",
 "formula": 1,
 "equations": [
  {"formula": "0.5", "size": 1, "loss": 2.0, "r2": 0.0, "primitives": 0},
  {"formula": "2*gauss(`a b`) - c", "size": 6, "loss": 0.1, "r2": 0.95, "primitives": 0}
 ],
 "primitives": [["+", "-", "*", "gauss(x) = exp(-x*x)"]],
 "n_features_in": 2, "named": true, "feature_names": ["a b", "c"],
 "fallback": 0.25,
 "box": {"low": [-1.0, -1.0], "high": [1.0, 1.0], "least": -3.0, "greatest": 3.0},
 "n_iter": 4, "n_evaluations": 1000,
 "settings": {
  "preset": "default",
  "primitives": ["+", "-", "*", "gauss(x) = exp(-x*x)"],
  "loss": {"Loss": {"name": "huber", "number": 1.5}},
  "max_size": null, "model_selection": "accurate",
  "constraints": {"Constraints": {"nesting": {"mapping": {"gauss": ["gauss"]}}, "margin": 0.1}},
  "max_evaluations": 1000, "time_limit": {"float": "inf"},
  "islands": {"Islands": {"islands": 2, "guided": {"tuple": [0.0, 0.1]}}},
  "initialization": null, "optimization": null, "sampling": null, "diversification": null,
  "random_state": 3, "n_jobs": null
 }
}"""


def test_the_first_population_of_version_1_is_kept():
    document = json.loads(VERSION_1)
    document["settings"]["initialization"] = {"Initialization": {"population": 70, "min_depth": 2}}
    made = files.restore(document).diversification
    assert made == Diversification(population=70, first_depth=(2, 4))
    document["settings"]["diversification"] = {"Diversification": {"elites": 3}}
    assert files.restore(document).diversification == replace(made, elites=3)


def test_predictions_outside_of_a_file_of_version_2_are_as_they_were():
    document = json.loads(VERSION_1)
    est = files.restore(document)
    now = files.describe(est)
    assert now["box"]["reach"] == {"float": "inf"}
    now["box"].pop("reach")
    again = files.restore(now | {"version": 2})
    X = pd.DataFrame({"a b": [0.0, 0.5], "c": [-3.5, -1.5]})
    np.testing.assert_array_equal(again.predict(X), est.predict(X))
    assert again.predict(X)[0] == 3


def test_predictions_outside_of_a_file_of_version_3_are_as_they_were():
    rng = np.random.default_rng(0)
    t = rng.normal(size=80)
    X = np.column_stack([t, t + 0.01 * rng.normal(size=80), rng.normal(size=80)])
    y = 50 * (X[:, 1] - X[:, 0]) + X[:, 2] + 0.3 * rng.normal(size=80)
    est = DGPRegressor(max_evaluations=5000, random_state=0).fit(X, y)
    now = files.describe(est)
    assert len(now["box"]["center"]) == 3
    now["box"].pop("center")
    old = files.restore(now | {"version": 3})
    row = np.array([[4.0, 4.0, 0.5]])
    edge = np.clip(row, X.min(axis=0), X.max(axis=0))
    kept = np.clip(est.tree_.evaluate(edge), est._box.least, est._box.greatest)
    assert est._box.reach == 0
    np.testing.assert_allclose(old.predict(row), kept)
    np.testing.assert_array_equal(files.restore(files.describe(old)).predict(row), kept)


def test_a_file_of_version_1_loads(tmp_path):
    (tmp_path / "model.json").write_text(VERSION_1, encoding="ascii")
    est = load(tmp_path / "model.json")
    X = pd.DataFrame({"a b": [0.0, 0.0], "c": [1.0, -9.0]})
    assert est.predict(X).tolist() == [1.0, 3.0]  # the second is outside the box
    assert est.predict(X, size=5).tolist() == [0.5, 0.5]
    assert str(est) == "2*gauss(`a b`) - c"
    assert est.islands == Islands(islands=2, guided=(0.0, 0.1))
    assert est.loss == Loss("huber", 1.5)
    assert est.constraints == Constraints(nesting={"gauss": ["gauss"]}, margin=0.1)
    assert (est.time_limit, est.random_state) == (np.inf, 3)
    assert est.equations_["r2"].tolist() == [0.0, 0.95]
    assert (est.equations_["chosen"].tolist(), len(est.history_)) == ([False, True], 0)
