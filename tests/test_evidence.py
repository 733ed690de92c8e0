import numpy as np
import pytest

from symgrad import DGPRegressor
from symgrad.data.evidence import evidence


def gain(f, y):
    return -len(y) * np.log1p(-(np.corrcoef(f, y)[0, 1] ** 2))


@pytest.mark.parametrize("r2", [0.05, 0.3, 0.9])
@pytest.mark.parametrize("rows", [30, 300, 3000])
def test_of_normal_numbers_it_is_what_r2_says(r2, rows):
    rng = np.random.default_rng(0)
    x = rng.normal(size=rows)
    y = np.sqrt(r2) * x + np.sqrt(1 - r2) * rng.normal(size=rows)
    assert evidence(x, y) == pytest.approx(gain(x, y), rel=0.1, abs=1)


def test_a_caught_row_is_worth_what_it_takes_to_find_it():
    """One of n rows is drawn with a chance of 1/n, however far away it lies."""
    y = np.random.default_rng(0).normal(size=200)
    y[7] = 1000
    spike = (np.arange(200) == 7) * 1.0
    assert gain(spike, y) > 1000
    assert evidence(spike, y) == pytest.approx(2 * np.log(200), rel=0.3)


@pytest.mark.parametrize("power", [3, 10])
def test_steep_laws_are_seen_in_the_other_rows(power):
    rng = np.random.default_rng(1)
    x = rng.normal(size=200)
    assert evidence(x**power, x**power + rng.normal(size=200)) > 60


def test_heavy_tails_of_the_errors_hide_less_than_r2_says():
    rng = np.random.default_rng(2)
    x = rng.normal(size=200)
    y = 3 * x + rng.standard_cauchy(size=200)
    assert evidence(x, y) > 1.5 * gain(x, y)


def test_what_says_nothing_or_the_opposite_is_no_evidence():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 100))
    assert evidence(np.ones(100), y) == 0
    assert evidence(-y, y) == 0
    assert evidence(x, y) < 10
    assert evidence(y, y, enough=5) >= 5


def test_weights_count_rows():
    rng = np.random.default_rng(4)
    x = rng.normal(size=200)
    y = x + rng.normal(size=200)
    half = (np.arange(200) < 100) * 1.0
    assert evidence(x, y, half) == pytest.approx(evidence(x[:100], y[:100]), rel=1e-9)
    assert evidence(x, y, np.full(200, 7.0)) == pytest.approx(evidence(x, y))


@pytest.mark.parametrize("target", ["lognormal", "spikes", "cauchy"])
def test_no_formula_from_noise_with_heavy_tails(target):
    """Steep functions of 100 features catch the few rows that make up the variance."""
    found = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(150, 100))
        y = {
            "lognormal": lambda r: r.lognormal(size=150),
            "spikes": lambda r: np.where(r.random(150) < 0.1, r.random(150), 0.0),
            "cauchy": lambda r: r.standard_cauchy(size=150),
        }[target](rng)
        est = DGPRegressor(max_evaluations=20_000, random_state=seed).fit(X, y)
        assert est.equations_["r2"].iloc[-1] > 0.3  # it could have been
        found += bool(est.tree_.feature_indices)
    assert found == 0
