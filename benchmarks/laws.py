"""How often an exact formula is found, with and without putting laws together from small trees.

    python benchmarks/laws.py --seeds 10

Data without noise: Nguyen's formulas and others of the kind in one and two variables, 20 points for
each variable, and formulas of physics (Feynman's lectures, as AI Feynman's collection writes them)
that need no other functions than the default ones, 100 points, all variables from 1 to 3. Found is
what predicts 1,000 fresh points to 1e-8. Prints a table.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from typing import Annotated, NamedTuple

import numpy as np
import typer

from symgrad import DGPRegressor, Tree
from symgrad.evolution.islands import Islands

FRESH, CLOSE = 1000, 1e-8

SMALL = {
    "x^4 + x^3 + x^2 + x": ("x0*x0*x0*x0 + x0*x0*x0 + x0*x0 + x0", -1, 1),
    "x^5 + ... + x": ("x0*x0*x0*x0*x0 + x0*x0*x0*x0 + x0*x0*x0 + x0*x0 + x0", -1, 1),
    "x^6 + ... + x": (
        "x0*x0*x0*x0*x0*x0 + x0*x0*x0*x0*x0 + x0*x0*x0*x0 + x0*x0*x0 + x0*x0 + x0", -1, 1,
    ),
    "sin(x^2) cos(x) - 1": ("sin(x0*x0)*cos(x0) - 1", -1, 1),
    "sin(x) + sin(x + x^2)": ("sin(x0) + sin(x0 + x0*x0)", -1, 1),
    "log(x + 1) + log(x^2 + 1)": ("log(x0 + 1) + log(x0*x0 + 1)", 0, 2),
    "sin(x) + sin(y^2)": ("sin(x0) + sin(x1*x1)", 0, 1),
    "2 sin(x) cos(y)": ("2*sin(x0)*cos(x1)", 0, 1),
    "x^4 - x^3 + y^2/2 - y": ("x0*x0*x0*x0 - x0*x0*x0 + x1*x1/2 - x1", 0, 1),
    "x^3 + x^2 + x + sin(x) + sin(x^2)": (
        "x0*x0*x0 + x0*x0 + x0 + sin(x0) + sin(x0*x0)", -1, 1,
    ),
    "exp(-x^2) + x sin(x)": ("exp(-x0*x0) + x0*sin(x0)", -2, 2),
    "sin(x) cos(x) + sin(x^2) + x/(1 + x)": (
        "sin(x0)*cos(x0) + sin(x0*x0) + x0/(1 + x0)", 0, 3,
    ),
    "log(x + 1) + sin(x y) + x^2": ("log(x0 + 1) + sin(x0*x1) + x0*x0", 0, 2),
    "x y/(x + y) + x": ("x0*x1/(x0 + x1) + x0", 1, 3),
}  # fmt: skip
PHYSICS = {
    "I.12.11, q (E + B v sin t)": "x0*(x1 + x2*x3*sin(x4))",
    "I.13.12, m n (1/r - 1/s)": "x0*x1*(1/x2 - 1/x3)",
    "I.18.4, (m r + n s)/(m + n)": "(x0*x1 + x2*x3)/(x0 + x2)",
    "I.24.6, m (w^2 + v^2) x^2/4": "x0*(x1*x1 + x2*x2)*x3*x3/4",
    "I.27.6, 1/(1/d + n/e)": "1/(1/x0 + x1/x2)",
    "I.40.1, n exp(-m g x/(k T))": "x0*exp(-x1*x2*x3/(x4*x5))",
    "I.44.4, n k T log(V/W)": "x0*x1*x2*log(x3/x4)",
    "I.50.26, x (cos(w t) + a cos(w t)^2)": "x0*(cos(x1*x2) + x3*cos(x1*x2)*cos(x1*x2))",
    "II.6.15b, p cos(t) sin(t)/r^3": "x0*cos(x1)*sin(x1)/(x2*x2*x2)",
    "II.35.18, n/(exp(m B/(k T)) + exp(-m B/(k T)))": (
        "x0/(exp(x1*x2/(x3*x4)) + exp(-x1*x2/(x3*x4)))"
    ),
    "III.10.19, m (B^2 + C^2 + D^2)": "x0*(x1*x1 + x2*x2 + x3*x3)",
    "III.17.37, b (1 + a cos t)": "x0*(1 + x1*cos(x2))",
}


class Case(NamedTuple):
    """One run."""

    formula: str
    low: float
    high: float
    rows: int
    seed: int
    evaluations: int
    laws: bool


def found(case: Case) -> tuple[bool, float, int]:
    """Return whether the formula is found, the seconds and the evaluations that it took."""
    truth = Tree.parse(case.formula)
    features = max(truth.feature_indices) + 1
    rng = np.random.default_rng(case.seed)
    rows = case.rows * features if case.rows < 50 else case.rows
    X, fresh = (rng.uniform(case.low, case.high, (n, features)) for n in (rows, FRESH))
    est = DGPRegressor(
        max_evaluations=case.evaluations, random_state=case.seed, n_jobs=1,
        islands=Islands(laws=case.laws),
    ).fit(X, truth.evaluate(X, dtype=np.float64))  # fmt: skip
    wanted = truth.evaluate(fresh, dtype=np.float64)
    off = np.abs(est.predict(fresh) - wanted) / np.maximum(1, np.abs(wanted))
    return bool((off < CLOSE).all()), est.history_["seconds"].iloc[-1], est.n_evaluations_


def main(
    seeds: Annotated[int, typer.Option(help="Number of draws.")] = 10,
    first_seed: int = 0,
    evaluations: int = 500_000,
    processes: int = 2,
) -> None:
    """Print counts of formulas found, and the median time of a search."""
    numbers = range(first_seed, first_seed + seeds)
    problems = {k: (*v, 20) for k, v in SMALL.items()} | {
        k: (v, 1, 3, 100) for k, v in PHYSICS.items()
    }
    print("| | with laws | without |\n|---|---:|---:|")
    total = np.zeros(2)
    with ProcessPoolExecutor(processes) as pool:
        for name, problem in problems.items():
            cells = []
            for laws in (True, False):
                runs = list(
                    pool.map(found, (Case(*problem, seed, evaluations, laws) for seed in numbers))
                )
                count = sum(ok for ok, _, _ in runs)
                total[int(not laws)] += count
                cells.append(f"{count} ({np.median([s for _, s, _ in runs]):.1f} s)")
            print(f"| {name} | {cells[0]} | {cells[1]} |", flush=True)
    share = total / (len(problems) * seeds)
    print(f"| all, % | {100 * share[0]:.0f} | {100 * share[1]:.0f} |")


if __name__ == "__main__":
    typer.run(main)
