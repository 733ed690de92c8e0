"""DGP under the paper's rules against GP from the same first populations.

    python benchmarks/paper.py --methods gp,dgp --datasets Fri_c4_50,Tecator --seeds 3

No constants, no scaling, 100,000 evaluations. One process per run, one thread each. Rows are
appended to results/paper.csv; runs that are there already are skipped. `--table` prints the means.
On two cores the training is cut to the best `--trees` trees and `--epochs` epochs an iteration.
"""

from __future__ import annotations

import argparse
import csv
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from problems import PUBLISHED, REAL, r2, split

from symgrad import Dataset
from symgrad.dgp.optimization import Optimization
from symgrad.dgp.sampling import Sampling
from symgrad.search.base import Budget, run
from symgrad.search.dgp import DGP
from symgrad.search.gp import GP

RESULTS = Path("results/paper.csv")
COLUMNS = ["method", "dataset", "seed", "trees", "epochs", "test_r2", "train_r2", "size",
           "seconds", "evaluations", "iterations", "formula"]  # fmt: skip


def methods(trees: int, epochs: int) -> dict[str, GP]:
    """Return GP, DGP, and DGP with one open point changed at a time."""
    base = Optimization(trees=trees, epochs=epochs)
    changed = {
        "dgp": base,
        "dgp start logit 1": replace(base, start_probability=None),
        "dgp rate .005": replace(base, learning_rate=0.005),
        "dgp edges .5": replace(base, edge_strength=0.5),
        "dgp edges .999": replace(base, edge_strength=0.999),
        "dgp uniform added leaf": replace(base, added_leaf="uniform"),
        "dgp leaf functions": replace(base, leaf_functions=True),
        "dgp batch 64": replace(base, batch_size=64),
        "dgp no Loss01": replace(base, zero_one=0.0),
        "dgp scaled loss": replace(base, scale=True),
    }
    table: dict[str, GP] = {"gp": GP(n_jobs=1)}
    table |= {name: DGP(n_jobs=1, optimization=o) for name, o in changed.items()}
    samplings = {
        "dgp multinomial": Sampling(method="multinomial"),
        "dgp always accept": Sampling(accept="always"),
        "dgp shrink deletes": Sampling(shrink="delete"),
    }
    table |= {n: DGP(n_jobs=1, optimization=base, sampling=s) for n, s in samplings.items()}
    literal = Optimization.literal(trees=trees, epochs=epochs)
    table["dgp literal"] = DGP(n_jobs=1, optimization=literal, sampling=Sampling.literal())
    return table


def one(method: str, dataset: str, seed: int, trees: int, epochs: int) -> dict[str, Any]:
    """Return the row of one run."""
    X, X_test, y, y_test = split(dataset, seed)
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
    return dict(
        zip(
            COLUMNS,
            (method, dataset, seed, trees, epochs, test, train, best.tree.size, seconds,
             state.evaluations, state.iterations, str(best.tree)),
            strict=True,
        )
    )  # fmt: skip


def table() -> None:
    """Print mean and deviation of the test R2 by method and data set, and what was published."""
    rows = pd.read_csv(RESULTS)
    groups = rows.groupby(["method", "trees", "epochs", "dataset"])["test_r2"]
    cells = groups.agg(lambda r: f"{r.mean():.3f} ± {r.std():.3f} ({len(r)})").unstack("dataset")  # noqa: PD010
    cells = cells[[d for d in REAL if d in cells.columns]]
    print(cells.to_string(na_rep=""))
    print("published DGP:", {d: PUBLISHED[d] for d in cells.columns})
    print(rows.groupby("method")[["size", "seconds"]].mean().round(1).to_string())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", default="gp,dgp")
    parser.add_argument("--datasets", default=",".join(REAL))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--epochs", type=int, default=300)
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
    keys = ["method", "dataset", "seed", "trees", "epochs"]
    done = set()
    if RESULTS.exists():
        done = {tuple(r) for r in pd.read_csv(RESULTS)[keys].itertuples(index=False)}
    todo = [
        (m, d, s, o.trees, o.epochs)
        for d in o.datasets.split(",") for s in range(o.seeds) for m in o.methods.split(",")
        if (m, d, s, o.trees, o.epochs) not in done
    ]  # fmt: skip
    with ProcessPoolExecutor(o.processes) as pool, RESULTS.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not file.tell():
            writer.writeheader()
        for i, future in enumerate(as_completed(pool.submit(one, *t) for t in todo)):
            row = future.result()
            writer.writerow(row)
            file.flush()
            what = f"{row['method']} {row['dataset']} {row['seed']}: {row['test_r2']:.3f}"
            cost = f"size {row['size']}, {row['seconds']:.0f} s"
            print(f"{i + 1}/{len(todo)} {what}, {cost}", flush=True)


if __name__ == "__main__":
    main()
