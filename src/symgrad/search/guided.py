"""The default search: DGP's cycle with the gradient taken at the discrete tree.

A tree is relaxed sharply, its node matrix one-hot, and one Gauss-Newton pass over the data ranks
what each node might be instead: other features, functions, added terms and factors, products of
two features, or nothing. Edits drawn from these ranks compete with crossover and mutation on
islands; constants are fitted on the way, and every tree is judged by the best line through it.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from symgrad.data.dataset import Dataset
from symgrad.data.loss import Loss
from symgrad.evolution.constraints import Constraints
from symgrad.evolution.islands import Evolved, Islands, evolve
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.search.base import Budget, Search, State
from symgrad.tree.generate import generate
from symgrad.tree.units import NEEDED

SINGLE_ROWS = 256
"""From so many rows on, trees are judged in float32."""

SINGLE_ERROR = 1e-4
"""Down to this error (1 - R2); below it float32 cannot tell formulas apart."""

EXACT = 1e-14
"""Error of an exact formula."""

PATIENCE = 3
"""Iterations that the search goes on for after an exact formula was found."""

ROWS_PER_NUMBER = 10
"""Rows it takes for each constant, the line's two included, to believe that it is exact."""


@dataclass(frozen=True)
class IslandState(State):
    """A state whose population is that of several islands.

    `loss` is relative to that of the best constant: 1 - R2 for squares.

    Attributes
    ----------
    bounds : array
        Island k has the trees ``bounds[k]`` to ``bounds[k + 1]``.
    merged : bool
        Whether exploration is over.
    exact : int
        Iterations since an exact formula was found.
    precise : bool
        Whether errors are those of float64.
    """

    bounds: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    merged: bool = False
    exact: int = 0
    precise: bool = False


@dataclass(frozen=True)
class GuidedDGP(Search):
    """Evolution on islands with edits chosen by gradients, and constants."""

    primitives: PrimitiveSet = field(default_factory=PrimitiveSet.paper)
    islands: Islands = field(default_factory=Islands)
    loss: Loss = field(default_factory=Loss)
    constraints: Constraints = field(default_factory=Constraints)
    scale: bool = True
    n_jobs: int | None = None

    def init(self, rng: np.random.Generator, data: Dataset, budget: Budget) -> IslandState:
        """Generate the islands' first populations."""
        i = self.islands
        primitives = self.primitives.extend(*(s for s in NEEDED if s not in self.primitives))
        parts = [
            generate(
                rng,
                i.population,
                data.features,
                primitives=primitives,
                feature_names=data.names,
                p_constant=i.constants[k % len(i.constants)],
            )
            for k in range(i.islands)
        ]
        population = reduce(operator.add, parts)
        bounds = np.arange(i.islands + 1) * i.population
        return IslandState(rng, population, np.full(len(population), np.nan), bounds=bounds)

    def step(self, state: State, data: Dataset, budget: Budget) -> IslandState:
        """Evolve for some generations; when exploration is over, bring the islands together."""
        assert isinstance(state, IslandState)
        if not state.merged and budget.share(state) >= self.islands.explore:
            state = self.merge(state)
        state = self.in_precision(state, data)
        count = len(state.bounds) - 1
        generations = self.islands.generations
        if budget.evaluations is not None:
            left = (budget.evaluations - state.evaluations) // (count * self.islands.population)
            generations = min(generations, max(1, left))
        evolved = evolve(
            state.rng,
            state.population,
            state.loss,
            state.bounds,
            data if state.precise else data.single,
            self.primitives,
            replace(self.islands, generations=generations),
            self.loss,
            self.constraints,
            int(state.merged),
            np.inf if budget.seconds is None else budget.seconds - state.seconds,
            self.n_jobs,
        )
        return self.taken(state, evolved, data.rows)

    def merge(self, state: IslandState) -> IslandState:
        """Give two islands all trees each."""
        n = len(state.population)
        twice = np.tile(np.arange(n), 2)
        return replace(
            state,
            population=state.population[twice],
            loss=state.loss[twice],
            bounds=np.array([0, n, 2 * n]),
            merged=True,
        )

    def taken(self, state: IslandState, evolved: Evolved, rows: int) -> IslandState:
        """Return the state after evolution, the best trees offered to the front."""
        if evolved.best is not None:
            state.front.offer(evolved.best, evolved.best_error)
        exact = any(
            e.loss <= EXACT and ROWS_PER_NUMBER * (len(e.tree.constants) + 2) <= rows
            for e in state.front
        )
        return replace(
            state,
            population=evolved.population,
            loss=evolved.error,
            bounds=evolved.bounds,
            evaluations=state.evaluations + evolved.evaluations,
            iterations=state.iterations + 1,
            exact=state.exact + 1 if exact else 0,
        )

    def found(self, state: State, data: Dataset) -> bool:
        """Whether an exact formula has been there for a while, time enough for a shorter one."""
        return isinstance(state, IslandState) and state.exact > PATIENCE

    def in_precision(self, state: IslandState, data: Dataset) -> IslandState:
        """Go over to float64 where it is needed; trees are then judged anew."""
        best = state.front.most_accurate
        precise = data.rows < SINGLE_ROWS or (best is not None and best.loss < SINGLE_ERROR)
        if not precise or state.precise:
            return state
        return replace(state, loss=np.full(len(state.loss), np.nan), precise=True)
