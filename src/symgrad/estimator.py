"""The scikit-learn estimator: a thin shell around the search."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from symgrad.arrays import check_numeric, is_sparse
from symgrad.blend import decide
from symgrad.data.counts import merge_rows
from symgrad.data.dataset import Dataset
from symgrad.data.loss import Loss
from symgrad.dgp.optimization import Optimization
from symgrad.dgp.sampling import Sampling
from symgrad.evolution.constraints import Constraints, indices
from symgrad.evolution.diversification import Diversification
from symgrad.evolution.front import Entry
from symgrad.evolution.islands import Islands
from symgrad.gpu.device import check as check_device
from symgrad.history import History
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.model import CHOICES, Formula, by_size, choose, formulas
from symgrad.outside import Box
from symgrad.progress import Progress, watched
from symgrad.search.advice import in_units_of
from symgrad.search.base import Budget, State
from symgrad.search.checkpoint import Checkpoint
from symgrad.search.dgp import DGP
from symgrad.search.guided import GuidedDGP
from symgrad.search.presets import preset
from symgrad.search.prune import prune
from symgrad.search.shelter import shelter
from symgrad.tree.tree import Tree
from symgrad.validation import validation
from symgrad.views import Views

DEFAULT_EVALUATIONS = {"default": 500_000, "paper": 100_000}
EQUATIONS = ["size", "loss", "r2", "validation_r2", "length", "formula", "chosen"]
"""Columns of `DGPRegressor.equations_`."""

POLICIES = ("islands", "constraints", "optimization", "sampling", "diversification")
LARGE = 20_000_000
"""Numbers in X from which the search has them in float32 only."""

LONG = 50_000
"""Rows from which the default search sees so many, drawn at random; constants are fitted to all."""

RESERVE, MOST, PER_ROW = 0.15, 1.0, 2e-5
"""Share of the time limit left for what comes after the search; most seconds, more by rows."""

MERGE_LIMIT = 1_000_000
"""Numbers in X up to which equal rows are merged, and sparse matrices made dense."""


class DGPRegressor(Views, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Symbolic regression by differentiable genetic programming.

    Parameters
    ----------
    preset : {"default", "paper"}
        Settings to start from; see `symgrad.search.presets`.
    primitives : PrimitiveSet or list of str, optional
        Functions that formulas may use; by default the paper's ``+ - * / sin cos exp log``.
    loss : str or Loss, optional
        What errors cost: "squared" (by default), "absolute", "huber", "log_cosh", "quantile" or
        "poisson"; `Loss("quantile", 0.9)` where a number belongs to it. The paper preset has
        squares only.
    max_size : int, optional
        Most nodes of a formula as SymPy writes it in your units; by default 68, and more for sums
        that need it. The paper preset counts the nodes of trees (50).
    model_selection : {"balanced", "accurate", "simple"}, optional
        Which formula becomes the model: the one of least description length, with a sum of features
        or replaced by it where left-out rows ask for it (by default); a mean of that with others
        (least error of other losses and the paper preset); or the smallest that explains 95 %.
    constraints : Constraints, optional
        What formulas of the default preset may be: nesting, costs, features, directions.
    max_evaluations : int, optional
        How many formulas are scored; by default 500,000 (the paper preset: 100,000), or no bound
        if `time_limit` is given.
    time_limit : float, optional
        Seconds. The search leaves the last 15 % of them, but no more than one, for fitting the
        front's constants once more and for the choice; the iteration at hand is finished first.
    islands : Islands, optional
        How the default preset evolves.
    optimization, sampling, diversification : optional
        The paper preset's training of relaxed trees (`Optimization`), return to discrete ones
        (`Sampling`), population and genetic operators (`Diversification`). The default preset
        trains relaxed trees if `optimization` is given.
    random_state : int, RandomState or None
        Seed. With the same seed and no `time_limit` the result is the same, bit for bit, for any
        `n_jobs`.
    n_jobs : int, optional
        Number of threads; by default all cores.
    device : {"cpu", "gpu", "auto"}
        Where relaxed trees are trained, and long tables scored for the paper preset: by the
        native core, by JAX on a GPU (``pip install symgrad[gpu]``), or on a GPU if there is one
        and the work is large enough for it to win. The result depends on it.

    Attributes
    ----------
    tree_ : Tree
        The formula.
    trees_ : list of Tree
        The formulas of `equations_`.
    equations_ : pandas.DataFrame
        The front: ``size``, ``loss`` (mean), ``r2`` (the share of the best constant's loss that is
        explained), ``validation_r2`` (the same for rows that constants were not fitted to), the
        description ``length``, ``formula`` and ``chosen`` (whether it is `tree_`) of the best
        formula of each size that no smaller one beats, and the model, on the training data.
    history_ : pandas.DataFrame
        The search, a row for each iteration: ``evaluations`` and ``seconds`` so far, ``error``
        (relative to the best constant's, on made-up rows too) and ``size`` of the best formula.
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
        loss: str | Loss | None = None,
        max_size: int | None = None,
        model_selection: str | None = None,
        constraints: Constraints | None = None,
        max_evaluations: int | None = None,
        time_limit: float | None = None,
        islands: Islands | None = None,
        optimization: Optimization | None = None,
        sampling: Sampling | None = None,
        diversification: Diversification | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        device: str = "cpu",
    ):
        self.preset = preset
        self.primitives = primitives
        self.loss = loss
        self.max_size = max_size
        self.model_selection = model_selection
        self.constraints = constraints
        self.max_evaluations = max_evaluations
        self.time_limit = time_limit
        self.islands = islands
        self.optimization = optimization
        self.sampling = sampling
        self.diversification = diversification
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        progress: bool | Progress = False,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> DGPRegressor:
        """Search for a formula.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (rows, features)
            Finite numbers, at least two rows. Large tables are copied once, in float32; large
            sparse ones stay sparse.
        y : array of shape (rows,)
            Target; must vary.
        sample_weight : array of shape (rows,), optional
            Weights of the rows.
        progress : bool or Progress
            Show how the search gets on: a live panel, or lines where output is no terminal.
        checkpoint : str or path-like, optional
            File that the state of the search is written to, and that it goes on from if it is
            there: with `max_evaluations`, bit for bit as if it had not been interrupted.
        """
        search = self._search()
        whole = exact = self._checked(X, y, sample_weight, search)
        budget = self._budget(whole.rows)
        assert exact.y is not None
        self._fallback = float(np.average(exact.y, weights=exact.weights))
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        free, store = self.random_state is None, None
        if checkpoint is not None:
            store = Checkpoint(checkpoint, search, budget, whole, seed, any_seed=free)
        rng = np.random.default_rng(store.seed if store else seed)
        default = search if isinstance(search, GuidedDGP) else None
        constraints = default.constraints if default else Constraints()
        names, gone = exact.names, indices(constraints.exclude, exact.names)
        if gone:
            exact = exact.select([j for j in range(exact.features) if j not in set(gone)])
        data = _working(exact, rng, search)
        history = History(search, data, store.history if store else None)
        state = watched(search, data, exact, budget, rng, progress, store, history)
        self.history_ = history.table
        loss, seen = (default.loss, default.seen(state, data)) if default else (None, data)
        wider = None if seen is data else in_units_of(seen, data, exact)

        def in_units(entries: Iterable[Entry]) -> list[Formula]:
            made = formulas(entries, data, exact, loss, constraints, self.n_jobs, wider)
            return [replace(f, tree=f.tree.renamed(names)) for f in made] if gone else made

        if default:
            prune(state.front, seen, default.loss, self.n_jobs, budget.left(state) / 2)
        made = in_units(state.front if default else state.front.lean())
        found, how = by_size(made), self.model_selection or "balanced"
        if default:
            made += in_units(shelter(state, data, default))
            bounded = (self.max_size, self.islands) != (None, None)
            chosen = decide(made, how, whole, exact, default, wider, bounded)
        else:
            chosen = choose(made, how, whole)
        if chosen not in found:
            found = sorted([*found, chosen], key=lambda f: f.tree.size)
        scores = validation([f.tree for f in found], whole, loss, self.n_jobs)
        self._finish(state, found, scores, chosen)
        bare = default is None or constraints.extrapolate
        self._box = None if bare else Box.of(whole, chosen)
        return self

    def predict(self, X: Any, size: int | None = None) -> NDArray[np.float64]:
        """Return the formula's values; the mean of the training target where it is undefined.

        Rows outside the box that the training data span, in the features of the formula, get a
        value between those at its edge, inside the range of the training target; if the formula
        explains 95 %, values some way off that, and if it is exact, its own; see
        `Constraints.extrapolate`. The bare formula is ``tree_.evaluate(X)``.

        Parameters
        ----------
        X : array or data frame of shape (rows, features)
            The features.
        size : int, optional
            Take the formula of `equations_` of this size, or the next smaller one, instead.
        """
        check_is_fitted(self)
        tree = self.tree_ if size is None else self._of_size(size)
        X = validate_data(
            self, X, reset=False, dtype="numeric", ensure_all_finite=False,
            accept_sparse=("csc", "csr"),
        )  # fmt: skip
        X = Dataset(X, feature_names=tree.names, dtype=None).X
        values = tree.evaluate(X, dtype=np.float64)
        values = np.where(np.isfinite(values), values, self._fallback)
        return values if self._box is None else self._box.kept(values, X, tree)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.preset == "default"
        return tags

    def __str__(self) -> str:
        return self.tree_.render(4) if hasattr(self, "tree_") else repr(self)

    def _of_size(self, size: int) -> Tree:
        fitting = np.flatnonzero(self.equations_["size"] <= size)
        if not fitting.size:
            least = self.equations_["size"].min()
            raise ValueError(f"the smallest formula has size {least}, got size={size}")
        return self.trees_[int(fitting[-1])]

    def _checked(self, X: Any, y: Any, sample_weight: Any, search: DGP | GuidedDGP) -> Dataset:
        """Return the data in float64, equal rows merged; refuse what cannot be searched."""
        check_numeric(X)
        X, y = validate_data(
            self, X, y, dtype="numeric", ensure_all_finite=False, ensure_min_samples=2,
            y_numeric=True, accept_sparse=("csc", "csr"),
        )  # fmt: skip
        if is_sparse(X) and getattr(search, "optimization", None) is not None:
            raise ValueError("relaxed trees cannot be trained on sparse matrices; pass X.toarray()")
        if is_sparse(X) and X.shape[0] * X.shape[1] <= MERGE_LIMIT:
            X = X.toarray()
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        names = getattr(self, "feature_names_in_", None)
        dtype = None if _large(X) else np.float64
        data = Dataset(X, y, feature_names=names, weights=sample_weight, dtype=dtype)
        search.primitives.check_features(data.names.names or ())
        self._check_target(data)
        if not data.sparse and data.X.size <= MERGE_LIMIT:
            X, y, weights = merge_rows(data.X, data.y, data.weights)
            data = Dataset(X, y, feature_names=data.names, weights=weights, dtype=np.float64)
        return data.with_limits(search.limits(data)) if isinstance(search, GuidedDGP) else data

    def _search(self) -> DGP | GuidedDGP:
        if self.model_selection is not None and self.model_selection not in CHOICES:
            known = ", ".join(CHOICES)
            wrong = self.model_selection
            raise ValueError(f"model_selection must be one of {known}, got {wrong!r}")
        check_device(self.device)
        search = preset(self.preset, self.device)
        changes: dict[str, Any] = {"n_jobs": self.n_jobs}
        for name in POLICIES:
            if getattr(self, name) is None:
                continue
            if not hasattr(search, name):
                raise ValueError(f"the {self.preset} preset has no {name}")
            changes[name] = getattr(self, name)
        if self.primitives is not None:
            given = self.primitives
            changes["primitives"] = (
                given if isinstance(given, PrimitiveSet) else PrimitiveSet(given)
            )
        if self.loss is not None:
            if not isinstance(search, GuidedDGP):
                raise ValueError(f"the {self.preset} preset has squared loss only")
            changes["loss"] = Loss(self.loss) if isinstance(self.loss, str) else self.loss
        search = replace(search, **changes)
        if self.max_size is None:
            return search
        if not float(self.max_size).is_integer():
            raise ValueError(f"max_size must be a whole number, got {self.max_size!r}")
        part = "islands" if isinstance(search, GuidedDGP) else "diversification"
        return replace(
            search, **{part: replace(getattr(search, part), max_size=int(self.max_size))}
        )

    def _budget(self, rows: int = 0) -> Budget:
        for name in ("max_evaluations", "time_limit"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, Real) and float(value) > 0):
                raise ValueError(f"{name} must be positive, got {value!r}")
        evaluations = self.max_evaluations
        if evaluations is None and self.time_limit is None:
            evaluations = DEFAULT_EVALUATIONS[self.preset]
        target = 0.0 if self.preset == "paper" else None  # the default asks for more than that
        reserve = min(RESERVE * (self.time_limit or 0.0), MOST + PER_ROW * min(rows, LONG))
        return Budget(evaluations, self.time_limit, target=target, reserve=reserve)

    @staticmethod
    def _check_target(data: Dataset) -> None:
        assert data.y is not None
        used = data.y if data.weights is None else data.y[data.weights > 0]
        if np.ptp(used) == 0:
            raise ValueError(f"y is constant (every value is {used[0]:g}), so there is no formula")

    def _finish(
        self, state: State, found: list[Formula], scores: NDArray[np.float64], chosen: Formula
    ) -> None:
        """Keep the formulas and the one that was chosen."""
        self.n_iter_, self.n_evaluations_ = state.iterations, state.evaluations
        if not len(state.front):
            warnings.warn(
                "no formula was finite on all rows; the model is the mean of y",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.equations_ = pd.DataFrame(
            [
                (f.tree.size, f.loss, f.r2, score, f.length, str(f.tree), f is chosen)
                for f, score in zip(found, scores, strict=True)
            ],
            columns=EQUATIONS,
        )
        self.trees_: list[Tree] = [f.tree for f in found]
        self.tree_: Tree = chosen.tree


def _large(X: Any) -> bool:
    """Whether X is searched in a single copy in float32."""
    return is_sparse(X) or X.size > LARGE


def _working(data: Dataset, rng: np.random.Generator, search: DGP | GuidedDGP) -> Dataset:
    """Return the data as the search wants it."""
    if isinstance(search, DGP):
        return (data.standardize() if search.standardize else data).single
    dtype = np.float32 if _large(data.X) else np.float64
    order = rng.permutation(data.rows)[:LONG]
    data = data.standardize(gently=True, order=order, dtype=dtype)
    if search.loss.name != "squared":  # others have a scale of their own
        return data
    return data.with_gentle_target()
