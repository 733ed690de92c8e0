"""Genetic programming: DGP's step without relaxation, as baseline and ablation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from symgrad.data.dataset import Dataset
from symgrad.evolution.diversification import Diversification, breed
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.search.base import Budget, Search, State
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
        first, last = self.diversification.first_depth
        population = generate(
            rng,
            self.diversification.population,
            data.features,
            primitives=self.primitives,
            feature_names=data.names,
            min_depth=first,
            max_depth=last,
        )
        state = State(rng, population, np.full(len(population), np.inf))
        loss, state = self.evaluate(state, population, data)
        return replace(state, loss=loss)

    def step(self, state: State, data: Dataset, budget: Budget) -> State:
        """Make the generations of one iteration."""
        state = self.diversify(state, data, budget)
        return replace(state, iterations=state.iterations + 1)

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
