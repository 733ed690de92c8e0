import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from models import HOSTILE
from strategies import trees

from symgrad.report import charts
from symgrad.report.charts import Scale

numbers = st.floats(-1e9, 1e9)


@given(numbers, numbers, st.integers(2, 10))
def test_ticks_are_few_round_and_inside(a, b, most):
    scale = Scale(min(a, b), max(a, b), 0, 100)
    ticks = scale.ticks(most)
    assert len(ticks) <= most + 2
    pixels = scale(np.array(ticks))
    assert (pixels > -1e-3).all()
    assert (pixels < 100 + 1e-3).all()


@given(st.floats(1e-16, 1), st.integers(3, 8))
def test_logarithmic_ticks(low, most):
    scale = Scale(low / 1.3, 1.3, 100, 0, logs=True)
    ticks = scale.ticks(most)
    assert 1 <= len(ticks) <= max(most, 6) + 2
    assert ticks == sorted(ticks)
    assert float(scale(1.3)) == pytest.approx(0, abs=1e-6)
    assert float(scale(low / 1.3)) == pytest.approx(100)


def test_every_chart_is_well_formed_and_finite():
    values = np.array([1.0, 0.3, 1e-16])
    counts = np.array([[0, 1, 3], [1, 0, 0]])
    for chart in (
        charts.front([1, 5, 9], values, True, 1, ["a", "<b>", "c"]),
        charts.front([1], np.array([1.0]), False, 0, ["only"]),
        charts.scatter(np.array([1.0, 1.0]), np.array([1.0, 1.0])),
        charts.scatter(np.array([-1e12, 1e12]), np.array([0.0, 1e-9])),
        charts.convergence(np.array([0, 5, 10]), values, True),
        charts.convergence(np.array([0, 5]), np.array([1.0, 0.9]), False),
        charts.features(HOSTILE[:2], counts, [1, 5, 9], 2),
    ):
        ET.fromstring(chart)
        assert "nan" not in chart
        assert "inf" not in chart.replace("infix", "")


@given(trees())
def test_trees_are_well_formed_for_any_names(tree):
    root = ET.fromstring(charts.tree(tree))
    assert len(root.findall(".//rect")) == tree.size
    width = float(root.get("width"))
    for rect in root.findall(".//rect"):
        assert float(rect.get("x")) >= 0
        assert float(rect.get("x")) + float(rect.get("width")) <= width


def test_points_link_to_their_formulas():
    chart = ET.fromstring(charts.front([1, 5], np.array([1.0, 0.2]), False, 1, ["a", "b"]))
    points = chart.findall("a")
    assert [p.get("data-formula") for p in points] == ["0", "1"]
    assert [p.get("class") for p in points] == ["point", "point chosen"]
