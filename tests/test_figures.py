"""Figures are drawn, and show what is in the rows."""

import pandas as pd
import pytest
from rows import study

from symgrad.bench import figures
from symgrad.bench.highdim import SUITE
from symgrad.bench.problems import REAL, SYNTHETIC

pytest.importorskip("matplotlib")


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Return the path to draw to, and a list that the figures come to."""
    kept = []
    saved = figures._saved

    def keep(figure, path):
        kept.append(figure)
        return saved(figure, path)

    monkeypatch.setattr(figures, "_saved", keep)
    return tmp_path / "figure.png", kept


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_boxes_have_a_panel_for_each_data_set_and_tell_what_lies_below(drawn):
    path, kept = drawn
    rows = study(REAL, ["dgp", "gp"], 4)
    rows.loc[(rows["problem"] == "DLBCL") & (rows["method"] == "gp"), "test_r2"] = -30.0
    assert figures.boxes(rows, path).stat().st_size > 10_000
    (figure,) = kept
    assert [ax.get_title() for ax in figure.axes] == list(REAL)
    assert [text.get_text() for text in figure.axes[-1].texts] == ["↓4"]
    assert figure.axes[-1].get_ylim()[0] > -1
    assert [t.get_text() for t in figure.axes[-1].get_xticklabels()] == ["gp", "dgp"]
    assert legend(figure) == ["training", "test"]


def test_few_values_are_points(drawn):
    path, kept = drawn
    figures.boxes(study(["Tecator"], ["dgp"], 1), path)
    assert any(len(line.get_xdata()) == 1 for line in kept[0].axes[0].lines)


def test_noise_has_a_line_per_method(drawn):
    path, kept = drawn
    levels = ("", " noise=0.05", " noise=0.1")
    rows = pd.concat([study([s + o for s in SYNTHETIC], ["gp", "dgp"], 2) for o in levels])
    figures.noise(rows, path)
    (figure,) = kept
    assert [ax.get_title() for ax in figure.axes] == list(SYNTHETIC)
    assert [list(line.get_xdata()) for line in figure.axes[0].lines] == [[0, 0.05, 0.1]] * 2
    assert sorted(legend(figure)) == ["dgp", "gp"]


def test_growth_is_drawn_by_form_and_by_condition(drawn):
    path, kept = drawn
    names = [name for name in SUITE if "d=10 " in name or "d=1000 " in name]
    figures.growth(study(names, ["symgrad", "gplearn"], 1, found="yes"), path)
    figures.conditions(study(names, ["symgrad", "gplearn"], 1, found="no"), path)
    growth, conditions = kept
    assert [ax.get_title() for ax in growth.axes[:2]] == ["product", "squares"]
    assert list(growth.axes[0].lines[0].get_ydata()) == [1, 1]
    assert list(growth.axes[0].lines[0].get_xdata()) == [10, 1000]
    assert len(conditions.axes) == 16
    assert list(conditions.axes[0].lines[0].get_ydata()) == [0, 0]


def test_methods_are_compared_by_size_and_accuracy(drawn):
    path, kept = drawn
    rows = study(["Tecator"], ["symgrad", "lasso", "forest"], 2)
    rows.loc[rows["method"] == "forest", "size"] = None
    figures.tradeoff(rows, path)
    assert legend(kept[0]) == ["symgrad", "lasso"]


def test_bars_have_their_numbers(drawn):
    path, kept = drawn
    rows = pd.DataFrame({"case": ["a", "a", "b"], "method": ["x", "y", "x"], "rate": [1.0, 2, 3]})
    figures.bars(rows, path)
    assert [t.get_text() for t in kept[0].axes[0].texts] == ["1.0", "2.0", "3.0"]


def test_a_missing_matplotlib_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(
        ImportError, match=r'figures need matplotlib: pip install "symgrad\[plots\]"'
    ):
        figures.pyplot()
