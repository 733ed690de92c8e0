"""Rows of made-up benchmarks for tests of tables and figures."""

import numpy as np
import pandas as pd

from symgrad.bench.harness import COLUMNS

ALWAYS = {
    "threads": 1, "status": "ok", "version": "thing 1.0", "commit": "abc", "machine": "two cores",
    "seconds": 1.5, "budget": "10 s", "seed": 0,
}  # fmt: skip


def table(*rows):
    """Return rows with all columns; what is not given is as always."""
    return pd.DataFrame([ALWAYS | row for row in rows], columns=COLUMNS)


def study(problems, methods, seeds, budget="10 s", **columns):
    """Return rows for all combinations, with R2 around 0.8, those of the first method higher."""
    rng = np.random.default_rng(0)
    return table(
        *(
            {
                "problem": problem, "method": method, "seed": seed, "budget": budget,
                "train_r2": 0.9 - 0.2 * k + 0.02 * rng.random(),
                "test_r2": 0.8 - 0.2 * k + 0.02 * rng.random(),
                "test_r2_clipped": 0.8 - 0.2 * k + 0.02 * rng.random(),
                "test_rmse": 0.1 * (k + 1), "size": 10 * (k + 1), "nodes": 12 * (k + 1) + seed,
                "features": 2, **columns,
            }
            for problem in problems
            for k, method in enumerate(methods)
            for seed in range(seeds)
        )
    )  # fmt: skip
