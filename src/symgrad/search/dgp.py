"""Differentiable genetic programming (Algorithm 1 of the paper).

P. Zeng, X. Song, A. Lensen, Y. Ou, Y. Sun, M. Zhang, J. Lv: Differentiable Genetic Programming
for High-dimensional Symbolic Regression.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from symgrad.data.dataset import Dataset
from symgrad.dgp.optimization import Optimization, optimize
from symgrad.dgp.sampling import Sampling, sample
from symgrad.search.base import Budget, State
from symgrad.search.gp import GP
from symgrad.tree.forest import Forest


@dataclass(frozen=True)
class DGP(GP):
    """Genetic programming whose trees are also trained by gradient descent."""

    optimization: Optimization = field(default_factory=Optimization)
    sampling: Sampling = field(default_factory=Sampling)

    def step(self, state: State, data: Dataset, budget: Budget) -> State:
        """Optimise the trees by gradient, sample discrete ones back, diversify."""
        chosen = self.chosen(state)
        relaxed = optimize(
            state.rng,
            state.population[chosen],
            data,
            self.optimization,
            random_pick=self.sampling.method == "multinomial",
            n_jobs=self.n_jobs,
            device=self.device,
        )
        sampled = sample(relaxed, self.sampling)
        after, fits = state, np.flatnonzero(sampled.sizes <= self.diversification.max_size)
        if fits.size:
            sampled, chosen = sampled[fits], chosen[fits]
            loss, after = self.evaluate(state, sampled, data)
            after = self.accept(after, chosen, sampled, loss)
        after = self.diversify(after, data, budget)
        return self.end(state, after, data, budget)

    def chosen(self, state: State) -> NDArray[np.int64]:
        """Return which trees are trained: all, or the best few, with or without equal ones."""
        key = np.where(np.isfinite(state.loss), state.loss, np.nan)
        order = np.argsort(key, kind="stable")
        if self.optimization.distinct:  # invalid trees count as different
            order = np.unique(key, return_index=True, equal_nan=False)[1]
        return np.sort(order[: self.optimization.trees])

    def accept(
        self, state: State, chosen: NDArray[np.int64], sampled: Forest, loss: NDArray[np.float64]
    ) -> State:
        """Put sampled trees in their parents' places, or keep the best of both."""
        n = len(state.population)
        population, all_loss = state.population + sampled, np.concatenate([state.loss, loss])
        index = np.arange(n)
        if self.sampling.accept == "join":
            index = np.argsort(all_loss, kind="stable")[:n]
        else:
            take = (loss < state.loss[chosen]) | (self.sampling.accept == "always")
            index[chosen[take]] = n + np.flatnonzero(take)
        return replace(state, population=population[index], loss=all_loss[index])
