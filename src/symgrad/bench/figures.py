"""Figures of benchmark rows, drawn with matplotlib, in colours that all can tell apart."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from symgrad.bench.adapters import BY_METHOD
from symgrad.bench.highdim import SHAPES, with_options
from symgrad.bench.paper import rmse
from symgrad.bench.problems import REAL, SYNTHETIC
from symgrad.bench.summaries import ordered

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000", "#8a8f98")
MARKERS = "os^Dv>P*X<"
TRAIN, TEST = COLOURS[0], COLOURS[1]
LOWEST = -0.5
"""R2 down to which boxes are drawn; how many values lie below is written there."""

FLOOR = 1e-4
"""RMSE below this is drawn there: a logarithmic axis has no zero."""

FEW = 3
"""Values from which on there is a box."""

COLUMNS = 4
"""Panels in a row."""


def pyplot() -> Any:
    """Return matplotlib's pyplot, drawing to files."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise ImportError('figures need matplotlib: pip install "symgrad[plots]"') from None
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def boxes(rows: pd.DataFrame, path: Path, score: str = "test_r2") -> Path:
    """Draw the R2 of training and test, a panel for each problem, a pair of boxes per method."""
    good = rows[rows["status"] == "ok"].assign(name=rows["problem"].str.split().str[0])
    names = ordered(good["name"].unique(), [*REAL, *SYNTHETIC])
    methods = ordered(good["method"].unique(), BY_METHOD)
    figure, axes = _panels(len(names), width=0.8 + 0.42 * len(methods), height=2.6)
    for ax, name in zip(axes, names, strict=True):
        own = good[good["name"] == name]
        lowest, cut = 1.0, False
        for k, (column, colour) in enumerate((("train_r2", TRAIN), (score, TEST))):
            values = [own.loc[own["method"] == m, column].dropna().to_numpy() for m in methods]
            places = np.arange(len(methods)) + 0.4 * k - 0.2
            _boxes(ax, [np.maximum(v, LOWEST) for v in values], places, colour)
            for x, v in zip(places, values, strict=True):
                lowest = min(lowest, v.min(initial=1.0))
                below = int((v < LOWEST).sum())
                if below:
                    cut = True
                    ax.text(x, LOWEST - 0.03, f"↓{below}", ha="center", va="top", fontsize=7)
        bottom = max(LOWEST, math.floor(lowest * 10 - 0.5) / 10)
        ax.set_ylim(LOWEST - 0.16 if cut else bottom - 0.02, 1.03)
        ax.set_xlim(-0.6, len(methods) - 0.4)
        ax.set_xticks(range(len(methods)), [""] * len(methods))
        ax.set_title(name)
        ax.grid(axis="y", alpha=0.3)
    for ax in axes[-COLUMNS:]:  # nothing stands below these
        ax.set_xticks(range(len(methods)), methods, rotation=40, ha="right", rotation_mode="anchor")
    for ax in axes[::COLUMNS]:
        ax.set_ylabel("R²")
    handles = [pyplot().Rectangle((0, 0), 1, 1, color=c, alpha=0.6) for c in (TRAIN, TEST)]
    figure.legend(handles, ["training", "test"], loc="outside upper right", ncols=2)
    return _saved(figure, path)


def noise(rows: pd.DataFrame, path: Path) -> Path:
    """Draw the median test RMSE against the noise, a panel for each formula, a line per method."""
    medians = rmse(rows)
    names = ordered(set(medians.index.get_level_values("name")), SYNTHETIC)
    methods = ordered(set(medians.index.get_level_values("method")), BY_METHOD)
    figure, axes = _panels(len(names), width=2.9, height=2.4, columns=3)
    for ax, name in zip(axes, names, strict=True):
        for method, style in _styles(methods):
            if (name, method) in medians.index:
                line = medians.loc[[(name, method)]].iloc[0].dropna().clip(lower=FLOOR)
                ax.plot(line.index, line, label=method, **style)
        _logarithmic(ax)
        ax.set_xticks(medians.columns, [f"{level:g}" for level in medians.columns])
        ax.set_title(name)
        ax.grid(alpha=0.3)
    for ax in axes[::3]:
        ax.set_ylabel("median test RMSE")
    for ax in axes[-3:]:
        ax.set_xlabel("noise")
    _legend(figure, axes)
    return _saved(figure, path)


def growth(rows: pd.DataFrame, path: Path) -> Path:
    """Draw the share of runs that found the features and their seconds against d, by form."""
    rows = with_options(rows)
    forms = ordered(rows["form"].unique(), SHAPES)
    return _by_width(rows, "form", forms, path)


def conditions(rows: pd.DataFrame, path: Path) -> Path:
    """Draw the same by rows, noise and correlation."""
    rows = with_options(rows)
    kinds = list(zip(rows["noise"] > 0, rows["rho"] > 0, rows["n"], strict=True))
    words = {
        (noise, rho, n): f"n = {n:g}" + ", noise" * noise + ", correlated" * rho
        for noise, rho, n in sorted(set(kinds))
    }
    rows = rows.assign(kind=[words[kind] for kind in kinds])
    return _by_width(rows, "kind", list(words.values()), path)


def tradeoff(rows: pd.DataFrame, path: Path, score: str = "test_r2") -> Path:
    """Draw the median size and the median R2 of every method that has formulas."""
    plt = pyplot()
    good = rows[(rows["status"] == "ok") & rows["size"].notna()]
    medians = good.groupby("method")[["size", score]].median()
    figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    for method, style in _styles(ordered(medians.index, BY_METHOD)):
        ax.plot(*medians.loc[method], label=method, **(style | {"linestyle": "", "markersize": 8}))
    ax.set_xlabel("median size (nodes)")
    ax.set_ylabel("median test R²")
    ax.set_xlim(0, 1.05 * medians["size"].max())
    ax.grid(alpha=0.3)
    figure.legend(loc="outside right upper")
    return _saved(figure, path)


