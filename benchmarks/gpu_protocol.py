"""The paper's protocol with trees trained on a GPU: GP and DGP from the same first populations.

    python benchmarks/gpu_protocol.py --seeds 10 --processes 12 --out rows.csv
    python benchmarks/gpu_protocol.py --table rows.csv

Eight data sets (75/25 splits, 100,000 evaluations, no constants, no scaling, X standardised by the
training part) and six formulas (20 points, population 1,000, 500,000 evaluations). Methods: GP; DGP
as in the preset with all trees trained; the sharp start of .9 with rate .02 and 1,000 epochs, where
a sampled tree replaces its parent if it is better; and the paper's words taken literally. A row has
the time of training apart, and the machine and versions. The data folder is `SYMGRAD_DATA`.
"""

from __future__ import annotations

import argparse
import csv
import platform
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from importlib import import_module
from multiprocessing import get_context
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
from symgrad.search.presets import preset

COLUMNS = [
    "method", "dataset", "seed", "test_r2", "train_r2", "size", "seconds", "training",
    "evaluations", "iterations", "expression", "machine", "versions",
]  # fmt: skip


def methods(device: str) -> dict[str, GP]:
    """Return the methods."""
    paper = preset("paper")
    assert isinstance(paper, DGP)
    every = replace(paper.optimization, trees=None)
    sharp = Optimization(epochs=1000, start_probability=0.9, learning_rate=0.02)
    base = replace(paper, n_jobs=1, device=device)
    return {
        "gp": GP(n_jobs=1, diversification=paper.diversification),
        "dgp": replace(base, optimization=every),
        "dgp 300 epochs": replace(base, optimization=replace(every, epochs=300, batch_size=256)),
        "dgp start .9": replace(base, optimization=sharp, sampling=Sampling(accept="better")),
        "dgp literal": replace(
            base, optimization=Optimization.literal(), sampling=Sampling.literal()
        ),
    }


def one(method: str, dataset: str, seed: int, device: str) -> dict[str, Any]:
    """Return the row of one run."""
    spent = 0.0
    module: Any = import_module("symgrad.search.dgp")
    train = module.optimize

    def timed(*args: Any, **kwargs: Any) -> Any:
        nonlocal spent
        start = time.perf_counter()
        made = train(*args, **kwargs)
        spent += time.perf_counter() - start
        return made

    module.optimize = timed
    X, X_test, y, y_test = split(dataset, seed, "X")
    start = time.perf_counter()
    search = methods(device)[method]
    state = run(search, Dataset(X, y), Budget(evaluations=100_000), np.random.default_rng(seed))
    seconds = time.perf_counter() - start
    module.optimize = train
    best = state.front.most_accurate
    assert best is not None
    with np.errstate(all="ignore"):
        parts = ((y_test, X_test), (y, X))
        test, fit = (r2(t, best.tree.evaluate(x), y.min(), y.max()) for t, x in parts)
    values = (test, fit, best.tree.size, seconds, spent, state.evaluations, state.iterations)
    where = (*machine(device), str(best.tree))
    row = (method, dataset, seed, *values, where[2], *where[:2])
    return dict(zip(COLUMNS, row, strict=True))


def machine(device: str) -> tuple[str, str]:
    """Return the machine and the versions of what works on it."""
    name = platform.processor() or platform.machine()
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}"
    if device == "gpu":
        import jax

        name = str(jax.devices("gpu")[0].device_kind)
        versions += f", JAX {jax.__version__}"
    return name, versions


def table(path: Path) -> None:
    """Print means and deviations, pairs with GP, and times."""
    rows = pd.read_csv(path)
    groups = rows.groupby(["method", "dataset"])["test_r2"]
    cells = groups.agg(lambda r: f"{r.mean():.3f} ± {r.std():.3f} ({len(r)})").unstack("dataset")  # noqa: PD010
    print(cells[[d for d in REAL if d in cells.columns]].to_string(na_rep=""))
    print("published DGP:", PUBLISHED)
    scores = rows.pivot_table(index=["dataset", "seed"], columns="method", values="test_r2")
    for name in scores.columns.drop("gp", errors="ignore"):
        gain = (scores[name] - scores["gp"]).dropna()
        ahead = (gain.groupby("dataset").mean() > 0).sum()
        error = gain.std() / np.sqrt(len(gain))
        print(f"{name} - gp: {gain.mean():.3f} ± {error:.3f}, ahead on {ahead} data sets")
    print(rows.groupby("method")[["size", "seconds", "training"]].mean().round(1).to_string())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", default="gp,dgp,dgp 300 epochs,dgp start .9,dgp literal")
    parser.add_argument("--datasets", default=",".join(REAL))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--out", type=Path, default=Path("results/gpu_protocol.csv"))
    parser.add_argument("--table", type=Path, help="print the results in a file and stop")
    o = parser.parse_args()
    if o.table:
        table(o.table)
        return
    o.out.parent.mkdir(parents=True, exist_ok=True)
    todo = [
        (m, d, s, o.device)
        for s in range(o.seeds) for d in o.datasets.split(",") for m in o.methods.split(",")
    ]  # fmt: skip
    pool = ProcessPoolExecutor(o.processes, mp_context=get_context("spawn"))
    with pool, o.out.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not file.tell():
            writer.writeheader()
        for i, future in enumerate(as_completed(pool.submit(one, *t) for t in todo)):
            row = future.result()
            writer.writerow(row)
            file.flush()
            print(f"{i + 1}/{len(todo)} {row['method']} {row['dataset']} {row['seed']}:"
                  f" {row['test_r2']:.3f}, {row['seconds']:.0f} s", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
