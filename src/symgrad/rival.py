"""The chosen formula against a plain sum of features, on rows that neither was fitted to."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np

from symgrad.data.dataset import Dataset
from symgrad.evolution.front import Entry
from symgrad.model import Formula, is_law
from symgrad.search.guided import GuidedDGP
from symgrad.search.sums import matching, sums
from symgrad.validation import FOLDS, folds, validation

LARGE = 20_000_000
"""Numbers in X from which there is no contest."""

FOUND_IN_NOISE = 0.2
"""By how much a formula's errors on left-out rows are too small, in nats of its words per row."""

SHORTER = 0.5
"""A shorter sum is taken if its errors are larger by less than so many standard errors."""


ALIKE = 1 - 1e-6
"""A sum of the same features must have fewer errors than that."""


def contest(
    chosen: Formula,
    whole: Dataset,
    exact: Dataset,
    data: Dataset,
    search: GuidedDGP,
    in_units: Callable[[Iterable[Entry]], list[Formula]],
) -> Formula:
    """Return the chosen formula, or a sum of features that predicts other rows better.

    Where many features have small effects, none may be worth its words, and the formula of least
    description length leaves out what together matters. Of five parts of the rows each is
    predicted by sums that are made of the other four, features and factors. If their errors are
    smaller than those of the formula, with its constants fitted to the same rows, and its shape,
    which comes from all rows, charged with what a search finds in noise, a sum of as many features
    takes its place. Constants, laws, and losses other than squares are not contested.

    Parameters
    ----------
    chosen : Formula
        In the units of `whole`.
    whole, exact, data : Dataset
        As the user gave it, with the features that may be used, and as it was searched.
    search : GuidedDGP
        What formulas may be.
    in_units : function
        Makes formulas of what was found on `data`.
    """
    most = (search.islands.max_size + 1) // 4
    if chosen.constant or is_law(chosen, whole) or search.loss.name != "squared":
        return chosen
    if not most or not {"add", "mul"} <= set(search.primitives.functions):
        return chosen
    if exact.rows * exact.features > LARGE or exact.rows < 2 * FOLDS:
        return chosen
    count, error = held_out(exact, most)
    own = 1 - validation([chosen.tree], whole, search.loss, search.n_jobs)[0]
    if not count or not error < own * math.exp(FOUND_IN_NOISE * chosen.words / exact.rows):
        return chosen
    formula = in_units([Entry(sums(search.primitives, data, count)[-1], 0.0)])[-1]
    alike = set(formula.tree.features) == set(chosen.tree.features)
    return chosen if formula.constant or (alike and error > ALIKE * own) else formula


def held_out(data: Dataset, most: int) -> tuple[int, float]:
    """Return how many terms a sum needs, and its error on rows left out, relative to the mean's."""
    rows, fold = folds(data)
    errors, weights = np.zeros((most + 1, len(rows))), np.ones(len(rows))
    for k in range(FOLDS):
        rest, held = data.subset(rows[fold != k]), data.subset(rows[fold == k])
        assert rest.y is not None
        mean = np.full((1, held.rows), np.average(rest.y, weights=rest.weights))
        predictions = np.concatenate([mean, matching(rest, most).predict(held)])
        lost = (predictions - held.y) ** 2
        errors[:, fold == k] = np.pad(lost, ((0, most + 1 - len(lost)), (0, 0)), "edge")
        weights[fold == k] = 1.0 if held.weights is None else held.weights
    means = errors @ weights / weights.sum()
    if not means[0] > 0:
        return 0, 1.0
    more = errors - errors[means.argmin()]
    noise = np.sqrt(more**2 @ weights / weights.sum() / len(rows))
    count = int(np.argmax(means - means.min() <= SHORTER * noise))
    return count, float(means[count] / means[0])
