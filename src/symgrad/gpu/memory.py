"""How much memory training takes on a GPU, and the parts that trees are split into to fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from symgrad.language.primitive import CONSTANT
from symgrad.tree.forest import Forest

SHARE = 0.7
"""Of the device's memory that training may take."""

COPIES = 6
"""Numbers for each weight of a leaf: logit, weight, two moments, derivative, and one in passing."""


@dataclass(frozen=True)
class MemoryPlan:
    """Parts of a forest that are trained one after another.

    Attributes
    ----------
    bounds : array
        Part k has the trees ``bounds[k]`` to ``bounds[k + 1]``.
    needed : array
        Bytes of each part.
    limit : int
        Bytes there are.
    """

    bounds: NDArray[np.int64]
    needed: NDArray[np.int64]
    limit: int

    def __str__(self) -> str:
        parts = len(self.needed)
        what = "1 part" if parts == 1 else f"{parts} parts"
        return (
            f"{self.bounds[-1]} trees in {what} of at most {self.needed.max() / 2**30:.2f} GB, "
            f"of {self.limit / 2**30:.2f} GB that may be used"
        )


def plan(forest: Forest, features: int, rows: int, limit: int) -> MemoryPlan:
    """Return how the trees are split so that each part needs at most `limit` bytes.

    Parameters
    ----------
    forest : Forest
        The trees to be trained.
    features, rows : int
        Width of the leaves, and rows of a batch.
    limit : int
        Bytes; a tree that needs more is a part of its own.
    """
    arity = forest.primitives.arities(forest.code)
    leaves = (arity == 0) & (forest.code != CONSTANT)
    per_node = (leaves | (arity == 1)) * (COPIES * features + 2 * rows) * 4
    ends = np.cumsum(per_node)[forest.offset[1:] - 1]
    sizes = np.diff(np.concatenate([[0], ends]))
    bounds, needed = [0], [0]
    for t, size in enumerate(sizes.tolist()):
        if needed[-1] and needed[-1] + size > limit:
            bounds.append(t)
            needed.append(0)
        needed[-1] += size
    bounds.append(len(forest))
    return MemoryPlan(np.array(bounds, np.int64), np.array(needed, np.int64), limit)


def limit() -> int:
    """Return the bytes that training may take on the GPU at hand."""
    import jax

    stats = jax.devices("gpu")[0].memory_stats() or {}
    return int(SHARE * stats.get("bytes_limit", 4 * 2**30))
