"""Plain islands: the search for a law in whole numbers.

A line through a tree and fitted constants make approximations so good that the law itself, which
is worse until its last piece is there, does not survive beside them. On these islands constants
are small whole numbers, and most trees stand for themselves, in the units of the target. They
converge soon, on the law or on something else, and start anew when they stand still.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from symgrad.data.dataset import Dataset
from symgrad.evolution.constraints import Constraints
from symgrad.evolution.front import Front
from symgrad.evolution.islands import Evolved, Islands, evolve, populate
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.tree.forest import Forest

ELSEWHERE = 0.1
"""Weight of all other features, relative to those of the front."""

SCALED = (False, True, False, False)
"""Whether the best line through a tree is judged; islands take these in turn."""

CONSTANTS = (0.0, 0.2)
"""Probability that a random leaf is a constant; islands take these in turn. Many laws have none."""

PROGRESS = 0.9
"""An island whose best error is not below this times the last one's stands still."""


@dataclass(frozen=True)
class Plain:
    """The islands: their trees, errors (NaN if not known), bounds, and the best errors so far."""

    population: Forest
    error: NDArray[np.float64]
    bounds: NDArray[np.int64]
    best: NDArray[np.float64]


def step(
    rng: np.random.Generator,
    plain: Plain | None,
    front: Front,
    data: Dataset,
    primitives: PrimitiveSet,
    settings: Islands,
    constraints: Constraints,
    seconds: float,
    n_jobs: int | None,
) -> tuple[Plain, Evolved]:
    """Let the islands evolve, those that stood still from new trees; None starts them all.

    Random trees take their features from the front mostly, those most that most of it uses.
    """
    weights = np.full(data.features, ELSEWHERE / data.features)
    used = [j for entry in front for j in entry.tree.feature_indices]
    np.add.at(weights, used, 1 / max(1, len(used)))
    settings = replace(
        settings,
        guided=(0.0, 0.1),
        constants=CONSTANTS,
        whole=(True,),
        max_size=min(settings.max_size, settings.plain_size),
    )
    count = settings.plain
    last = np.full(count, np.inf) if plain is None else plain.best
    parts, errors = [], []
    for k in range(count):
        if plain is None or not np.isfinite(last[k]):
            parts.append(populate(rng, data, primitives, settings, [k], weights))
            errors.append(np.full(settings.population, np.nan))
        else:
            part = np.arange(plain.bounds[k], plain.bounds[k + 1])
            parts.append(plain.population[part])
            errors.append(plain.error[part])
    bounds = np.cumsum([0, *map(len, parts)])
    evolved = evolve(
        rng, sum(parts[1:], parts[0]), np.concatenate(errors), bounds, data, primitives, settings,
        constraints=constraints, seconds=seconds, n_jobs=n_jobs, scaled=SCALED, weights=weights,
    )  # fmt: skip
    best = np.full(count, np.inf)
    if len(evolved.bounds) == len(bounds):
        for k, (a, b) in enumerate(zip(evolved.bounds[:-1], evolved.bounds[1:], strict=True)):
            best[k] = np.min(evolved.error[a:b], initial=np.inf)
    best[best >= PROGRESS * last] = np.inf
    return Plain(evolved.population, evolved.error, evolved.bounds, best), evolved
