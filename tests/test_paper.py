import pandas as pd
import pytest
from rows import study, table

from symgrad.bench.paper import mark, noise, plan, rmse, tables
from symgrad.bench.problems import REAL, SYNTHETIC, check
from symgrad.bench.task import Limit


def test_the_protocol_is_the_papers():
    parts = plan(["real", "synthetic", "noise"])
    real = [p for p in parts if p.problem.split()[0] in REAL]
    synthetic = [p for p in parts if p.problem in SYNTHETIC]
    noisy = [p for p in parts if "noise" in p.problem]
    assert len(real) == 8
    assert {(p.seeds, str(p.limit)) for p in real} == {(30, "100000 evaluations")}
    assert {(p.seeds, str(p.limit)) for p in synthetic} == {(10, "500000 evaluations")}
    assert len(noisy) == 30
    assert noisy[-1].problem == "S6 noise=0.1"
    for part in synthetic + noisy:
        check(part.problem)


def test_what_is_given_counts():
    (part,) = plan(["real", "synthetic"], ["Tecator"], "none", seeds=2, limit=Limit(5.0))
    assert part == ("Tecator", Limit(5.0), 2)
    quick = plan(["real", "synthetic", "noise"], quick=True)
    assert {p.seeds for p in quick} == {2}
    with pytest.raises(ValueError, match="real, synthetic, noise"):
        plan(["imaginary"])
    with pytest.raises(ValueError, match="those of the paper are Satellite_image"):
        plan(["real"], ["Boston"])


def test_marks_are_from_the_side_of_ours():
    low, high = [0.1, 0.2, 0.15, 0.12, 0.18], [0.5, 0.6, 0.55, 0.52, 0.58]
    assert mark(high, low) == "-"
    assert mark(low, high) == "+"
    assert mark(low, high, more_is_better=False) == "-"
    assert mark(low, low) == "="
    assert mark(low, [0.3]) == ""


def named(rows):
    return {title.split(": ", 1)[1]: frame for title, frame in tables(rows, "test_r2")}


def test_ours_stand_beside_what_was_published():
    rows = study([f"{d} standardized=X" for d in REAL], ["dgp", "gp"], 5, "100000 evaluations")
    rows.loc[0, "status"] = "timeout"
    found = named(rows)
    r2 = found["test R2, mean ± deviation, 5 seeds"]
    assert list(r2.columns) == list(REAL)
    assert r2.loc["dgp", "Satellite_image"].startswith("0.81 ± 0.0")
    assert r2.loc["dgp", "Satellite_image"].endswith("(1 of 5 failed)")
    assert r2.loc["DGP (published)", "DLBCL"] == "0.32 ± 0.127"
    marks = found["significance of R2 (training, test), dgp against"]
    assert marks.loc["Tecator"].to_dict() == {"vs gp": "(-, -)", "DGP vs GP (published)": "(-, =)"}
    size = found["nodes of the programs"]
    assert size.loc["Tecator", "gp"] == "26 ± 1.6"
    assert size.loc["Tecator", "GP (published)"] == "95 ± 43.8"
    assert found["significance of the nodes, dgp against"].loc["Tecator", "vs gp"] == "-"


def test_recovery_counts_failed_runs_and_tells_what_was_not_proven():
    verdicts = ("yes", "values", "no", None)
    rows = table(
        *(
            {"problem": s, "method": "gp", "seed": i, "recovered": v, "nodes": 9 + i,
             "status": "ok" if v else "crash"}
            for s in SYNTHETIC for i, v in enumerate(verdicts)
        )
    )  # fmt: skip
    found = named(rows)
    rates = found["recovery rate in %, 4 seeds"]
    assert rates.loc["S1", "gp"] == "25 (+1 by values)"
    assert rates.loc["Average"].to_dict()["gp"] == "25.0"
    assert rates.loc["Average", "DGP (published)"] == "73.3"
    assert found["nodes of the programs that are the formula"].loc["S1", "gp"] == "9"


def test_noise_is_told_by_level_and_one_pole_does_not_decide():
    rows = pd.concat(
        [study([f"S1{o}"], ["gp", "dgp"], 3) for o in ("", " noise=0.05", " noise=0.1")]
    )
    rows.loc[rows["seed"] == 1, "test_rmse"] = 1e20
    assert list(rmse(rows).columns) == [0, 0.05, 0.1]
    assert noise(rows).loc["S1, dgp"].tolist() == ["0.2", "0.2", "0.2"]
    assert "median test RMSE by noise" in named(rows)
