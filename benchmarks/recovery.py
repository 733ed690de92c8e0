"""How often GP, DGP and the default search recover the paper's six formulas.

    python benchmarks/recovery.py --methods gp,dgp,default --seeds 3

20 points, 500,000 evaluations (or --evaluations); GP and DGP with population 1,000, no constants,
no scaling. Recovered is what errs by less than 1e-8 on 1,000 fresh points, relative to values above
1. Rows are appended to results/recovery.csv; runs that are there already are skipped. `--table`
prints the counts.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from paper import methods
from problems import SYNTHETIC

from symgrad import Dataset, DGPRegressor, Tree
from symgrad.search.base import Budget, run

RESULTS = Path("results/recovery.csv")
KEYS = ["method", "problem", "seed", "trees", "epochs", "budget"]


def one(
    method: str, problem: str, seed: int, trees: int, epochs: int, budget: int
) -> dict[str, Any]:
    """Return the row of one run."""
    text, low, high, _ = SYNTHETIC[problem]
    truth, rng = Tree.parse(text), np.random.default_rng(seed)
    features = len(truth.feature_indices)
    X, fresh = (rng.uniform(low, high, (n, features)) for n in (20, 1000))
    y, start = truth.evaluate(X), time.perf_counter()
    if method == "default":
        est = DGPRegressor(max_evaluations=budget, random_state=seed, n_jobs=1).fit(X, y)
        tree, evaluations = est.tree_, est.n_evaluations_
    else:
        search = methods(trees, epochs)[method]
        search = replace(search, diversification=replace(search.diversification, population=1000))
        limits = Budget(evaluations=budget, target=1e-24)
        state = run(search, Dataset(X, y, dtype=np.float64), limits, rng)
        best = state.front.most_accurate
        assert best is not None
        tree, evaluations = best.tree, state.evaluations
    seconds = time.perf_counter() - start
    with np.errstate(all="ignore"):
        expected = truth.evaluate(fresh)
        off = np.abs(tree.evaluate(fresh) - expected) / np.maximum(1, np.abs(expected))
    found = {"recovered": bool(off.max() < 1e-8), "error": off.max()}
    cost = {"size": tree.size, "seconds": seconds, "evaluations": evaluations}
    keys = dict(zip(KEYS, (method, problem, seed, trees, epochs, budget), strict=True))
    return keys | found | cost | {"formula": str(tree)}


def table() -> None:
    """Print how many runs recovered the formula, of how many, and what was published."""
    groups = pd.read_csv(RESULTS).groupby(["method", "trees", "epochs", "budget", "problem"])[
        "recovered"
    ]
    print(groups.agg(lambda r: f"{r.sum()} of {len(r)}").unstack("problem").to_string())  # noqa: PD010
    print("published DGP, %:", {name: problem[3] for name, problem in SYNTHETIC.items()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", default="gp,dgp")
    parser.add_argument("--problems", default=",".join(SYNTHETIC))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--evaluations", type=int, default=500_000)
    parser.add_argument("--table", action="store_true", help="print the results and stop")
    o = parser.parse_args()
    if o.table:
        table()
        return
    RESULTS.parent.mkdir(exist_ok=True)
    rows: list[Any] = pd.read_csv(RESULTS).to_dict("records") if RESULTS.exists() else []
    done = {tuple(r[k] for k in KEYS) for r in rows}
    for seed, problem, method in product(
        range(o.seeds), o.problems.split(","), o.methods.split(",")
    ):
        key = (method, problem, seed, o.trees, o.epochs, o.evaluations)
        if key in done:
            continue
        rows.append(one(*key))
        pd.DataFrame(rows).to_csv(RESULTS, index=False)
        print(*(rows[-1][k] for k in (*KEYS, "recovered", "error", "size", "seconds")), flush=True)


if __name__ == "__main__":
    main()
