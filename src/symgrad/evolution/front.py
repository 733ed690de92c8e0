"""The front: the best tree of each size ever seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from symgrad.tree.forest import Forest
from symgrad.tree.tree import Tree


@dataclass(frozen=True)
class Entry:
    """A tree on the front with its error."""

    tree: Tree
    loss: float


@dataclass
class Front:
    """Trees that no smaller tree beats.

    Attributes
    ----------
    best : dict
        The best entry of each size, dominated ones included until they are asked for.
    """

    best: dict[int, Entry] = field(default_factory=dict)

    def offer(self, forest: Forest, loss: NDArray[np.float64]) -> None:
        """Take in the trees that are better than all seen of their size; invalid ones never."""
        sizes = forest.sizes
        order = np.lexsort((loss, sizes))
        leaders = order[np.unique(sizes[order], return_index=True)[1]]
        for t in leaders.tolist():
            held = self.best.get(int(sizes[t]))
            if np.isfinite(loss[t]) and (held is None or loss[t] < held.loss):
                self.best[int(sizes[t])] = Entry(forest[t], float(loss[t]))

    def __iter__(self) -> Iterator[Entry]:
        """Go through the entries from small to large, each better than all before."""
        lowest = np.inf
        for size in sorted(self.best):
            entry = self.best[size]
            if entry.loss < lowest:
                lowest = entry.loss
                yield entry

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def most_accurate(self) -> Entry | None:
        """The entry of the least error, or None if no valid tree was seen."""
        return min(self.best.values(), key=lambda e: (e.loss, e.tree.size), default=None)
