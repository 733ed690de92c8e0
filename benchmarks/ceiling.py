"""How accurate a formula can be on the Friedman data: their own one, fitted to the same rows.

    SYMGRAD_DATA=... python benchmarks/ceiling.py --first-seed 40 --seeds 6

The data were made by a + b sin(c (x0 + d) (x1 + e)) + f (x2 + g)^2 + h x3 + i x4 plus noise. Its
nine constants are fitted to the training rows of each split, from many starts. Test R2, mean and
deviation: who does not know the formula cannot expect more. With --rows, the results of `symgrad
bench peers` on the same splits, method by method.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import least_squares
from sklearn.metrics import r2_score

from symgrad.bench.problems import load

DATASETS = ("Fri_c4_50", "Fri_c0_50", "Fri_c1_50", "Fri_c4_100")
STARTS = 60

Array = NDArray[np.float64]


def friedman(t: Array, X: Array) -> Array:
    """Return the values of the formula with these constants."""
    wave = np.sin(t[2] * (X[:, 0] + t[3]) * (X[:, 1] + t[4]))
    values: Array = t[0] + t[1] * wave + t[5] * (X[:, 2] + t[6]) ** 2 + X[:, 3:5] @ t[7:9]
    return values


def fitted(X: Array, y: Array) -> Array:
    """Return the best constants that some starts lead to."""
    found = []
    for seed in range(STARTS):
        rng = np.random.default_rng(seed)
        start = np.array([0, 1, 1, 1.8, 1.8, 0.3, 1, 0.5, 0.3]) * rng.uniform(0.7, 1.3, 9)
        start[1] *= rng.choice([-1, 1])
        start[2] = rng.uniform(0.2, 0.7)
        start[6] = rng.uniform(-1, 1)
        found.append(least_squares(lambda t: friedman(t, X) - y, start))
    return np.asarray(min(found, key=lambda f: f.cost).x)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--rows", help="rows.csv of symgrad bench peers")
    o = parser.parse_args()
    seeds = range(o.first_seed, o.first_seed + o.seeds)
    rows = pd.DataFrame({"problem": [], "seed": [], "method": []})
    rows = pd.read_csv(o.rows) if o.rows else rows
    for name in o.datasets.split(","):
        scores = []
        for seed in seeds:
            problem = load(name, seed)
            constants = fitted(problem.X, problem.y)
            scores.append(r2_score(problem.y_test, friedman(constants, problem.X_test)))
        print(f"{name}: the formula itself {np.mean(scores):.4f} ± {np.std(scores, ddof=1):.4f}")
        own = rows[(rows["problem"] == name) & rows["seed"].isin(seeds)]
        for method, part in own.groupby("method"):
            print(f"  {method} {part.test_r2.mean():.4f} on {len(part)} splits", flush=True)


if __name__ == "__main__":
    main()
