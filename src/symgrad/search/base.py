"""The one loop of every search: init, step until done. State is a value."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from symgrad.data.dataset import Dataset
from symgrad.data.evaluate import score
from symgrad.evolution.front import Front
from symgrad.gpu.device import LEAST_SCORING, scoring_layout, wins
from symgrad.tree.forest import Forest


@dataclass(frozen=True)
class Budget:
    """When a search ends: at whichever bound comes first.

    Attributes
    ----------
    evaluations : int, optional
        Trees scored on the data.
    seconds : float, optional
        Time. The step at hand is finished first.
    reserve : float
        How many of these seconds are left for what comes after the search.
    iterations : int, optional
        Steps.
    target : float, optional
        Mean squared error at or below which the formula counts as found.
    """

    evaluations: int | None = None
    seconds: float | None = None
    iterations: int | None = None
    target: float | None = None
    reserve: float = 0.0

    def __post_init__(self) -> None:
        for name in ("evaluations", "seconds", "iterations"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be positive, got {value}")
        if self.target is not None and not self.target >= 0:
            raise ValueError(f"target must not be negative, got {self.target}")
        if not 0 <= self.reserve < (self.seconds or np.inf):
            raise ValueError(f"reserve must be less than the seconds, got {self.reserve}")

    @property
    def searching(self) -> float:
        """Return the seconds that the search itself may take."""
        return np.inf if self.seconds is None else self.seconds - self.reserve

    def left(self, state: State) -> float:
        """Return the seconds that are left, those in reserve among them."""
        return np.inf if self.seconds is None else max(0.0, self.seconds - state.seconds)

    def spent(self, state: State) -> bool:
        """Whether the search has used up one of its bounds."""
        best = state.front.most_accurate
        return (
            (self.evaluations is not None and state.evaluations >= self.evaluations)
            or state.seconds >= self.searching
            or (self.iterations is not None and state.iterations >= self.iterations)
            or (self.target is not None and best is not None and best.loss <= self.target)
        )

    def share(self, state: State) -> float:
        """Return how much of the budget is used, from 0 to 1, by the bound that is nearest."""
        used = [
            part / whole
            for part, whole in (
                (state.evaluations, self.evaluations),
                (state.seconds, self.searching),
                (state.iterations, self.iterations),
            )
            if whole is not None
        ]
        return min(1.0, max(used, default=0.0))


@dataclass(frozen=True)
class State:
    """Everything a search needs to go on; can be pickled and continued.

    Attributes
    ----------
    rng : numpy.random.Generator
        The one source of randomness.
    population : Forest
        The trees at hand.
    loss : array
        Their mean squared errors; infinite for invalid trees.
    front : Front
        The best tree of each size ever seen.
    evaluations, iterations : int
        Trees scored and steps made so far.
    seconds : float
        Time used so far.
    """

    rng: np.random.Generator
    population: Forest
    loss: NDArray[np.float64]
    front: Front = field(default_factory=Front)
    evaluations: int = 0
    iterations: int = 0
    seconds: float = 0.0


class Stop(KeyboardInterrupt):
    """Ends a search that keeps what it has: raised by `watch` or by the handler of a signal."""


class Search(ABC):
    """A search is how to start and how to make a step."""

    scale: bool = False
    n_jobs: int | None = None
    device: str = "cpu"

    @abstractmethod
    def init(self, rng: np.random.Generator, data: Dataset, budget: Budget) -> State:
        """Return the first state."""

    @abstractmethod
    def step(self, state: State, data: Dataset, budget: Budget) -> State:
        """Return the state after one iteration; the given one is spent."""

    def found(self, state: State, data: Dataset) -> bool:
        """Whether there is nothing left to look for."""
        return False

    def evaluate(
        self, state: State, forest: Forest, data: Dataset
    ) -> tuple[NDArray[np.float64], State]:
        """Score trees, count them, and offer them to the front."""
        work = float(len(forest.code)) * data.rows
        if data.X.dtype == np.float32 and wins(self.device, work, LEAST_SCORING):
            from symgrad.gpu.score import score as score_on_gpu

            loss = score_on_gpu(forest, data, scale=self.scale, layout=scoring_layout()).mse
        else:
            loss = score(forest, data, scale=self.scale, n_jobs=self.n_jobs).mse
        state.front.offer(forest, loss)
        return loss, replace(state, evaluations=state.evaluations + len(forest))


def run(
    search: Search,
    data: Dataset,
    budget: Budget,
    state: State | np.random.Generator,
    watch: Callable[[State], None] = lambda state: None,
) -> State:
    """Run a search from a random generator, or on from a state, until the budget is spent.

    `watch` sees every state: progress bars, logs and checkpoints hang there. After a `Stop` the
    last whole state is returned; its random generator may have moved on, so it cannot be continued
    bit for bit.
    """
    clock = time.perf_counter()

    def timed(state: State) -> State:
        nonlocal clock
        now = time.perf_counter()
        state, clock = replace(state, seconds=state.seconds + now - clock), now
        return state

    try:
        if isinstance(state, np.random.Generator):
            state = timed(search.init(state, data, budget))
            watch(state)
        while not (budget.spent(state) or search.found(state, data)):
            state = timed(search.step(state, data, budget))
            watch(state)
    except Stop:
        if isinstance(state, np.random.Generator):
            raise
    return state
