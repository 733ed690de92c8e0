"""What each ingredient of the default search brings: one changed at a time, at equal time.

    python benchmarks/ablation.py --seconds 5 --seeds 2
    python benchmarks/ablation.py --table

One run after another, two threads each. Rows are appended to results/ablation.csv; runs that are
there already are skipped. `quality` is the mean log10 of the error (1 - R2 on the training part)
of the best formula of at most 10, 20, 40 and 80 nodes: it moves less from seed to seed than R2 on
the test part.
"""

from __future__ import annotations

import argparse
import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from symgrad import DGPRegressor
from symgrad.bench.problems import load, named
from symgrad.dgp.optimization import Optimization
from symgrad.evolution.constraints import Constraints
from symgrad.evolution.islands import Islands

RESULTS = Path("results/ablation.csv")
COLUMNS = ["variant", "dataset", "seed", "budget", "test_r2", "quality", "size", "evaluations"]
KEY = COLUMNS[:4]
DATASETS = (
    "Satellite_image,Fri_c4_50,Fri_c0_50,GeoOriMusic,Tecator,DLBCL,225_puma8NH,195_auto_price"
)

RELAXED = Optimization(
    trees=20, epochs=50, learning_rate=0.5, edge_learning_rate=1e-4, batch_size=64,
    start_probability=0.9999, edge_strength=0.999,
)  # fmt: skip
FULL = Islands()
ALONE = replace(FULL, explore=1.0, restart=None)
VARIANTS: dict[str, dict[str, Any]] = {
    "all": {},
    "no guided edits": {"islands": replace(FULL, guided=(0.0,), pairs=0.0)},
    "all islands guided": {"islands": replace(FULL, guided=(0.2,))},
    "no pairs": {"islands": replace(FULL, pairs=0.0)},
    "no parts of other trees": {"islands": replace(FULL, parts=False)},
    "shares that adapt": {"islands": replace(FULL, adapt=True)},
    "single edits": {"islands": replace(FULL, chain=1)},
    "no fitting of constants": {"islands": replace(FULL, fit_steps=0, record_steps=0)},
    "fitting for all offspring": {"islands": replace(FULL, fit_gate=1e9)},
    "no constants": {"islands": replace(FULL, constants=(0.0,), fit_steps=0, record_steps=0)},
    "no island of whole numbers": {"islands": replace(FULL, whole=(False,))},
    "no laws": {"islands": replace(FULL, laws=False)},
    "no advice": {"islands": replace(FULL, advice=0.0)},
    "sizes of trees alone": {"islands": replace(FULL, written=False, words=False)},
    "nodes instead of words": {"islands": replace(FULL, words=False)},
    "no limits": {"constraints": Constraints(limits=(None, None))},
    "no restarts": {"islands": replace(FULL, restart=None)},
    "one island": {"islands": replace(ALONE, islands=1, guided=(0.1,))},
    "islands never merged": {"islands": ALONE},
    "at most 50 nodes": {"islands": replace(FULL, max_size=50)},
    "with relaxed trees": {"optimization": RELAXED},
    "with relaxed trees on a GPU": {
        "optimization": replace(RELAXED, trees=200, epochs=200), "device": "gpu",
    },
}  # fmt: skip


def one(variant: str, dataset: str, seed: int, budget: str) -> dict[str, Any]:
    """Return the row of one run."""
    X, X_test, y, y_test, _ = load(dataset, seed)
    number, unit = budget.split()
    limit = {"time_limit": float(number)} if unit == "s" else {"max_evaluations": int(number)}
    est = DGPRegressor(random_state=seed, n_jobs=2, **limit, **VARIANTS[variant])
    est.fit(X, y)
    error = 1 - est.equations_["r2"].to_numpy()
    sizes = est.equations_["size"].to_numpy()
    best = [np.log10(max(error[sizes <= limit].min(), 1e-15)) for limit in (10, 20, 40, 80)]
    values = (est.score(X_test, y_test), np.mean(best), est.tree_.size, est.n_evaluations_)
    return dict(zip(COLUMNS, (variant, dataset, seed, budget, *values), strict=True))


def table() -> None:
    """Print the means by variant, and the quality by data set."""
    rows = pd.read_csv(RESULTS)
    order = [v for v in VARIANTS if v in set(rows["variant"])]
    means = rows.groupby("variant")[["quality", "test_r2", "size", "evaluations"]].mean()
    means.insert(0, "runs", rows.groupby("variant").size())
    print(means.loc[order].round(3).to_string())
    quality = rows.pivot_table(index="variant", columns="dataset", values="quality")
    print(quality.loc[order].round(2).to_string())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variants", default=",".join(v for v in VARIANTS if "GPU" not in v))
    parser.add_argument("--datasets", default=DATASETS)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--evaluations", type=int, help="of a fit, instead of seconds")
    parser.add_argument("--table", action="store_true", help="print the results and stop")
    o = parser.parse_args()
    if o.table:
        table()
        return
    for name in o.variants.split(","):
        if name not in VARIANTS:
            raise SystemExit(f"unknown variant {name!r}; the known ones are {', '.join(VARIANTS)}")
    chosen = o.variants.split(",")
    budget = f"{o.evaluations} evaluations" if o.evaluations else f"{o.seconds:g} s"
    RESULTS.parent.mkdir(exist_ok=True)
    done = set()
    if RESULTS.exists():
        done = {tuple(r) for r in pd.read_csv(RESULTS)[KEY].itertuples(index=False)}
    with RESULTS.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not file.tell():
            writer.writeheader()
        for key in (
            (v, d, s, budget)
            for s in range(o.first_seed, o.first_seed + o.seeds)
            for d in named(o.datasets) for v in chosen
        ):  # fmt: skip
            if key in done:
                continue
            row = one(*key)
            writer.writerow(row)
            file.flush()
            shown = (
                f"test R2 {row['test_r2']:.3f}, quality {row['quality']:.3f}, size {row['size']}"
            )
            print(f"{row['variant']}, {row['dataset']}, seed {row['seed']}: {shown}", flush=True)


if __name__ == "__main__":
    main()
