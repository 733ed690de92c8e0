"""The front: the best tree of each size and number of features ever seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from symgrad import _core
from symgrad.tree.forest import Forest
from symgrad.tree.tree import Tree


@dataclass(frozen=True)
class Entry:
    """A tree on the front with its error."""

    tree: Tree
    loss: float


@dataclass
class Front:
    """Trees that no smaller tree beats, and those of fewer features.

    Attributes
    ----------
    units : Units, optional
        If features come in units, sizes are those of the trees and of the formulas as written,
        together; else of the trees alone.
    best : dict
        The best entry of each number of features and size, dominated ones included until they are
        asked for.
    """

    units: _core.Units | None = None
    best: dict[tuple[int, int], Entry] = field(default_factory=dict)

    def offer(self, forest: Forest, loss: NDArray[np.float64]) -> None:
        """Take in the trees that are better than all seen of their kind; invalid ones never."""
        features, sizes = forest.feature_counts, self.sizes(forest)
        kinds = features * (sizes.max() + 1) + sizes
        order = np.lexsort((loss, kinds))
        leaders = order[np.unique(kinds[order], return_index=True)[1]]
        for t in leaders[np.isfinite(loss[leaders])].tolist():
            kind = (int(features[t]), int(sizes[t]))
            held = self.best.get(kind)
            if held is None or loss[t] < held.loss:
                self.best[kind] = Entry(forest[t], float(loss[t]))

    def sizes(self, forest: Forest) -> NDArray[np.int64]:
        """Return the sizes by which trees are told apart."""
        return forest.sizes if self.units is None else forest.sizes + forest.written(self.units)

    def __iter__(self) -> Iterator[Entry]:
        """Go through the entries from small to large, each better than all before."""
        lowest = np.inf
        for size, loss, features in sorted((s, e.loss, k) for (k, s), e in self.best.items()):
            if loss < lowest:
                lowest = loss
                yield self.best[features, size]

    def lean(self) -> list[Entry]:
        """Return the entries that none beats which is as small and has as few features."""
        lowest: dict[int, float] = {}  # of trees of so many features, no larger than this one
        kept = []
        for (features, _), entry in sorted(self.best.items(), key=lambda kind: kind[0][::-1]):
            if all(entry.loss < loss for k, loss in lowest.items() if k <= features):
                lowest[features] = entry.loss
                kept.append(entry)
        return kept

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def most_accurate(self) -> Entry | None:
        """The entry of the least error, or None if no valid tree was seen."""
        return min(self.best.values(), key=lambda e: (e.loss, e.tree.size), default=None)
