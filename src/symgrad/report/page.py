"""The page: what it says, put into the templates beside this file."""

from __future__ import annotations

import base64
import hashlib
import os
import platform
import re
from collections.abc import Iterable
from datetime import date
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from symgrad.data.dataset import Dataset
from symgrad.explain import explain, given, thinned
from symgrad.plots import (
    LOGARITHMIC,
    MOST_FEATURES,
    course,
    explained,
    front_errors,
    usage,
)
from symgrad.report import charts
from symgrad.report.charts import text
from symgrad.tree.layout import Place, layout
from symgrad.tree.mathml import mathml
from symgrad.tree.names import shortened
from symgrad.tree.tree import Tree

if TYPE_CHECKING:
    from symgrad.estimator import DGPRegressor

MOST_POINTS = 500
"""Rows that are drawn for each formula."""

OPEN = 0.01
"""Weight of an alternative from which on a node counts as an open question."""

LONGEST = 28
"""Characters of a feature's name in typeset formulas; below them names stand in full."""

MOST_RANGES = 100
"""Features whose ranges are listed."""

_SLOT = re.compile(r"\{\{(\w+)\}\}")


def write_report(estimator: DGPRegressor, path: str | os.PathLike[str], X: Any, y: Any) -> None:
    """Write an HTML page about a fitted model; see `DGPRegressor.report`."""
    page = render(estimator, X, y)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(page)


def render(estimator: DGPRegressor, X: Any, y: Any) -> str:
    """Return the page as text."""
    from symgrad import __version__

    data = given(estimator, X, y)
    assert data.y is not None
    predictions = [estimator.predict(X, size=t.size) for t in estimator.trees_]
    r2 = [explained(data.y, p) for p in predictions]
    chosen = int(np.flatnonzero(estimator.equations_["chosen"])[0])
    target = getattr(y, "name", None)
    heading = f"A formula for {target}" if isinstance(target, str) and target else "A formula"
    script = _template("report.js")
    parts = {
        "hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        "version": text(__version__),
        "title": text(heading),
        "css": _template("report.css"),
        "heading": text(heading),
        "formula": typeset(estimator.tree_),
        "facts": _facts(estimator, r2[chosen], data),
        "front": _front(estimator, chosen),
        "list": _list(estimator, r2),
        "panels": "".join(
            _panel(k, t, data.y, p, r2[k], k == chosen)
            for k, (t, p) in enumerate(zip(estimator.trees_, predictions, strict=True))
        ),
        "trees": "".join(
            f'<div class="drawing box"{"" if k == chosen else " hidden"}>{charts.tree(t)}</div>\n'
            for k, t in enumerate(estimator.trees_)
        ),
        "rows": f"{data.rows:,}",
        "features": _features(estimator, chosen),
        "alternatives": _alternatives(estimator, X, y),
        "convergence": _convergence(estimator),
        "data": _data(estimator, data),
        "settings": _settings(estimator),
        "js": script,
    }
    # One pass, so that nothing in the parts is taken for a slot.
    return _SLOT.sub(lambda match: parts[match[1]], _template("report.html"))


def typeset(tree: Tree) -> str:
    """Return a formula as MathML, long names cut."""
    short = shortened(tree.features, LONGEST)
    return mathml(tree.code, tree.value, tree.primitives, lambda j: short[tree.names[j]])


def _template(name: str) -> str:
    return (files("symgrad.report") / name).read_text(encoding="utf-8")


def _cells(values: Iterable[str], kind: str = "") -> str:
    return "".join(f"<td{kind}>{v}</td>" for v in values)


def _share(r2: float) -> str:
    """Return R2 with as many digits as tell it from 1."""
    if not np.isfinite(r2):
        return "–"
    if 1 - 1e-4 < r2 < 1 and 1 - r2 > 1e-15:
        return f"1 − {1 - r2:.0e}".replace("e-0", "e-")
    return f"{round(r2, 4) + 0.0:.4f}".replace("-", "−")


