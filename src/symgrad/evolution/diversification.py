"""Diversification: generations of selection, crossover and mutation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from symgrad import _core
from symgrad.tree.forest import Forest
from symgrad.tree.generate import sprout


@dataclass(frozen=True)
class Diversification:
    """The paper's population and genetic operators.

    Attributes
    ----------
    population : int
        Number of trees; the paper's 500.
    first_depth : tuple of int
        Range of the depth bounds of the first trees, made by ramped half-and-half. Open in the
        paper, which says "simple trees".
    generations : int
        Generations per iteration.
    crossover, mutation : float
        Probability that an offspring is crossed, and that it is mutated (both may happen).
    tournament : int
        Trees that compete to be a parent.
    mutation_depth : tuple of int
        Least and greatest depth of a mutation's new subtree.
    elites : int
        Best trees that pass to the next generation as they are. Open in the paper; one costs
        nothing and keeps the best tree alive.
    max_depth, max_size : int
        Limits on trees. Open in the paper.
    restart : int, optional
        Evaluations after which a new first population takes over; the best trees found so far are
        kept aside. Open in the paper. By default its budget for a data set: what has not been
        found by then is found by another start rather than by a longer run. None never starts anew.
    """

    population: int = 500
    first_depth: tuple[int, int] = (1, 4)
    generations: int = 20
    crossover: float = 0.5
    mutation: float = 0.5
    tournament: int = 3
    mutation_depth: tuple[int, int] = (0, 2)
    elites: int = 1
    max_depth: int = 17
    max_size: int = 50
    restart: int | None = 100_000

    def __post_init__(self) -> None:
        if self.population < 2:
            raise ValueError(f"population must be at least 2, got {self.population}")
        for name in ("crossover", "mutation"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be a probability, got {getattr(self, name)}")
        for name in ("generations", "elites"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be negative, got {getattr(self, name)}")
        for name in ("tournament", "max_depth", "max_size"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be positive, got {getattr(self, name)}")
        if self.restart is not None and self.restart < 1:
            raise ValueError(f"restart must be positive or None, got {self.restart}")
        for name in ("first_depth", "mutation_depth"):
            low, high = getattr(self, name)
            if not 0 <= low <= high <= 16:
                raise ValueError(f"{name} must be ascending in 0 to 16, got {(low, high)}")


@dataclass(frozen=True)
class Offspring:
    """New trees, the tree each was made from, and whether it may differ from that."""

    forest: Forest
    parent: NDArray[np.int64]
    changed: NDArray[np.bool_]


def breed(
    rng: np.random.Generator,
    forest: Forest,
    loss: NDArray[np.float64],
    n_features: int,
    settings: Diversification,
    n_offspring: int | None = None,
) -> Offspring:
    """Return one generation of offspring.

    For each: the winner of a tournament on `loss`; with probability `crossover` a random subtree
    of it is replaced by one of another winner; with probability `mutation` a random subtree is
    replaced by a new full tree. An offspring beyond the limits stays what it was made from. The
    best `elites` trees come first, unchanged.
    """
    n = len(forest) if n_offspring is None else n_offspring
    elites = np.argsort(loss, kind="stable")[: min(settings.elites, n - 1)]
    options = _core.BreedOptions()
    options.crossover, options.mutation = settings.crossover, settings.mutation
    options.tournament = settings.tournament
    options.mutation_min_depth, options.mutation_max_depth = settings.mutation_depth
    options.max_depth, options.max_size = settings.max_depth, settings.max_size
    options.seed = int(rng.integers(2**63))
    code, value, offset, parent, changed = _core.breed(
        forest._core,
        np.ascontiguousarray(loss, np.float64),
        n - len(elites),
        sprout(forest.primitives, n_features),
        options,
    )
    children = Forest(code, value, offset, forest.primitives, forest.names)
    if not len(elites):
        return Offspring(children, parent, changed.astype(bool))
    kept = forest[elites]
    return Offspring(
        kept + children,
        np.concatenate([elites, parent]),
        np.concatenate([np.zeros(len(elites), bool), changed.astype(bool)]),
    )
