"""Pieces of laws: all small trees, and polynomials, with their values on a few rows."""

from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from symgrad.language.primitive import CONSTANT
from symgrad.language.primitive_set import PrimitiveSet

LARGEST = 1e6
"""Absolute value up to which a word's are."""

DEGREE, SPARE = 6, 8
"""Largest degree of a polynomial, and rows there must be beyond its terms."""

TERMS, PARTS, GREATEST = 8, 12, 100
"""Most terms of a polynomial, parts of 1 that its factors must be so many of, and the greatest."""

NOTHING = 1e-5
"""Part of the largest term below which another is nothing."""

Floats = NDArray[np.float64]
Postfix = list[tuple[int, float]]


class Words:
    """All small trees of some features and the number 1 that differ on some rows.

    Attributes
    ----------
    value : array of shape (words, rows)
        Their values.
    size : array
        Their numbers of nodes, ascending; the last ones may be a random part of their size.
    part : array of shape (words, 3)
        Code of the outermost function and the words that are its arguments, or code of a leaf.
    """

    def __init__(self, X: Floats, features: list[int], primitives: PrimitiveSet, most: int) -> None:
        self.primitives = primitives
        rng = np.random.default_rng(0)
        self._key = rng.normal(size=len(X))
        self.value, self.size = np.empty((0, len(X))), np.empty(0, np.int64)
        self.part, self._keys = np.empty((0, 3), np.int64), np.empty(0)
        self._first = [0]  # word of each size, from size 1 on
        leaves = [(~j, -1, -1) for j in features] + [(CONSTANT, -1, -1)]
        self._add(np.array(leaves), np.vstack([X.T, np.ones(len(X))]), most)
        while self._first[-1] > self._first[-3:][0] and len(self.size) < most:
            parts = self._next()  # with no function of one argument, every other size has none
            if len(parts) > 3 * most:
                parts = parts[np.sort(rng.choice(len(parts), 3 * most, replace=False))]
            self._add(parts, self._values(parts), most)

    def _next(self) -> NDArray[np.int64]:
        """Return all trees one node larger than the largest words."""
        size, found = len(self._first), [np.empty((0, 3), np.int64)]
        for code in self.primitives.codes:
            primitive = self.primitives[code]
            if primitive.arity == 1:
                a = np.arange(self._first[-2], self._first[-1])
                found.append(np.stack([np.full_like(a, code), a, a], axis=1))
            for left in range(1, size - 1) if primitive.arity == 2 else ():
                right = size - 1 - left
                ends = [(self._first[s - 1], self._first[s]) for s in (left, right)]
                a, b = (g.ravel() for g in np.meshgrid(*(np.arange(*e) for e in ends)))
                kept = a <= b if primitive.commutative else slice(None)
                found.append(np.stack([np.full_like(a, code), a, b], axis=1)[kept])
        return np.concatenate(found)

    def _values(self, parts: NDArray[np.int64]) -> Floats:
        values = np.empty((len(parts), self.value.shape[1]))
        for code in np.unique(parts[:, 0]):
            rows, function = parts[:, 0] == code, self.primitives[int(code)]
            args = [self.value[parts[rows, 1 + k]] for k in range(function.arity)]
            with np.errstate(all="ignore"):
                values[rows] = function.define(np, *args)
        return values

    def _add(self, parts: NDArray[np.int64], values: Floats, most: int) -> None:
        """Take in those that are defined, not constant (but for 1), and new."""
        high, low = values.max(axis=1), values.min(axis=1)
        largest = np.maximum(high, -low)
        with np.errstate(invalid="ignore"):
            fine = (high - low > 1e-9 * largest) | (parts[:, 0] == CONSTANT)
            fine &= largest < LARGEST  # not so for NaN
        at = np.flatnonzero(fine)
        keys = rounded(values[at] @ self._key)
        keys, first = np.unique(keys, return_index=True)
        new = ~np.isin(keys, self._keys)
        keys, at = keys[new], at[first[new]]
        order = np.argsort(at)[: most - len(self.size)]
        keys, at = keys[order], at[order]
        self._keys = np.concatenate([self._keys, keys])
        self.value = np.concatenate([self.value, values[at]])
        self.part = np.concatenate([self.part, parts[at]])
        self.size = np.concatenate([self.size, np.full(len(at), len(self._first))])
        self._first.append(len(self.size))

    def written(self, word: int) -> Postfix:
        """Return a word as codes and values."""
        code, a, b = self.part[word].tolist()
        if code < 0:
            return [(code, float(code == CONSTANT))]
        args = self.written(a) + (self.written(b) if self.primitives.arity(code) == 2 else [])
        return [*args, (code, 0.0)]


