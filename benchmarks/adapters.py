"""Regression methods behind one call: fit(X, y, seconds, threads, seed) -> models.

Settings, the same for all data sets:

symgrad
    Defaults. "symgrad accurate" chooses the most accurate formula.
operon
    NSGA-II over R2 and length with one step of Levenberg-Marquardt per formula, populations of
    1000, 50 nodes at most: what its authors use for SRBench. The functions are those of symgrad.
    Of the front, "operon" is the formula of least description length, for which the noise is
    estimated by a random forest (its authors' way, but a third of the features a split; the
    forest's time is not taken off the budget), and "operon accurate" the one of least
    training error. One run gives both.
gplearn
    Populations of 1000, as many generations as fit, squared error; the target is standardised,
    and the scaling back is part of the formula. No exp, which gplearn does not have. The start of
    its worker processes, seconds, is not taken off the budget.
lasso, forest, boosting
    scikit-learn. They take the time they need, whatever the budget.
"""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

Array = NDArray[np.float64]

OPERON: dict[str, Any] = {
    "allowed_symbols": "add,sub,mul,div,sin,cos,exp,log,constant,variable",
    "objectives": ["r2", "length"],
    "optimizer_iterations": 1,
    "population_size": 1000,
    "tournament_size": 3,
    "max_length": 50,
    "generations": 10**9,
    "max_evaluations": 10**12,
}
GPLEARN: dict[str, Any] = {
    "function_set": ("add", "sub", "mul", "div", "sin", "cos", "log"),
    "population_size": 1000,
    "metric": "mse",
    "warm_start": True,
    "low_memory": True,
}
FOREST: dict[str, Any] = {"n_estimators": 200, "max_features": 1 / 3}
BOOSTING: dict[str, Any] = {
    "n_estimators": 500,
    "learning_rate": 0.05,
    "max_depth": 4,
    "subsample": 0.5,
    "max_features": 1 / 3,
}
HIST_BOOSTING: dict[str, Any] = {"max_iter": 500, "learning_rate": 0.05, "max_leaf_nodes": 16}
HIST_ROWS = 10_000
"""Rows from which boosting works on histograms."""


@dataclass(frozen=True)
class Model:
    """A fitted model: predictions, and its formula if it has one."""

    predict: Callable[[Array], Array]
    expression: Callable[[], sympy.Expr] | None = None


Fit = Callable[[Array, Array, float, int, int], dict[str, Model]]


@dataclass(frozen=True)
class Adapter:
    """A way to fit, the methods that one fit gives, the package, and whether it heeds seconds."""

    fit: Fit
    methods: tuple[str, ...]
    package: str
    module: str
    timed: bool = True

    def load(self) -> str:
        """Import the package, so that the fit is not charged for it; return its version."""
        importlib.import_module(self.module)
        return f"{self.package} {version(self.package)}"


def symbol(j: int) -> sympy.Symbol:
    return sympy.Symbol(f"x{j}")


def symgrad(**options: Any) -> Fit:
    name = "symgrad accurate" if options else "symgrad"

    def fit(X: Array, y: Array, seconds: float, threads: int, seed: int) -> dict[str, Model]:
        from symgrad import DGPRegressor

        model = DGPRegressor(time_limit=seconds, n_jobs=threads, random_state=seed, **options)
        model.fit(X, y)
        return {name: Model(model.predict, model.sympy)}

    return fit


def operon(X: Array, y: Array, seconds: float, threads: int, seed: int) -> dict[str, Model]:
    from pyoperon.sklearn import SymbolicRegressor
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(100, max_features=1 / 3, n_jobs=threads, random_state=seed)
    noise = float(np.sqrt(np.mean((y - forest.fit(X, y).predict(X)) ** 2)))
    found = SymbolicRegressor(
        **OPERON,
        uncertainty=[noise],
        max_time=max(1, round(seconds)),
        n_threads=threads,
        random_state=seed,
    ).fit(X, y)
    names = {key: j for j, key in enumerate(found.variables_)}

    def best(criterion: str) -> Model:
        usable = [s for s in found.pareto_front_ if math.isfinite(s[criterion])]
        tree = min(usable or found.pareto_front_, key=lambda s: float(s[criterion]))["tree"]
        return Model(
            lambda X: found.evaluate_model(tree, X),
            lambda: operon_expression(tree, names),
        )

    return {
        "operon": best("minimum_description_length"),
        "operon accurate": best("mean_squared_error"),
    }


