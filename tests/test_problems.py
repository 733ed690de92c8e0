import types

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

from symgrad.bench import problems
from symgrad.bench.problems import REAL, SYNTHETIC, fetch, load, named


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a data folder with Tecator and one more table, whose target is a line."""
    X = np.random.default_rng(0).normal(3, 2, size=(62, 3))
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(target=2 * X[:, 0] + 1)
    for name in ("line", REAL["Tecator"]):
        table.to_csv(tmp_path / f"{name}.tsv.gz", sep="\t", index=False)
    monkeypatch.setenv("SYMGRAD_DATA", str(tmp_path))
    return tmp_path


def test_a_data_set_is_split_by_the_seed(folder):
    data, again, other = load("line", 1), load("Tecator", 1), load("line", 2)
    assert (len(data.y), len(data.y_test)) == (46, 16)  # as the paper rounds
    np.testing.assert_allclose(data.y_test, 2 * data.X_test[:, 0] + 1)
    np.testing.assert_array_equal(data.X, again.X)
    assert not np.array_equal(data.X, other.X)
    assert data.features is None


def test_standardising_is_by_the_training_part(folder):
    both = load("line standardized=both", 0)
    np.testing.assert_allclose(both.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose([both.y.mean(), both.y.std()], [0, 1], atol=1e-12)
    assert abs(both.X_test.mean()) > 1e-6
    np.testing.assert_array_equal(load("line standardized=X", 0).y, load("line", 0).y)


@pytest.mark.parametrize("name", SYNTHETIC)
def test_formulas_have_20_points_in_their_range(name):
    data = load(name, 0)
    _, low, high = SYNTHETIC[name]
    assert (len(data.y), len(data.y_test)) == (20, 1000)
    assert low <= data.X.min() <= data.X.max() <= high
    np.testing.assert_array_equal(problems.truth(name).evaluate(data.X), data.y)
    assert len(data.features) == data.X.shape[1]


def test_noise_is_relative_to_the_root_mean_square():
    clean = [load("S6", seed) for seed in range(50)]
    noisy = [load("S6 noise=0.1", seed) for seed in range(50)]
    off = [n.y - c.y for c, n in zip(clean, noisy, strict=True)]
    size = np.sqrt(np.mean(np.square(off)) / np.mean([np.mean(c.y**2) for c in clean]))
    assert 0.09 < size < 0.11
    np.testing.assert_array_equal(clean[0].y_test, noisy[0].y_test)


def test_wide_tables_know_their_features():
    assert len(load("product d=10 n=20", 0).features) == 3


def test_names_stand_for_data_sets(folder):
    assert named("other") == ["line"]
    assert named("line, Tecator") == ["line", "Tecator"]
    with pytest.raises(ValueError, match=r"no file .*294_satellite_image.*symgrad bench fetch"):
        named("paper")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("lines", "unknown data set 'lines'; the known ones are Satellite_image, .*line, S1"),
        ("line standardized=Z", "none, X, y, both"),
        ("line noise=1", "known one is standardized"),
        ("S1 standardized=X", "known one is noise"),
    ],
)
def test_unknown_names_list_the_known_ones(folder, name, words):
    with pytest.raises(ValueError, match=words):
        named(name)


def test_a_missing_folder_says_how_to_get_the_data(tmp_path, monkeypatch):
    monkeypatch.setenv("SYMGRAD_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(
        ValueError, match=r"no data folder .*nowhere; set SYMGRAD_DATA.*bench fetch"
    ):
        named("Tecator")


def test_tables_are_fetched_by_their_number(tmp_path, monkeypatch):
    def fake(data_id, as_frame):
        assert (data_id, as_frame) == (505, True)
        data = pd.DataFrame({"a": ["1", "2", "3", "4"], "b": [0.5, 1, 2, 3]})
        return types.SimpleNamespace(data=data, target=pd.Series(["3", "4", "5", "6"]))

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fake)
    (path,) = fetch(tmp_path / "new", ["Tecator"])
    assert path.name == "505_tecator.tsv.gz"
    monkeypatch.setenv("SYMGRAD_DATA", str(tmp_path / "new"))
    assert load("Tecator", 0).X.shape == (3, 2)
    with pytest.raises(ValueError, match="7,399 genes and status"):
        fetch(tmp_path, ["DLBCL"])
