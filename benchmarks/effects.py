"""Where the lasso is at home: many features with small effects, which add up.

    python benchmarks/effects.py --seeds 8 --seconds 5

Test R2 of the lasso (cross-validated), of symgrad, and of symgrad's formula of least description
length, whether a sum of features predicts better or not. The tables are scikit-learn's diabetes
data (75/25 splits) and sums of k of d normal features with normal factors, n rows, and noise of so
many deviations of the sum; tested on 1,000 fresh rows with noise. "equal" factors are all 1; "and a
product" adds one of two further features, with the deviation of the sum; "in blocks" features are
correlated, by 0.5 in tens.
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

TABLES: dict[str, tuple[Any, ...] | None] = {
    "diabetes": None,
    "3 of 50, n = 200, noise 0.5": (3, 50, 200, 0.5),
    "10 of 50, n = 200, noise 0.5": (10, 50, 200, 0.5),
    "20 of 50, n = 200, noise 0.5": (20, 50, 200, 0.5),
    "20 of 50, n = 1000, noise 0.5": (20, 50, 1000, 0.5),
    "40 of 100, n = 500, noise 0.7": (40, 100, 500, 0.7),
    "60 of 1000, n = 600, noise 0.3": (60, 1000, 600, 0.3),
    "40 equal of 300, n = 400, noise 0.6": (40, 300, 400, 0.6, "equal"),
    "30 of 300 and a product, n = 400, noise 0.5": (30, 300, 400, 0.5, "and a product"),
    "100 of 400 in blocks, n = 300, noise 0.5": (100, 400, 300, 0.5, "in blocks"),
}
BLOCK = 10


def table(made: tuple[Any, ...] | None, seed: int) -> Any:
    """Return training and test rows, features and targets."""
    if made is None:
        return train_test_split(*load_diabetes(return_X_y=True), random_state=seed)
    k, d, n, noise, *kind = made
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + 1000, d))
    if "in blocks" in kind:
        X = (X + np.repeat(rng.normal(size=(len(X), d // BLOCK)), BLOCK, axis=1)) / np.sqrt(2)
    factors = np.zeros(d)
    used = rng.choice(d, k, replace=False)
    factors[used] = 1.0 if "equal" in kind else rng.normal(size=k)
    z = X @ factors
    if "and a product" in kind:
        one, other = np.flatnonzero(factors == 0)[:2]
        z += z.std() * X[:, one] * X[:, other]
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
