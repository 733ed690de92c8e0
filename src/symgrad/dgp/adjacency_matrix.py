"""The adjacency matrix A of a relaxed tree (Definition 2 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit


@dataclass(frozen=True)
class AdjacencyMatrix:
    """A learnable value v on every edge from a child to its parent.

    Attributes
    ----------
    parent : array of shape (K,)
        Each node's parent; -1 for the root.
    v : array of shape (K,)
        Each node's edge value; the strength is its sigmoid.
    """

    parent: NDArray[np.int64]
    v: NDArray[np.float64]

    @property
    def strength(self) -> NDArray[np.float64]:
        """The strength of each node's edge to its parent."""
        strength: NDArray[np.float64] = expit(self.v)
        return strength

    @property
    def matrix(self) -> NDArray[np.float64]:
        """A itself: entry (i, j) is the strength where i is a child of j, else 0."""
        matrix = np.zeros((len(self.parent), len(self.parent)))
        child = np.flatnonzero(self.parent >= 0)
        matrix[child, self.parent[child]] = self.strength[child]
        return matrix
