import csv
import os
from pathlib import Path

import pytest

from symgrad.bench import published
from symgrad.bench.problems import REAL, SYNTHETIC

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("SYMGRAD_DATA", ROOT.parent / "shared" / "data"))


def test_the_tables_are_whole():
    for table, names in (
        (published.R2, REAL),
        (published.SIZE, REAL),
        (published.RECOVERY, SYNTHETIC),
        (published.RECOVERED_SIZE, SYNTHETIC),
    ):
        assert list(table) == list(published.METHODS)
        assert all(list(cells) == list(names) for cells in table.values())
    assert list(published.MARKS) == list(published.SIZE_MARKS) == list(REAL)


def test_some_cells_are_where_they_belong():
    assert published.R2["DGP"]["Tecator"] == "0.88 ± 0.017"
    assert published.SIZE["GP"]["Satellite_image"] == "136 ± 63.2"
    assert published.RECOVERY["PSSR"]["S6"] == "10"
    assert published.RECOVERED_SIZE["DSR"]["S1"] == "-"
    assert published.MARKS["Tecator"] == "(-, =)"


def rows(name):
    path = DATA.parent / "paper" / name
    if not path.is_file():
        pytest.skip(f"there is no {path}; set SYMGRAD_DATA to a folder beside it")
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_they_are_those_of_the_paper():
    for row in rows("real_world.csv"):
        at = row["method"], row["dataset"]
        r2, size = (t[at[0]][at[1]].split(" ± ") for t in (published.R2, published.SIZE))
        assert [float(v) for v in r2] == [float(row[f"test_r2_{k}"]) for k in ("mean", "std")]
        assert [float(v) for v in size] == [float(row[f"size_{k}"]) for k in ("mean", "std")]
    for row in rows("synthetic.csv"):
        at = row["method"], row["problem"]
        assert published.RECOVERY[at[0]][at[1]] == row["recovery_percent"]
        size = published.RECOVERED_SIZE[at[0]][at[1]].split(" ± ")[0]
        assert size == (row["size_mean"] or "-")
