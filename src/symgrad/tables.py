"""Tables from files, for the command line: complaints name the file, the column and the row."""

from __future__ import annotations

import csv
import gzip
import importlib.util
import io
import warnings
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

SEPARATORS = {".csv": ",", ".tsv": "\t"}
KINDS = "csv, tsv or parquet, each also with .gz"
OTHERS = {";": "semicolons", "\t": "tabs", ",": "commas"}
"""Marks that may stand between cells."""

EXACT: Any = {"float_precision": "round_trip"} if pd.__version__.startswith("2.") else {}
"""Lets pandas read numbers to the last digit, which newer ones do anyway."""

MANY = 8
"""Columns that a message lists."""


@dataclass(frozen=True)
class Table:
    """A file with columns.

    Attributes
    ----------
    path : Path
        The file.
    frame : pandas.DataFrame
        Its cells as pandas reads them.
    """

    path: Path
    frame: pd.DataFrame

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.frame.columns)

    def check(self, names: Sequence[str]) -> None:
        """Refuse names that are no columns; say which come near."""
        for name in names:
            if name in self.frame.columns:
                continue
            lower = {c.lower(): c for c in self.columns}
            near = [lower[n] for n in get_close_matches(name.lower(), lower, n=3)]
            hint = f"did you mean {' or '.join(map(repr, near))}?"
            if not near:
                more = ", ..." if len(self.columns) > MANY else ""
                hint = f"there are {', '.join(map(repr, self.columns[:MANY]))}{more}"
            raise ValueError(f"{self.path} has no column {name!r}; {hint}")

    def numbers(self, names: Sequence[str]) -> pd.DataFrame:
        """Return some columns as finite numbers; the first cell that is none is named."""
        self.check(names)
        if not len(self.frame):
            raise ValueError(f"{self.path} has no rows")
        columns: dict[str, NDArray[np.float64]] = {}
        wrong: list[tuple[str, int]] = []
        for name in names:
            column = self.frame[name]
            if getattr(column.dtype, "kind", "O") not in "biuf":
                column = pd.to_numeric(column.astype(object), errors="coerce")
            values = column.to_numpy(np.float64, na_value=np.nan)
            bad = np.flatnonzero(~np.isfinite(values))
            if bad.size:
                wrong.append((name, int(bad[0])))
            columns[name] = values
        if wrong:
            raise ValueError(self._complaint(*wrong[0]) + _others([name for name, _ in wrong[1:]]))
        frame: pd.DataFrame = pd.DataFrame(columns)
        return frame

    def _complaint(self, name: str, row: int) -> str:
        """Say what stands in a cell, and where: text files are read again for it."""
        number, cell = row + 1, str(self.frame[name].iloc[row])
        if kind(self.path) in SEPARATORS:
            index = self.columns.index(name)
            for k, (line, cells) in enumerate(records(self.path)):
                if k == row + 1:  # the header is the first
                    number, cell = line, cells[index] if index < len(cells) else ""
                    break
        if self.frame[name].isna().all():
            return f"column {name!r} of {self.path} has no values"
        place = f"in row {number} of {self.path}"
        if not cell.strip():
            return f"column {name!r} is empty {place}"
        if cell.strip().lower() in ("nan", "na", "n/a", "null", "none", "<na>"):
            return f"column {name!r} has no value ({cell.strip()}) {place}"
        infinite = cell.strip().lower().lstrip("+-") in ("inf", "infinity")
        what = "is not finite" if infinite else "is no number"
        return f"column {name!r} holds {cell!r:.60} {place}, which {what}"


def _others(names: list[str]) -> str:
    """Say which columns else have cells without a number."""
    if not names:
        return ""
    more = f" and {len(names) - MANY} more" if len(names) > MANY else ""
    listed = ", ".join(map(repr, names[:MANY]))
    return f"; such cells are in {listed}{more}, too"


def kind(path: Path) -> str:
    """Return the suffix of a file, without that of compression."""
    return Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower()


def check_kind(path: Path) -> None:
    """Refuse files that are no tables by their names, or that need what is not installed."""
    if kind(path) not in (*SEPARATORS, ".parquet"):
        raise ValueError(f"{path} must be {KINDS}, by its name")
    if kind(path) == ".parquet" and importlib.util.find_spec("pyarrow") is None:
        raise ValueError(f"{path} needs pyarrow, which is not installed: pip install pyarrow")


def read(path: Path) -> Table:
    """Read a table; a ValueError says in one sentence what is wrong with it."""
    if not path.exists():
        raise ValueError(f"there is no file {path}")
    if not path.is_file():
        raise ValueError(f"{path} is no file")
    check_kind(path)
    try:
        frame = _parquet(path) if kind(path) == ".parquet" else _text(path)
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no text in UTF-8") from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise ValueError(f"{path} is no complete gzip file") from None
    if not len(frame):
        raise ValueError(f"{path} has no rows")
    return Table(path, frame)


def write(frame: pd.DataFrame, path: Path) -> None:
    """Write a table; numbers keep all their digits."""
    if kind(path) != ".parquet":
        frame.to_csv(path, sep=SEPARATORS[kind(path)], index=False)
        return
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    data = buffer.getvalue()
    path.write_bytes(gzip.compress(data) if path.suffix.lower() == ".gz" else data)


def records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Go through the rows of a text file that are not empty, each with its number in the file."""
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=SEPARATORS[kind(path)])
        for cells in reader:
            if any(cell.strip() for cell in cells) or len(cells) > 1:
                yield reader.line_num, cells


def _text(path: Path) -> pd.DataFrame:
    header = next(records(path), (0, []))[1]
    if not header:
        raise ValueError(f"{path} is empty")
    names = [name.strip() for name in header]
    for mark, word in OTHERS.items():
        if len(names) == 1 and mark in names[0] and mark != SEPARATORS[kind(path)]:
            right = OTHERS[SEPARATORS[kind(path)]]
            raise ValueError(
                f"{path} has {word} between its cells, and {kind(path)} files need {right}"
            )
    for j, name in enumerate(names):
        if not name:
            hint = "" if j else " (an index of pandas? to_csv(index=False) writes none)"
            raise ValueError(f"column {j + 1} of {path} has no name{hint}")
        if name in names[:j]:
            raise ValueError(f"{path} has more than one column {name!r}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame: pd.DataFrame = pd.read_csv(
                path, sep=SEPARATORS[kind(path)], encoding="utf-8-sig", index_col=False,
                **EXACT, low_memory=False,
            )  # fmt: skip
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        for number, cells in records(path):
            if len(cells) > len(names):
                raise ValueError(
                    f"row {number} of {path} has {len(cells)} cells, but there are "
                    f"{len(names)} columns"
                ) from None
        raise ValueError(f"cannot read {path}: {error}") from None
    frame.columns = pd.Index(names)
    return frame


def _parquet(path: Path) -> pd.DataFrame:
    data = path.read_bytes()
    try:
        if path.suffix.lower() == ".gz":
            data = gzip.decompress(data)
        frame = pd.read_parquet(io.BytesIO(data))
    except ImportError:
        raise ValueError(f"{path} needs pyarrow: pip install pyarrow") from None
    except (OSError, ValueError) as error:  # pyarrow's own are kinds of these
        if isinstance(error, gzip.BadGzipFile):
            raise
        raise ValueError(f"{path} is no parquet file") from None
    frame.columns = pd.Index([str(c) for c in frame.columns])
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise ValueError(f"{path} has more than one column {twice!r}")
    return frame
