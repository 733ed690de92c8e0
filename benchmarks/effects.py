"""Where the lasso is at home: many features with small effects, which add up.

    python benchmarks/effects.py --seeds 8 --seconds 5

Test R2 of the lasso (cross-validated), of symgrad, and of symgrad's formula of least description
length, whether a sum of features predicts better or not. The tables are scikit-learn's diabetes
data (75/25 splits) and sums of k of d normal features with normal factors, n rows, and noise of so
many deviations of the sum; tested on 1,000 fresh rows with noise.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LassoCV
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from symgrad import DGPRegressor

TABLES = {
    "diabetes": None,
    "3 of 50, n = 200, noise 0.5": (3, 50, 200, 0.5),
    "10 of 50, n = 200, noise 0.5": (10, 50, 200, 0.5),
    "20 of 50, n = 200, noise 0.5": (20, 50, 200, 0.5),
    "20 of 50, n = 1000, noise 0.5": (20, 50, 1000, 0.5),
    "40 of 100, n = 500, noise 0.7": (40, 100, 500, 0.7),
}


def table(made: tuple[int, int, int, float] | None, seed: int) -> Any:
    """Return training and test rows, features and targets."""
    if made is None:
        return train_test_split(*load_diabetes(return_X_y=True), random_state=seed)
    k, d, n, noise = made
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + 1000, d))
    factors = np.zeros(d)
    factors[rng.choice(d, k, replace=False)] = rng.normal(size=k)
    z = X @ factors
    y = z + noise * z.std() * rng.normal(size=len(z))
    return X[:n], X[n:], y[:n], y[n:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--jobs", type=int, default=2)
    o = parser.parse_args()
    rows = []
    for seed in range(o.first_seed, o.first_seed + o.seeds):
        for name, made in TABLES.items():
            X, X_test, y, y_test = table(made, seed)
            lasso = make_pipeline(StandardScaler(), LassoCV(random_state=0)).fit(X, y)
            row = {"table": name, "lasso": lasso.score(X_test, y_test)}
            est = DGPRegressor(time_limit=o.seconds, random_state=seed, n_jobs=o.jobs)
            front = est.fit(X, y).equations_
            shortest = int(front.loc[front["length"].idxmin(), "size"])
            row |= {"symgrad": est.score(X_test, y_test), "size": est.tree_.size}
            row["least length"] = r2_score(y_test, est.predict(X_test, size=shortest))
            rows.append(row | {"its size": shortest})
            print(", ".join(f"{k} {v}" for k, v in rows[-1].items()), flush=True)
    print(pd.DataFrame(rows).groupby("table", sort=False).mean().round(3).to_string())


if __name__ == "__main__":
    main()
