"""Data sets and problems of the benchmarks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import needles
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from symgrad import Dataset

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


SYNTHETIC: dict[str, tuple[str, float, float, int]] = {
    "S1": ("sin(x0*x0)*cos(x0) - 1", -1, 1, 90),
    "S2": ("log(x0 + 1) + log(x0*x0 + 1)", 0, 2, 80),
    "S3": ("x0*x0*x0 + x0*x0 + x0 + sin(x0) + sin(x0*x0)", -1, 1, 50),
    "S4": ("sin(x0) + sin(x1*x1)", 0, 1, 100),
    "S5": ("x0*x0*x0*x0/(x0 + x1)", -1, 1, 100),
    "S6": ("4*sin(x0)*cos(x1)", 0, 1, 20),
}
"""The paper's formulas, the range of their inputs, and DGP's published recovery rate in %."""

STANDARDIZED = ("none", "X", "y", "both")
"""What can be standardised. Open in the paper; without constants the units matter."""


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
        if not is_needles(name):
            file(name)
    return which.split(",")


def is_needles(name: str) -> bool:
    """Whether a name is that of a generated problem; see needles.py."""
    return name.split(" ")[0] in needles.FORMS


def file(name: str) -> Path:
    """Return the file of a data set: one of the paper's, or NAME.tsv.gz in the data folder."""
    path = folder() / f"{REAL.get(name, name)}.tsv.gz"
    if not path.is_file():
        raise SystemExit(
            f"unknown data set {name!r}; the known ones are {', '.join(REAL)}, those in the data "
            f"folder, and the forms of needles.py: {', '.join(needles.FORMS)}"
        )
    return path


def load(name: str, seed: int) -> tuple[Split, tuple[int, ...] | None]:
    """Return train and test parts, and, of a generated problem, the features that matter."""
    if not is_needles(name):
        return split(name, seed), None
    made = needles.make(name, seed)
    return made[:4], made.features


def split(name: str, seed: int, standardized: str = "none") -> Split:
    """Return train and test parts, 75 % and 25 %: X, X test, y, y test.

    What `standardized` names ("none", "X", "y" or "both") is brought to mean 0 and deviation 1 of
    the training part. R2 is the same for a target in its own unit.
    """
    if standardized not in STANDARDIZED:
        raise SystemExit(f"standardized must be one of {STANDARDIZED}, got {standardized!r}")
    table = pd.read_csv(file(name), sep="\t")
    X, y = table.drop(columns="target").to_numpy(np.float64), table["target"].to_numpy(np.float64)
    order = np.random.default_rng(seed).permutation(len(y))
    cut = len(y) - len(y) // 4
    train, test = order[:cut], order[cut:]
    if standardized in ("X", "both"):
        X = _standard(X, X[train])
    if standardized in ("y", "both"):
        y = _standard(y[:, None], y[train, None])[:, 0]
    return X[train], X[test], y[train], y[test]


def _standard(values: NDArray[np.float64], train: NDArray[np.float64]) -> NDArray[np.float64]:
    known = Dataset(train, dtype=np.float64).standardize()
    assert known.center is not None
    assert known.scale is not None
    return (values - known.center) / known.scale


def r2(y: NDArray[Any], prediction: NDArray[Any], low: float, high: float) -> float:
    """Return R2 with predictions kept inside the training range, undefined ones at its middle."""
    middle = 0.5 * (low + high)
    kept = np.clip(np.where(np.isfinite(prediction), prediction, middle), low, high)
    return float(1 - np.sum((y - kept) ** 2) / np.sum((y - y.mean()) ** 2))