def bars(rows: pd.DataFrame, path: Path) -> Path:
    """Draw throughput, a group of bars per case, from rows with case, method and rate."""
    plt = pyplot()
    cases, methods = list(dict.fromkeys(rows["case"])), list(dict.fromkeys(rows["method"]))
    figure, ax = plt.subplots(figsize=(1.4 + 1.3 * len(cases), 3.4), layout="constrained")
    width = 0.22
    for place, case in enumerate(cases):
        own = rows[rows["case"] == case]
        first = place - (len(own) - 1) / 2 * width
        for k, (method, rate) in enumerate(zip(own["method"], own["rate"], strict=True)):
            colour = COLOURS[methods.index(method) % len(COLOURS)]
            drawn = ax.bar(first + k * width, rate, width, label=method, color=colour)
            ax.bar_label(drawn, [f"{rate:.1f}"], fontsize=8)
    ax.set_xticks(range(len(cases)), [case.replace(", ", "\n") for case in cases])
    ax.margins(y=0.1)
    ax.set_ylabel("10⁹ node-rows per second")
    ax.grid(axis="y", alpha=0.3)
    ax.set_axisbelow(True)
    _legend(figure, [ax])
    return _saved(figure, path)


def _by_width(rows: pd.DataFrame, column: str, kinds: list[str], path: Path) -> Path:
    """Draw two rows of panels: the share found and the median seconds against d."""
    plt = pyplot()
    columns = len(kinds)
    figure, axes = plt.subplots(
        2, columns, figsize=(1.1 + 1.9 * columns, 4.8), layout="constrained",
        sharex=True, sharey="row", squeeze=False,
    )  # fmt: skip
    methods = ordered(rows["method"].unique(), BY_METHOD)
    widths = sorted(rows["d"].unique())
    rows = rows.assign(right=rows["found"].eq("yes"))
    for (top, bottom), kind in zip(axes.T, kinds, strict=True):
        for method, style in _styles(methods):
            own = rows[(rows[column] == kind) & (rows["method"] == method)]
            share = own.groupby("d")["right"].mean()
            seconds = own[own["status"] == "ok"].groupby("d")["seconds"].median()
            top.plot(share.index, share, label=method, **style)
            bottom.plot(seconds.index, seconds, **style)
        top.set_title(kind.replace(", ", ",\n"), fontsize=10)
        top.set_ylim(-0.05, 1.05)
        bottom.set_xlabel("features")
        for ax in (top, bottom):
            ax.set_xscale("log")
            ax.set_xticks(widths, [f"{int(d) // 1000}k" if d >= 1000 else f"{d:g}" for d in widths])
            ax.tick_params(axis="x", labelsize=8)
            ax.minorticks_off()
            ax.grid(alpha=0.3)
    for ax in axes[1]:
        _logarithmic(ax)
    axes[0, 0].set_ylabel("share of runs that\nfound the features")
    axes[1, 0].set_ylabel("median seconds")
    _legend(figure, axes[0])
    return _saved(figure, path)


def _panels(count: int, width: float, height: float, columns: int = COLUMNS) -> tuple[Any, Any]:
    plt = pyplot()
    across = min(count, columns)
    down = -(-count // across)
    figure, axes = plt.subplots(
        down, across, figsize=(0.5 + width * across, 0.4 + height * down), layout="constrained",
        squeeze=False,
    )  # fmt: skip
    for ax in axes.flat[count:]:
        ax.remove()
    return figure, axes.flat[:count]


def _boxes(ax: Any, values: list[Any], places: Any, colour: str) -> None:
    """Draw boxes, or the values themselves where they are too few for a box."""
    for x, few in ((x, v) for x, v in zip(places, values, strict=True) if len(v) < FEW):
        ax.plot([x] * len(few), few, "o", color=colour, markersize=5, alpha=0.8)
    values = [v if len(v) >= FEW else [] for v in values]
    drawn = ax.boxplot(
        values, positions=places, widths=0.32, patch_artist=True, manage_ticks=False,
        flierprops={"marker": ".", "markersize": 3, "markeredgecolor": colour},
        medianprops={"color": "black"},
    )  # fmt: skip
    for box in drawn["boxes"]:
        box.set(facecolor=colour, alpha=0.6)


def _logarithmic(ax: Any) -> None:
    """Make the upright axis logarithmic, with enough numbers on it."""
    from matplotlib.ticker import LogLocator

    ax.set_yscale("log")
    ax.margins(y=0.1)
    low, high = ax.get_ylim()
    if high < 100 * low:  # else powers of ten will do
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_formatter("")


def _styles(methods: list[str]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (
            method,
            {"color": COLOURS[k % len(COLOURS)], "marker": MARKERS[k % len(MARKERS)],
             "markersize": 5, "linewidth": 1.5},
        )
        for k, method in enumerate(methods)
    ]  # fmt: skip


def _legend(figure: Any, axes: Any) -> None:
    """Put one legend of all panels above them."""
    known: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            known.setdefault(label, handle)
    columns = max(1, int(figure.get_figwidth() / 1.9))
    figure.legend(
        known.values(), known.keys(), loc="outside upper center", ncols=min(len(known), columns)
    )


def _saved(figure: Any, path: Path) -> Path:
    figure.savefig(path, dpi=110)
    pyplot().close(figure)
    return path
