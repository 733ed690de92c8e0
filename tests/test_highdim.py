"""The suite of wide problems in benchmarks/highdim.py."""

import sys

import numpy as np
import pandas as pd
import pytest
from test_peers import load  # noqa: F401

TINY = "product d=20 n=60"


@pytest.fixture
def highdim(load, tmp_path, monkeypatch, capsys):  # noqa: F811
    """Return the command as a function of its options; it returns what is printed."""
    module = load("highdim")

    def call(*options):
        command = ["highdim.py", "--results", str(tmp_path / "r.csv"), *options]
        monkeypatch.setattr(sys, "argv", command)
        module.main()
        return capsys.readouterr().out

    return call


def test_a_tiny_problem_is_found_and_not_run_twice(highdim, tmp_path):
    options = ("--methods", "symgrad", "--only", TINY, "--seconds", "2", "--seeds", "1")
    assert "symgrad, product d=20 n=60, seed 0: R2 1.000" in highdim(*options)
    (row,) = pd.read_csv(tmp_path / "r.csv").to_dict("records")
    assert row["found"] is True
    assert len(row["used"].split()) == row["features"] == 3
    assert row["seconds_taken"] > 0
    assert highdim(*options) == ""
    assert "1/1" in highdim("--table")
    highdim("--markdown", str(tmp_path / "t.md"))
    assert "| product d=20 n=60, 2 s | 1/1 | 1.000 |" in (tmp_path / "t.md").read_text()


@pytest.mark.parametrize(
    ("options", "known"),
    [
        (("--only", "hay*"), "friedman d=10000 n=500 noise=0.1"),
        (("--only", "product e=5", "--seconds", "1"), "d, n, noise, rho"),
        (("--methods", "magic"), "symgrad, symgrad accurate, operon"),
        (("--table",), "no results"),
    ],
)
def test_unknown_names_list_the_known_ones(highdim, options, known):
    with pytest.raises(SystemExit, match=known):
        highdim(*options)


def test_every_problem_of_the_suite_can_be_made(load):  # noqa: F811
    for name, seconds in load("highdim").SUITE.items():
        assert load("needles").parse(name)["d"] >= 100
        assert seconds >= 1  # Operon knows whole seconds only


def test_tables_count_failed_runs_and_show_growth(load):  # noqa: F811
    rows = pd.DataFrame(
        {
            "dataset": ["product d=100 n=200"] * 2 + ["product d=1000 n=200"] * 2,
            "method": ["symgrad"] * 3 + ["gplearn"],
            "seed": [0, 1, 0, 0],
            "seconds": [1.0, 1.0, 3.0, 3.0],
            "status": ["ok", "timeout", "ok", "crash"],
            "found": [True, np.nan, False, np.nan],
            "test_r2": [1.0, np.nan, 0.5, np.nan],
            "seconds_taken": [0.5, np.nan, 3.1, np.nan],
        }
    )
    module = load("highdim")
    table = module.by_problem(rows)
    assert table.loc["product d=100 n=200, 1 s", "symgrad found"] == "1/2"
    assert table.loc["product d=100 n=200, 1 s", "gplearn found"] == ""
    assert table.loc["product d=1000 n=200, 3 s", "gplearn found"] == "0/1"
    growth = module.by_width(rows)
    assert growth.loc["product, symgrad"].tolist() == [
        "1/2, R2 1.000, 0.5 s",
        "0/1, R2 0.500, 3.1 s",
    ]
    assert growth.loc["product, gplearn"].tolist() == ["", "0/1, failed"]
