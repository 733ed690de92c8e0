"""Problems by name: the paper's data sets and formulas, files of the data folder, wide tables.

A name says all. "Tecator" and "505_tecator" are data sets; with " standardized=X" the features
have mean 0 and deviation 1 of the training part ("y", "both": the target, or both). "S1" is one of
the paper's formulas; " noise=0.05" is the deviation of the noise in the training target, relative
to its root mean square. Names such as "product d=1000 n=200" are those of needles.py.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from symgrad.bench import needles
from symgrad.bench.task import Array
from symgrad.data.dataset import Dataset
from symgrad.tree.tree import Tree

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
"""The paper's eight data sets, by its names. All but DLBCL are PMLB's."""

SYNTHETIC: dict[str, tuple[str, float, float]] = {
    "S1": ("sin(x0*x0)*cos(x0) - 1", -1, 1),
    "S2": ("log(x0 + 1) + log(x0*x0 + 1)", 0, 2),
    "S3": ("x0*x0*x0 + x0*x0 + x0 + sin(x0) + sin(x0*x0)", -1, 1),
    "S4": ("sin(x0) + sin(x1*x1)", 0, 1),
    "S5": ("x0*x0*x0*x0/(x0 + x1)", -1, 1),
    "S6": ("4*sin(x0)*cos(x1)", 0, 1),
}
"""The paper's six formulas and the range of their inputs."""

STANDARDIZED = ("none", "X", "y", "both")
"""What can be standardised. Open in the paper; without constants the units matter."""

POINTS, FRESH = 20, 1000
"""Points of a formula to train on, and to test on."""

HOW_TO_GET_DATA = (
    "set SYMGRAD_DATA to a folder with tables NAME.tsv.gz (tab-separated, last column 'target', "
    "such as PMLB's), or get them from OpenML: symgrad bench fetch"
)


class Problem(NamedTuple):
    """What is trained on, what is tested on, and the features that matter, if they are known."""

    X: Array
    X_test: Array
    y: Array
    y_test: Array
    features: tuple[int, ...] | None = None


def folder() -> Path:
    """Return the data folder: $SYMGRAD_DATA, or bench-data where the command is called."""
    path = Path(os.environ.get("SYMGRAD_DATA") or "bench-data")
    if not path.is_dir():
        raise ValueError(f"there is no data folder {path}; {HOW_TO_GET_DATA}")
    return path


def files() -> list[str]:
    """Return the data sets in the data folder."""
    return sorted(path.name.removesuffix(".tsv.gz") for path in folder().glob("*.tsv.gz"))


def named(which: str) -> list[str]:
    """Return the names that "paper", "other" (all the rest of the folder), or a,b,c stand for."""
    if which == "paper":
        names = list(REAL)
    elif which == "other":
        names = [name for name in files() if name not in REAL.values()]
    else:
        names = [name.strip() for name in which.split(",")]
    for name in names:
        check(name)
    return names


def check(name: str) -> None:
    """Refuse a name that is no problem's, and a data set that is not in the data folder."""
    first = name.split()[0]
    if first in needles.FORMS:
        needles.parse(name)
    elif first in SYNTHETIC:
        _option(name, "noise")
    else:
        if _option(name, "standardized") not in ("", *STANDARDIZED):
            raise ValueError(f"standardized must be one of {', '.join(STANDARDIZED)}: {name!r}")
        file(first)


def file(name: str) -> Path:
    """Return the file of a data set: one of the paper's, or NAME.tsv.gz in the data folder."""
    path = folder() / f"{REAL.get(name, name)}.tsv.gz"
    if path.is_file():
        return path
    if name in REAL:
        raise ValueError(f"there is no file {path}; {HOW_TO_GET_DATA}")
    known = [*REAL, *(f for f in files() if f not in REAL.values()), *SYNTHETIC, *needles.FORMS]
    raise ValueError(f"unknown data set {name!r}; the known ones are {', '.join(known)}")


def load(name: str, seed: int) -> Problem:
    """Return a problem; the seed draws the rows to train on, or the whole table."""
    first = name.split()[0]
    if first in needles.FORMS:
        return Problem(*needles.make(name, seed))
    if first in SYNTHETIC:
        return points(first, seed, float(_option(name, "noise") or 0))
    return split(first, seed, _option(name, "standardized") or "none")


def truth(name: str) -> Tree:
    """Return the formula of one of the paper's synthetic problems."""
    return Tree.parse(SYNTHETIC[name.split()[0]][0])


def points(name: str, seed: int, noise: float = 0.0) -> Problem:
    """Return 20 points of a formula, with noise, and 1,000 fresh ones without."""
    tree, rng = truth(name), np.random.default_rng(seed)
    _, low, high = SYNTHETIC[name]
    shapes = ((rows, len(tree.feature_indices)) for rows in (POINTS, FRESH))
    X, fresh = (rng.uniform(low, high, shape) for shape in shapes)
    y = tree.evaluate(X)
    noisy = y + noise * np.sqrt(np.mean(y**2)) * rng.normal(size=len(y)) if noise else y
    return Problem(X, fresh, noisy, tree.evaluate(fresh), tree.feature_indices)


def split(name: str, seed: int, standardized: str = "none") -> Problem:
    """Return train and test parts of a data set, 75 % and 25 %.

    What `standardized` names ("none", "X", "y" or "both") is brought to mean 0 and deviation 1 of
    the training part. R2 is the same for a target in its own unit.
    """
    table = pd.read_csv(file(name), sep="\t")
    X, y = table.drop(columns="target").to_numpy(np.float64), table["target"].to_numpy(np.float64)
    order = np.random.default_rng(seed).permutation(len(y))
    cut = 3 * len(y) // 4
    train, test = order[:cut], order[cut:]
    if standardized in ("X", "both"):
        X = _standard(X, X[train])
    if standardized in ("y", "both"):
        y = _standard(y[:, None], y[train, None])[:, 0]
    return Problem(X[train], X[test], y[train], y[test])


def fetch(target: Path, names: list[str]) -> list[Path]:
    """Write data sets of PMLB, whose names begin with their numbers at OpenML, to a folder."""
    from sklearn.datasets import fetch_openml

    written = []
    for name in (REAL.get(n, n) for n in names):
        number = name.partition("_")[0]
        if not number.isdigit():
            raise ValueError(
                f"{name!r} is not at OpenML; put {name}.tsv.gz into {target} yourself"
                + (" (7,399 genes and status, target the survival time)" * (name == "dlbcl"))
            )
        bunch = fetch_openml(data_id=int(number), as_frame=True)
        table = bunch.data.apply(pd.to_numeric).assign(target=pd.to_numeric(bunch.target))
        target.mkdir(parents=True, exist_ok=True)
        written.append(target / f"{name}.tsv.gz")
        table.to_csv(written[-1], sep="\t", index=False)
    return written


def _option(name: str, key: str) -> str:
    """Return the value of the one option that a name may have, or nothing."""
    words = [word.partition("=") for word in name.split()[1:]]
    for word, _, _ in words:
        if word != key:
            raise ValueError(f"unknown option {word!r} in {name!r}; the known one is {key}")
    return words[-1][2] if words else ""


def _standard(values: Array, train: Array) -> Array:
    known = Dataset(train, dtype=np.float64).standardize()
    assert known.center is not None
    assert known.scale is not None
    return (values - known.center) / known.scale
