"""The choice of a formula: by errors in training, or on rows that constants were not fitted to.

    python benchmarks/choice.py --seeds 4 --seconds 6

All choose from the same fronts by the least description length: with all words by the errors in
training; by those on left-out rows, with half of the words but all of those for features; the
same with features counted for more (the default), or as many as there are, alike or not; and the
default without a look at what formulas do between rows. Then a mean of the default's formula with
others (`model_selection="accurate"`). Test R2 and size of each. Sums of features, which may take a
formula's place, are left aside.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.metrics import r2_score

from symgrad.bench.problems import load, named
from symgrad.bench.size import size
from symgrad.blend import blend
from symgrad.data.alike import different
from symgrad.data.complexity import LEFT_OUT
from symgrad.data.dataset import Dataset
from symgrad.data.loss import Loss
from symgrad.language.primitive import CONSTANT
from symgrad.model import Formula, choose, formulas
from symgrad.outside import Box
from symgrad.search.base import Budget, run
from symgrad.search.guided import GuidedDGP
from symgrad.search.prune import prune
from symgrad.search.shelter import shelter
from symgrad.tree.tree import Tree


def one(dataset: str, seed: int, seconds: float, jobs: int) -> dict[str, object]:
    """Return test R2 and sizes of both choices from the front of one search."""
    X, X_test, y, y_test, _ = load(dataset, seed)
    exact = Dataset(X, y, dtype=np.float64)
    rng = np.random.default_rng(seed)
    data = exact.standardize(gently=True, order=rng.permutation(len(y)))
    search, loss = GuidedDGP(n_jobs=jobs), Loss()
    state = run(search, data, Budget(seconds=seconds), rng)
    prune(state.front, data, loss, jobs)
    spare = shelter(state, data, search)

    def judged() -> list[Formula]:
        return [
            formula
            for entries in (state.front, spare)
            for formula in formulas(entries, data, exact, loss, n_jobs=jobs)
        ]

    found = judged()
    with patch("symgrad.model.between", return_value=0.0):
        at_rows = judged()
    in_training = [
        f if f.constant else replace(f, length=f.words + loss.length(f.loss, y.var(), len(y)))
        for f in found
    ]

    def dearer(nats: float) -> list[Formula]:  # each use of a feature
        return [
            f if f.constant else replace(f, length=f.length + nats * uses(f.tree)) for f in found
        ]

    own = math.log(different(exact))
    in_full = dearer(2 * (1 - LEFT_OUT[0]) * own)
    as_many = dearer(2 * LEFT_OUT[0] * (math.log(exact.features) - own))
    row: dict[str, object] = {"data set": dataset, "seed": seed}
    ways = {
        "training": in_training, "features in full": in_full, "all features": as_many,
        "rows alone": at_rows, "left out": found,
    }  # fmt: skip
    picked = {w: choose(of, "balanced", exact, loss=loss) for w, of in ways.items()}
    picked["mean"] = blend(picked["left out"], found, exact, exact, search, None)
    for way, chosen in picked.items():
        values = chosen.tree.evaluate(X_test, dtype=np.float64)
        values = np.where(np.isfinite(values), values, y.mean())
        box = Box.of(exact, chosen)
        values = values if box is None else box.kept(values, X_test, chosen.tree)
        row |= {way: r2_score(y_test, values), f"size, {way}": size(chosen.tree.sympy())}
    return row


def uses(tree: Tree) -> int:
    """Return how many leaves are features."""
    return int(np.count_nonzero((tree.code < 0) & (tree.code != CONSTANT)))


def report(name: str, gain: pd.Series[float]) -> None:
    """Print a mean over data sets and its standard error."""
    error = gain.std() / np.sqrt(len(gain))
    print(f"{name} {gain.mean():.4f}, standard error over data sets {error:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", default="all", help="all, paper, other, or a,b,c")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--jobs", type=int, default=2)
    o = parser.parse_args()
    names = named("paper") + named("other") if o.datasets == "all" else named(o.datasets)
    rows = []
    for seed in range(o.first_seed, o.first_seed + o.seeds):
        for name in names:
            rows.append(one(name, seed, o.seconds, o.jobs))
            print(", ".join(f"{k} {v}" for k, v in rows[-1].items()), flush=True)
    table = pd.DataFrame(rows).drop(columns="seed")
    means = table.groupby("data set", sort=False).mean()
    means.loc["mean"] = means.mean()
    print(means.round(4).to_string())
    for way in ("training", "features in full", "all features", "rows alone"):
        gain = (means["left out"] - means[way]).drop("mean")
        report(f"gain over {way}", gain)
    report("gain of mean", (means["mean"] - means["left out"]).drop("mean"))


if __name__ == "__main__":
    main()
