"""Data sets and problems of the benchmarks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Split = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]

REAL: dict[str, str] = {
    "Satellite_image": "294_satellite_image",
    "Fri_c4_50": "607_fri_c4_1000_50",
    "Fri_c0_50": "603_fri_c0_250_50",
    "Fri_c1_50": "637_fri_c1_500_50",
    "Fri_c4_100": "588_fri_c4_1000_100",
    "GeoOriMusic": "4544_GeographicalOriginalofMusic",
    "Tecator": "505_tecator",
    "DLBCL": "dlbcl",
}
"""The paper's eight data sets, by its names."""

PUBLISHED: dict[str, float] = {
    "Satellite_image": 0.63,
    "Fri_c4_50": 0.65,
    "Fri_c0_50": 0.72,
    "Fri_c1_50": 0.67,
    "Fri_c4_100": 0.58,
    "GeoOriMusic": 0.62,
    "Tecator": 0.88,
    "DLBCL": 0.32,
}
"""Mean test R2 of DGP as published (table of the paper)."""


def folder() -> Path:
    """Return the data folder: $SYMGRAD_DATA, or shared/data beside the project."""
    given = os.environ.get("SYMGRAD_DATA")
    path = Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data"
    if not path.is_dir():
        raise SystemExit(
            f"there is no data folder {path}; set SYMGRAD_DATA to a folder with NAME.tsv.gz files "
            "(tab-separated, last column 'target'), such as PMLB's"
        )
    return path


def datasets(which: str) -> list[str]:
    """Return the names that "paper", "other" (all the rest of the folder), or a,b,c stand for."""
    if which == "paper":
        return list(REAL)
    if which == "other":
        files = sorted(path.name.removesuffix(".tsv.gz") for path in folder().glob("*.tsv.gz"))
        return [name for name in files if name not in REAL.values()]
    for name in which.split(","):
        file(name)
    return which.split(",")


def file(name: str) -> Path:
    """Return the file of a data set: one of the paper's, or NAME.tsv.gz in the data folder."""
    path = folder() / f"{REAL.get(name, name)}.tsv.gz"
    if not path.is_file():
        raise SystemExit(
            f"unknown data set {name!r}; the known ones are {', '.join(REAL)} "
            "and those in the data folder"
        )
    return path


def split(name: str, seed: int) -> Split:
    """Return train and test parts, 75 % and 25 %: X, X test, y, y test."""
    table = pd.read_csv(file(name), sep="\t")
    X, y = table.drop(columns="target").to_numpy(np.float64), table["target"].to_numpy(np.float64)
    order = np.random.default_rng(seed).permutation(len(y))
    cut = len(y) - len(y) // 4
    return X[order[:cut]], X[order[cut:]], y[order[:cut]], y[order[cut:]]


def r2(y: NDArray[Any], prediction: NDArray[Any], low: float, high: float) -> float:
    """Return R2 with predictions kept inside the training range, undefined ones at its middle."""
    middle = 0.5 * (low + high)
    kept = np.clip(np.where(np.isfinite(prediction), prediction, middle), low, high)
    return float(1 - np.sum((y - kept) ** 2) / np.sum((y - y.mean()) ** 2))
