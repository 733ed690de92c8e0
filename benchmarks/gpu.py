"""How fast a GPU trains relaxed trees and evaluates discrete ones.

    python benchmarks/gpu.py
    python benchmarks/gpu.py --fit DLBCL   # a whole fit of preset="paper"; SYMGRAD_DATA: its folder

Training: 500 trees of 31 nodes (full) and of 15 to 31 (mixed), 1,000 epochs over all rows.
Evaluation: 1,000 random trees of about 23 nodes. Programs are compiled, and run once, before the
clock starts; the time of compiling is shown apart.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from training import full_trees

from symgrad.bench.problems import load
from symgrad.bench.speed import random_forest
from symgrad.dgp.optimization import Optimization, core_options
from symgrad.estimator import DGPRegressor
from symgrad.gpu import device, score, train
from symgrad.gpu.kernels import Layout
from symgrad.tree.forest import Forest

CASES = ((50, 750), (7400, 180), (36, 4826))
"""Features and rows of training."""

ROWS = 100_000
"""Rows of evaluation."""


def timed(work: Callable[[], Any], repeats: int = 3) -> tuple[float, float]:
    """Return the seconds of the first call and the least of later ones."""
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        jax.block_until_ready(work())
        times.append(time.perf_counter() - start)
    return times[0], min(times[1:])


def training(forest: Forest, features: int, rows: int, layout: Layout, epochs: int = 1000) -> Any:
    """Return the times of training a forest."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, features)).astype(np.float32)
    y = X[:, 0] * X[:, 1] + X[:, 2]
    options = core_options(Optimization(epochs=epochs, added_leaf="uniform"), forest)
    made = train.prepare(forest, features, float(y.std()), options, layout)
    plan, tables, owns, settings, _ = made
    batches = train.batches(X, y, None, rows, layout.block, plan.leaf_width)
    key = jax.random.key(0)
    return timed(lambda: train.run(plan, tables, batches, owns, settings, key))


def evaluation(forest: Forest, rows: int, layout: Layout) -> Any:
    """Return the times of evaluating a forest, values stored and scores only."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 10)).astype(np.float32)
    x = jnp.asarray(score.columns(X, layout.block))
    functions, slots, refs = score.place(forest, x)
    y, weight = x[0], jnp.ones_like(x[0])
    stored = timed(lambda: score.values_of(functions, layout, slots, refs))
    scored = timed(lambda: score.sums_of(functions, layout, slots, refs, y, weight))
    return stored, scored


def whole_fit(name: str) -> tuple[float, float]:
    """Return the times of fits of the preset "paper" to a data set, 100,000 evaluations each."""
    X, _, y, *_ = load(name, 0)
    model = DGPRegressor(preset="paper", max_evaluations=100_000, random_state=0, device="gpu")
    return timed(lambda: model.fit(X, y), repeats=1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fit", help="time a whole fit to this data set instead")
    name = parser.parse_args().fit
    if name:
        first, again = whole_fit(name)
        print(f"whole fit, {name}: {again:.1f} s (the first time {first:.1f} s)")
        return
    for features, rows in CASES:
        layout = device.training_layout(rows)
        for name, forest in (
            ("full", full_trees(features, 500)), ("mixed", random_forest(features, 500)),
        ):  # fmt: skip
            first, best = training(forest, features, rows, layout)
            print(f"training, {name} trees, d = {features}, n = {rows}: {best:.3f} s"
                  f" (the first time {first:.1f} s)", flush=True)  # fmt: skip
    forest = random_forest(10, 1000)
    work = len(forest.code) * ROWS
    for name, (first, best) in zip(
        ("values stored", "scores only"),
        evaluation(forest, ROWS, device.scoring_layout()),
        strict=True,
    ):
        print(f"evaluation, {ROWS:,} rows, {name}: {work / best:.2e} node-rows per second"
              f" (the first time {first:.1f} s)")  # fmt: skip


if __name__ == "__main__":
    main()
