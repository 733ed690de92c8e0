import pytest
from models import hostile, quick, small
from sklearn import config_context
from sklearn.exceptions import NotFittedError


def test_a_fitted_estimator_shows_its_formula_in_notebooks():
    _, _, est = small()
    bundle = est._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/latex", "text/html"}
    assert bundle["text/latex"] == f"${est.latex()}$"
    assert est.tree_.mathml() in bundle["text/html"]
    assert est._repr_html_() == bundle["text/html"]
    assert est.tree_._repr_latex_() == bundle["text/latex"]


def test_before_the_fit_scikit_learns_diagram_is_shown():
    bundle = quick()._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert "sk-" in bundle["text/html"]
    assert quick()._repr_html_().count("sk-") > 3


def test_scikit_learns_setting_for_plain_text_is_kept():
    _, _, est = small()
    with config_context(display="text"):
        assert "text/html" not in est._repr_mimebundle_()
        assert not hasattr(est, "_repr_html_")


def test_names_are_escaped():
    _, _, est = hostile()
    page = est._repr_html_()
    assert "<script" not in page
    assert "<img" not in page


def test_nothing_is_shown_before_the_fit():
    X, y, _ = small()
    for call in (
        lambda e: e.plot("front"),
        lambda e: e.explain(X, y),
        lambda e: e.report("never.html", X, y),
    ):
        with pytest.raises(NotFittedError):
            call(quick())
