"""How fast the evaluator is, against Operon's and a NumPy loop, in one run.

The same random trees of about 23 nodes over + - * / sin cos exp log are evaluated by symgrad
(`Forest.evaluate`), by pyoperon (`EvaluateTrees`) and by NumPy, one after the other inside every
repeat, and the best time of each counts. Throughput is in 10^9 node-rows per second, where nodes
are symgrad's, for every method.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from symgrad import _core
from symgrad.bench.harness import commit, machine
from symgrad.data.dataset import Dataset
from symgrad.data.evaluate import score
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.tree.forest import Forest
from symgrad.tree.generate import generate

N_TREES = 1000
Work = Callable[[], Any]


def random_forest(n_features: int, n_trees: int = N_TREES, valid: Any = None) -> Forest:
    """Return random trees of 15 to 31 nodes, equally many of each size; finite on `valid`."""
    rng = np.random.default_rng(0)
    pool = generate(
        rng, 60 * n_trees, n_features, primitives=PrimitiveSet.paper(), method="grow",
        min_depth=3, max_depth=6, p_leaf=0.15,
    )  # fmt: skip
    sizes = pool.sizes
    if valid is not None:
        sizes = np.where(score(pool, valid).valid, sizes, 0)
    share = -(-n_trees // 17)
    take = [np.flatnonzero(sizes == s)[:share] for s in range(15, 32)]
    return pool[np.sort(np.concatenate(take)[:n_trees])]


def best_times(works: dict[str, Work], repeats: int) -> dict[str, float]:
    """Return the best seconds of each, interleaved so that all see the same machine."""
    times = {name: float("inf") for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            times[name] = min(times[name], time.perf_counter() - start)
    return times


def numpy_loop(forest: Forest, X: NDArray[Any]) -> Work:
    """Return the work of evaluating tree by tree with NumPy."""
    trees = list(forest)
    primitives = forest.primitives

    def work() -> None:
        with np.errstate(all="ignore"):
            for tree in trees:
                tree.fold(
                    variable=lambda j: X[:, j],
                    constant=X.dtype.type,
                    function=lambda c, args: primitives[c].define(np, *args),
                )

    return work


def operon(forest: Forest, X: NDArray[np.float32], threads: int) -> Work:
    """Return the work of evaluating with pyoperon, trees built beforehand."""
    import pyoperon

    table = pyoperon.Dataset(X)
    hashes = {v.Name: v.Hash for v in table.Variables}
    names = {v.Index: v.Name for v in table.Variables}

    def function(code: int, args: Sequence[str]) -> str:
        # Every pair in parentheses: Operon's parser does not read sums as arguments without.
        primitive = forest.primitives[code]
        sign = f" {primitive.symbol} "
        return f"({sign.join(args)})" if primitive.arity == 2 else f"{primitive.name}({args[0]})"

    trees = [
        pyoperon.InfixParser.Parse(
            t.fold(variable=names.__getitem__, constant=repr, function=function), hashes
        )
        for t in forest
    ]
    rows = pyoperon.Range(0, X.shape[0])
    out = np.empty(len(trees) * X.shape[0], np.float32)
    return lambda: pyoperon.EvaluateTrees(trees, table, rows, out, threads)


def data(rows: int, features: int) -> NDArray[np.float32]:
    """Return a table of numbers from 0.5 to 2."""
    rng = np.random.default_rng(1)
    X = np.empty((rows, features), np.float32, order="F")
    for j in range(features):
        X[:, j] = rng.uniform(0.5, 2.0, rows)
    return X


METHODS = ("symgrad", "operon", "numpy", "symgrad float64")


def against_peers(
    rows: int, threads: int, repeats: int, methods: Sequence[str] = METHODS
) -> dict[str, Any]:
    """Return the throughput of every method on the same trees and rows."""
    forest, X = random_forest(10), data(rows, 10)
    out = np.empty((len(forest), rows), np.float32)
    core, columns = forest.bind(X)
    works: dict[str, Work] = {"symgrad": lambda: _core.evaluate(core, columns, out, False, threads)}
    if "operon" in methods:
        works["operon"] = operon(forest, X, threads)
    if threads == 1 and rows <= 1000:
        works["numpy"] = numpy_loop(forest, X)
    if threads == 1:
        wide = np.asfortranarray(X, np.float64)
        out64 = np.empty((len(forest), rows))
        works["symgrad float64"] = lambda: _core.evaluate(core, wide, out64, False, threads)
    times = best_times({name: w for name, w in works.items() if name in methods}, repeats)
    node_rows = len(forest.code) * rows
    row: dict[str, Any] = {"rows": rows, "threads": threads}
    row |= {name: node_rows / t / 1e9 for name, t in times.items()}
    if {"operon", "symgrad"} <= set(times):
        row["symgrad / operon"] = times["operon"] / times["symgrad"]
    return row


def flatness(cases: list[tuple[int, int]], repeats: int) -> list[dict[str, Any]]:
    """Return the throughput of the fused score for (rows, features) cases, one thread."""
    works: dict[str, Work] = {}
    nodes: dict[str, int] = {}
    for rows, features in cases:
        X = data(rows, features)
        dataset = Dataset(X, X[:, 0].astype(np.float64))
        # Trees that are finite everywhere: others are given up at their first bad block.
        head = Dataset(X[:1000], X[:1000, 0].astype(np.float64))
        forest = random_forest(features, N_TREES, head)
        forest = forest[score(forest, dataset).valid]
        forest = forest[: N_TREES if rows < 10**6 else 100]
        name = f"{rows} x {features}"
        works[name] = lambda f=forest, d=dataset: score(f, d, n_jobs=1)  # type: ignore[misc]
        nodes[name] = len(forest.code) * rows
    times = best_times(works, repeats)
    return [
        {"rows": r, "features": f, "symgrad": nodes[n] / times[n] / 1e9}
        for (r, f), n in zip(cases, works, strict=True)
    ]


def measured(
    repeats: int, quick: bool, threads: Sequence[int] = (1, 2), methods: Sequence[str] = METHODS
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows of both tables: all methods, and the fused score by rows and features."""
    sizes = [1000] if quick else [1000, 100_000]
    peers = [
        against_peers(r, t, repeats if r < 10**5 else min(repeats, 3), methods)
        for r in sizes for t in threads
    ]  # fmt: skip
    cases = [(1000, 10), (1000, 100), (1000, 1000), (1000, 10_000)]
    if not quick:
        cases += [(10_000, 10), (100_000, 10), (1_000_000, 10)]
    return peers, flatness(cases, repeats)


