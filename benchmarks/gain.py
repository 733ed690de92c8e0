"""How many trained trees are better than what they were trained from.

    python benchmarks/gain.py

From populations of GP (after 1 and 4 iterations, paper's rules, standardised X) the best 40
distinct trees are trained and made discrete. Far less noisy than whole runs. Prints, averaged over
data sets and populations: the share that is better, the mean gain in NRMSE (0 for the others), the
gain of the best tree, and seconds.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np

from symgrad import Dataset
from symgrad.bench.own import searches
from symgrad.bench.problems import load
from symgrad.data.evaluate import score
from symgrad.dgp.optimization import Optimization, optimize
from symgrad.dgp.sampling import Sampling, sample
from symgrad.search.base import Budget, State, run
from symgrad.search.dgp import DGP

DATASETS = "Fri_c4_50,Fri_c0_50,Fri_c1_50,Fri_c4_100,GeoOriMusic,Tecator"
STEPS = (1, 4)


def settings() -> dict[str, tuple[Optimization, Sampling]]:
    """Return the way from a start of .9 to the preset, and the preset with one thing changed."""
    new = searches()["dgp"]
    assert isinstance(new, DGP)
    o, s = replace(new.optimization, trees=40), new.sampling
    first = Optimization(trees=40, epochs=300, batch_size=64)
    still = replace(first, edge_strength=0.999, edge_learning_rate=1e-4)
    return {
        "start .9, rate .02, 300 epochs": (first, s),
        "1,000 epochs": (replace(first, epochs=1000), s),
        "batch 256": (replace(first, batch_size=256), s),
        "start .98": (replace(first, start_probability=0.98), s),
        "start .98, edges still": (replace(still, start_probability=0.98), s),
        "start .998, edges still": (replace(still, start_probability=0.998), s),
        "paper": (o, s),
        "paper, start .9": (replace(o, start_probability=0.9), s),
        "paper, start .999": (replace(o, start_probability=0.999), s),
        "paper, start .999999": (replace(o, start_probability=0.999999), s),
        "paper, rate 2": (replace(o, learning_rate=2.0), s),
        "paper, rate .5": (replace(o, learning_rate=0.5), s),
        "paper, rate .5, 100 epochs": (replace(o, learning_rate=0.5, epochs=100), s),
        "paper, rate .1": (replace(o, learning_rate=0.1), s),
        "paper, rate .02": (replace(o, learning_rate=0.02), s),
        "paper, edges trained": (replace(o, edge_learning_rate=None), s),
        "paper, 20 epochs": (replace(o, epochs=20), s),
        "paper, 100 epochs": (replace(o, epochs=100), s),
        "paper, batch 256": (replace(o, batch_size=256), s),
        "paper, no leaf functions": (replace(o, leaf_functions=False), s),
        "paper, no Loss01": (replace(o, zero_one=0.0), s),
        "paper, multinomial": (o, Sampling(method="multinomial")),
    }


def gain(
    state: State, data: Dataset, optimization: Optimization, sampling: Sampling
) -> tuple[float, ...]:
    """Return share better, mean gain, gain of the best and seconds of one training."""
    assert data.y is not None
    start = time.perf_counter()
    search = DGP(optimization=optimization)
    chosen = search.chosen(state)
    random_pick = sampling.method == "multinomial"
    relaxed = optimize(
        np.random.default_rng(1), state.population[chosen], data, optimization,
        random_pick=random_pick, n_jobs=1,
    )  # fmt: skip
    sampled = sample(relaxed, sampling)
    loss = score(sampled, data, scale=False, n_jobs=1).mse
    seconds = time.perf_counter() - start
    loss[sampled.sizes > 50] = np.inf
    before, after = (np.sqrt(v / data.y.var()) for v in (state.loss[chosen], loss))
    gains = before - np.minimum(before, after)
    best = before.min() - min(before.min(), after.min())
    return float(np.mean(after < before)), float(gains.mean()), float(best), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", default=DATASETS)
    parser.add_argument("--seed", type=int, default=0)
    o = parser.parse_args()
    table, gp = settings(), replace(searches()["gp"], n_jobs=1)
    rows: dict[str, list[tuple[float, ...]]] = {name: [] for name in table}
    for dataset in o.datasets.split(","):
        X, _, y, *_ = load(f"{dataset} standardized=X", o.seed)
        data = Dataset(X, y)
        state: State | np.random.Generator = np.random.default_rng(o.seed)
        for steps in STEPS:
            state = run(gp, data, Budget(iterations=steps), state)
            for name, (optimization, sampling) in table.items():
                rows[name].append(gain(state, data, optimization, sampling))
    for name, values in rows.items():
        share, mean, best, seconds = np.mean(values, axis=0)
        print(f"{name:32s} {share:6.1%} {mean:8.4f} {best:8.4f} {seconds:6.2f} s")


if __name__ == "__main__":
    main()
