"""How often GP and DGP recover the paper's six formulas.

    python benchmarks/recovery.py --methods gp,dgp --seeds 3

No constants, no scaling, 20 points, population 1,000, 500,000 evaluations. Recovered is what errs
by less than 1e-10 on 1,000 fresh points. Rows are appended to results/recovery.csv; runs that are
there already are skipped. `--table` prints the counts.
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

from symgrad import Dataset, Tree
from symgrad.search.base import Budget, run
from symgrad.search.gp import Initialization

RESULTS = Path("results/recovery.csv")
KEYS = ["method", "problem", "seed", "trees", "epochs"]


def one(method: str, problem: str, seed: int, trees: int, epochs: int) -> dict[str, Any]:
    """Return the row of one run."""
    text, low, high, _ = SYNTHETIC[problem]
    truth, rng = Tree.parse(text), np.random.default_rng(seed)
    features = len(truth.feature_indices)
    X, fresh = (rng.uniform(low, high, (n, features)) for n in (20, 1000))
    data = Dataset(X, truth.evaluate(X), dtype=np.float64)
    search = replace(methods(trees, epochs)[method], initialization=Initialization(1000))
    start = time.perf_counter()
    state = run(search, data, Budget(evaluations=500_000, target=1e-24), rng)
    seconds = time.perf_counter() - start
    best = state.front.most_accurate
    assert best is not None
    with np.errstate(all="ignore"):
        error = np.abs(best.tree.evaluate(fresh) - truth.evaluate(fresh)).max()
    found = {"recovered": bool(error < 1e-10), "error": error, "train_mse": best.loss}
    cost = {"size": best.tree.size, "seconds": seconds, "evaluations": state.evaluations}
    keys = dict(zip(KEYS, (method, problem, seed, trees, epochs), strict=True))
    return keys | found | cost | {"formula": str(best.tree)}


def table() -> None:
    """Print how many runs recovered the formula, of how many, and what was published."""
    groups = pd.read_csv(RESULTS).groupby(["method", "trees", "epochs", "problem"])["recovered"]
    print(groups.agg(lambda r: f"{r.sum()} of {len(r)}").unstack("problem").to_string())  # noqa: PD010
    print("published DGP, %:", {name: problem[3] for name, problem in SYNTHETIC.items()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", default="gp,dgp")
    parser.add_argument("--problems", default=",".join(SYNTHETIC))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--epochs", type=int, default=100)
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
        key = (method, problem, seed, o.trees, o.epochs)
        if key in done:
            continue
        rows.append(one(*key))
        pd.DataFrame(rows).to_csv(RESULTS, index=False)
        print(*(rows[-1][k] for k in (*KEYS, "recovered", "error", "size", "seconds")), flush=True)


if __name__ == "__main__":
    main()
