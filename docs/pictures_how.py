"""Makes the pictures of docs/how.md from what the library computes; see pictures.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from PIL import Image
from sklearn.datasets import load_diabetes
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

from symgrad import Dataset, Forest, PrimitiveSet, Tree
from symgrad.dgp.dst import DifferentiableSymbolicTree, trained
from symgrad.dgp.optimization import Optimization, Optimized, optimize
from symgrad.dgp.sampling import Sampling, sample
from symgrad.evolution.islands import Islands
from symgrad.explain import alternatives
from symgrad.model import choose, formulas
from symgrad.search.base import Budget, run
from symgrad.search.guided import NEARLY_EXACT, GuidedDGP
from symgrad.search.prune import prune
from symgrad.tree.layout import layout

BLUE, RED, GREY, INK, PALE = "#2563a8", "#c2410c", "#8a8f98", "#2b2f36", "#e8edf4"
DPI = 130


def save(figure: Any, path: Path) -> None:
    """Write a picture in few colours."""
    figure.savefig(path, dpi=DPI, facecolor="white")
    plt.close(figure)
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(96)
    small.save(path, optimize=True)


def training(epochs: int) -> tuple[Forest, Optimized, DifferentiableSymbolicTree]:
    """Return a tree, its training of so many epochs, and the relaxed tree after that."""
    X = np.random.default_rng(0).normal(size=(400, 8))
    data = Dataset(X, np.sin(X[:, 3]) + X[:, 1])
    primitives = PrimitiveSet(["+", "-", "*", "sin", "exp"])
    forest = Forest.from_strings(["exp(x0) + x1"], data.names, primitives)
    settings = Optimization(epochs=epochs)
    done = optimize(np.random.default_rng(0), forest, data, settings, details=True)
    return forest, done, trained(done, settings)[0]


PLACES = {3: (0.5, 0.87), 1: (0.25, 0.52), 2: (0.76, 0.52), 0: (0.25, 0.17)}
"""Where the nodes of exp(x0) + x1 stand, by their postfix positions."""


def relaxed(path: Path) -> None:
    """Draw the node matrix of a tree before and after training, node by node."""
    figure, panels = plt.subplots(1, 2, figsize=(9, 4.4))
    figure.subplots_adjust(0.01, 0.0, 0.99, 0.9, 0.04)
    for panel, epochs, title in zip(
        panels,
        (0, 1000),
        ("exp(x0) + x1, relaxed", "after 1,000 epochs: sin(x3) + x1"),
        strict=True,
    ):
        dst = training(epochs)[2]
        panel.set(xlim=(0, 1), ylim=(0, 1))
        panel.set_axis_off()
        panel.set_title(title, fontsize=11, color=INK)
        strength = dst.adjacency_matrix.strength
        for child, parent in ((0, 1), (1, 3), (2, 3)):
            (x, y), (u, v) = PLACES[child], PLACES[parent]
            y, v = y + 0.1, v - 0.135  # from above the child to below the parent's names
            panel.plot([x, u], [y, v], color=GREY, lw=1 + 2.5 * strength[child], zorder=0)
            panel.text(
                (x + u) / 2 + 0.03, (y + v) / 2, f"{strength[child]:.2f}", fontsize=8, color=INK,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
            )  # fmt: skip
        for node, (x, y) in PLACES.items():
            bars(panel, dst, node, x, y)
    save(figure, path)


def bars(panel: Any, dst: DifferentiableSymbolicTree, node: int, x: float, y: float) -> None:
    """Draw the weights of a node as a small chart."""
    functions = len(dst.node_matrix.functions)
    inner = bool(dst.children[node])
    weights = dst.node_matrix.weights[node]
    weights = weights[: functions + 1] if inner else weights[functions + 1 :]
    names = ["+", "−", "·", "sin", "exp", "pass"] if inner else [f"x{j}" for j in range(8)]
    inset = panel.inset_axes((x - 0.19, y - 0.09, 0.38, 0.19))
    inset.set_facecolor("white")
    best = int(weights.argmax())
    colours = [RED if k == best else BLUE for k in range(len(weights))]
    inset.bar(range(len(weights)), weights, color=colours)
    inset.set(ylim=(0, 1.25), yticks=[])
    inset.set_xticks(range(len(weights)), names, fontsize=7.5, color=INK)
    inset.tick_params(length=0, pad=2)
    shown = f"{weights[best]:.2f}"
    inset.text(best, weights[best] + 0.05, shown, ha="center", fontsize=7.5, color=RED)
    for spine in inset.spines.values():
        spine.set_color(GREY)


def epochs(path: Path) -> None:
    """Draw how the weights of the two nodes that change go over the epochs."""
    steps = [0, 1, 10, 25, 50, 75, 100, 150, 200, 250, 300, 350, 400, 450, 500, 600, 700, 850, 1000]
    runs = [training(count) for count in steps]
    functions = len(runs[0][2].node_matrix.functions)
    weights = np.array([dst.node_matrix.weights for _, _, dst in runs])
    loss = [done.loss[1, 0] if done.loss[1, 0] else np.nan for _, done, _ in runs]
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(9, 2.9), layout="constrained")
    for panel, node, first, names, moved in (
        (left, 0, functions + 1, [f"x{j}" for j in range(8)], ("x0", "x3")),
        (middle, 1, 0, ["+", "−", "·", "sin", "exp", "pass"], ("exp", "sin")),
    ):
        for k, name in enumerate(names):
            strong = {"color": RED, "lw": 2} if name in moved else {"color": GREY, "lw": 0.8}
            panel.plot(steps, weights[:, node, first + k], **strong)
        panel.text(40, 0.93, moved[0], color=RED)
        panel.text(620, 0.82, moved[1], color=RED)
    left.set_title("what the leaf is", fontsize=10)
    middle.set_title("what the function above it is", fontsize=10)
    right.plot(steps[1:], loss[1:], color=BLUE, lw=2)
    right.set_title("the loss", fontsize=10)
    for panel in (left, middle, right):
        panel.set_xlabel("epoch")
        panel.spines[["top", "right"]].set_visible(False)
    left.set_ylabel("weight")
    save(figure, path)


def sketch(panel: Any, tree: Tree, ends: tuple[float, float], marked: set[int]) -> None:
    """Draw a small tree from the root down between two ends."""
    places = layout(tree)
    rows = [p.row for p in places]
    deepest = 2
    left, right = ends[0] + 0.06, ends[1] - 0.06

    def at(k: int) -> tuple[float, float]:
        width = max(rows) - min(rows) or 1
        x = (
            (left + right) / 2
            if max(rows) == min(rows)
            else left + (right - left) * rows[k] / width
        )
        return x, 0.88 - 0.34 * min(places[k].column, deepest)

    for k, place in enumerate(places):
        x, y = at(k)
        if place.parent >= 0:
            u, v = at(place.parent)
            panel.plot([x, u], [y, v], color=GREY, lw=1.4, zorder=1)
        colour = RED if k in marked else BLUE if place.feature else INK
        panel.text(
            x, y, place.label, ha="center", va="center", fontsize=10, color=colour, zorder=3,
            bbox={"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": colour},
        )  # fmt: skip


def edits(path: Path) -> None:
    """Draw what sampling makes of a node, by the arguments that its new primitive takes."""
    primitives = PrimitiveSet(["+", "*", "sin"])
    names = Dataset(np.zeros((1, 4))).names
    codes = list(primitives.codes)
    plus, times, sine = range(3)
    cases = (  # what is drawn for which nodes, what the added leaf is, what is new
        ("REPLACE", "as many arguments as before", "sin(x0) + x1", {3: times, 0: 2}, 0, {0, 3}),
        ("SHRINK", "fewer: the stronger edge stays", "x0*x2 + x1", {4: sine}, 0, {3}),
        ("EXPAND", "more: the added leaf joins", "sin(x0) + x1", {1: plus}, 3, {1, 2}),
    )
    figure, panels = plt.subplots(1, 3, figsize=(9, 3.2))
    figure.subplots_adjust(0.01, 0.02, 0.99, 0.77, 0.08)
    for panel, (title, words, text, picks, leaf, new) in zip(panels, cases, strict=True):
        forest = Forest.from_strings([text], names, primitives)
        pick = [~c if c < 0 else codes.index(c) for c in forest[0].code.tolist()]
        for node, choice in picks.items():
            pick[node] = choice
        size = len(pick)
        drawn = Optimized(
            forest, np.array(pick, np.int32), np.full(size, leaf, np.int32),
            np.array([0.9] * (size - 2) + [0.4, 1.0]), np.ones(size), np.zeros((2, 1)), 4,
        )  # fmt: skip
        after = sample(drawn, Sampling())[0]
        panel.set(xlim=(0, 1), ylim=(0, 1))
        panel.set_axis_off()
        panel.text(0.5, 1.2, title, ha="center", fontsize=11, color=INK, weight="bold")
        panel.text(0.5, 1.08, words, ha="center", fontsize=9, color=INK)
        sketch(panel, forest[0], (0.0, 0.42), set(picks))
        sketch(panel, after, (0.58, 1.0), new)
        arrow = FancyArrowPatch((0.44, 0.54), (0.56, 0.54), arrowstyle="-|>", mutation_scale=16)
        arrow.set_color(INK)
        panel.add_patch(arrow)
        panel.text(0.21, 0.02, str(forest[0]), ha="center", fontsize=9, color=INK)
        panel.text(0.79, 0.02, str(after), ha="center", fontsize=9, color=INK)
    save(figure, path)


def ranking(path: Path) -> None:
    """Draw what the gradient expects of each of 200 features at one leaf, and what is true."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 200))
    y = 3 * np.sin(X[:, 40]) * X[:, 77] + X[:, 120] + 0.3 * rng.normal(size=300)
    data = Dataset(X, y, dtype=np.float64)
    tree = Tree.parse("3*sin(x40)*x9 + x120", data.names)
    table = alternatives(tree, data, top=200)
    leaf = table[table["now"] == "x9"]
    here = leaf[leaf["current"]].iloc[0]
    others = leaf[~leaf["current"]]
    places = others["alternative"].str[1:].astype(int)
    figure, ax = plt.subplots(figsize=(9, 3), layout="constrained")
    ax.vlines(places, 0, others["r2"], color=BLUE, lw=1.2)
    ax.plot(places, others["exact_r2"], ".", color=GREY, markersize=4, label="after the exchange")
    ax.axhline(here["r2"], color=INK, lw=1, ls=":")
    ax.text(199, here["r2"] + 0.02, "as it is, with x9", ha="right", fontsize=9, color=INK)
    best = others.iloc[0]
    ax.plot([], [], color=BLUE, label="expected by the gradient")
    ax.annotate(
        best["alternative"], (int(best["alternative"][1:]), best["r2"]), xytext=(6, -8),
        textcoords="offset points", color=RED, weight="bold",
    )  # fmt: skip
    ax.vlines([int(best["alternative"][1:])], 0, [best["r2"]], color=RED, lw=2)
    ax.set(xlabel="feature in place of x9", ylabel="R²", xlim=(-2, 201), ylim=(0, 1.05))
    ax.set_title("3·sin(x40)·x9 + x120: one pass ranks 200 features for one leaf", fontsize=10)
    ax.legend(frameon=False, fontsize=9, loc="upper left")
    ax.spines[["top", "right"]].set_visible(False)
    save(figure, path)


