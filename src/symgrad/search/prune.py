"""The last word on the front: what the best formula can do without."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from symgrad.data.complexity import description_length
from symgrad.data.constants import fit_constants
from symgrad.data.dataset import Dataset
from symgrad.data.loss import Loss
from symgrad.evolution.front import Entry, Front
from symgrad.language.primitive import CONSTANT
from symgrad.tree.forest import Forest
from symgrad.tree.tree import Tree

ROUNDS = 10
"""Most nodes that go."""

STEPS = 5
"""Steps of fitting constants for each shorter tree."""


def prune(
    front: Front, data: Dataset, loss: Loss, n_jobs: int | None = None, seconds: float = np.inf
) -> None:
    """Offer the front all trees that are its shortest description without one of its nodes.

    As long as one of them is a shorter description still, it goes on with that one.

    Parameters
    ----------
    front : Front
        The best tree of each size, by errors relative to that of the best constant.
    data : Dataset
        What the trees were found on.
    loss : Loss
        What errors cost.
    n_jobs : int, optional
        Number of threads.
    seconds : float
        Time after which no other round begins.
    """
    last, start = None, time.perf_counter()
    for _ in range(ROUNDS):
        if time.perf_counter() - start > seconds:
            return
        best = min(front, key=lambda e: length(e, data, loss), default=None)
        if best is None or best is last or best.tree.size == 1:
            return
        fitted = fit_constants(
            Forest.of(shorter(best.tree)), data, loss=loss, steps=STEPS, dtype=np.float64,
            n_jobs=n_jobs,
        )  # fmt: skip
        front.offer(fitted.forest, fitted.error)
        last = best


def shorter(tree: Tree) -> list[Tree]:
    """Return the trees with a node replaced by one of its arguments, or by a constant."""
    arities = tree.primitives.arities(tree.code)
    begin: list[int] = []  # of the subtree of each node
    for node, arity in enumerate(arities):
        at = node
        for _ in range(arity):
            at = begin[at - 1]
        begin.append(at)
    made = []
    for node, arity in enumerate(arities):
        child = node - 1
        for _ in range(arity):
            made.append(_spliced(tree, begin[node], node, slice(begin[child], child + 1)))
            child = begin[child] - 1
        if arity:
            made.append(_spliced(tree, begin[node], node, None))
    return made


def _spliced(tree: Tree, first: int, last: int, kept: slice | None) -> Tree:
    """Return the tree with the nodes first to last replaced by some of them, or by 1."""

    def joined(values: NDArray[np.generic], one: float) -> NDArray[np.generic]:
        middle = np.array([one], values.dtype) if kept is None else values[kept]
        return np.concatenate([values[:first], middle, values[last + 1 :]])

    return Tree(joined(tree.code, CONSTANT), joined(tree.value, 1.0), tree.primitives, tree.names)


def length(entry: Entry, data: Dataset, loss: Loss) -> float:
    """Return the description length of an entry of the front."""
    fit = loss.length(entry.loss, 1.0, data.rows)
    return description_length(entry.tree, fit, data.rows, data.features)
