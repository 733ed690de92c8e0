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
        If given, the nodes of formulas as they are written in these units count, too.
    words : tuple of int
        What a feature, a constant and a function of a tree count.
    best : dict
        The best entry of each number of features and size, but for those that one beats which is
        as small, has as few features and is as good.
    """

    units: _core.Units | None = None
    words: tuple[int, int, int] = (1, 1, 1)
    best: dict[tuple[int, int], Entry] = field(default_factory=dict)

    def offer(self, forest: Forest, loss: NDArray[np.float64]) -> None:
        """Take in the trees that none seen so far beats; invalid ones never."""
        new = np.stack([forest.feature_counts, self.sizes(forest), loss])
        order = np.lexsort(new[::-1])
        kinds = np.diff(new[:2, order], axis=1, prepend=-1).any(axis=0)
        leaders = order[kinds & np.isfinite(loss[order])]  # the best of each kind
        kinds_held, held = list(self.best), self._held()
        leaders = leaders[~_as_large(new[:, leaders], held).any(axis=1)]
        as_large = _as_large(new[:, leaders], new[:, leaders])
        leaders = leaders[as_large.sum(axis=1) == 1]  # as itself alone
        for k in np.flatnonzero(_as_large(held, new[:, leaders]).any(axis=1)).tolist():
            del self.best[kinds_held[k]]
        for t in leaders.tolist():
            self.best[int(new[0, t]), int(new[1, t])] = Entry(forest[t], float(loss[t]))

    def _held(self) -> NDArray[np.float64]:
        """Return features, size and loss of the entries, in columns."""
        rows = [(*kind, entry.loss) for kind, entry in self.best.items()]
        return np.asarray(np.array(rows).reshape(-1, 3).T)

    def sizes(self, forest: Forest) -> NDArray[np.int64]:
        """Return the sizes by which trees are told apart."""
        own = forest.costs(*self.words)
        return own if self.units is None else own + forest.written(self.units)

    def __iter__(self) -> Iterator[Entry]:
        """Go through the entries from small to large, each better than all before."""
        lowest = np.inf
        for size, loss, features in sorted((s, e.loss, k) for (k, s), e in self.best.items()):
            if loss < lowest:
                lowest = loss
                yield self.best[features, size]

    def lean(self) -> list[Entry]:
        """Return the entries that none beats which is as small and has as few features."""
        return [entry for _, entry in sorted(self.best.items(), key=lambda kind: kind[0][::-1])]

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def most_accurate(self) -> Entry | None:
        """The entry of the least error, or None if no valid tree was seen."""
        return min(self.best.values(), key=lambda e: (e.loss, e.tree.size), default=None)


def _as_large(some: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether a column of features, size and loss (first axis) has no entry below another's."""
    return np.asarray((some[:, :, None] >= others[:, None, :]).all(axis=0))
