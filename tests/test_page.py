import re
from html import escape, unescape
from html.parser import HTMLParser

import numpy as np
import pytest
from models import HOSTILE, constant, hostile, quick, small
from scipy.sparse import csr_matrix

import symgrad
from symgrad.report import write_report
from symgrad.report.page import render
from symgrad.tree.names import visible

MODELS = {"small": small, "hostile": hostile, "constant": constant}
VOID = {"meta", "br", "img", "input", "link", "hr"}


class Checker(HTMLParser):
    """Collects tags, attributes and text; complains about tags that do not match."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.attributes, self.texts = [], [], [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.parametrize("name", MODELS)
def test_the_page_is_one_whole_file(name):
    X, y, est = MODELS[name]()
    page = render(est, X, y)
    seen = Checker(page)
    assert seen.tags.count("script") == seen.tags.count("style") == 1
    assert "img" not in seen.tags
    assert not any(key.startswith("on") or key == "src" for key, _ in seen.attributes)
    links = [value for key, value in seen.attributes if key == "href"]
    assert all(re.fullmatch(r"#formula-\d+", link) for link in links)
    assert len(links) == len(est.trees_) == seen.tags.count("article")
    assert "http:" not in page
    assert "https:" not in page
    assert "{{" not in page.replace("{{js}}", "")
    assert len(page) < 2_000_000


def test_hostile_names_are_text():
    X, y, est = hostile()
    seen = Checker(render(est, X, y))
    words = "".join(seen.texts)
    used = {n for t in est.trees_ for n in t.features}
    assert len(used) > 4
    for name in used:
        assert visible(name) in words
    assert "A formula for <script>alert(2)</script>" in words


def test_it_says_what_it_should():
    X, y, est = small()
    page = unescape(render(est, X, y))
    for words in (
        "A formula for cost", "120 rows, 4 features", f"{est.n_evaluations_:,} formulas",
        "random_state=0", symgrad.__version__, np.__version__, est.tree_.mathml(),
    ):  # fmt: skip
        assert words in page
    for tree in est.trees_:
        assert tree.render(6) in page
    ranges = page[page.index('<table class="ranges"') :]
    listed = re.findall(r"<tr><td>(.*?)</td>", ranges)
    assert set(listed) == {n for t in est.trees_ for n in t.features}


def test_other_data_than_those_of_the_fit():
    X, y, est = small()
    page = render(est, X.iloc[:50], y.iloc[:50])
    assert f"R² = {est.score(X.iloc[:50], y.iloc[:50]):.4f}" in page
    assert "50 rows, 4 features" in page
    still = render(est, X.iloc[:5], np.ones(5))
    assert "Not on these data: y is constant" in still


def test_nothing_is_called_minus_zero():
    X, y, est = constant()
    assert "−0.0000" not in render(est, X, y)


def test_many_rows_are_thinned():
    X, y, est = small()
    rows = np.arange(20_000) % len(X)
    page = render(est, X.iloc[rows], y.iloc[rows])
    assert "500 of 20,000 rows" in page
    assert len(page) < len(render(est, X, y)) * 2


def test_a_loaded_model_has_the_same_report(tmp_path):
    X, y, est = small()
    est.save(tmp_path / "model.json")
    loaded = symgrad.load(tmp_path / "model.json")
    assert render(loaded, X, y) == render(est, X, y)


def test_without_a_seed_the_page_says_so():
    X, y, _ = small()
    est = quick(random_state=None, max_evaluations=500, time_limit=5).fit(X, y)
    page = render(est, X, y)
    assert "There is no seed" in page
    assert "depend on the machine" in page


def test_it_is_written_as_a_whole_or_not_at_all(tmp_path):
    X, y, est = small()
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(ValueError, match="NaN"):
        write_report(est, path, X * np.nan, y)
    assert path.read_text() == "old"
    est.report(path, X, y)
    assert path.read_text(encoding="utf-8") == render(est, X, y)
    assert escape(HOSTILE[0]) not in path.read_text(encoding="utf-8")


def test_sparse_tables_are_shown_alike():
    X, y, _ = small()
    dense = quick().fit(X.to_numpy(), y)
    sparse = csr_matrix(X.to_numpy())
    assert render(dense, sparse, y) == render(dense, X.to_numpy(), y)
