"""The scikit-learn estimator: a thin shell around the search."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from symgrad.data.dataset import Dataset, check_numeric, merge_rows
from symgrad.data.evaluate import score
from symgrad.dgp.optimization import Optimization
from symgrad.dgp.sampling import Sampling
from symgrad.evolution.diversification import Diversification
from symgrad.language.primitive import CONSTANT
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.search.base import Budget, State, run
from symgrad.search.dgp import DGP
from symgrad.search.gp import Initialization
from symgrad.search.presets import preset
from symgrad.tree.forest import Forest
from symgrad.tree.tree import Tree

if TYPE_CHECKING:
    import sympy

DEFAULT_EVALUATIONS = 100_000
MERGE_LIMIT = 10_000_000
"""Numbers in X up to which equal rows are merged; sorting larger tables would take its time."""


class DGPRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Symbolic regression by differentiable genetic programming.

    Parameters
    ----------
    preset : {"default", "paper"}
        Settings to start from; see `symgrad.search.presets`.
    primitives : PrimitiveSet or list of str, optional
        Functions that formulas may use; by default the paper's ``+ - * / sin cos exp log``.
    max_evaluations : int, optional
        How many formulas are scored; by default 100,000, or no bound if `time_limit` is given.
    time_limit : float, optional
        Seconds. The iteration at hand is finished first.
    initialization : Initialization, optional
        The first population.
    optimization : Optimization, optional
        How relaxed trees are trained.
    sampling : Sampling, optional
        How trained trees become discrete.
    diversification : Diversification, optional
        Genetic operators, and limits on size and depth.
    random_state : int, RandomState or None
        Seed. With the same seed and no `time_limit` the result is the same, bit for bit, for any
        `n_jobs`.
    n_jobs : int, optional
        Number of threads; by default all cores.

    Attributes
    ----------
    tree_ : Tree
        The formula.
    equations_ : pandas.DataFrame
        The front: ``size``, ``loss`` (mean squared error), ``r2`` and ``formula`` of the best
        formula of each size that no smaller one beats, on the training data.
    n_iter_, n_evaluations_ : int
        Iterations made and formulas scored.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array
        Names of the features, where X was a data frame.

    Examples
    --------
    >>> import numpy as np
    >>> from symgrad import DGPRegressor
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> est = DGPRegressor(max_evaluations=5000, random_state=0).fit(X, 3 * X[:, 0] * X[:, 2] + 1)
    >>> round(est.score(X, 3 * X[:, 0] * X[:, 2] + 1), 6)
    1.0
    """

    def __init__(
        self,
        preset: str = "default",
        *,
        primitives: PrimitiveSet | Iterable[str] | None = None,
        max_evaluations: int | None = None,
        time_limit: float | None = None,
        initialization: Initialization | None = None,
        optimization: Optimization | None = None,
        sampling: Sampling | None = None,
        diversification: Diversification | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.preset = preset
        self.primitives = primitives
        self.max_evaluations = max_evaluations
        self.time_limit = time_limit
        self.initialization = initialization
        self.optimization = optimization
        self.sampling = sampling
        self.diversification = diversification
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DGPRegressor:
        """Search for a formula.

        Parameters
        ----------
        X : array or data frame of shape (rows, features)
            Finite numbers, at least two rows.
        y : array of shape (rows,)
            Target; must vary.
        sample_weight : array of shape (rows,), optional
            Weights of the rows.
        """
        search, budget = self._search(), self._budget()
        check_numeric(X)
        X, y = validate_data(
            self, X, y, dtype="numeric", ensure_all_finite=False, ensure_min_samples=2,
            y_numeric=True,
        )  # fmt: skip
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        names = getattr(self, "feature_names_in_", None)
        exact = Dataset(X, y, feature_names=names, weights=sample_weight, dtype=np.float64)
        search.primitives.check_features(exact.names.names or ())
        self._check_target(exact)
        assert exact.y is not None
        if exact.X.size <= MERGE_LIMIT:
            X, y, sample_weight = merge_rows(exact.X, exact.y, exact.weights)
            exact = Dataset(
                X, y, feature_names=exact.names, weights=sample_weight, dtype=np.float64
            )
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        data = Dataset(exact.X, exact.y, feature_names=exact.names, weights=exact.weights)
        state = run(search, data, budget, np.random.default_rng(seed))
        self._finish(state, exact, search)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the formula's values; the mean of the training target where it is undefined."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype="numeric", ensure_all_finite=False)
        X = Dataset(X, feature_names=self.tree_.names, dtype=np.float64).X
        values = self.tree_.evaluate(X)
        return np.where(np.isfinite(values), values, self._fallback)

    def sympy(self) -> sympy.Expr:
        """Return the formula as a SymPy expression."""
        check_is_fitted(self)
        return self.tree_.sympy()

    def latex(self, digits: int | None = 4) -> str:
        """Return the formula as LaTeX."""
        check_is_fitted(self)
        return self.tree_.latex(digits)

    def __str__(self) -> str:
        return self.tree_.render(4) if hasattr(self, "tree_") else repr(self)

    def _search(self) -> DGP:
        search = preset(self.preset)
        changes: dict[str, Any] = {"n_jobs": self.n_jobs}
        for name in ("initialization", "optimization", "sampling", "diversification"):
            if getattr(self, name) is not None:
                changes[name] = getattr(self, name)
        if self.primitives is not None:
            given = self.primitives
            changes["primitives"] = (
                given if isinstance(given, PrimitiveSet) else PrimitiveSet(given)
            )
        return replace(search, **changes)

    def _budget(self) -> Budget:
        for name in ("max_evaluations", "time_limit"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be positive, got {value}")
        evaluations = self.max_evaluations
        if evaluations is None and self.time_limit is None:
            evaluations = DEFAULT_EVALUATIONS
        return Budget(evaluations=evaluations, seconds=self.time_limit, target=0.0)

    @staticmethod
    def _check_target(data: Dataset) -> None:
        assert data.y is not None
        used = data.y if data.weights is None else data.y[data.weights > 0]
        if np.ptp(used) == 0:
            raise ValueError(f"y is constant (every value is {used[0]:g}), so there is no formula")

    def _finish(self, state: State, data: Dataset, search: DGP) -> None:
        """Turn the front into formulas in float64, with their scaling, and choose one."""
        assert data.y is not None
        self.n_iter_, self.n_evaluations_ = state.iterations, state.evaluations
        self._fallback = float(np.average(data.y, weights=data.weights))
        formulas = [_formula(e.tree, data, search.scale) for e in state.front]
        found = [f for f in formulas if f is not None]
        if not found:
            warnings.warn(
                "no formula was finite on all rows; the model is the mean of y",
                ConvergenceWarning,
                stacklevel=3,
            )
            mean = Tree([CONSTANT], [self._fallback], search.primitives, data.names)
            found = [
                (mean, float(np.average((data.y - self._fallback) ** 2, weights=data.weights)), 0.0)
            ]
        table = pd.DataFrame(
            [(t.size, loss, r2, str(t)) for t, loss, r2 in found],
            columns=["size", "loss", "r2", "formula"],
        )
        table = table.sort_values(["size", "loss"])
        best_before = table["loss"].cummin().shift(fill_value=np.inf)  # simplified ones may collide
        self.equations_ = table[table["loss"] < best_before].reset_index(drop=True)
        self.tree_ = min(found, key=lambda f: (f[1], f[0].size))[0]


def _formula(tree: Tree, data: Dataset, scale: bool) -> tuple[Tree, float, float] | None:
    """Return a tree with its best line written out, its error and R2; None if it is not finite."""
    scores = score(Forest.of([tree]), data, scale=scale)
    if not scores.valid[0]:
        return None
    if scale:
        primitives = tree.primitives.extend(*(s for s in ("+", "*") if s not in tree.primitives))
        codes = primitives.functions
        tree = Tree(
            [CONSTANT, CONSTANT, *tree.code, codes["*"], codes["+"]],
            [scores.intercept[0], scores.slope[0], *tree.value, 0, 0],
            primitives,
            tree.names,
        )
    return tree.simplify(), float(scores.mse[0]), float(scores.r2[0])