def long(peers: list[dict[str, Any]], flat: list[dict[str, Any]]) -> pd.DataFrame:
    """Return both tables as rows: case, method, rate, commit, machine."""
    rows = [
        {
            "case": f"{p['rows']:,} rows, {p['threads']} thread{'s' * (p['threads'] > 1)}",
            "method": name,
            "rate": p[name],
        }
        for p in peers for name in METHODS if name in p
    ]  # fmt: skip
    rows += [
        {
            "case": f"{f['rows']:,} rows, {f['features']:,} features",
            "method": "fused score",
            "rate": f["symgrad"],
        }
        for f in flat
    ]
    frame: pd.DataFrame = pd.DataFrame(rows).assign(commit=commit(), machine=machine())
    return frame


def texts(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return rows of numbers as a table of texts."""
    frame: pd.DataFrame = pd.DataFrame(
        [
            {k: f"{v:.2f}" if isinstance(v, float) else f"{v:,}" for k, v in row.items()}
            for row in rows
        ]
    ).fillna("")
    named: pd.DataFrame = frame.set_index(frame.columns[0])
    named.index = pd.Index([f"{first} rows" for first in named.index])
    return named


def show(console: Console, title: str, rows: list[dict[str, Any]]) -> None:
    """Print rows as a table."""
    columns = list(dict.fromkeys(k for row in rows for k in row))
    table = Table(title=title)
    for column in columns:
        table.add_column(column, justify="right")
    for row in rows:
        cells = (row.get(c) for c in columns)
        table.add_row(*(f"{c:.2f}" if isinstance(c, float) else str(c or "") for c in cells))
    console.print(table)
