import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from symgrad import DGPRegressor
from symgrad.evolution.constraints import Constraints
from symgrad.trust import Significance, exchangeable


def quick(**changes):
    return DGPRegressor(**({"max_evaluations": 10_000, "random_state": 0} | changes))


@pytest.fixture(scope="module")
def needle():
    """Return data with x2*x7 + x11, a near-duplicate of x11, and an estimator fitted to it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 40))
    X[:, 30] = 5 - 3 * X[:, 11] + 0.1 * rng.normal(size=150)
    y = X[:, 2] * X[:, 7] + X[:, 11] + 0.1 * rng.normal(size=150)
    return X, y, quick().fit(X, y)


@pytest.fixture(scope="module")
def noise():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(100, 30)), rng.normal(size=100)
    return X, y, quick(max_evaluations=3000).fit(X, y)


def test_features_of_a_law_are_trusted_and_near_duplicates_named(needle):
    X, y, est = needle
    frame = est.trust(X, y, n_restarts=3).set_index("feature")
    mine = frame[frame["in_formula"]]
    assert set(mine.index) == {"x2", "x7", "x11"}
    assert (mine["share_exchangeable"] == 1).all()
    assert (mine["share"] <= mine["share_exchangeable"]).all()
    assert (mine["drop"] > 0.2).all()
    assert (mine["drop_permuted"] > mine["drop"]).all()
    assert mine["exchangeable"].to_dict() == {"x2": "", "x7": "", "x11": "x11 ~ x30"}


def test_the_drop_is_what_the_formula_loses(needle):
    X, y, est = needle
    drop = est.trust(X, y, n_restarts=0).set_index("feature")["drop"]
    without = np.corrcoef(X[:, 2] * X[:, 7], y)[0, 1] ** 2
    assert drop["x11"] == pytest.approx(est.score(X, y) - without, abs=1e-2)


def test_no_restarts_no_shares(needle):
    X, y, est = needle
    assert est.trust(X, y, n_restarts=0)["share"].isna().all()


def test_features_that_restarts_chose_and_the_formula_lacks_are_listed(needle):
    X, y, _ = needle
    est = quick(constraints=Constraints(exclude=["x11"])).fit(X, y)  # so it takes x30
    assert "x30" in est.tree_.features
    est.constraints = None
    frame = est.trust(X, y, n_restarts=3).set_index("feature")
    assert not frame.loc["x11", "in_formula"]
    assert frame.loc["x11", "share"] == 1
    assert frame.loc["x11", "exchangeable"] == "x11 ~ x30"
    assert frame.loc["x30", "share"] == 0
    assert frame.loc["x30", "share_exchangeable"] == 1


def test_a_constant_has_no_features(noise):
    X, y, est = noise
    assert est.tree_.features == ()
    frame = est.trust(X, y, n_restarts=2)
    assert not frame["in_formula"].any()
    assert exchangeable(est, X, y) == {}


def test_names_are_those_of_the_table_whatever_they_are(needle):
    X, y, _ = needle
    names = [f"gene {j}, `log2` ~ <b>" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    est = quick().fit(frame, y)
    assert exchangeable(est, frame, y)[names[11]] == [names[30]]
    text = est.trust(frame, y, n_restarts=0).set_index("feature").loc[names[11], "exchangeable"]
    assert text == "`gene 11, ``log2`` ~ <b>` ~ `gene 30, ``log2`` ~ <b>`"


def test_a_law_is_significant(needle):
    X, y, est = needle
    result = est.significance(X, y, n_permutations=4, max_evaluations=5000)
    assert isinstance(result, Significance)
    assert result.n_permutations == 4
    assert result.p_value == result.p_value_r2 == 0.2
    assert result.r2[0] > 0.9 > 0.5 > result.best_r2[1:].max()
    assert "p = 0.2 by description length" in repr(result)
    assert "shuffled 4 times" in repr(result)


def test_noise_is_not_significant(noise):
    X, y, est = noise
    rng = np.random.default_rng(2)
    results = [
        est.significance(X, target, n_permutations=9, max_evaluations=1200)
        for target in (y, rng.permutation(y), rng.permutation(y))
    ]
    assert all(r.p_value > 0.1 for r in results)
    assert max(r.p_value_r2 for r in results) > 0.3  # each is as likely as any other


def test_the_seed_decides_and_threads_do_not(needle):
    X, y, est = needle
    options = {"n_permutations": 2, "max_evaluations": 2500}
    first = est.significance(X, y, **options)
    est.n_jobs = 1
    again = est.significance(X, y, **options)
    est.n_jobs = None
    assert first.formula == again.formula
    for name in ("length", "r2", "best_r2"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    assert len(set(first.best_r2)) == 3  # other shuffles, other results


def test_weights_count(needle):
    X, y, est = needle
    weight = np.r_[np.ones(100), np.zeros(50)]
    spoiled = np.where(weight > 0, y, 1e3)
    frame = est.trust(X, spoiled, n_restarts=1, sample_weight=weight).set_index("feature")
    assert frame.loc["x11", "share_exchangeable"] == 1
    assert frame.loc["x11", "exchangeable"] == "x11 ~ x30"
    result = est.significance(
        X, spoiled, n_permutations=1, sample_weight=weight, max_evaluations=5000
    )
    assert result.r2[0] > 0.9
    assert np.isfinite(result.best_r2).all()  # y and weights stay together, so no 1e3 counts
    assert result.best_r2[1] < 0.5


@pytest.mark.parametrize("loss", ["poisson", "absolute"])
def test_other_losses(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 5))
    X[:, 4] = X[:, 1] + 0.05 * rng.normal(size=150)
    y = rng.poisson(np.exp(1 + 0.8 * X[:, 1]))
    est = quick(loss=loss, max_evaluations=5000).fit(X, y)
    (feature,) = set(est.tree_.features) & {"x1", "x4"}
    frame = est.trust(X, y, n_restarts=1, max_evaluations=3000).set_index("feature")
    assert frame.loc[feature, "drop"] > 0.2
    assert frame.loc[feature, "exchangeable"].split(" ~ ")[1] in {"x1", "x4"}


def test_the_paper_preset_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    est = DGPRegressor("paper", max_evaluations=1500, random_state=0).fit(X, X[:, 0] - X[:, 2])
    result = est.significance(X, X[:, 0] - X[:, 2], n_permutations=1, max_evaluations=1500)
    assert result.r2[0] > result.r2[1]
    assert result.length[0] < result.length[1]


def test_a_bar_is_drawn_on_a_terminal_only(needle, monkeypatch, capsys):
    X, y, est = needle
    options = {"n_permutations": 1, "max_evaluations": 600, "progress": True}
    est.significance(X, y, **options)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    est.significance(X, y, **options)
    assert "searches" in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)


def test_errors_say_what_is_wrong(needle):
    X, y, est = needle
    for call in (quick().trust, quick().significance):
        with pytest.raises(NotFittedError):
            call(X, y)
    with pytest.raises(ValueError, match="40 features"):
        est.trust(X[:, :5], y)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        est.significance(X, y[:-1])
    with pytest.raises(ValueError, match="NaN in row 0"):
        est.trust(X * np.where(np.arange(len(X)) == 0, np.nan, 1)[:, None], y)
    with pytest.raises(ValueError, match="n_restarts must be a whole number from 0 on, got -1"):
        est.trust(X, y, n_restarts=-1)
    with pytest.raises(ValueError, match="n_permutations must be a whole number from 1 on, got 0"):
        est.significance(X, y, n_permutations=0)
    with pytest.raises(ValueError, match="max_evaluations must be positive, got -5"):
        est.significance(X, y, max_evaluations=-5)
    with pytest.raises(ValueError, match="correlation must be above 0 and at most 1, got 2"):
        exchangeable(est, X, y, correlation=2)
    with pytest.raises(ValueError, match="tolerance must not be negative, got -1"):
        exchangeable(est, X, y, tolerance=-1)
    with pytest.raises(TypeError):
        est.trust(X, y, restart=3)


def test_sparse_tables_give_the_same_answers(needle):
    X, y, est = needle
    for kind in (sp.csc_matrix, sp.csr_matrix):
        frame = est.trust(kind(X), y, n_restarts=1)
        pd.testing.assert_frame_equal(frame, est.trust(X, y, n_restarts=1))
        assert exchangeable(est, kind(X), y) == exchangeable(est, X, y)
    few = est.significance(sp.csc_matrix(X), y, n_permutations=1, max_evaluations=2000)
    assert few.p_value == 0.5
