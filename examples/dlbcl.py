"""Survival with lymphoma: 240 patients, 7,399 genes, and whether a patient died.

    python examples/dlbcl.py

The target is the time in years until death or, if a patient was alive at last sight (status 0),
until then. So the status is known with the target only: a formula that uses it explains the data,
but predicts nothing. The same search is run with it and on the genes alone.
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np
import pandas as pd
from sklearn.linear_model import LassoCV
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tables import table

from symgrad import DGPRegressor


def splits(X: pd.DataFrame, y: pd.Series, o: argparse.Namespace) -> None:
    """Print R2 on held-out quarters, and which features the formulas use."""
    train_r2, test_r2, lasso_r2, used = [], [], [], Counter[str]()
    for seed in range(o.splits):
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=seed)
        est = DGPRegressor(max_evaluations=o.evaluations, random_state=seed).fit(X_train, y_train)
        train_r2.append(r2_score(y_train, est.predict(X_train)))
        test_r2.append(r2_score(y_test, est.predict(X_test)))
        if o.lasso:
            lasso = make_pipeline(StandardScaler(), LassoCV(cv=5, tol=1e-3)).fit(X_train, y_train)
            lasso_r2.append(r2_score(y_test, lasso.predict(X_test)))
        used.update(est.tree_.features or ["(a constant)"])
    print(f"R2 on {o.splits} held-out quarters: {np.mean(test_r2):.3f} ± {np.std(test_r2):.3f},")
    print(f"from {min(test_r2):.3f} to {max(test_r2):.3f}; in training {np.mean(train_r2):.3f}")
    if o.lasso:
        print(f"the lasso, on the same parts: {np.mean(lasso_r2):.3f} ± {np.std(lasso_r2):.3f}")
    shown = ", ".join(f"{name} {count}" for name, count in used.most_common(8))
    print(f"in how many formulas: {shown}")


def main() -> None:
    """Print what is found with the status and without."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--evaluations", type=int, default=100_000)
    parser.add_argument("--restarts", type=int, default=10)
    parser.add_argument("--permutations", type=int, default=20)
    parser.add_argument("--lasso", action="store_true", help="for comparison; takes minutes")
    o = parser.parse_args()
    X, y = table("dlbcl")
    for title, part in (("With the status", X), ("Genes alone", X.drop(columns="status"))):
        print(f"{title}\n{'-' * len(title)}")
        splits(part, y, o)
        est = DGPRegressor(max_evaluations=o.evaluations, random_state=0).fit(part, y)
        print(f"\nall rows: {est}, R2 {est.score(part, y):.3f}")
        if est.tree_.features:
            trusted = est.trust(part, y, n_restarts=o.restarts).round(2)
            print(trusted.drop(columns="in_formula").to_string(index=False))
        print(f"\n{est.significance(part, y, n_permutations=o.permutations)}\n", flush=True)


if __name__ == "__main__":
    main()
