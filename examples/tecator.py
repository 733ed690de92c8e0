"""Fat in meat from its spectrum: 240 samples, absorbance in 100 channels.

    python examples/tecator.py

Neighbouring channels are nearly the same column, so which of them a formula names is chance.
"""

from __future__ import annotations

import argparse

from sklearn.model_selection import train_test_split
from tables import table

from symgrad import DGPRegressor


def main() -> None:
    """Print a formula, how far its channels can be trusted, and their neighbours."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evaluations", type=int, default=200_000)
    parser.add_argument("--restarts", type=int, default=10)
    o = parser.parse_args()
    X, y = table("505_tecator")
    X = X[[name for name in X.columns if name.startswith("absorbance")]]
    X.columns = [f"channel {k}" for k in range(1, 101)]
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0)
    est = DGPRegressor(
        max_evaluations=o.evaluations, max_size=25, model_selection="simple", random_state=0
    ).fit(X_train, y_train)
    print(est)
    print(f"R2 {est.score(X_train, y_train):.3f}, on held-out rows {est.score(X_test, y_test):.3f}")
    trusted = est.trust(X_train, y_train, n_restarts=o.restarts)
    print(trusted.round(2).drop(columns="exchangeable").to_string(index=False))
    print(*filter(None, trusted["exchangeable"]), sep="\n")


if __name__ == "__main__":
    main()
