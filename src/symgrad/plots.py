"""Plots with matplotlib, and the numbers they share with the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from symgrad.explain import given, thinned
from symgrad.tree.layout import Place, layout, spread
from symgrad.tree.names import shortened

if TYPE_CHECKING:
    from symgrad.estimator import DGPRegressor

FLOOR = 1e-16
"""Errors below this are drawn there: a logarithmic axis has no zero."""

LOGARITHMIC = 0.1
"""Least error from which on an axis from 0 to 1 will do."""

LONGEST = 28
"""Characters of a feature's name that are shown."""

MOST_FEATURES = 25
"""Features that are listed."""

MOST_POINTS = 5000
"""Points that are drawn; more only hide each other."""

COLUMN, ROW, LETTER = 0.55, 0.27, 0.085
"""Inches between columns and rows of a drawn tree, and of a letter."""

BLUE, RED, GREY = "#2563a8", "#c2410c", "#8a8f98"


def plot(estimator: DGPRegressor, kind: str, X: Any = None, y: Any = None, ax: Any = None) -> Any:
    """Draw one of the plots and return its axes; see `DGPRegressor.plot`."""
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError('plots need matplotlib: pip install "symgrad[plots]"') from None
    draw, size = KINDS[kind]
    if kind == "fit":
        actual, predicted = given(estimator, X, y).y, estimator.predict(X)
        ax = ax or plt.subplots(figsize=size, layout="constrained")[1]
        return draw(ax, actual, predicted)
    if ax is None:
        fitting = {"tree": _tree_size, "features": _features_size}
        size = fitting[kind](estimator) if kind in fitting else size
        ax = plt.subplots(figsize=size, layout="constrained")[1]
    return draw(ax, estimator)


def front_errors(estimator: DGPRegressor) -> tuple[NDArray[np.float64], bool]:
    """Return the errors of the front relative to the best constant's, and whether to take logs."""
    errors = np.maximum(1 - estimator.equations_["r2"].to_numpy(), FLOOR)
    return errors, bool(errors.min() < LOGARITHMIC)


