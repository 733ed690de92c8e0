"""DGP under the paper's rules against GP from the same first populations.

    python benchmarks/paper.py --methods gp,dgp --datasets Fri_c4_50,Tecator --seeds 3

No constants, no scaling, 100,000 evaluations. One process per run, one thread each. Rows are
appended to results/paper.csv; runs that are there already are skipped. `--table` prints the means.
"""

from __future__ import annotations

import argparse
import csv
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from problems import PUBLISHED, REAL, r2, split

from symgrad import Dataset
from symgrad.dgp.optimization import Optimization
from symgrad.dgp.sampling import Sampling
from symgrad.evolution.diversification import Diversification
from symgrad.search.base import Budget, run
from symgrad.search.dgp import DGP
from symgrad.search.gp import GP
from symgrad.search.presets import preset

RESULTS = Path("results/paper.csv")
KEYS = ["method", "standardized", "dataset", "seed", "trees", "epochs"]
COLUMNS = [*KEYS, "test_r2", "train_r2", "size", "seconds", "evaluations", "iterations", "formula"]


def methods(trees: int, epochs: int) -> dict[str, GP]:
    """Return GP and DGP, and both with one open point changed at a time."""
    paper = preset("paper")
    assert isinstance(paper, DGP)
    base = replace(paper.optimization, trees=trees, epochs=epochs)
    dgp = replace(paper, n_jobs=1, optimization=base)
    gp = GP(n_jobs=1, diversification=paper.diversification)
    table: dict[str, GP] = {"gp": gp, "dgp": dgp}
    optimizations: dict[str, dict[str, Any]] = {
        "start logit 1": {"start_probability": None},
        "rate .1": {"learning_rate": 0.1},
        "rate .005": {"learning_rate": 0.005},
        "start .9": {"start_probability": 0.9},
        "start .999": {"start_probability": 0.999},
        "edges .5": {"edge_strength": 0.5},
        "trained edges": {"edge_strength": 0.95, "edge_learning_rate": None},
        "uniform added leaf": {"added_leaf": "uniform"},
        "no leaf functions": {"leaf_functions": False},
        "batch 256": {"batch_size": 256},
        "copies too": {"distinct": False},
        "no Loss01": {"zero_one": 0.0},
        "scaled loss": {"scale": True},
    }
    for name, changes in optimizations.items():
        table[f"dgp {name}"] = replace(dgp, optimization=replace(base, **changes))
    for name, sampling in {
        "multinomial": replace(paper.sampling, method="multinomial"),
        "always accept": replace(paper.sampling, accept="always"),
        "better only": replace(paper.sampling, accept="better"),
        "shrink deletes": replace(paper.sampling, shrink="delete"),
    }.items():
        table[f"dgp {name}"] = replace(dgp, sampling=sampling)
    both: dict[str, dict[str, Any]] = {
        "size 100": {"diversification": Diversification(max_size=100)},
        "size 200": {"diversification": Diversification(max_size=200)},
        "no elite": {"diversification": Diversification(elites=0)},
        "depth 2": {"diversification": Diversification(first_depth=(1, 2))},
        "depth 6": {"diversification": Diversification(first_depth=(2, 6))},
    }
    for name, changed in both.items():
        table |= {f"gp {name}": replace(gp, **changed), f"dgp {name}": replace(dgp, **changed)}
    literal = Optimization.literal(trees=trees, epochs=epochs)
    table["dgp literal"] = replace(dgp, optimization=literal, sampling=Sampling.literal())
    return table


def one(
    method: str, standardized: str, dataset: str, seed: int, trees: int, epochs: int
) -> dict[str, Any]:
    """Return the row of one run."""
    X, X_test, y, y_test = split(dataset, seed, standardized)
    data = Dataset(X, y)
    start = time.perf_counter()
    search = methods(trees, epochs)[method]
    state = run(search, data, Budget(evaluations=100_000), np.random.default_rng(seed))
    seconds = time.perf_counter() - start
    best = state.front.most_accurate
    assert best is not None
    predict = best.tree.evaluate
    with np.errstate(all="ignore"):
        test, train = (r2(t, predict(x), y.min(), y.max()) for t, x in ((y_test, X_test), (y, X)))
    keys = (method, standardized, dataset, seed, trees, epochs)
    values = (test, train, best.tree.size, seconds, state.evaluations, state.iterations)
    return dict(zip(COLUMNS, (*keys, *values, str(best.tree)), strict=True))


def table() -> None:
    """Print mean and deviation of the test R2 by method and data set, and what was published."""
    rows = pd.read_csv(RESULTS)
    groups = rows.groupby(["method", "standardized", "trees", "epochs", "dataset"])["test_r2"]
    cells = groups.agg(lambda r: f"{r.mean():.3f} ± {r.std():.3f} ({len(r)})").unstack("dataset")  # noqa: PD010
    cells = cells[[d for d in REAL if d in cells.columns]]
    print(cells.to_string(na_rep=""))
    print("published DGP:", {d: PUBLISHED[d] for d in cells.columns})
    print(rows.groupby("method")[["size", "seconds"]].mean().round(1).to_string())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", default="gp,dgp")
    parser.add_argument("--standardized", default="X", help="none, X, y or both, or several")
    parser.add_argument("--datasets", default=",".join(REAL))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--table", action="store_true", help="print the results and stop")
    o = parser.parse_args()
    if o.table:
        table()
        return
    known = methods(o.trees, o.epochs)
    for name in o.methods.split(","):
        if name not in known:
            raise SystemExit(f"unknown method {name!r}; the known ones are {', '.join(known)}")
    RESULTS.parent.mkdir(exist_ok=True)
    done = set()
    if RESULTS.exists():
        done = {tuple(r) for r in pd.read_csv(RESULTS)[KEYS].itertuples(index=False)}
    asked = product(
        range(o.seeds), o.datasets.split(","), o.standardized.split(","), o.methods.split(",")
    )
    every = [(m, z, d, s, o.trees, o.epochs) for s, d, z, m in asked]
    todo = [t for t in every if t not in done]
    with ProcessPoolExecutor(o.processes) as pool, RESULTS.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not file.tell():
            writer.writeheader()
        for i, future in enumerate(as_completed(pool.submit(one, *t) for t in todo)):
            row = future.result()
            writer.writerow(row)
            file.flush()
            what = " ".join(str(row[k]) for k in KEYS[:4])
            cost = f"size {row['size']}, {row['seconds']:.0f} s"
            print(f"{i + 1}/{len(todo)} {what}: {row['test_r2']:.3f}, {cost}", flush=True)


if __name__ == "__main__":
    main()
