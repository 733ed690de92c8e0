import pytest
from rows import table

from symgrad.bench import highdim
from symgrad.bench.needles import parse
from symgrad.bench.task import Limit


def test_the_suite_has_all_forms_widths_and_conditions():
    assert len(set(highdim.SUITE)) == 6 * 4 * 2 * 2 * 2 + 1
    for name in highdim.SUITE:
        parse(name)
        assert highdim.allowed(name) >= 1  # Operon knows whole seconds only


def test_problems_are_chosen_by_patterns_and_names():
    parts = highdim.plan("product d=10 n=*0, sine d=77 n=300", None, 2)
    names = [p.problem for p in parts]
    assert "product d=10 n=200" in names
    assert "product d=10 n=1000" in names
    assert (names[-1], parts[-1].limit) == ("sine d=77 n=300", Limit(5.0))
    assert highdim.plan("triple d=100 n=200", 7.0, 1)[0].limit == Limit(7.0)
    assert highdim.plan(highdim.QUICK, None, 1)


@pytest.mark.parametrize("pattern", ["hay*", "product d=7*", "hay d=10"])
def test_unknown_problems_list_the_known_ones(pattern):
    with pytest.raises(ValueError, match=r"forms product, squares, .*such as 'product d=10 n=200'"):
        highdim.plan(pattern, None, 1)


def test_tables_count_failed_runs_and_show_growth():
    rows = table(
        {"problem": "product d=100 n=200", "method": "symgrad", "found": "yes", "test_r2": 1.0},
        {"problem": "product d=100 n=200", "method": "symgrad", "seed": 1, "status": "timeout"},
        {"problem": "product d=1000 n=200", "method": "symgrad", "found": "no", "test_r2": 0.5},
        {"problem": "product d=1000 n=200", "method": "gplearn", "status": "crash"},
        {"problem": "sine d=10 rho=0.9", "method": "symgrad", "found": "block", "test_r2": 0.9},
    )
    by_problem = highdim.by_problem(rows)
    assert by_problem.loc["product d=100 n=200, 10 s", "symgrad found"] == "1/2"
    assert by_problem.loc["product d=100 n=200, 10 s", "gplearn found"] == ""
    assert by_problem.loc["product d=1000 n=200, 10 s", "gplearn found"] == "0/1"
    assert by_problem.loc["sine d=10 rho=0.9, 10 s", "symgrad found"] == "0/1 (+1)"
    growth = highdim.by_width(rows)
    assert growth.loc["product n=200, symgrad"].tolist() == [
        "1/2, R2 1.000, 1.5 s",
        "0/1, R2 0.500, 1.5 s",
    ]
    assert growth.loc["product n=200, gplearn"].tolist() == ["", "0/1, failed"]
    assert len(list(highdim.tables(rows))) == 2


def test_other_seconds_are_not_mixed_with_those_of_the_suite():
    own = {"method": "symgrad", "found": "yes", "test_r2": 1.0}
    rows = table(
        {"problem": "product d=100 n=200", "budget": "5 s"} | own,
        {"problem": "product d=1000 n=200", "budget": "20 s"} | own,
        {"problem": "product d=1000 n=200", "budget": "3 s"} | own,
    )
    parts = [(budget, len(part)) for budget, part in highdim.by_budget(rows)]
    assert parts == [("", 2), ("3 s", 1)]
    (growth, _), (by_problem, _) = ((t, f) for t, f in highdim.tables(rows))
    assert "by features" in growth
    assert "by problem, up to 1 seed" in by_problem