def course(estimator: DGPRegressor) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return formulas tried and the error of the best then, from the best constant on."""
    history = estimator.history_
    errors = np.maximum(history["error"].to_numpy(), FLOOR)
    return np.append(0, history["evaluations"].to_numpy()), np.append(1.0, errors)


def usage(estimator: DGPRegressor) -> tuple[list[str], NDArray[np.int64]]:
    """Return the features of the front and how often each formula uses each of them.

    Those of the chosen formula come first, then those that most formulas use.
    """
    used = sorted({j for t in estimator.trees_ for j in t.feature_indices})
    table = np.array(
        [[np.count_nonzero(t.code == ~j) for t in estimator.trees_] for j in used], np.int64
    ).reshape(len(used), len(estimator.trees_))
    own = estimator.tree_.feature_indices
    counts = np.count_nonzero(table, axis=1)
    order = sorted(range(len(used)), key=lambda k: (used[k] not in own, -counts[k], used[k]))
    return [estimator.tree_.names[used[k]] for k in order], table[order]


def explained(actual: NDArray[np.float64], predicted: NDArray[np.float64]) -> float:
    """Return R2; NaN if there is nothing to explain."""
    if np.ptp(actual) == 0:
        return float("nan")
    return float(1 - np.mean((actual - predicted) ** 2) / np.var(actual))


def _front(ax: Any, estimator: DGPRegressor) -> Any:
    errors, logs = front_errors(estimator)
    sizes = estimator.equations_["size"].to_numpy()
    chosen = estimator.equations_["chosen"].to_numpy()
    best = np.minimum.accumulate(errors)  # a model that is safe may be beaten by a smaller one
    ax.step(sizes, best, where="post", color=GREY, linewidth=1)
    ax.plot(sizes[~chosen], errors[~chosen], "o", color=BLUE, markersize=5)
    ax.plot(
        sizes[chosen], errors[chosen], "D", color=RED, markersize=9,
        label=f"chosen: size {sizes[chosen][0]}",
    )  # fmt: skip
    if logs:
        ax.set_yscale("log")
    else:
        ax.set_ylim(0, 1.05)
    ax.set_xlim(left=0)
    ax.locator_params(axis="x", integer=True)
    ax.set_xlabel("size (nodes)")
    ax.set_ylabel("error (1 − R²)")
    ax.set_title("Formulas by size")
    ax.legend(frameon=False)
    return _clean(ax)


def _fit(ax: Any, actual: NDArray[np.float64], predicted: NDArray[np.float64]) -> Any:
    rows = thinned(len(actual), MOST_POINTS)
    ends = [min(actual.min(), predicted.min()), max(actual.max(), predicted.max())]
    ax.plot(ends, ends, color=GREY, linewidth=1, zorder=1)
    ax.scatter(actual[rows], predicted[rows], s=12, color=BLUE, alpha=0.5, linewidths=0)
    ax.set_xlabel("actual")
    ax.set_ylabel("predicted")
    ax.set_title(f"R² = {explained(actual, predicted):.4g} on {len(actual):,} rows")
    return _clean(ax)


def _drawing(estimator: DGPRegressor) -> tuple[list[Place], list[str], list[float], float]:
    """Return the nodes of the tree, their labels, the columns and the width, in inches."""
    places = layout(estimator.tree_)
    short = shortened(estimator.tree_.features, LONGEST)
    words = [short[p.label] if p.feature else p.label for p in places]
    wide = [(len(w) + 1) * LETTER for w in words]
    columns = spread(places, wide, COLUMN)
    ends = (columns[p.column] + (w if p.leaf else w / 2) for p, w in zip(places, wide, strict=True))
    return places, words, columns, max(ends)


def _tree(ax: Any, estimator: DGPRegressor) -> Any:
    places, words, columns, right = _drawing(estimator)
    for p, w in zip(places, words, strict=True):
        x = columns[p.column]
        if p.parent >= 0:
            above = places[p.parent]
            ax.plot([columns[above.column], x], [above.row, p.row], color=GREY, lw=1, zorder=1)
        colour = BLUE if p.feature else "#333333"
        box = {"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": colour, "lw": 0.8}
        ax.text(
            x - COLUMN / 5 if p.leaf else x, p.row, w, ha="left" if p.leaf else "center",
            va="center", fontsize=9, color=colour, bbox=box, parse_math=False,
        )  # fmt: skip
    ax.set_xlim(-0.1, right + 0.1)
    ax.set_ylim(max(p.row for p in places) + 0.7, -0.7)
    ax.set_axis_off()
    return ax


def _tree_size(estimator: DGPRegressor) -> tuple[float, float]:
    places, _, _, right = _drawing(estimator)
    return right + 0.4, (max(p.row for p in places) + 1.4) * ROW + 0.2


def _convergence(ax: Any, estimator: DGPRegressor) -> Any:
    tried, errors = course(estimator)
    few = "o" if len(errors) < 30 else None
    ax.step(tried, errors, where="post", color=BLUE, marker=few, markersize=4)
    if errors.min() < LOGARITHMIC:
        ax.set_yscale("log")
    else:
        ax.set_ylim(0, 1.05)
    ax.locator_params(axis="x", nbins=5)
    ax.set_xlim(left=0)
    ax.xaxis.set_major_formatter(lambda v, _: f"{v:,.0f}")
    ax.set_xlabel("formulas tried")
    ax.set_ylabel("error of the best (1 − R²)")
    ax.set_title("Convergence")
    return _clean(ax)


def _features(ax: Any, estimator: DGPRegressor) -> Any:
    names, table = usage(estimator)
    shown, sizes = names[:MOST_FEATURES], estimator.equations_["size"].to_numpy()
    chosen = int(np.flatnonzero(estimator.equations_["chosen"])[0])
    rows, columns = np.nonzero(table[:MOST_FEATURES])
    colours = np.where(columns == chosen, RED, BLUE)
    ax.axvspan(chosen - 0.5, chosen + 0.5, color=RED, alpha=0.08, linewidth=0)
    ax.scatter(columns, rows, s=30 + 25 * (table[rows, columns] - 1), c=colours, linewidths=0)
    short = shortened(names, LONGEST)
    ax.set_yticks(range(len(shown)), [short[n] for n in shown], parse_math=False)
    every = max(1, -(-len(sizes) // 12))
    ticks = sorted({*range(0, len(sizes), every)})
    ax.set_xticks(ticks, [str(sizes[k]) for k in ticks])
    ax.set_xlim(-0.6, len(sizes) - 0.4)
    ax.set_ylim(max(len(shown), 1) - 0.4, -0.6)
    more = len(names) - len(shown)
    rest = f"; not shown: {more} more feature{'s' * (more > 1)}" if more else ""
    ax.set_xlabel("size of the formula" + rest)
    ax.set_title("Features in use")
    ax.grid(axis="y", color=GREY, alpha=0.2)
    return _clean(ax)


def _features_size(estimator: DGPRegressor) -> tuple[float, float]:
    shown = min(len(usage(estimator)[0]), MOST_FEATURES)
    return max(4.5, min(9.0, 2.5 + 0.25 * len(estimator.trees_))), 1.3 + 0.25 * max(shown, 2)


def _clean(ax: Any) -> Any:
    ax.spines[["top", "right"]].set_visible(False)
    return ax


KINDS: dict[str, tuple[Any, tuple[float, float]]] = {
    "front": (_front, (5.5, 3.8)),
    "fit": (_fit, (4.6, 4.2)),
    "tree": (_tree, (5, 4)),
    "convergence": (_convergence, (5.5, 3.8)),
    "features": (_features, (5.5, 4)),
}
