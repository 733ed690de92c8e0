"""The default search: DGP's cycle with the gradient taken at the discrete tree.

A tree is relaxed sharply, its node matrix one-hot, and one Gauss-Newton pass over the data ranks
what each node might be instead: other features, functions, added terms and factors, products of
two features, or nothing. Edits drawn from these ranks compete with crossover and mutation on
islands; constants are fitted on the way, and every tree is judged by the best line through it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from symgrad.data.complexity import word_costs
from symgrad.data.constants import fit_constants
from symgrad.data.dataset import Dataset
from symgrad.data.limits import NONE, Limits, found
from symgrad.data.loss import Loss
from symgrad.dgp.optimization import Optimization, optimize
from symgrad.dgp.sampling import Sampling, sample
from symgrad.evolution.constraints import Constraints
from symgrad.evolution.front import Front
from symgrad.evolution.islands import Islands, evolve, populate
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.search.advice import Advice, affordable, ask
from symgrad.search.base import Budget, Search, State
from symgrad.search.laws import WORDS, Laws
from symgrad.search.prune import length
from symgrad.search.safety import Ranges, box, credible, is_safe, law, safe_ones
from symgrad.tree.forest import Forest

SINGLE_ROWS = 256
"""From so many rows on, trees are judged in float32."""

SINGLE_ERROR = 1e-4
"""Down to this error (1 - R2); below it float32 cannot tell formulas apart."""

EXACT = 1e-14
"""Error of an exact formula."""

PATIENCE = 3
"""Iterations that the search goes on for after an exact formula was found."""

NEARLY_EXACT = 1e-4
"""Error (1 - R2) below which laws are looked for."""

GOOD_ENOUGH = 1e-3
"""Error below which no advice is asked for."""

OFFERED = 100
"""Laws that are taken from one look, the smallest ones."""

ASKED = 0.1
"""Share of the budget after which other models are asked for advice."""

COMPARED = 5
"""Iterations after which it is asked again whether formulas have become better than they are."""

LITTLE = 0.9
"""Error from which their advice says too little."""


@dataclass(frozen=True)
class IslandState(State):
    """A state whose population is that of several islands.

    `loss` is relative to that of the best constant: 1 - R2 for squares.

    Attributes
    ----------
    bounds : array
        Island k has the trees ``bounds[k]`` to ``bounds[k + 1]``. Those before the first are of
        islands that were there before.
    merged : bool
        Whether exploration is over.
    exact : int
        Iterations since an exact formula was found.
    precise : bool
        Whether errors are those of float64.
    credit : array
        What each kind of offspring has cost and brought, by island.
    advised : bool, optional
        Whether rows are made up by other models' advice, once these were asked.
    advice : Advice, optional
        That advice; it is asked for again where it is missing.
    laws : Laws, optional
        The search for laws, once it has begun.
    """

    bounds: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    merged: bool = False
    exact: int = 0
    precise: bool = False
    credit: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    advised: bool | None = None
    advice: Advice | None = None
    laws: Laws | None = None


@dataclass(frozen=True)
class GuidedDGP(Search):
    """Evolution on islands with edits chosen by gradients, and constants.

    With `optimization`, the published relaxation is one more operator: in every iteration the best
    trees are trained, under the best line through them, and what is sampled joins the last island.
    """

    primitives: PrimitiveSet = field(default_factory=PrimitiveSet.paper)
    islands: Islands = field(default_factory=Islands)
    loss: Loss = field(default_factory=Loss)
    constraints: Constraints = field(default_factory=Constraints)
    optimization: Optimization | None = None
    sampling: Sampling = field(default_factory=Sampling)
    scale: bool = True
    n_jobs: int | None = None
    device: str = "cpu"

    def init(self, rng: np.random.Generator, data: Dataset, budget: Budget) -> IslandState:
        """Generate the islands' first populations."""
        population = self.first(rng, data)
        bounds = np.arange(self.islands.islands + 1) * self.islands.population
        unknown = np.full(len(population), np.nan)
        words = word_costs(data.rows, data.features) if self.islands.words else (1, 1, 1)
        front = Front(data.units if self.islands.written else None, words)
        return IslandState(rng, population, unknown, front, bounds=bounds)

    def first(self, rng: np.random.Generator, data: Dataset) -> Forest:
        """Return first populations."""
        return populate(rng, data, self.primitives, self.islands, range(self.islands.islands))

    def limits(self, data: Dataset) -> Limits:
        """Return between what the target lies: as the user says, or where rows pile up."""
        assert data.y is not None
        self.loss.check(data.y)
        squared, given = self.loss.name == "squared", self.constraints.limits
        if given is None:
            return found(data.y, data.weights) if squared else NONE
        low, high = (e if g is None else float(g) for e, g in zip(NONE, given, strict=True))
        if not squared and (low, high) != NONE:
            raise ValueError(f"limits are for squared loss only, got loss {self.loss.name!r}")
        if data.y.min() < low or data.y.max() > high:
            ends = f"{data.y.min():g} to {data.y.max():g}"
            raise ValueError(f"limits must hold the target, which goes from {ends}, got {given}")
        return low, high

    def step(self, state: State, data: Dataset, budget: Budget) -> IslandState:
        """Evolve for some generations; when exploration is over, bring the islands together."""
        assert isinstance(state, IslandState)
        if not state.merged and budget.share(state) >= self.islands.explore:
            state = self.merge(state)
        state, data = self.with_advice(state, data, budget)
        before, old = state.evaluations, int(state.bounds[0])
        state = self.in_precision(state, data)
        state, ranges = self.safe_island(state, data)
        seconds = budget.searching - state.seconds
        best = state.front.most_accurate if self.loss.name == "squared" else None
        hidden = state.laws is not None or not state.exact  # none was found without looking
        if best is not None and best.loss < NEARLY_EXACT and hidden:
            state = self.look_for_laws(state, data, budget)
        evolved = evolve(
            state.rng,
            state.population[old:],
            state.loss[old:],
            state.bounds - old,
            data,
            self.primitives,
            replace(self.islands, generations=self.generations(state, budget)),
            self.loss,
            self.constraints,
            int(state.merged),
            seconds,
            self.n_jobs,
            state.precise,
            credit=state.credit,
            ranges=ranges,
            words=state.front.words,
        )
        if evolved.best is not None:
            state.front.offer(evolved.best, evolved.best_error)
        state = replace(
            state,
            population=state.population[:old] + evolved.population if old else evolved.population,
            loss=np.concatenate([state.loss[:old], evolved.error]),
            bounds=evolved.bounds + old,
            evaluations=state.evaluations + evolved.evaluations,
            credit=evolved.credit,
        )
        if self.optimization is not None:
            state = self.relax(state, data, self.optimization)
        if self.rounds(state.evaluations) > self.rounds(before):
            state = self.anew(state, data, budget)
        return self.counted(state, data.rows)

    def rounds(self, evaluations: int) -> int:
        """Return how many explorations are over by then, each twice as long as the one before."""
        first = self.islands.restart
        return 0 if first is None else int(np.log2(evaluations / first + 1))

    def anew(self, state: IslandState, data: Dataset, budget: Budget) -> IslandState:
        """Start new islands, and put the trees of the old ones aside, until exploration is over."""
        if state.merged or budget.share(state) >= self.islands.explore:
            return state
        fresh, old = self.first(state.rng, data), len(state.population)
        return replace(
            state,
            population=state.population + fresh,
            loss=np.concatenate([state.loss, np.full(len(fresh), np.nan)]),
            bounds=old + np.arange(self.islands.islands + 1) * self.islands.population,
            credit=np.zeros((0, 0)),
        )

    def relax(self, state: IslandState, data: Dataset, settings: Optimization) -> IslandState:
        """Train the best trees of different errors as relaxed ones, and let the results in."""
        best = np.unique(state.loss, return_index=True)[1][: settings.trees]
        relaxed = optimize(
            state.rng,
            state.population[best],
            data.single,
            replace(settings, scale=True),
            random_pick=self.sampling.method == "multinomial",
            n_jobs=self.n_jobs,
            device=self.device,
        )
        sampled = sample(relaxed, self.sampling)
        fits = sampled.written(data.units) <= self.islands.max_size
        sampled = sampled[np.flatnonzero(fits)]
        bounds = state.bounds.copy()
        bounds[-1] += len(sampled)
        return replace(
            state,
            population=state.population + sampled,
            loss=np.concatenate([state.loss, np.full(len(sampled), np.nan)]),
            bounds=bounds,
        )

    def generations(self, state: IslandState, budget: Budget) -> int:
        """Return how many generations to make at once: no more than the budget has left."""
        if budget.evaluations is None:
            return self.islands.generations
        count = (len(state.bounds) - 1) * self.islands.population
        left = (budget.evaluations - state.evaluations) // count
        return min(self.islands.generations, max(1, left))

    def look_for_laws(self, state: IslandState, data: Dataset, budget: Budget) -> IslandState:
        """Offer the front the laws that two or three small trees make."""
        left = np.inf if budget.evaluations is None else budget.evaluations - state.evaluations
        laws = state.laws or Laws.of(state.front, int(min(WORDS, left // 2)))
        if laws.over or not self.islands.laws:
            return state
        made, evaluations = laws.step(data.inside, self.primitives)
        allowed = [
            tree
            for tree in sorted(made, key=lambda tree: tree.size)[:OFFERED]
            if Forest.of([tree]).written(data.units)[0] <= self.islands.max_size
            and tree.depth <= self.islands.max_depth
            and self.constraints.allow(tree, data.X)
        ]
        if allowed:
            fitted = fit_constants(
                Forest.of(allowed), data, steps=0, dtype=np.float64, n_jobs=self.n_jobs
            )
            state.front.offer(fitted.forest, fitted.error)
        return replace(state, laws=laws, evaluations=state.evaluations + evaluations)

    def counted(self, state: IslandState, rows: int) -> IslandState:
        """Return the state after an iteration; note whether an exact formula is there."""
        exact = any(e.loss <= EXACT and credible(e.tree, rows) for e in state.front)
        return replace(
            state, iterations=state.iterations + 1, exact=state.exact + 1 if exact else 0
        )

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

    def safe_island(
        self, state: IslandState, data: Dataset
    ) -> tuple[IslandState, tuple[Ranges | None, ...]]:
        """Leave an island to trees without poles, as others would not be chosen in the end.

        While exploring it is one of four. Then it is the last one of two, if the best formula so
        far has poles. Returns the state, and where the trees of each island must be defined.
        """
        ranges = box(data, self.constraints.margin)
        if not state.merged:
            return state, (None, ranges, None, None)
        best = min(state.front, key=lambda e: length(e, data, self.loss), default=None)
        if best is None or law(best.tree, best.loss, data.rows):
            return state, (None,)
        if is_safe(best.tree, ranges):
            return state, (None,)
        first, safe = int(state.bounds[1]), safe_ones(state.population, ranges)
        kept = np.concatenate([np.arange(first), safe[safe >= first]])
        if len(kept) < first + 2:
            return state, (None,)
        state = replace(
            state,
            population=state.population[kept],
            loss=state.loss[kept],
            bounds=np.array([0, first, len(kept)]),
        )
        return state, (None, ranges)

    def found(self, state: State, data: Dataset) -> bool:
        """Whether an exact formula has been there for a while, time enough for a shorter one."""
        return isinstance(state, IslandState) and state.exact > PATIENCE

    def in_precision(self, state: IslandState, data: Dataset) -> IslandState:
        """Go over to float64 where it is needed; trees are then judged anew, the front's too."""
        best = state.front.most_accurate
        precise = data.rows < SINGLE_ROWS or (best is not None and best.loss < SINGLE_ERROR)
        if not precise or state.precise:
            return state
        return replace(self.judged_anew(state, data), precise=True)

    def judged_anew(self, state: IslandState, data: Dataset) -> IslandState:
        """Forget errors, and fit the front to the data once more."""
        loss = np.full(len(state.loss), np.nan)
        return replace(state, loss=loss, front=self.fitted(state.front, data, steps=5))

    def fitted(self, front: Front, data: Dataset, steps: int) -> Front:
        """Return the front with its constants fitted to the data."""
        anew = Front(front.units, front.words)
        if len(front):
            trees = Forest.of([entry.tree for entry in front])
            fitted = fit_constants(
                trees, data, loss=self.loss, steps=steps, dtype=np.float64, n_jobs=self.n_jobs
            )
            anew.offer(fitted.forest, fitted.error)
        return anew

    def with_advice(
        self, state: IslandState, data: Dataset, budget: Budget
    ) -> tuple[IslandState, Dataset]:
        """Return the state, and the data with made-up rows where other models know more.

        They are asked once. Soon after a formula is better than they are, by its description
        length on the data themselves, their rows go for good.
        """
        if state.advised is False or budget.share(state) < ASKED or not len(state.front):
            return state, data
        if state.advised and state.iterations % COMPARED:
            kept = state.advice or ask(data, self.islands.advice, self.n_jobs)
            return replace(state, advice=kept), kept.data
        best = min(length(e, data, self.loss) for e in self.fitted(state.front, data, steps=0))
        error, advice = float(np.exp(best / data.rows)), state.advice
        useful = self.islands.advice > 0 and self.loss.name == "squared" and error > GOOD_ENOUGH
        if useful and affordable(data, budget.searching):
            advice = advice or ask(data, self.islands.advice, self.n_jobs)
            if advice.error <= min(error, LITTLE):
                if not state.advised:
                    state = replace(self.judged_anew(state, advice.data), precise=False)
                return replace(state, advised=True, advice=advice), advice.data
        if state.advised:
            state = replace(self.judged_anew(state, data), precise=False)
        return replace(state, advised=False, advice=None), data

    def seen(self, state: State, data: Dataset) -> Dataset:
        """Return what the last trees were judged by: the data, and made-up rows if there are."""
        if not (isinstance(state, IslandState) and state.advised):
            return data
        return (state.advice or ask(data, self.islands.advice, self.n_jobs)).data
