"""The report in a real browser."""

import pytest
from browser import PATH, Browser
from models import HOSTILE, hostile, small

from symgrad.tree.names import visible

pytestmark = pytest.mark.skipif(PATH is None, reason="there is no Chromium or Chrome to open it in")

SHOWN = "document.querySelector('.formula:not([hidden]) pre').textContent"
TREE = "document.querySelectorAll('.drawing:not([hidden]) rect').length"
WIDTH = "document.documentElement.scrollWidth"


@pytest.fixture(scope="module")
def browser():
    with Browser() as one:
        yield one


@pytest.fixture
def page(browser, tmp_path):
    def show(model, width=1200):
        X, y, est = model()
        est.report(tmp_path / "report.html", X, y)
        browser.open(tmp_path / "report.html", width)
        return est

    yield show
    assert browser.errors == []


def test_a_click_shows_another_formula(browser, page):
    est = page(small)
    assert browser.value(SHOWN) == est.tree_.render(6)
    for k in (0, len(est.trees_) - 1):
        browser.value(f"document.querySelector('a.point[data-formula=\"{k}\"]').dispatchEvent("
                      "new MouseEvent('click', {bubbles: true, cancelable: true}))")  # fmt: skip
        assert browser.value(SHOWN) == est.trees_[k].render(6)
        assert browser.value(TREE) == est.trees_[k].size
    browser.value("document.querySelector('#list tr[data-formula=\"1\"]').click()")
    assert browser.value(SHOWN) == est.trees_[1].render(6)


def test_arrow_keys_go_from_one_to_the_next(browser, page):
    est = page(small)
    chosen = est.trees_.index(est.tree_)
    browser.value("document.querySelector('a.point[tabindex=\"0\"]').focus()")
    browser.press("ArrowLeft")
    assert browser.value(SHOWN) == est.trees_[chosen - 1].render(6)
    browser.press("Home")
    assert browser.value(SHOWN) == est.trees_[0].render(6)
    browser.press("ArrowLeft")
    assert browser.value(SHOWN) == est.trees_[0].render(6)
    browser.press("End")
    assert browser.value(SHOWN) == est.trees_[-1].render(6)
    assert browser.value("document.querySelectorAll('[aria-checked=\"true\"]').length") == 1


@pytest.mark.parametrize("model", [small, hostile])
@pytest.mark.parametrize("width", [1200, 390])
def test_the_page_does_not_scroll_sideways(browser, page, model, width):
    page(model, width)
    assert browser.value(WIDTH) == width


def test_hostile_names_do_not_run(browser, page):
    est = page(hostile)
    assert browser.value("document.querySelectorAll('img, iframe, script').length") == 1
    assert browser.value("document.title") == "A formula for <script>alert(2)</script>"
    text = browser.value("document.body.textContent")
    used = {n for t in est.trees_ for n in t.features} & set(HOSTILE[:4])
    assert used
    assert all(visible(n) in text for n in used)


def test_formulas_are_typeset(browser, page):
    page(small)
    assert browser.value("document.querySelector('math') instanceof MathMLElement")
    assert (
        browser.value("document.querySelector('.typeset math').getBoundingClientRect().height") > 10
    )


def test_it_prints(browser, page, tmp_path):
    page(small)
    browser.pdf(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").stat().st_size > 10_000
