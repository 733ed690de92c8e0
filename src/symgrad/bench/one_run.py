"""One run in a process of its own: fit, predict, measure, and leave the rows as JSON.

    python -m symgrad.bench.one_run METHOD PROBLEM SEED BUDGET THREADS FILE

The rows are written before formulas are measured and again after it, so that a formula that SymPy
cannot handle costs no result.
"""

from __future__ import annotations

import json
import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from symgrad.bench import needles
from symgrad.bench.adapters import BY_METHOD
from symgrad.bench.problems import SYNTHETIC, Problem, load, truth
from symgrad.bench.recovery import verdict
from symgrad.bench.size import measure
from symgrad.bench.task import Array, Limit, Model, Task

SIZE_SECONDS = 20.0
SYMPY_SECONDS = 60.0


def r2(y: Array, prediction: Array) -> float:
    """Return the share of the variance that predictions explain."""
    return float(1 - np.sum((y - prediction) ** 2) / np.sum((y - y.mean()) ** 2))


def scores(model: Model, data: Problem) -> dict[str, float]:
    """Return errors; the mean of the training target stands in for predictions that are not finite.

    `test_r2` is of the predictions as they are, `test_r2_clipped` of those clipped to the range of
    the training target.
    """
    y, y_test = data.y, data.y_test
    with np.errstate(all="ignore"):
        train, test = (np.asarray(model.predict(x), np.float64) for x in (data.X, data.X_test))
        train, test = (np.where(np.isfinite(p), p, y.mean()) for p in (train, test))
        return {
            "train_r2": r2(y, train),
            "test_r2": r2(y_test, test),
            "test_r2_clipped": r2(y_test, np.clip(test, y.min(), y.max())),
            "test_rmse": math.sqrt(np.mean((y_test - test) ** 2)),
        }


def judged(problem: str, data: Problem, model: Model, used: str) -> dict[str, str]:
    """Return whether a formula has the features that matter, or is the formula looked for."""
    if data.features is None or model.expression is None:
        return {}
    first = problem.split()[0]
    if first in needles.FORMS:
        indices = tuple(int(name.removeprefix("x")) for name in used.split())
        return {"found": needles.found(problem, data.features, indices)}
    positive = SYNTHETIC[first][1] >= 0
    wanted = truth(first).sympy()
    found = verdict(model.expression(), wanted, data.X_test, positive, SYMPY_SECONDS)
    return {"recovered": found}


def main(arguments: list[str]) -> None:
    """Do the run that the arguments name."""
    method, problem, seed, budget, threads, out = arguments
    adapter = BY_METHOD[method]
    adapter.load()
    data = load(problem, int(seed))
    synthetic = problem.split()[0] in SYNTHETIC
    task = Task(data.X, data.y, Limit.parse(budget), int(threads), int(seed), synthetic)
    start = time.perf_counter()
    models = adapter.fit(task)
    taken = time.perf_counter() - start
    rows: dict[str, dict[str, Any]] = {}
    for name, model in models.items():
        counts = {"evaluations": model.evaluations, "nodes": model.nodes}
        shape = {"split": f"{len(data.y)}/{len(data.y_test)}", "seconds": round(taken, 3)}
        rows[name] = shape | counts | scores(model, data)

    def leave() -> None:
        part = Path(f"{out}.part")
        part.write_text(json.dumps(rows), encoding="utf-8")
        part.replace(out)

    formulas = {name: m.expression for name, m in models.items() if m.expression is not None}
    for name in formulas:
        rows[name]["error"] = "no size: stopped"
    leave()
    for name, expression in formulas.items():
        del rows[name]["error"]
        rows[name] |= measure(expression, SIZE_SECONDS)
        if "used" in rows[name]:
            rows[name] |= judged(problem, data, models[name], rows[name]["used"])
        leave()


if __name__ == "__main__":
    main(sys.argv[1:])
