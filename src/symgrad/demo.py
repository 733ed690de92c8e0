"""A first look: a few formulas on data that ships with scikit-learn.

Run it with ``symgrad demo``.
"""

from __future__ import annotations

from time import perf_counter
from timeit import repeat

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text
from sklearn.datasets import load_diabetes

from symgrad import _core
from symgrad.arrays import threads
from symgrad.data.dataset import Dataset
from symgrad.data.evaluate import Status, score
from symgrad.estimator import DGPRegressor
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.tree.forest import Forest
from symgrad.tree.generate import generate

PRIMITIVES = PrimitiveSet().extend("gauss(x) = exp(-x*x)")
FORMULAS = (
    "bmi",
    "bmi + s5",
    "bmi + s5 + 0.7*bp - 0.5*s3",
    "exp(8*bmi) + 12*s5",
    "gauss(7*(bmi - 0.15)) + 4*s5",
    "log(bmi)",
    "s5/(age - age)",
)
VERDICTS = {
    Status.VALID: Text("valid", "green"),
    Status.NAN: Text("NaN on a row", "red"),
    Status.INFINITE: Text("infinite on a row", "red"),
}


def formulas_table(data: Dataset) -> Table:
    """Return the formulas with their scores."""
    forest = Forest.from_strings(FORMULAS, data.names, PRIMITIVES)
    scores = score(forest, data)
    table = Table(title=f"Diabetes, {data.rows} rows x {data.features} features")
    table.add_column("formula", style="bold")
    table.add_column("size", justify="right")
    table.add_column("R2", justify="right")
    table.add_column("on this data")
    for tree, r2, status in zip(forest, scores.r2, scores.status, strict=True):
        shown = f"{r2:.3f}" if np.isfinite(r2) else "-"
        table.add_row(Text(str(tree)), str(tree.size), shown, VERDICTS[Status(status)])
    table.caption = "R2 of the best intercept + slope * formula; gauss(x) = exp(-x*x)"
    return table


def throughput(data: Dataset, n_trees: int = 5000) -> str:
    """Return a sentence on how fast random formulas are scored."""
    rng = np.random.default_rng(0)
    forest = generate(rng, n_trees, feature_names=data.names, primitives=PRIMITIVES)
    forest = forest[score(forest, data).valid]  # the others are given up at their first bad row
    seconds = min(repeat(lambda: score(forest, data), number=1, repeat=5))
    rate = len(forest.code) * data.rows / seconds / 1e9
    machine = f"{threads(None)} threads, {_core.isa()}"
    return f"{len(forest):,} random formulas: {rate:.2f} billion node-rows per second ({machine})"


def fit_lines() -> list[str]:
    """Return what a fit finds among 50 features of which two matter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 50))
    y = 3 * X[:, 4] * X[:, 17] + 1 + 0.1 * rng.normal(size=300)
    start = perf_counter()
    est = DGPRegressor(max_evaluations=30_000, random_state=0).fit(X[:200], y[:200])
    seconds, r2 = perf_counter() - start, est.score(X[200:], y[200:])
    return [
        "A fit: y = 3*x4*x17 + 1 + noise, hidden among 50 features",
        f"  found: {est}",
        f"  R2 on fresh rows {r2:.3f}; {est.n_evaluations_:,} formulas tried in {seconds:.1f} s",
    ]


def main() -> None:
    """Print the demo."""
    bunch = load_diabetes()
    data = Dataset(bunch.data, bunch.target, feature_names=bunch.feature_names)
    console = Console()
    console.print(formulas_table(data))
    console.print("\n".join(fit_lines()), highlight=False)
    console.print(throughput(data), highlight=False)


if __name__ == "__main__":
    main()
