"""Other regression methods behind one call, and the list of all methods.

Settings, the same for all data sets:

operon
    NSGA-II over R2 and length with one step of Levenberg-Marquardt per formula, populations of
    1000, 50 nodes at most: what its authors use for SRBench. The functions are those of symgrad.
    Of the front, "operon" is the formula of least description length, for which the noise is
    estimated by a random forest (its authors' way, but a third of the features a split; the
    forest's time is not taken off the budget), and "operon accurate" the one of least
    training error. One run gives both. Its budget is whole seconds.
gplearn
    Populations of 1000, as many generations as fit, squared error; the target is standardised,
    and the scaling back is part of the formula. No exp, which gplearn does not have. The start of
    its worker processes, seconds, is not taken off the budget.
lasso, forest, boosting
    scikit-learn. They take the time they need, whatever the budget.

DEAP is in deap_gp.py, symgrad in own.py.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import sympy

from symgrad.bench import deap_gp, own
from symgrad.bench.task import Adapter, Model, Task, symbol

OPERON: dict[str, Any] = {
    "allowed_symbols": "add,sub,mul,div,sin,cos,exp,log,constant,variable",
    "objectives": ["r2", "length"],
    "optimizer_iterations": 1,
    "population_size": 1000,
    "tournament_size": 3,
    "max_length": 50,
    "generations": 10**9,
}
FOREVER = 10**9
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


def operon(task: Task) -> dict[str, Model]:
    """Return the formula of least description length of the front, and the most accurate one."""
    from pyoperon.sklearn import SymbolicRegressor
    from sklearn.ensemble import RandomForestRegressor

    X, y, limit = task.X, task.y, task.limit
    options = {"n_jobs": task.threads, "random_state": task.seed}
    forest = RandomForestRegressor(100, max_features=1 / 3, **options).fit(X, y)
    noise = float(np.sqrt(np.mean((y - forest.predict(X)) ** 2)))
    found = SymbolicRegressor(
        **OPERON,
        uncertainty=[noise],
        max_time=FOREVER if limit.seconds is None else max(1, round(limit.seconds)),
        max_evaluations=limit.evaluations or FOREVER,
        n_threads=task.threads,
        random_state=task.seed,
    ).fit(X, y)
    names = {key: j for j, key in enumerate(found.variables_)}

    def best(criterion: str) -> Model:
        usable = [s for s in found.pareto_front_ if math.isfinite(s[criterion])]
        tree = min(usable or found.pareto_front_, key=lambda s: float(s[criterion]))["tree"]
        return Model(
            lambda X: found.evaluate_model(tree, X),
            lambda: operon_expression(tree, names),
            int(found.stats_["residual_evaluations"]),
            int(tree.Length),
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


def gplearn(task: Task) -> dict[str, Model]:
    """Return the best program of the last generation."""
    from gplearn.genetic import SymbolicRegressor

    X, y, limit = task.X, task.y, task.limit
    mean, deviation = float(y.mean()), float(y.std())
    first = {"population_size": 10, "generations": 1, "n_jobs": task.threads, "random_state": 0}
    SymbolicRegressor(**(GPLEARN | first)).fit(X[:10, :1], y[:10])  # its processes are started
    size = GPLEARN["population_size"]
    start = time.perf_counter()
    model = SymbolicRegressor(**GPLEARN, generations=0, n_jobs=task.threads, random_state=task.seed)
    last = 0.0  # seconds that the last generation took

    def fits() -> bool:
        late = time.perf_counter() - start + last
        in_time = limit.seconds is None or late < limit.seconds
        return in_time and (model.generations + 1) * size <= (limit.evaluations or math.inf)

    while model.generations == 0 or fits():
        model.generations += 1
        before = time.perf_counter()
        model.fit(X, (y - mean) / deviation)
        last = time.perf_counter() - before
    program = model._program.program
    return {
        "gplearn": Model(
            lambda X: mean + deviation * model.predict(X),
            lambda: mean + deviation * gplearn_expression(program),
            model.generations * size,
            len(program),
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


def lasso(task: Task) -> dict[str, Model]:
    """Return a line in the features that cross-validation keeps."""
    from sklearn.linear_model import LassoCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler()
    line = LassoCV(cv=5, tol=1e-3, n_jobs=task.threads, random_state=task.seed)
    model = make_pipeline(scaler, line).fit(task.X, task.y)

    def expression() -> sympy.Expr:
        slopes = line.coef_ / scaler.scale_
        used = np.flatnonzero(slopes).tolist()
        terms = [sympy.Float(slopes[j]) * symbol(j) for j in used]
        return sympy.Add(sympy.Float(line.intercept_ - slopes @ scaler.mean_), *terms)

    return {"lasso": Model(model.predict, expression)}


def forest(task: Task) -> dict[str, Model]:
    """Return a random forest."""
    from sklearn.ensemble import RandomForestRegressor

    model = RandomForestRegressor(**FOREST, n_jobs=task.threads, random_state=task.seed)
    model.fit(task.X, task.y)
    return {"forest": Model(model.predict)}


def boosting(task: Task) -> dict[str, Model]:
    """Return boosted trees."""
    from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor

    if len(task.y) < HIST_ROWS:
        model = GradientBoostingRegressor(**BOOSTING, random_state=task.seed)
    else:
        model = HistGradientBoostingRegressor(**HIST_BOOSTING, random_state=task.seed)
    return {"boosting": Model(model.fit(task.X, task.y).predict)}


ADAPTERS: tuple[Adapter, ...] = (
    *own.ADAPTERS,
    Adapter(operon, ("operon", "operon accurate"), "pyoperon", "pyoperon.sklearn"),
    Adapter(gplearn, ("gplearn",), "gplearn", "gplearn.genetic"),
    *deap_gp.ADAPTERS,
    Adapter(lasso, ("lasso",), "scikit-learn", "sklearn.linear_model", limited=False),
    Adapter(forest, ("forest",), "scikit-learn", "sklearn.ensemble", limited=False),
    Adapter(boosting, ("boosting",), "scikit-learn", "sklearn.ensemble", limited=False),
)
BY_METHOD: dict[str, Adapter] = {method: a for a in ADAPTERS for method in a.methods}


def chosen(methods: Iterable[str]) -> list[Adapter]:
    """Return the adapters that give these methods, each once and installed."""
    names = list(methods)
    for name in names:
        if name not in BY_METHOD:
            raise ValueError(f"unknown method {name!r}; the known ones are {', '.join(BY_METHOD)}")
    found = list(dict.fromkeys(BY_METHOD[name] for name in names))
    for adapter in found:
        adapter.check()
    return found
