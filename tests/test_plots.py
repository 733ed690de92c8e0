import builtins

import numpy as np
import pytest
from models import constant, hostile, quick, small

from symgrad import Tree
from symgrad.plots import KINDS, MOST_FEATURES, course, explained, front_errors, usage

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

MODELS = {"small": small, "hostile": hostile, "constant": constant}


@pytest.fixture(autouse=True)
def _no_figures_left():
    yield
    plt.close("all")


def drawn(ax):
    """Draw, and return the boxes of all texts inside the axes."""
    ax.figure.canvas.draw()
    return [t.get_window_extent() for t in ax.texts]


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", MODELS)
def test_every_plot_of_every_model(kind, name):
    X, y, est = MODELS[name]()
    ax = est.plot(kind, X, y)
    drawn(ax)
    given = plt.figure().subplots()
    assert est.plot(kind, X, y, ax=given) is given


def test_the_chosen_formula_is_marked():
    _, _, est = small()
    ax = est.plot("front")
    row = est.equations_[est.equations_["chosen"]].iloc[0]
    marks = [line for line in ax.lines if line.get_marker() == "D"]
    assert [m.get_xydata().tolist() for m in marks] == [[[row["size"], 1 - row["r2"]]]]


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("name", MODELS)
def test_labels_of_a_tree_do_not_overlap_and_are_not_clipped(name):
    _, _, est = MODELS[name]()
    ax = est.plot("tree")
    boxes = drawn(ax)
    assert len(boxes) == est.tree_.size
    for i, a in enumerate(boxes):
        assert not any(a.overlaps(b) for b in boxes[i + 1 :])
        assert ax.figure.bbox.x0 <= a.x0
        assert a.x1 <= ax.figure.bbox.x1


def test_numbers_behind_the_plots():
    _, _, est = small()
    errors, logs = front_errors(est)
    np.testing.assert_allclose(errors, 1 - est.equations_["r2"])
    assert logs == (errors.min() < 0.1)
    names, table = usage(est)
    assert set(names[: len(est.tree_.features)]) == set(est.tree_.features)
    assert table.shape == (len(names), len(est.trees_))
    assert (table.sum(axis=0) <= est.equations_["size"]).all()
    tried, best = course(est)
    assert (tried[0], best[0]) == (0, 1)
    assert (np.diff(best) <= 0).all()
    assert explained(np.arange(3.0), np.arange(3.0)) == 1
    assert np.isnan(explained(np.ones(3), np.ones(3)))


def test_many_features_are_cut_and_counted():
    _, _, est = small()
    est = quick().fit(*small()[:2])
    names = [f"a rather long name of feature number {j}" for j in range(60)]
    wide = Tree.parse(" + ".join(f"`{n}`" for n in names), names, est.tree_.primitives)
    est.trees_ = [wide] * len(est.trees_)
    est.tree_ = wide
    ax = est.plot("features")
    drawn(ax)
    assert len(ax.get_yticks()) == MOST_FEATURES
    assert "35 more features" in ax.get_xlabel()


def test_errors_are_one_sentence(monkeypatch):
    X, _, est = small()
    with pytest.raises(ValueError, match=r"kind must be one of front, fit, .* got 'pie'"):
        est.plot("pie")
    with pytest.raises(ValueError, match="X and y must be given"):
        est.plot("fit", X)
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r'plots need matplotlib: pip install "symgrad\[plots\]"'):
        est.plot("front")
