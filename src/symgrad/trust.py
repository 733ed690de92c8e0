"""How far a formula can be trusted: which features would be found again, and chance's share.

Two questions that wide tables ask. Is it this feature, or would another do as well? And would the
search have found something in any table of this width? Both are answered by more searches, with
the same settings and a smaller budget.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from symgrad.arrays import check_numeric
from symgrad.data.dataset import Dataset
from symgrad.data.loss import Loss
from symgrad.estimator import DEFAULT_EVALUATIONS, DGPRegressor
from symgrad.language.grammar import quote
from symgrad.model import Formula
from symgrad.places import Places
from symgrad.search.base import State

PART = 10
"""A search here gets this part of the fit's evaluations, unless told otherwise."""

LEAST_EVALUATIONS = 10_000
"""But so many at least, or all of a smaller budget."""

OFTEN = 0.2
"""Share of restarts from which a feature that the formula lacks is listed."""

MOST_NAMED = 10
"""Most names in the text on exchangeable features."""

LINE = 4
"""Nodes of an outer line, which some formulas need and others do without."""

COLUMNS = [
    "feature", "in_formula", "share", "share_exchangeable", "drop", "drop_permuted", "exchangeable",
]  # fmt: skip

Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False, eq=False)
class Significance:
    """What the search finds in y, and what it finds when y is shuffled.

    Every number comes from a search of the same budget; entry 0 of each array is that in y as it
    is. The p-value is (1 + count)/(1 + n): of n shuffled targets, count gave a formula at least as
    good.

    Attributes
    ----------
    formula : str
        What was chosen for y as it is.
    size : int
        Its size, and four nodes more: room for an outer line.
    length : array
        Description lengths of the chosen formulas, above that of the best constant; below 0 if
        the formula pays, and 0 if the constant was chosen.
    r2 : array
        Training R2 of the chosen formulas.
    best_r2 : array
        Training R2 of the most accurate formulas no larger than `size`.
    """

    formula: str
    size: int
    length: Floats
    r2: Floats
    best_r2: Floats

    @property
    def n_permutations(self) -> int:
        """Number of shuffled targets."""
        return len(self.r2) - 1

    @property
    def p_value(self) -> float:
        """Chance of a chosen formula of such a description length."""
        return float(np.mean(self.length <= self.length[0]))

    @property
    def p_value_r2(self) -> float:
        """Chance of such an R2 with formulas no larger than `size`."""
        return float(np.mean(self.best_r2 >= self.best_r2[0]))

    def __repr__(self) -> str:
        found, best = int(np.count_nonzero(self.r2[1:] > 0)), self.best_r2[1:]
        small = f"up to size {self.size}"
        return "\n".join(
            [
                f"p = {self.p_value:.3g} by description length, "
                f"{self.p_value_r2:.3g} by R2 of formulas {small}",
                f"y as it is: {self.formula}, R2 {self.r2[0]:.3f}, length {self.length[0]:.1f}; "
                f"{small} R2 {self.best_r2[0]:.3f}",
                f"y shuffled {self.n_permutations} times: a formula in {found}, "
                f"R2 {self.r2[1:].max():.3f}, length {self.length[1:].min():.1f} at best; "
                f"{small} R2 {np.median(best):.3f} in the middle, {best.max():.3f} at best",
            ]
        )


