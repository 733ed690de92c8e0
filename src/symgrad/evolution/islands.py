"""Islands: populations that evolve side by side in the core, judged by accuracy and size."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from symgrad import _core
from symgrad.arrays import threads
from symgrad.data.dataset import Dataset
from symgrad.data.loss import Loss
from symgrad.evolution.constraints import Constraints
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.tree.forest import Forest
from symgrad.tree.generate import generate, sprout
from symgrad.tree.units import NEEDED

V = TypeVar("V")


LEAST_SIZE = 5
"""Nodes of the smallest formula."""

KINDS = 4
"""Kinds of offspring: products, guided edits, crossover, mutation."""


@dataclass(frozen=True)
class Islands:
    """How the default search evolves.

    Attributes
    ----------
    islands : int
        Populations while exploring.
    population : int
        Trees of each, and offspring per generation.
    generations : int
        Generations per iteration; then the islands' best are looked at.
    explore : float
        Share of the budget in which the islands are left alone; then their trees are merged.
    restart : int, optional
        Evaluations after which new islands explore, each time for twice as long as before; the
        trees of the old ones are kept aside until all are merged. What four islands do not find
        soon they hardly find later, but four others may. None never starts anew.
    advice : float
        Weight of rows made up between those of the data, all together, in parts of that of the
        data; see `symgrad.search.advice`. 0 makes up none.
    tournament : int
        Trees that compete to be a parent, by front and loneliness in it.
    crossover : float
        Share of offspring by crossover. What is neither crossed nor guided is mutated.
    guided : tuple of float
        Share of offspring whose edit the gradient chooses; islands take these in turn.
    chain : int
        Most guided edits in a row.
    pairs : float
        Share of offspring that get the best product of two features, on guided islands.
    pair_work : float
        Most that the search for pairs may take of all work.
    parts : bool
        Let the gradient choose among parts of other trees, too: in half of the guided edits, and in
        a fifth of crossover.
    adapt : bool
        Let the shares of products, guided edits, crossover and mutation follow what each has
        brought for its cost, within a factor of two. Measured to make no difference.
    constants : tuple of float
        Probability that a random leaf is a constant; islands take these in turn.
    whole : tuple of bool
        Whether constants are small whole numbers that are never fitted; islands take these in
        turn. Formulas of such an island are exact or nothing.
    fit_gate : float
        An offspring's constants are fitted if its error is below this times its parent's.
    fit_steps, record_steps : int
        Steps of Levenberg-Marquardt, and those for a tree that no smaller one beats.
    max_size : int
        Most nodes of a formula as it is written, with its outer line, in the units of the data;
        see `Forest.written`.
    written : bool
        Compare trees by these nodes, too: numbers that units bring along need not be found, but
        are read.
    words : bool
        Compare trees by what their words cost in the choice of the formula, not by their own
        nodes: a number that goes with a feature is cheap, one more feature of many is not.
    max_depth : int
        Limit on trees.
    laws : bool
        Where a formula is nearly exact, put together laws from small trees; see
        `symgrad.search.laws`.
    """

    islands: int = 4
    population: int = 300
    generations: int = 10
    explore: float = 0.5
    restart: int | None = 100_000
    advice: float = 0.5
    tournament: int = 3
    crossover: float = 0.35
    guided: tuple[float, ...] = (0.0, 0.1, 0.2, 0.2)
    chain: int = 3
    pairs: float = 0.01
    pair_work: float = 0.2
    parts: bool = True
    adapt: bool = False
    constants: tuple[float, ...] = (0.2,)
    whole: tuple[bool, ...] = (False, False, False, True)
    fit_gate: float = 1.1
    fit_steps: int = 2
    record_steps: int = 5
    max_size: int = 68
    written: bool = True
    words: bool = True
    max_depth: int = 12
    laws: bool = True

    def __post_init__(self) -> None:
        for name in ("explore", "crossover", "pairs", "pair_work"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be from 0 to 1, got {getattr(self, name)}")
        for name in ("islands", "generations", "tournament", "chain", "max_size", "max_depth"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be positive, got {getattr(self, name)}")
        if self.max_size < LEAST_SIZE:
            least = f"max_size must be at least {LEAST_SIZE}, the nodes of a*x + b"
            raise ValueError(f"{least}, got {self.max_size}")
        if not 0 <= self.advice < np.inf:
            raise ValueError(f"advice must be a weight, not negative, got {self.advice}")
        if self.population < 2:
            raise ValueError(f"population must be at least 2, got {self.population}")
        for name in ("guided", "constants"):
            shares = getattr(self, name)
            if not shares or not all(0 <= s <= 1 for s in shares):
                raise ValueError(f"{name} must hold shares from 0 to 1, got {shares}")
        if not self.whole:
            raise ValueError("whole must not be empty")
        for name in ("fit_steps", "record_steps"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be negative, got {getattr(self, name)}")

    def options(self, guided: float) -> _core.IslandOptions:
        """Return the core's options for an island with that share of guided offspring."""
        options = _core.IslandOptions()
        for name in ("population", "tournament", "crossover", "chain", "pair_work", "parts",
                     "adapt", "fit_gate", "fit_steps", "record_steps", "max_size", "max_depth",
                     "written"):  # fmt: skip
            setattr(options, name, getattr(self, name))
        options.guided = guided
        options.pairs = self.pairs if guided else 0.0
        return options


