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
class Initialization:
    """The first population: ramped half-and-half.

    Attributes
    ----------
    population : int
        Number of trees; the paper's 500.
    min_depth, max_depth : int
        Range of the depth bounds. Open in the paper, which says "simple trees".
    """

    population: int = 500
    min_depth: int = 1
    max_depth: int = 4

    def __post_init__(self) -> None:
        if self.population < 2:
            raise ValueError(f"population must be at least 2, got {self.population}")


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
    initialization: Initialization = field(default_factory=Initialization)
    diversification: Diversification = field(default_factory=Diversification)
    scale: bool = False
    standardize: bool = False
    n_jobs: int | None = None

    def init(self, rng: np.random.Generator, data: Dataset, budget: Budget) -> State:
        """Generate and score the first population."""
        i = self.initialization
        population = generate(
            rng,
            i.population,
            data.features,
            primitives=self.primitives,
            feature_names=data.names,
            min_depth=i.min_depth,
            max_depth=i.max_depth,
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
