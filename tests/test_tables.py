"""Tables from files: what is read, and what is said about what cannot be."""

import gzip
import importlib.util

import numpy as np
import pandas as pd
import pytest

from symgrad import tables

needs_pyarrow = pytest.mark.skipif(
    importlib.util.find_spec("pyarrow") is None, reason="pyarrow is not installed"
)


def file(folder, text, name="data.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def frame():
    values = np.random.default_rng(0).normal(size=(20, 3)) * 10.0 ** np.arange(-3, 17, 7)[:, None].T
    return pd.DataFrame(values, columns=["a", "dose, mg", "größe"])


KINDS = ["csv", "tsv", "csv.gz", "tsv.gz", "CSV"]
PARQUET = [pytest.param(k, marks=needs_pyarrow) for k in ("parquet", "parquet.gz")]


@pytest.mark.parametrize("kind", [*KINDS, *PARQUET])
def test_what_is_written_is_read_back_to_the_last_digit(tmp_path, kind):
    path = tmp_path / f"data.{kind}"
    tables.write(frame(), path)
    table = tables.read(path)
    assert table.columns == list(frame().columns)
    pd.testing.assert_frame_equal(table.numbers(table.columns), frame(), check_exact=True)


def test_numbers_of_all_kinds(tmp_path):
    path = file(
        tmp_path, "\ufeffn,x,b, big\n1,1e3,True,123456789012345678901234567890\n-2, .5,False,1\n"
    )
    got = tables.read(path).numbers(["n", "x", "b", "big"])
    assert got.to_numpy().tolist() == [
        [1, 1000, 1, 123456789012345678901234567890.0],
        [-2, 0.5, 0, 1],
    ]


def read_all(path):
    table = tables.read(path)
    return table.numbers(table.columns)


COMPLAINTS = {
    "several": (
        "a,b,c\n1,x,\n3,y,2\n",
        "column 'b' holds 'x' in row 2 of {path}, which is no number; such cells are in 'c', too",
    ),
    "no values": ("a,b\n1,\n3,\n", "column 'b' of {path} has no values"),
    "semicolons": ("a;b\n1,5;2\n", "has semicolons between its cells, and .csv files need commas"),
    "tabs": ("a\tb\n1\t2\n", "has tabs between its cells"),
    "index": (",a\n0,1\n", "column 1 of {path} has no name (an index of pandas?"),
    "text": ("a,b\n1,2\n3,x4\n", "column 'b' holds 'x4' in row 3 of {path}, which is no number"),
    "blank lines": ("a,b\n\n1,2\n\n3,x4\n", "column 'b' holds 'x4' in row 5"),
    "quoted newline": ('a,"b\nc"\n1,2\n3,4\nx,5\n', "column 'a' holds 'x' in row 5"),
    "empty": ("a,b\n1,2\n3,\n", "column 'b' is empty in row 3"),
    "short row": ("a,b\n1,2\n3\n", "column 'b' is empty in row 3"),
    "nan": ("a,b\n1,nan\n3,4\n", "column 'b' has no value (nan) in row 2"),
    "NA": ("a,b\n1,NA\n3,4\n", "column 'b' has no value (NA) in row 2"),
    "infinite": ("a,b\n1,-inf\n3,4\n", "column 'b' holds '-inf' in row 2 of {path}, which is not"),
    "too large": ("a,b\n1,1e999\n3,4\n", "column 'b' holds '1e999' in row 2"),
    "decimal comma": ('a,b\n"1,5",2\n3,4\n', "column 'a' holds '1,5' in row 2"),
    "date": ("a,b\n2024-01-01,2\n2024-01-02,4\n", "column 'a' holds '2024-01-01' in row 2"),
    "no rows": ("a,b\n", "{path} has no rows"),
    "nothing": ("", "{path} is empty"),
    "blank": ("\n\n", "{path} is empty"),
    "twice": ("a,b,a\n1,2,3\n", "{path} has more than one column 'a'"),
    "no name": ("a,,c\n1,2,3\n", "column 2 of {path} has no name"),
    "long row": ("a,b\n1,2\n3,4,5\n", "row 3 of {path} has 3 cells, but there are 2 columns"),
    "long rows": ("a,b\n1,2,3\n3,4,5\n", "row 2 of {path} has 3 cells, but there are 2 columns"),
    "no text": (b"a,b\n\xff\xfe,2\n", "{path} is no text in UTF-8"),
}


@pytest.mark.parametrize("name", COMPLAINTS)
def test_one_sentence_with_column_and_row(tmp_path, name):
    text, sentence = COMPLAINTS[name]
    path = file(tmp_path, text)
    with pytest.raises(ValueError, match=r"data\.csv") as caught:
        read_all(path)
    assert sentence.format(path=path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_rows_of_compressed_files_are_named_too(tmp_path):
    path = file(tmp_path, gzip.compress(b"a\tb\n1\t2\n3\tx\n"), "data.tsv.gz")
    with pytest.raises(ValueError, match="column 'b' holds 'x' in row 3"):
        tables.read(path).numbers(["a", "b"])


def test_columns_that_are_not_asked_for_may_hold_anything(tmp_path):
    table = tables.read(file(tmp_path, "name,b\nAda,2\n,4\n"))
    assert table.numbers(["b"])["b"].tolist() == [2, 4]


@pytest.mark.parametrize(
    ("name", "hint"),
    [("Weigth", "did you mean 'weight'"), ("AGE", "did you mean 'age'?"), ("zzz", "'age', ")],
)
def test_near_columns_are_named(tmp_path, name, hint):
    table = tables.read(file(tmp_path, "age,weight,height\n1,2,3\n"))
    with pytest.raises(ValueError, match=f"has no column '{name}'") as caught:
        table.numbers([name])
    assert hint in str(caught.value)


def test_few_of_many_columns_are_listed(tmp_path):
    header = ",".join(f"gene{j}" for j in range(1000))
    table = tables.read(file(tmp_path, f"{header}\n{header.replace('gene', '')}\n"))
    with pytest.raises(ValueError, match=r"'gene7', \.\.\.$"):
        table.check(["y"])


def test_files_that_are_no_tables(tmp_path):
    with pytest.raises(ValueError, match="there is no file"):
        tables.read(tmp_path / "none.csv")
    with pytest.raises(ValueError, match="is no file"):
        tables.read(tmp_path)
    with pytest.raises(ValueError, match="must be csv, tsv or parquet"):
        tables.read(file(tmp_path, "a\n1\n", "data.xlsx"))
    with pytest.raises(ValueError, match="no complete gzip file"):
        tables.read(file(tmp_path, "a\n1\n", "data.csv.gz"))
    with pytest.raises(ValueError, match="no complete gzip file"):
        tables.read(file(tmp_path, gzip.compress(b"a\n1\n" * 999)[:-9], "half.csv.gz"))


def test_parquet_without_pyarrow_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setattr(tables.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match="pip install pyarrow"):
        tables.read(file(tmp_path, "x", "data.parquet"))


@needs_pyarrow
def test_parquet_that_is_none(tmp_path):
    with pytest.raises(ValueError, match="is no parquet file"):
        tables.read(file(tmp_path, "x", "data.parquet"))
    pd.DataFrame({"a": [1.0, None]}).to_parquet(tmp_path / "nan.parquet")
    with pytest.raises(ValueError, match=r"column 'a' has no value .* in row 2"):
        tables.read(tmp_path / "nan.parquet").numbers(["a"])