class _Search(DGPRegressor):
    """An estimator that remembers the front and what was chosen from it."""

    def _finish(self, state: State, found: list[Formula], scores: Any, chosen: Formula) -> None:
        super()._finish(state, found, scores, chosen)
        self.found, self.chosen = found, chosen

    @classmethod
    def like(cls, est: DGPRegressor, seed: int, budget: dict[str, Any]) -> _Search:
        """Return one with the settings of another, but for seed and budget."""
        return cls(**(est.get_params(deep=False) | budget | {"random_state": int(seed)}))

    def searched(self, X: Any, y: Any, sample_weight: Any) -> _Search:
        """Return the fitted estimator; that nothing was found is no news here."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.fit(X, y, sample_weight)
        return self


def trust(
    est: DGPRegressor,
    X: Any,
    y: Any,
    n_restarts: int = 10,
    *,
    sample_weight: Any = None,
    correlation: float = 0.9,
    tolerance: float = 0.02,
    max_evaluations: int | None = None,
    time_limit: float | None = None,
    progress: bool = False,
) -> pd.DataFrame:
    """Return how far each feature of a fitted formula can be trusted.

    Parameters
    ----------
    est : DGPRegressor
        The fitted estimator.
    X, y, sample_weight
        The training data.
    n_restarts : int
        Searches with other seeds; 0 for none, the shares are then NaN.
    correlation, tolerance : float
        What makes features exchangeable; see `exchangeable`.
    max_evaluations, time_limit : optional
        Budget of a restart; by default a tenth of the evaluations of the fit, but at least
        10,000 (or all of them, if they are fewer).
    progress : bool
        Show a progress bar on a terminal.

    Returns
    -------
    data frame
        A row for each feature of the formula, those first that cost most to lose, then
        (``in_formula`` False) features that a fifth of the restarts chose, two at least.
        ``share`` of the restarts whose formula uses the feature; ``share_exchangeable`` of those
        that use it or one exchangeable with it; ``drop`` of R2 if its mean stands in its place,
        with constants fitted anew; ``drop_permuted`` if the column is shuffled, the mean of five;
        ``exchangeable``: text such as "x17 ~ x18, x205".
    """
    _whole("n_restarts", n_restarts, 0)
    data = _checked(est, X, y, sample_weight)
    rng = _rng(est, 0)
    seeds, budget = (
        rng.integers(2**31 - 1, size=n_restarts),
        _budget(est, max_evaluations, time_limit),
    )
    places = _places(est, data)
    alike = places.exchangeable(correlation, tolerance)
    counts: Counter[int] = Counter()
    together: Counter[int] = Counter()
    for seed in _bar(seeds.tolist(), "restarts", progress):
        search = _Search.like(est, seed, budget).searched(X, y, sample_weight)
        used = set(search.tree_.feature_indices)
        counts.update(used)
        together.update(j for j, others in alike.items() if not used.isdisjoint([j, *others]))
    drops, permuted = places.drops(), places.permuted(rng)

    def share(counter: Counter[int], j: int) -> float:
        return counter[j] / n_restarts if n_restarts else np.nan

    def names(j: int) -> str:
        return quote(data.names[j], lambda name: name in est.tree_.primitives)

    rows: list[tuple[Any, ...]] = [
        (data.names[j], True, share(counts, j), share(together, j), drops[j], permuted[j],
         _text(names(j), map(names, alike[j])))
        for j in sorted(alike, key=lambda j: -drops[j])
    ]  # fmt: skip
    for j, count in counts.most_common():
        if j not in alike and count >= max(2, OFTEN * n_restarts):
            text = _text(names(j), (names(i) for i, others in alike.items() if j in others))
            rows.append((data.names[j], False, share(counts, j), np.nan, np.nan, np.nan, text))
    frame: pd.DataFrame = pd.DataFrame(rows, columns=COLUMNS)
    return frame


def exchangeable(
    est: DGPRegressor,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    correlation: float = 0.9,
    tolerance: float = 0.02,
) -> dict[str, list[str]]:
    """Return for each feature of a fitted formula the columns that could stand in its place.

    A column is tried if it correlates with the feature by more than `correlation`, up or down, and
    passes if the formula with the column in the feature's place, brought to the feature's scale
    and with constants fitted anew, has an R2 no more than `tolerance` below the formula's own. The
    nearest come first. Of each feature's columns the 1,000 nearest are tried.

    Parameters
    ----------
    est : DGPRegressor
        The fitted estimator.
    X, y, sample_weight
        The training data.
    correlation, tolerance : float
        Least correlation, and most that R2 may fall.

    Examples
    --------
    >>> import numpy as np
    >>> from symgrad import DGPRegressor
    >>> from symgrad.trust import exchangeable
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3))
    >>> X[:, 2] = 1 - 2 * X[:, 1] + 0.05 * rng.normal(size=100)
    >>> y = X[:, 0] + 3 * X[:, 1]
    >>> exchangeable(DGPRegressor(max_evaluations=5000, random_state=0).fit(X, y), X, y)
    {'x0': [], 'x1': ['x2']}
    """
    data = _checked(est, X, y, sample_weight)
    found = _places(est, data).exchangeable(correlation, tolerance)
    return {data.names[j]: [data.names[k] for k in others] for j, others in found.items()}


def significance(
    est: DGPRegressor,
    X: Any,
    y: Any,
    n_permutations: int = 20,
    *,
    sample_weight: Any = None,
    max_evaluations: int | None = None,
    time_limit: float | None = None,
    progress: bool = False,
) -> Significance:
    """Return what the search finds in y, and in y shuffled.

    The fit itself had a larger budget, so y as it is is searched once more within the same one:
    n + 1 equal searches, of which one has the rows in order. Weights are shuffled with y.

    Parameters
    ----------
    est : DGPRegressor
        The fitted estimator.
    X, y, sample_weight
        The training data.
    n_permutations : int
        Number of shuffled targets; the least p-value is 1/(1 + n).
    max_evaluations, time_limit : optional
        Budget of a search; by default a tenth of the evaluations of the fit, but at least 10,000
        (or all of them, if they are fewer).
    progress : bool
        Show a progress bar on a terminal.
    """
    _whole("n_permutations", n_permutations, 1)
    data = _checked(est, X, y, sample_weight)
    assert data.y is not None
    rng, budget = _rng(est, 1), _budget(est, max_evaluations, time_limit)
    orders = [np.arange(data.rows), *(rng.permutation(data.rows) for _ in range(n_permutations))]
    seeds = rng.integers(2**31 - 1, size=len(orders))
    rows: list[tuple[float, float, float]] = []
    size, formula = 0, ""
    for order, seed in _bar(list(zip(orders, seeds, strict=True)), "searches", progress):
        weights = None if data.weights is None else data.weights[order]
        search = _Search.like(est, seed, budget).searched(X, data.y[order], weights)
        chosen, nothing = search.chosen, np.log(data.rows)  # the length of a constant
        nothing = next((f.length for f in search.found if f.constant), nothing)
        if not rows:
            size, formula = chosen.tree.size + LINE, chosen.tree.render(4)
        best = max((f.r2 for f in search.found if f.tree.size <= size), default=0.0)
        rows.append((chosen.length - nothing, chosen.r2, max(best, 0.0)))
    return Significance(formula, size, *np.array(rows).T)


def _checked(est: DGPRegressor, X: Any, y: Any, sample_weight: Any) -> Dataset:
    """Return the data of a fitted estimator; refuse other shapes and names."""
    check_is_fitted(est)
    check_numeric(X)
    X, y = validate_data(
        est, X, y, reset=False, dtype="numeric", ensure_all_finite=False, ensure_min_samples=2,
        y_numeric=True, accept_sparse=("csc", "csr"),
    )  # fmt: skip
    if sample_weight is not None:
        sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
    return Dataset(X, y, feature_names=est.tree_.names, weights=sample_weight, dtype=None)


def _places(est: DGPRegressor, data: Dataset) -> Places:
    loss = est.loss if isinstance(est.loss, Loss) else Loss(est.loss or "squared")
    return Places(est.tree_, data, loss, est.n_jobs)


def _rng(est: DGPRegressor, purpose: int) -> np.random.Generator:
    """Return randomness that hangs on the estimator's seed, but is not that of its fit."""
    seed = int(check_random_state(est.random_state).randint(2**31 - 1))
    return np.random.default_rng([seed, purpose])


def _budget(
    est: DGPRegressor, max_evaluations: int | None, time_limit: float | None
) -> dict[str, Any]:
    """Return the budget of one search."""
    if max_evaluations is None and time_limit is None:
        if est.time_limit is None:
            whole = est.max_evaluations or DEFAULT_EVALUATIONS[est.preset]
            max_evaluations = min(whole, max(whole // PART, LEAST_EVALUATIONS))
        else:
            max_evaluations = max(est.n_evaluations_ // PART, LEAST_EVALUATIONS)
    return {"max_evaluations": max_evaluations, "time_limit": time_limit}


def _whole(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} must be a whole number from {least} on, got {value!r}")


def _text(name: str, others: Iterable[str]) -> str:
    """Return "x17 ~ x18, x205", or nothing if there are no others."""
    known = list(others)
    more = [f"{len(known) - MOST_NAMED} more"] if len(known) > MOST_NAMED else []
    return f"{name} ~ {', '.join(known[:MOST_NAMED] + more)}" if known else ""


def _bar(items: Sequence[Any], what: str, progress: bool) -> Iterator[Any]:
    """Go through the items, with a progress bar if asked for and there is a terminal."""
    if not (progress and sys.stderr.isatty()):
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, what, console=Console(stderr=True), transient=True)
