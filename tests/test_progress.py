"""The panel, the lines, and a search that is ended by hand."""

import io
import os
import re
import signal
import threading
import time

import numpy as np
import pytest
from rich.console import Console
from sklearn.metrics import r2_score

from symgrad import DGPRegressor, Tree
from symgrad.evolution.diversification import Diversification
from symgrad.evolution.islands import Islands
from symgrad.progress import Progress, duration

SMALL = Islands(islands=2, population=40, generations=2)


def table(rows=80):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 4))
    return X, 3 * X[:, 0] * X[:, 1] + 0.1 * X[:, 2] + 0.3 * rng.normal(size=rows)


def quick(**changes):
    settings = {"max_evaluations": 2000, "random_state": 0, "islands": SMALL}
    return DGPRegressor(**(settings | changes))


def paper():
    return quick(preset="paper", islands=None, diversification=Diversification(population=50))


def console(terminal):
    return Console(file=io.StringIO(), force_terminal=terminal, width=100)


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("make", [quick, paper])
def test_watching_does_not_change_the_result(terminal, make):
    X, y = table()
    shown = make().fit(X, y, progress=Progress(console(terminal)))
    assert shown.equations_.equals(make().fit(X, y).equations_)


def test_lines_where_there_is_no_terminal():
    out = console(False)
    X, y = table()
    est = quick(max_evaluations=10_000).fit(X, y, progress=Progress(out, every=0.0))
    lines = out.file.getvalue().splitlines()
    assert len(lines) > 2
    for line in lines[2:]:
        assert re.search(
            r"R2 \d\.\d+ \(validation -?\d\.\d+\) +size \d+ +[\d,]+ formulas +[\d,]+/s",
            line,
        )
    assert "s left" in lines[-2]
    assert "done" in lines[-1]
    assert f"{est.n_evaluations_:,} formulas" in lines[-1]
    assert "x0*x1" in lines[-1] or "x1*x0" in lines[-1]


def test_few_lines_unless_asked_for_more():
    out = console(False)
    quick().fit(*table(), progress=Progress(out))
    assert len(out.file.getvalue().splitlines()) == 1
    out = console(False)
    quick().fit(*table(), progress=Progress(out, keep=False))
    assert out.file.getvalue() == ""


def test_a_panel_on_a_terminal():
    out = console(True)
    quick().fit(*table(), progress=Progress(out))
    text = out.file.getvalue()
    for word in ("symgrad", "R2", "size", "/s", "done"):
        assert word in text


@pytest.mark.parametrize(("notebook", "width"), [(False, 111), (True, 80)])
def test_the_panel_fits_into_a_notebook(notebook, width):
    panel = Progress(Console(file=io.StringIO(), force_jupyter=notebook, width=115))
    panel.begin(None, None, None, None)
    assert panel.__rich__().width == width


def test_true_shows_progress_on_standard_output(capsys):
    quick().fit(*table(), progress=True)
    assert "formulas" in capsys.readouterr().out
    quick().fit(*table())
    assert capsys.readouterr().out == ""


def test_the_time_left_is_that_of_the_nearest_bound():
    out = console(False)
    X, y = table()
    quick(max_evaluations=10**9, time_limit=0.5).fit(X, y, progress=Progress(out, every=0.0))
    left = [int(m) for m in re.findall(r"(\d+) s left", out.file.getvalue())]
    assert left
    assert max(left) <= 1


def test_the_formula_and_r2_are_those_of_the_users_data():
    X, y = table()
    X, y = 1000 * X + 7000, 50 * y + 3
    for make in (quick, paper):
        progress = Progress(console(False))
        est = make().fit(X, y, progress=progress)
        # Constants may still be fitted after the last report.
        fitting = est.equations_[est.equations_["size"] <= progress._size]
        assert progress._r2 == pytest.approx(fitting["r2"].iloc[-1], abs=1e-3)
        if not progress._formula.endswith("..."):
            shown = Tree.parse(progress._formula).evaluate(X)  # of four digits
            assert r2_score(y, shown) == pytest.approx(progress._r2, abs=1e-2)


def test_it_can_be_used_again():
    progress = Progress(console(False))
    one, two = (quick().fit(*table(), progress=progress) for _ in range(2))
    assert one.equations_.equals(two.equations_)


@pytest.fixture
def press():
    """Call it to have Ctrl-C pressed after so many seconds."""
    threads = []

    def start(seconds):
        def later():
            time.sleep(seconds)
            os.kill(os.getpid(), signal.SIGINT)

        threads.append(threading.Thread(target=later))
        threads[-1].start()

    yield start
    for thread in threads:
        thread.join()


def test_ctrl_c_ends_the_search_with_what_it_has(press):
    progress = Progress(console(False), interrupt=True)
    before = signal.getsignal(signal.SIGINT)
    press(1.0)
    start = time.perf_counter()
    est = quick(max_evaluations=10**9).fit(*table(), progress=progress)
    assert time.perf_counter() - start < 10
    assert progress.stopped
    assert est.score(*table()) > 0.9
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_raises_as_ever_where_that_is_not_asked_for(press, tmp_path):
    for settings in ({}, {"progress": Progress(console(True))}, {"checkpoint": tmp_path / "c"}):
        press(1.0)
        with pytest.raises(KeyboardInterrupt):
            quick(max_evaluations=10**9).fit(*table(), **settings)


def test_before_there_is_a_formula_the_first_iteration_is_finished():
    progress = Progress(console(False), interrupt=True)
    init = Islands(islands=2, population=100, generations=5)
    X, y = table(2000)
    begin = progress.begin

    def begun(*args):
        begin(*args)
        progress._on_signal(signal.SIGINT, None)  # at the very beginning

    progress.begin = begun
    est = quick(max_evaluations=10**9, islands=init).fit(X, y, progress=progress)
    assert est.n_iter_ == 1
    with pytest.raises(KeyboardInterrupt):
        progress._on_signal(signal.SIGINT, None)


def test_an_interrupted_search_goes_on_bit_for_bit(press, tmp_path):
    class Interrupted(Progress):
        def __call__(self, state):
            super().__call__(state)
            if state.iterations == 3:
                press(0.05)

    X, y = table(1000)
    settings = {"max_evaluations": 30_000}
    progress = Interrupted(console(False), interrupt=True)
    part = quick(**settings).fit(X, y, progress=progress, checkpoint=tmp_path / "run.ckpt")
    assert progress.stopped
    assert part.n_evaluations_ < 30_000
    rest = quick(**settings).fit(X, y, checkpoint=tmp_path / "run.ckpt")
    assert rest.equations_.equals(quick(**settings).fit(X, y).equations_)


def test_times_in_words():
    assert duration(0.4) == "0 s"
    assert duration(59.7) == "1 min 0 s"
    assert duration(3600) == "1 h 0 min"
