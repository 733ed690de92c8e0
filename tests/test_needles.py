import numpy as np
import pytest

from symgrad.bench.needles import FORMS, block, found, make, parse


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rho", ["", " rho=0.9"])
@pytest.mark.parametrize("d", [10, 100])
def test_the_target_is_the_form_of_the_features_that_matter(form, rho, d):
    made = make(f"{form} d={d} n=50{rho}", 3)
    count, target = FORMS[form]
    assert made.X.shape == (50, d)
    assert len(set(made.features)) == count
    if count:
        np.testing.assert_allclose(made.y, target(made.X[:, made.features].T))
        np.testing.assert_allclose(made.y_test, target(made.X_test[:, made.features].T))
    if rho:  # one of a block
        assert len({j // block(d) for j in made.features}) == count


def test_noise_is_in_the_training_target_alone():
    clean, noisy = (make(f"product d=10 n=5000{noise}", 0) for noise in ("", " noise=0.1"))
    added = (noisy.y - clean.y).std() / clean.y.std()
    assert 0.09 < added < 0.11
    np.testing.assert_array_equal(noisy.y_test, clean.y_test)


def test_blocks_correlate():
    X = make("product d=100 n=5000 rho=0.9", 0).X
    inside, outside = np.corrcoef(X[:, 10], X[:, 19])[0, 1], np.corrcoef(X[:, 9], X[:, 10])[0, 1]
    assert 0.88 < inside < 0.92
    assert abs(outside) < 0.05


@pytest.mark.parametrize(
    ("name", "used", "verdict"),
    [
        ("product d=100", (50, 3, 21), "yes"),
        ("product d=100", (3, 21), "no"),
        ("product d=100", (3, 21, 50, 60), "no"),
        ("product d=100", (4, 21, 50), "no"),
        ("product d=100 rho=0.9", (3, 21, 50), "yes"),
        ("product d=100 rho=0.9", (4, 21, 50), "block"),
        ("product d=100 rho=0.9", (4, 21, 60), "no"),
    ],
)
def test_found_is_the_exact_set(name, used, verdict):
    assert found(name, (3, 21, 50), used) == verdict


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("hay d=10", "friedman"),
        ("product e=5", "d, n, noise, rho"),
        ("product d=many", "d must be a number"),
        ("product d=2", "at least 5"),
        ("product rho=1", "below 1"),
    ],
)
def test_wrong_names_are_refused(name, words):
    with pytest.raises(ValueError, match=words):
        parse(name)