def _short(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")


def _facts(estimator: DGPRegressor, r2: float, data: Dataset) -> str:
    tree = estimator.tree_
    facts = [
        ("R² here", _share(r2)),
        ("nodes", str(tree.size)),
        ("features in use", f"{len(tree.features)} of {data.features:,}"),
        ("rows", f"{data.rows:,}"),
        ("formulas tried", f"{estimator.n_evaluations_:,}"),
    ]
    return "".join(f"<li><b>{value}</b> {name}</li>" for name, value in facts)


def _front(estimator: DGPRegressor, chosen: int) -> str:
    errors, logs = front_errors(estimator)
    sizes = estimator.equations_["size"].tolist()
    labels = [
        f"size {size}, R² {_share(r2)}"
        for size, r2 in zip(sizes, estimator.equations_["r2"], strict=True)
    ]
    return charts.front(sizes, errors, logs, chosen, labels)


def _list(estimator: DGPRegressor, here: list[float]) -> str:
    rows = []
    table = estimator.equations_
    for k, tree in enumerate(estimator.trees_):
        numbers = [str(tree.size), _share(table["r2"].iloc[k]), _share(here[k])]
        kind = ' class="model"' if table["chosen"].iloc[k] else ""
        cells = _cells(numbers, ' class="num"') + _cells([text(tree.render(4))])
        rows.append(f'<tr data-formula="{k}"{kind}>{cells}</tr>')
    return "\n".join(rows)


def _panel(
    k: int,
    tree: Tree,
    actual: NDArray[np.float64],
    predicted: NDArray[np.float64],
    r2: float,
    chosen: bool,
) -> str:
    rows = thinned(len(actual), MOST_POINTS)
    thin = f", {MOST_POINTS} of {len(actual):,} rows" if len(rows) < len(actual) else ""
    note = " (the model)" if chosen else ""
    return (
        f'<article class="formula" id="formula-{k}"{"" if chosen else " hidden"}>'
        f"<h3>Size {tree.size}{note}</h3>"
        f'<div class="typeset box">{typeset(tree)}</div><pre>{text(tree.render(6))}</pre>'
        f"{charts.scatter(actual[rows], predicted[rows])}"
        f'<p class="note">Predicted against actual: R² = {_share(r2)}{thin}</p></article>\n'
    )


def _features(estimator: DGPRegressor, chosen: int) -> str:
    names, table = usage(estimator)
    if not names:
        return "<p>No formula uses any.</p>"
    shown = names[:MOST_FEATURES]
    more = len(names) - len(shown)
    rest = f" Not shown: {more} more feature{'s' * (more > 1)} of larger formulas." if more else ""
    sizes = estimator.equations_["size"].tolist()
    chart = charts.features(shown, table[: len(shown)], sizes, chosen)
    return (
        "<p>A row for each feature, a column for each formula, from small to large; larger dots "
        f"are features that occur more than once. The model's column is marked.{rest}</p>"
        f'<div class="box">{chart}</div>'
    )


def _alternatives(estimator: DGPRegressor, X: Any, y: Any) -> str:
    try:
        table = explain(estimator, X, y)
    except ValueError as error:
        return f"<p>Not on these data: {text(str(error))}.</p>"
    parts = [
        _node(table[table["node"] == p.node], p.column, p.leaf) for p in _preorder(estimator.tree_)
    ]
    unsure = sum("open-question" in part for part in parts)
    return (
        "<p>The gradient of the formula says at once, for each of its nodes, what every other "
        "feature or function there would explain. The weights are those of a relaxed tree, in "
        f"which a node is a mixture of all of them. {unsure} of {len(parts)} nodes are open "
        f"questions: something else has a weight of {OPEN:.0%} or more.</p>"
        '<p class="note">a and b are the arguments of a function. Expected R² is to first order; '
        "exact R² is that after the exchange, constants as they are, under the best line. On the "
        "right stands the weight of what is there now.</p>" + "".join(parts)
    )


def _node(rows: pd.DataFrame, depth: int, leaf: bool) -> str:
    now = rows[rows["current"]].iloc[0]
    others = rows[~rows["current"]]
    unsure = bool((others["weight"] >= OPEN).any())
    lines = []
    for row in rows.sort_values("weight", ascending=False, kind="stable").itertuples():
        weight = "&lt; 0.001" if row.weight < 0.001 else f"{row.weight:.3f}"
        bar = f'<span class="bar" style="width:{max(row.weight * 5, 0.05):.2f}em"></span>'
        numbers = [_share(row.r2), _share(row.exact_r2)]
        lines.append(
            f"<tr{' class=now' if row.current else ''}><td>{text(row.alternative)}</td>"
            f"{_cells(numbers, ' class=num')}<td>{weight}{bar}</td></tr>"
        )
    kind = "part open-question" if unsure else "part"
    # A leaf says it all itself.
    whole = "<code></code>" if leaf else f"<code>{text(now['part'])}</code>"
    return (
        f'<details class="{kind}"{" open" if unsure else ""}>'
        f'<summary style="padding-left:{min(depth, 12) * 0.6:.1f}em">'
        f'<span class="own">{text(now["now"])}</span>{whole}'
        f'<span class="sure">{now["weight"]:.3f}</span></summary>'
        '<div class="box"><table><thead><tr><th>here</th><th class="num">expected R²</th>'
        '<th class="num">exact R²</th><th>weight</th></tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div></details>"
    )


def _preorder(tree: Tree) -> list[Place]:
    """Return the nodes, functions before their arguments."""
    places = layout(tree)
    below: dict[int, list[int]] = {}
    for p in places:
        below.setdefault(p.parent, []).append(p.node)
    order, stack = [], [tree.size - 1]
    while stack:
        node = stack.pop()
        order.append(places[node])
        stack += reversed(below.get(node, []))
    return order


def _convergence(estimator: DGPRegressor) -> str:
    tried, errors = course(estimator)
    if len(tried) < 2:
        return "<p>There is no record of it.</p>"
    last = estimator.history_.iloc[-1]
    return (
        f"<p>{estimator.n_evaluations_:,} formulas in {estimator.n_iter_:,} iterations, "
        f"{last['seconds']:.1f} s. The most accurate formula then had an error of "
        f"{last['error']:.3g}, relative to the best constant's.</p>"
        f"{charts.convergence(tried, errors, bool(errors.min() < LOGARITHMIC))}"
    )


def _data(estimator: DGPRegressor, data: Dataset) -> str:
    assert data.y is not None
    names, _ = usage(estimator)
    own = set(estimator.tree_.features)
    lines = []
    for name in names[:MOST_RANGES]:
        column = data.names.index(name)
        assert column is not None
        x = data.columns([column])
        numbers = map(_short, (x.min(), x.mean(), x.max()))
        model = "yes" if name in own else ""
        lines.append(
            f"<tr><td>{text(name)}</td>{_cells(numbers, ' class=num')}<td>{model}</td></tr>"
        )
    low, mean, high = map(_short, (data.y.min(), data.y.mean(), data.y.max()))
    more = len(names) - len(lines)
    rest = f" The first {MOST_RANGES} are listed." if more else ""
    heads = "".join(f'<th class="num">{word}</th>' for word in ("least", "mean", "greatest"))
    table = (
        f'<div class="box"><table class="ranges"><thead><tr><th>feature</th>{heads}'
        f"<th>in the model</th></tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )
    return (
        f"<p>{data.rows:,} rows, {data.features:,} features. The target goes from {low} to {high}, "
        f"with a mean of {mean}. {len(names):,} features are in use by some formula.{rest}</p>"
        + (table if lines else "")
    )


def _settings(estimator: DGPRegressor) -> str:
    from symgrad import __version__

    made = BaseEstimator.__repr__(estimator, N_CHAR_MAX=10**5)
    code = f"from symgrad import DGPRegressor\n\nest = {made}\nest.fit(X, y)"
    notes = []
    if not isinstance(estimator.random_state, int | np.integer):
        notes.append("There is no seed (random_state), so another run may find another formula.")
    if estimator.time_limit is not None:
        notes.append("The time limit makes the result depend on the machine.")
    if not notes:
        notes.append("With the same data this gives the same formulas, for any number of threads.")
    rows = "".join(
        f"<dt>{text(name)}</dt><dd><code>{text(repr(value))}</code></dd>"
        for name, value in estimator.get_params(deep=False).items()
    )
    versions = {
        "symgrad": __version__,
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "written on": date.today().isoformat(),
    }
    used = "".join(f"<dt>{n}</dt><dd>{text(v)}</dd>" for n, v in versions.items())
    return (
        f"<pre>{text(code)}</pre><p>{' '.join(notes)}</p>"
        f"<details><summary>All settings</summary><dl>{rows}</dl></details><dl>{used}</dl>"
    )
