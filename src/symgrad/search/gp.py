"""Genetic programming: DGP's step without relaxation, as baseline and ablation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from symgrad.data.dataset import Dataset
from symgrad.evolution.diversification import Diversification, breed
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.search.base import Budget, Search, State
from symgrad.tree.forest import Forest
from symgrad.tree.generate import generate


@dataclass(frozen=True)
class GP(Search):
    """Genetic programming with the paper's operators.

    Attributes
    ----------
    standardize : bool
        Whether the estimator hands on features of mean 0 and deviation 1. Open in the paper;
        without constants the units of the features matter much.
    """

    primitives: PrimitiveSet = field(default_factory=PrimitiveSet.paper)
    diversification: Diversification = field(default_factory=Diversification)
    scale: bool = False
    standardize: bool = False
    n_jobs: int | None = None
    device: str = "cpu"

    def init(self, rng: np.random.Generator, data: Dataset, budget: Budget) -> State:
        """Generate and score the first population."""
        population = self.first(rng, data)
        loss, state = self.evaluate(State(rng, population, np.empty(0)), population, data)
        return replace(state, loss=loss)

    def first(self, rng: np.random.Generator, data: Dataset) -> Forest:
        """Return a first population."""
        low, high = self.diversification.first_depth
        return generate(
            rng,
            self.diversification.population,
            data.features,
            primitives=self.primitives,
            feature_names=data.names,
            min_depth=low,
            max_depth=high,
        )

    def step(self, state: State, data: Dataset, budget: Budget) -> State:
        """Make the generations of one iteration."""
        after = self.diversify(state, data, budget)
        return self.end(state, after, data, budget)

    def end(self, before: State, after: State, data: Dataset, budget: Budget) -> State:
        """Count the iteration, and start anew if the time of this population is over."""
        life = self.diversification.restart
        over = life is not None and after.evaluations // life > before.evaluations // life
        if over and not budget.spent(after):
            population = self.first(after.rng, data)
            loss, after = self.evaluate(after, population, data)
            after = replace(after, population=population, loss=loss)
        return replace(after, iterations=before.iterations + 1)

    def diversify(self, state: State, data: Dataset, budget: Budget) -> State:
        """Breed for some generations; each replaces the one before."""
        for _ in range(self.diversification.generations):
            if budget.spent(state):
                break
            young = breed(
                state.rng, state.population, state.loss, data.features, self.diversification
            )
            loss = state.loss[young.parent]
            new = np.flatnonzero(young.changed)
            if new.size:
                scored, state = self.evaluate(state, young.forest[new], data)
                loss[new] = scored
            state = replace(state, population=young.forest, loss=loss)
        return state