class Powers:
    """All products of powers of some features, of the largest degree that rows are enough for."""

    def __init__(self, X: Floats, features: list[int], primitives: PrimitiveSet) -> None:
        self.features, self.codes = features, primitives.functions
        self.terms: list[tuple[int, ...]] = [()]
        for degree in range(1, DEGREE + 1):
            more = list(combinations_with_replacement(range(len(features)), degree))
            if len(self.terms) + len(more) > len(X) - SPARE:
                break
            self.terms += more
        values = np.stack([np.prod(X[:, list(t)], axis=1) for t in self.terms], axis=1)
        self.value = values / np.maximum(np.abs(values).max(axis=0), np.finfo(float).tiny)
        self.largest = np.abs(values).max(axis=0)
        self.inverse = np.linalg.pinv(self.value)

    def polynomial(self, t: Floats, free: str, exact_to: float) -> Postfix | None:
        """Return the polynomial that some values are, if its factors are simple fractions.

        Parameters
        ----------
        t : array
            The values.
        free : str
            What may be missing: ``"sum"`` a number, ``"product"`` a factor.
        exact_to : float
            How far off it may be.
        """
        factor = self.inverse @ t
        if not np.ptp(t - self.value @ factor) <= exact_to:
            return None
        weight = np.abs(factor)
        weight[0] = 0.0 if "sum" in free else weight[0]
        used = np.flatnonzero(weight > NOTHING * weight.max())
        if not 1 < len(used) <= TERMS:  # a single term is a product of words
            return None
        factor = factor[used] / self.largest[used]
        shared = factor[-1] if "product" in free else 1.0
        shares = np.round(PARTS * factor / shared) / PARTS
        left = t - shared * self.value[:, used] @ (self.largest[used] * shares)
        off = np.ptp(left) if "sum" in free else np.abs(left).max()
        if off > exact_to or np.abs(shares).max() > GREATEST:
            return None
        terms = (self.terms[k] for k in used)
        return self.written(dict(zip(terms, shares.tolist(), strict=True)))

    def written(self, terms: dict[tuple[int, ...], float]) -> Postfix:
        """Return a sum of terms, by their features and factors, with what is common taken out."""
        add, mul = (self.codes["+"], 0.0), (self.codes["*"], 0.0)
        counts = Counter(j for term in terms for j in set(term))
        common, count = max(counts.items(), key=lambda item: item[1], default=(0, 0))
        if count < 2:
            law: Postfix = []
            for term, share in terms.items():
                leaves = [(~self.features[j], 0.0) for j in term]
                leaves += [(CONSTANT, share)] if share != 1 or not leaves else []
                law += leaves + [mul] * (len(leaves) - 1)
            return law + [add] * (len(terms) - 1)
        inside = {_less(term, common): share for term, share in terms.items() if common in term}
        others = {term: share for term, share in terms.items() if common not in term}
        law = [*self.written(inside), (~self.features[common], 0.0), mul]
        return [*law, *self.written(others), add] if others else law


def _less(term: tuple[int, ...], feature: int) -> tuple[int, ...]:
    at = term.index(feature)
    return term[:at] + term[at + 1 :]


def rounded(values: Floats) -> Floats:
    """Return values that are the same for what differs in the last bits only, nearly always."""
    part, power = np.frexp(values)
    result: Floats = np.ldexp(np.round(part * 2.0**34), power - 34)
    return result