@dataclass(frozen=True)
class Evolved:
    """What some generations made: the populations, the best new trees of each size, and the cost.

    `error` is the loss of a tree or of the best line through it, relative to that of the best
    constant. `credit` has for each island what each kind of offspring has cost and brought.
    """

    population: Forest
    error: NDArray[np.float64]
    bounds: NDArray[np.int64]
    best: Forest | None
    best_error: NDArray[np.float64]
    evaluations: int
    credit: NDArray[np.float64]


def populate(
    rng: np.random.Generator,
    data: Dataset,
    primitives: PrimitiveSet,
    settings: Islands,
    islands: Sequence[int],
) -> Forest:
    """Return random first populations for some islands, one after the other.

    Sums and products are among the functions always, as lines and guided edits are made of them.
    """
    primitives = primitives.extend(*(s for s in NEEDED if s not in primitives))
    parts = [
        generate(
            rng,
            settings.population,
            data.features,
            primitives=primitives,
            feature_names=data.names,
            p_constant=settings.constants[k % len(settings.constants)],
            whole=settings.whole[k % len(settings.whole)],
        )
        for k in islands
    ]
    return reduce(operator.add, parts)


def evolve(
    rng: np.random.Generator,
    population: Forest,
    error: NDArray[np.float64],
    bounds: NDArray[np.int64],
    data: Dataset,
    primitives: PrimitiveSet,
    settings: Islands,
    loss: Loss | None = None,
    constraints: Constraints | None = None,
    first: int = 0,
    seconds: float = np.inf,
    n_jobs: int | None = None,
    precise: bool = True,
    credit: NDArray[np.float64] | None = None,
    ranges: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]] | None] = (None,),
    words: tuple[int, int, int] = (1, 1, 1),
) -> Evolved:
    """Let islands evolve by themselves, each on one thread.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of randomness; island k depends on one number drawn from it and on k only.
    population, error, bounds
        Island k has the trees ``bounds[k]`` to ``bounds[k + 1]``; an error of NaN is not known
        yet.
    data : Dataset
        The rows, in random order.
    primitives : PrimitiveSet
        Functions to draw from.
    settings : Islands
        How.
    loss : Loss, optional
        By default squares.
    constraints : Constraints, optional
        What formulas may be; those that require features or directions hold for `best` only.
    first : int
        Where in `guided` and `constants` the first island stands.
    seconds : float
        Time after which islands stop where they are.
    n_jobs : int, optional
        Number of threads. It does not change the result, unless time runs out.
    precise : bool
        Calculate in float64. The columns may be stored in float32 either way.
    credit : array, optional
        What an earlier call with as many islands has returned.
    ranges : sequence
        Low and high ends of the features' ranges, in which new trees must be defined; None if
        they need not. Islands take these in turn.
    words : tuple of int
        What a feature, a constant and a function count where trees are compared.
    """
    assert data.y is not None
    if credit is None or len(credit) != len(bounds) - 1:
        credit = np.zeros((len(bounds) - 1, 2 * KINDS))

    def turns(values: Sequence[V]) -> list[V]:
        return [values[(k + first) % len(values)] for k in range(len(bounds) - 1)]

    options = [settings.options(g) for g in turns(settings.guided)]
    for k, island in enumerate(options):
        rules = (constraints or Constraints()).rules(population.primitives, data.names)
        rules.units, box = data.units, ranges[k % len(ranges)]
        if box is not None:
            rules.low, rules.high = box[0].tolist(), box[1].tolist()
        island.rules, island.words = rules, words
    members, new_bounds, best, evaluations, spent = _core.evolve(
        population._core,
        np.ascontiguousarray(error, np.float64),
        np.ascontiguousarray(bounds, np.int64),
        (data if precise else data.single).table,
        precise,
        data.y,
        data.core_weights,
        (loss or Loss()).core(data.y, data.limits),
        [
            sprout(primitives, data.features, p_constant=c, whole=w)
            for c, w in zip(turns(settings.constants), turns(settings.whole), strict=True)
        ],
        options,
        np.ascontiguousarray(credit, np.float64).ravel(),
        settings.generations,
        min(seconds, 1e9),
        int(rng.integers(2**63)),
        threads(n_jobs),
    )

    def forest(part: _core.Packed) -> Forest | None:
        code, value, offset, error = part
        if not len(error):
            return None
        return Forest(code, value, offset, population.primitives, population.names)

    return Evolved(
        forest(members) or population[:1],
        members[3] if len(members[3]) else np.full(1, np.inf),
        new_bounds if len(members[3]) else np.array([0, 1]),
        forest(best),
        best[3],
        evaluations,
        spent.reshape(-1, 2 * KINDS),
    )
