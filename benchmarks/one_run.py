"""One run in a process of its own: fit, predict, measure, and leave the rows as JSON.

    python benchmarks/one_run.py METHOD DATASET SEED SECONDS THREADS FILE

The rows are written before formulas are measured and again after it, so that a formula that SymPy
cannot handle costs no result.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from adapters import BY_METHOD, Array, Model
from needles import same_features
from problems import Split, load
from size import measure

SIZE_SECONDS = 20.0


def r2(y: Array, prediction: Array) -> float:
    return float(1 - np.sum((y - prediction) ** 2) / np.sum((y - y.mean()) ** 2))


def scores(model: Model, data: Split) -> dict[str, float]:
    """Return R2; the mean of the training target stands in for predictions that are not finite."""
    X, X_test, y, y_test = data
    with np.errstate(all="ignore"):
        train, test = (np.asarray(model.predict(x), np.float64) for x in (X, X_test))
        train, test = (np.where(np.isfinite(p), p, y.mean()) for p in (train, test))
        return {
            "train_r2": r2(y, train),
            "test_r2": r2(y_test, test),
            "test_r2_clipped": r2(y_test, np.clip(test, y.min(), y.max())),
        }


def main() -> None:
    method, dataset, seed, seconds, threads, out = sys.argv[1:]
    adapter = BY_METHOD[method]
    package = adapter.load()
    data, wanted = load(dataset, int(seed))
    start = time.perf_counter()
    models = adapter.fit(data[0], data[2], float(seconds), int(threads), int(seed))
    taken = time.perf_counter() - start
    rows: dict[str, dict[str, Any]] = {
        name: {"version": package, "seconds_taken": round(taken, 2)} | scores(model, data)
        for name, model in models.items()
    }

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
        if wanted is not None and "used" in rows[name]:
            used = tuple(int(x.removeprefix("x")) for x in rows[name]["used"].split())
            rows[name]["found"] = same_features(dataset, wanted, used)
        leave()


if __name__ == "__main__":
    main()
