"""Where the tables of the examples are: $SYMGRAD_DATA, or shared/data beside the project."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd


def table(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """Return the features and the target of NAME.tsv.gz."""
    given = os.environ.get("SYMGRAD_DATA")
    folder = Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data"
    path = folder / f"{name}.tsv.gz"
    if not path.is_file():
        raise SystemExit(f"there is no file {path}; set SYMGRAD_DATA to the folder that has it")
    frame = pd.read_csv(path, sep="\t")
    return frame.drop(columns="target"), frame["target"]
