import numpy as np
import pandas as pd
from rows import study, table

from symgrad.bench.summaries import accuracy, as_markdown, document, ordered, parts, sizes, summary


def test_a_method_without_results_ranks_last():
    rows = table(
        {"problem": "d", "method": "lasso", "test_r2": 0.5, "size": 3, "features": 1},
        {"problem": "d", "method": "forest", "test_r2": 0.7},
        {"problem": "d", "method": "boosting", "status": "crash"},
    )
    summed, ranked = summary(rows, "test_r2")
    assert ranked == 1
    assert summed["mean rank"].to_dict() == {"lasso": "2.00", "forest": "1.00", "boosting": "3.00"}
    assert summed["wins"].to_dict() == {"lasso": "0", "forest": "1", "boosting": "0"}
    assert summed["failed"].to_dict() == {"lasso": "0", "forest": "0", "boosting": "1"}


def test_cells_say_what_failed():
    rows = table(
        {"problem": "d", "method": "lasso", "test_r2": 0.5, "size": 3.0},
        {"problem": "d", "method": "lasso", "test_r2": 0.7, "size": np.nan, "seed": 1},
        {"problem": "d", "method": "lasso", "status": "timeout", "seed": 2},
    )
    assert accuracy(rows, "test_r2").loc["d", "lasso"] == "0.600 ± 0.141 (1 of 3 failed)"
    assert sizes(rows).loc["d", "lasso"] == "3.0 (1 unknown)"


def test_every_budget_has_its_tables():
    rows = pd.concat([study(["Tecator"], ["symgrad", "lasso"], 2, b) for b in ("10 s", "60 s")])
    titles = [title for title, _ in parts(rows, "test_r2")]
    assert len(titles) == 6
    assert titles[0].startswith("10 s, 1 thread: mean test R2")
    assert titles[3].startswith("60 s")


def test_a_page_says_where_it_was_measured_and_lists_what_failed():
    rows = table(
        {"problem": "d", "method": "lasso", "test_r2": 0.5},
        {"problem": "d", "method": "forest", "status": "crash", "error": "a|b"},
    )
    text = document("Title", rows, [("numbers", pd.DataFrame({"a": ["1"]}, index=["row"]))])
    assert text.startswith("# Title\n\n2 runs, 1 of them failed. Versions: thing 1.0.")
    assert "| row | 1 |" in text
    assert "| forest | d | 0 | 10 s | crash | a/b |" in text


def test_tables_are_markdown_and_names_are_ordered():
    frame = pd.DataFrame({"x": ["1"], "y": ["2"]}, index=["r"])
    assert as_markdown("t", frame) == "**t**\n\n|  | x | y |\n| --- | ---: | ---: |\n| r | 1 | 2 |"
    assert ordered(["c", "a", "b"], ["b", "a"]) == ["b", "a", "c"]
