"""symgrad's own methods: the default search, and GP and DGP under the paper's rules.

symgrad
    Defaults. "symgrad accurate" is a mean of the chosen formula with others.
gp, dgp
    No constants, no scaling, populations of 500 (1,000 for the six formulas), at most 50 nodes,
    the most accurate tree; "gp balanced" and "dgp balanced" are the trees of the same runs with
    the least description length. GP is DGP without training. DGP is the preset "paper"; "dgp
    literal" takes the paper's words literally, which takes far longer.
gp ..., dgp ...
    One open point of the paper changed at a time; docs/method.md compares some.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from symgrad.bench.task import FOUND, Adapter, Fit, Model, Task
from symgrad.data.complexity import bare_length
from symgrad.data.dataset import Dataset
from symgrad.data.loss import Loss
from symgrad.dgp.optimization import Optimization
from symgrad.dgp.sampling import Sampling
from symgrad.estimator import DGPRegressor
from symgrad.evolution.diversification import Diversification
from symgrad.evolution.front import Entry
from symgrad.search.base import Budget, State, run
from symgrad.search.dgp import DGP
from symgrad.search.gp import GP
from symgrad.search.presets import preset
from symgrad.tree.tree import Tree

Of = TypeVar("Of", bound=GP)

OPTIMIZATIONS: dict[str, dict[str, Any]] = {
    "start logit 1": {"start_probability": None},
    "rate 2": {"learning_rate": 2.0},
    "rate .5": {"learning_rate": 0.5},
    "rate .1": {"learning_rate": 0.1},
    "rate .005": {"learning_rate": 0.005},
    "start .9": {"start_probability": 0.9},
    "start .999": {"start_probability": 0.999},
    "edges .5": {"edge_strength": 0.5},
    "trained edges": {"edge_strength": 0.95, "edge_learning_rate": None},
    "uniform added leaf": {"added_leaf": "uniform"},
    "no leaf functions": {"leaf_functions": False},
    "batch 256": {"batch_size": 256},
    "copies too": {"distinct": False},
    "no Loss01": {"zero_one": 0.0},
    "scaled loss": {"scale": True},
}
SAMPLINGS: dict[str, dict[str, Any]] = {
    "multinomial": {"method": "multinomial"},
    "always accept": {"accept": "always"},
    "better only": {"accept": "better"},
    "shrink deletes": {"shrink": "delete"},
}
EVOLUTIONS: dict[str, dict[str, Any]] = {
    "size 100": {"max_size": 100},
    "size 200": {"max_size": 200},
    "no elite": {"elites": 0},
    "depth 2": {"first_depth": (1, 2)},
    "depth 6": {"first_depth": (2, 6)},
    "one start": {"restart": None},
}


def searches() -> dict[str, GP]:
    """Return GP and DGP, and both with one open point changed at a time."""
    dgp = preset("paper")
    assert isinstance(dgp, DGP)
    gp = GP()
    table: dict[str, GP] = {
        "gp": gp,
        "dgp": dgp,
        "dgp literal": literal(dgp),
    }
    table |= on_gpu()
    for name, changes in OPTIMIZATIONS.items():
        table[f"dgp {name}"] = replace(dgp, optimization=replace(dgp.optimization, **changes))
    for name, changes in SAMPLINGS.items():
        table[f"dgp {name}"] = replace(dgp, sampling=replace(dgp.sampling, **changes))
    for name, changes in EVOLUTIONS.items():
        table |= {f"gp {name}": evolving(gp, **changes), f"dgp {name}": evolving(dgp, **changes)}
    return table


def evolving(search: Of, **changes: Any) -> Of:
    """Return the search with other settings of its population and genetic operators."""
    return replace(search, diversification=replace(search.diversification, **changes))


def on_gpu() -> dict[str, GP]:
    """Return DGP on a GPU, and as studied before: at half the rate, or more epochs less often."""
    dgp = preset("paper", "gpu")
    assert isinstance(dgp, DGP)
    half = replace(dgp, optimization=replace(dgp.optimization, learning_rate=0.5))
    longer = replace(half, optimization=replace(half.optimization, epochs=100))
    rarely = evolving(longer, generations=20)
    slow = Optimization(epochs=1000, start_probability=0.9, learning_rate=0.02)
    return {
        "dgp on gpu": dgp,
        "dgp rate .5 on gpu": half,
        "dgp generations 5 on gpu": evolving(longer, generations=5),
        "dgp generations 20 on gpu": rarely,
        "dgp slow on gpu": replace(rarely, optimization=slow, sampling=Sampling(accept="better")),
        "dgp size 20 on gpu": evolving(rarely, max_size=20, restart=None),
        "dgp one start on gpu": evolving(rarely, restart=None),
        "dgp literal on gpu": literal(dgp),
    }


def literal(dgp: DGP) -> DGP:
    """Return DGP by the words of the paper."""
    return replace(
        dgp,
        optimization=Optimization.literal(),
        sampling=Sampling.literal(),
        diversification=Diversification(restart=None),
    )


def by_the_paper(methods: tuple[str, ...], search: GP) -> Fit:
    """Return the fit of GP or DGP, which start from the same populations.

    The first method's model is the most accurate tree, the second's, if wanted, the shortest.
    """

    def fit(task: Task) -> dict[str, Model]:
        evolution = replace(search.diversification, population=task.population)
        own = replace(search, diversification=evolution, n_jobs=task.threads)
        data = Dataset(task.X, task.y, dtype=np.float64 if task.synthetic else np.float32)
        limit = Budget(
            task.limit.evaluations, task.limit.seconds, target=FOUND if task.synthetic else None
        )
        state = run(own, data, limit, np.random.default_rng(task.seed))
        best = state.front.most_accurate
        if best is None:
            raise RuntimeError("no tree is finite on all rows")
        trees = (best.tree, shortest(state, data))[: len(methods)]
        return {
            method: Model(tree.evaluate, tree.sympy, state.evaluations, tree.size)
            for method, tree in zip(methods, trees, strict=True)
        }

    return fit


def shortest(state: State, data: Dataset) -> Tree:
    """Return the tree with the least description length."""
    assert data.y is not None
    worst, rows, features = float(np.var(data.y)), data.rows, data.features

    def length(entry: Entry) -> float:
        fit = Loss().length(entry.loss, worst, rows)
        return bare_length(entry.tree, fit, rows, features)

    return min(state.front.lean(), key=length).tree


def default(name: str, **options: Any) -> Fit:
    """Return the fit of the default search."""

    def fit(task: Task) -> dict[str, Model]:
        model = DGPRegressor(
            max_evaluations=task.limit.evaluations, time_limit=task.limit.seconds,
            n_jobs=task.threads, random_state=task.seed, **options,
        ).fit(task.X, task.y)  # fmt: skip
        return {name: Model(model.predict, model.sympy, model.n_evaluations_, model.tree_.size)}

    return fit


BALANCED = ("gp", "dgp", "dgp on gpu")
"""Methods with a second model, of least description length."""

ON_GPU: dict[str, Any] = {"package": "jax", "module": "jax", "extra": "gpu"}

ADAPTERS: tuple[Adapter, ...] = (
    Adapter(default("symgrad"), ("symgrad",)),
    Adapter(default("symgrad accurate", model_selection="accurate"), ("symgrad accurate",)),
    *(
        Adapter(by_the_paper(methods, search), methods, **(ON_GPU if name in on_gpu() else {}))
        for name, search in searches().items()
        for methods in [(name, f"{name} balanced") if name in BALANCED else (name,)]
    ),
)