def operon_expression(tree: Any, names: dict[int, int]) -> sympy.Expr:
    """Return a tree of Operon as an expression: postfix, a node's first argument comes last."""
    functions: dict[str, Callable[..., sympy.Expr]] = {
        "Add": lambda *a: sympy.Add(*a),
        "Mul": lambda *a: sympy.Mul(*a),
        "Sub": lambda a, *b: a - sympy.Add(*b) if b else -a,
        "Div": lambda a, *b: a / sympy.Mul(*b) if b else 1 / a,
        "Sin": sympy.sin,
        "Cos": sympy.cos,
        "Exp": sympy.exp,
        "Log": sympy.log,
    }
    stack: list[sympy.Expr] = []
    for node in tree.Nodes:
        if node.IsVariable:
            stack.append(sympy.Float(node.Value) * symbol(names[node.HashValue]))
        elif node.IsConstant:
            stack.append(sympy.Float(node.Value))
        else:
            arguments = [stack.pop() for _ in range(node.Arity)]
            stack.append(functions[node.Type.name](*arguments))
    return stack.pop()


def gplearn(X: Array, y: Array, seconds: float, threads: int, seed: int) -> dict[str, Model]:
    from gplearn.genetic import SymbolicRegressor

    mean, deviation = float(y.mean()), float(y.std())
    first = {"population_size": 10, "generations": 1, "n_jobs": threads, "random_state": 0}
    SymbolicRegressor(**(GPLEARN | first)).fit(X[:10, :1], y[:10])  # its processes are started
    start = time.perf_counter()
    model = SymbolicRegressor(**GPLEARN, generations=0, n_jobs=threads, random_state=seed)
    last = 0.0  # seconds that the last generation took
    while time.perf_counter() - start + last < seconds:
        model.generations += 1
        before = time.perf_counter()
        model.fit(X, (y - mean) / deviation)
        last = time.perf_counter() - before
    return {
        "gplearn": Model(
            lambda X: mean + deviation * model.predict(X),
            lambda: mean + deviation * gplearn_expression(model._program.program),
        )
    }


def gplearn_expression(program: list[Any]) -> sympy.Expr:
    """Return a program of gplearn (prefix) as an expression, without the guards of / and log."""
    functions: dict[str, Callable[..., sympy.Expr]] = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b,
        "sin": sympy.sin,
        "cos": sympy.cos,
        "log": lambda a: sympy.log(sympy.Abs(a)),
    }
    stack: list[sympy.Expr] = []
    for node in reversed(program):
        if isinstance(node, int):
            stack.append(symbol(node))
        elif isinstance(node, float):
            stack.append(sympy.Float(node))
        else:
            stack.append(functions[node.name](*(stack.pop() for _ in range(node.arity))))
    return stack.pop()


def lasso(X: Array, y: Array, seconds: float, threads: int, seed: int) -> dict[str, Model]:
    from sklearn.linear_model import LassoCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler()
    line = LassoCV(cv=5, tol=1e-3, n_jobs=threads, random_state=seed)
    model = make_pipeline(scaler, line).fit(X, y)

    def expression() -> sympy.Expr:
        slopes = line.coef_ / scaler.scale_
        used = np.flatnonzero(slopes).tolist()
        terms = [sympy.Float(slopes[j]) * symbol(j) for j in used]
        return sympy.Add(sympy.Float(line.intercept_ - slopes @ scaler.mean_), *terms)

    return {"lasso": Model(model.predict, expression)}


def forest(X: Array, y: Array, seconds: float, threads: int, seed: int) -> dict[str, Model]:
    from sklearn.ensemble import RandomForestRegressor

    model = RandomForestRegressor(**FOREST, n_jobs=threads, random_state=seed).fit(X, y)
    return {"forest": Model(model.predict)}


def boosting(X: Array, y: Array, seconds: float, threads: int, seed: int) -> dict[str, Model]:
    from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor

    if len(y) < HIST_ROWS:
        model = GradientBoostingRegressor(**BOOSTING, random_state=seed)
    else:
        model = HistGradientBoostingRegressor(**HIST_BOOSTING, random_state=seed)
    return {"boosting": Model(model.fit(X, y).predict)}


ADAPTERS: tuple[Adapter, ...] = (
    Adapter(symgrad(), ("symgrad",), "symgrad", "symgrad"),
    Adapter(symgrad(model_selection="accurate"), ("symgrad accurate",), "symgrad", "symgrad"),
    Adapter(operon, ("operon", "operon accurate"), "pyoperon", "pyoperon.sklearn"),
    Adapter(gplearn, ("gplearn",), "gplearn", "gplearn.genetic"),
    Adapter(lasso, ("lasso",), "scikit-learn", "sklearn.linear_model", timed=False),
    Adapter(forest, ("forest",), "scikit-learn", "sklearn.ensemble", timed=False),
    Adapter(boosting, ("boosting",), "scikit-learn", "sklearn.ensemble", timed=False),
)
BY_METHOD: dict[str, Adapter] = {method: a for a in ADAPTERS for method in a.methods}