def products(path: Path) -> None:
    """Draw the traces of a product: none in single features, one entry among the pairs."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 40))
    y = X[:, 7] * X[:, 23] + 0.3 * rng.normal(size=200)
    residual = y - y.mean()
    single = np.abs(X.T @ residual)
    pairs = np.abs(X.T @ (residual[:, None] * X))
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(9, 3.4), layout="constrained", width_ratios=(1.25, 1)
    )
    left.bar(range(40), single, color=[RED if j in (7, 23) else BLUE for j in range(40)])
    left.set(xlabel="feature", ylabel="|X'r|", ylim=(0, pairs.max() * 1.05))
    left.set_title("first order: x7 and x23 are like the others", fontsize=10)
    left.spines[["top", "right"]].set_visible(False)
    shown = right.imshow(pairs, cmap="Blues", vmin=0, vmax=pairs.max())
    for place in ((7, 23), (23, 7)):
        right.plot(*place, "s", markersize=11, markerfacecolor="none", color=RED)
    right.set(xlabel="feature", ylabel="feature")
    right.set_title("second order, |X' diag(r) X|: x7·x23", fontsize=10)
    figure.colorbar(shown, ax=right)
    save(figure, path)


def islands(path: Path) -> None:
    """Draw which islands there are in the course of a fit, from the default settings."""
    settings = Islands()
    figure, ax = plt.subplots(figsize=(9, 3.1), layout="constrained")
    words = [
        f"{share:.0%} guided edits" if share else "no guided edits" for share in settings.guided
    ]
    whole = [", whole numbers for constants" if on else "" for on in settings.whole]
    for k in range(settings.islands):
        box(ax, 0, 6 - k, settings.explore, 0.76, BLUE, words[k] + whole[k])
    for k in range(2):
        later = (settings.explore + 0.02, 5.25 - 1.5 * k, 0.98 - settings.explore, 1.1)
        box(ax, *later, BLUE, f"the trees of all, {words[k + 1]}")
    label = f"laws, looked up: once the error is below {NEARLY_EXACT}"
    box(ax, 0.3, 1.9, 0.7, 0.76, RED, label)
    ax.set(xlim=(0, 1), ylim=(1.6, 6.9), yticks=[], xlabel="share of the budget")
    ax.set_xticks([0, settings.explore, 1], ["0", f"{settings.explore:.0%}", "100%"])
    ax.spines[["top", "right", "left"]].set_visible(False)
    save(figure, path)


def box(ax: Any, x: float, y: float, width: float, height: float, colour: str, words: str) -> None:
    """Draw a bar with words in it."""
    shape = FancyBboxPatch(
        (x, y), width, height, boxstyle="round,pad=0,rounding_size=0.01", linewidth=1,
        edgecolor=colour, facecolor=PALE if colour == BLUE else "#fbeee7", mutation_aspect=6,
    )  # fmt: skip
    ax.add_patch(shape)
    ax.text(x + width / 2, y + height / 2, words, ha="center", va="center", fontsize=9, color=INK)


def choice(path: Path) -> None:
    """Draw error and description length over the front, and the error on held-out rows."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=0)
    exact = Dataset(X, y, dtype=np.float64)
    data = exact.standardize(gently=True)
    search = GuidedDGP(islands=Islands(advice=0.0))
    state = run(search, data, Budget(evaluations=200_000), np.random.default_rng(0))
    prune(state.front, data, search.loss)
    found = formulas(state.front, data, exact, search.loss)
    chosen = choose(found, "balanced", exact)
    size = [f.tree.size for f in found]
    held_out = [1 - r2_score(y_test, f.tree.evaluate(X_test.to_numpy())) for f in found]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    left.step(
        size, [1 - f.r2 for f in found], where="post", color=BLUE, lw=2, label="training rows"
    )
    left.plot(size, held_out, ".", color=GREY, label="held-out rows")
    left.set(ylabel="error (1 − R²)", ylim=(0.3, 1.1))
    left.plot(chosen.tree.size, 1 - chosen.r2, "D", color=RED, markersize=8, label="chosen")
    left.legend(frameon=False, fontsize=9)
    right.plot(size, [f.length for f in found], "o-", color=BLUE, markersize=4, lw=1)
    right.plot(chosen.tree.size, chosen.length, "D", color=RED, markersize=8)
    right.set(ylabel="description length", ylim=(1.15 * chosen.length, -0.15 * chosen.length))
    for panel in (left, right):
        panel.set_xlabel("size (nodes)")
        panel.spines[["top", "right"]].set_visible(False)
    print("chosen:", chosen.tree, f"R2 {chosen.r2:.3f}")
    save(figure, path)


def main() -> None:
    """Write all pictures of the page."""
    folder = Path(__file__).resolve().parent / "pictures"
    for draw in (relaxed, epochs, edits, ranking, products, islands, choice):
        draw(folder / f"how_{draw.__name__}.png")


if __name__ == "__main__":
    plt.switch_backend("Agg")
    main()
