"""Laws: exact formulas, put together from two or three small ones.

A line through a tree and fitted constants make approximations so good that the law itself, which
is worse until its last piece is there, does not survive beside them. So where a formula is nearly
exact, laws are looked for from both ends. All small trees, the *words*, are written down with their
values on a few rows. If the target is a sum of two of them, it becomes a word when one is taken
away, and which one it is can be looked up: so many words are tried as there are pairs, at the cost
of one look for each. The same goes for differences, products and quotients, for what the target
leaves when a third word is taken away, and for logarithms and exponentials of the target.

Looking up is by one number for each word: its values times weights that add up to 0. So a sum may
differ from the target by any number and a product (of logarithms) by any factor, which is then
written down, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from symgrad.arrays import is_sparse
from symgrad.data.dataset import Dataset
from symgrad.evolution.front import Front
from symgrad.language.primitive import CONSTANT
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.tree.names import FeatureNames
from symgrad.tree.tree import Tree
from symgrad.tree.units import NEEDED

ROWS, FEATURES = 32, 6
"""Rows that words are compared on, and features that they are made of, at most."""

WORDS = 30_000
"""Words that are written down, small ones first."""

LARGEST = 1e6
"""Absolute value up to which a word's are."""

THIRDS, AT_ONCE = 100, 2
"""Words that are tried as a third, and so many of them at a time."""

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
        while self._first[-1] > self._first[-2] and len(self.size) < most:
            parts = self._next()
            if len(parts) > 3 * most:
                parts = parts[np.sort(rng.choice(len(parts), 3 * most, replace=False))]
            self._add(parts, self._values(parts), most)

    def _next(self) -> NDArray[np.int64]:
        """Return all trees one node larger than the largest words."""
        size, found = len(self._first), []
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
        keys = _rounded(values[at] @ self._key)
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


def _rounded(values: Floats) -> Floats:
    """Return values that are the same for what differs in the last bits only, nearly always."""
    part, power = np.frexp(values)
    rounded: Floats = np.ldexp(np.round(part * 2.0**34), power - 34)
    return rounded


class Target(NamedTuple):
    """What is to be put together from two words.

    Attributes
    ----------
    values : array
        Its values.
    before, after : list
        What the formula has before and after these two, as codes and values.
    free : str
        Of ``"sum"`` and ``"product"`` the one, or both, of which the line through the formula
        takes the number or factor that is missing.
    scale : float
        Size of what it is exact to, if not that of its values.
    """

    values: Floats
    before: Postfix
    after: Postfix
    free: str
    scale: float = np.inf


@dataclass
class Laws:
    """The search for laws of some features, and how far it has come.

    Attributes
    ----------
    features : list of int
        Features of the words.
    most : int
        Number of words.
    tried : int
        Words that were tried as a third; -1 before any look.
    look : Look, optional
        The words; made when they are first needed.
    """

    features: list[int]
    most: int = WORDS
    tried: int = -1
    look: Look | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, front: Front, most: int = WORDS) -> Laws:
        """Return one for the features that most formulas of the front have."""
        used = [j for entry in front for j in set(entry.tree.feature_indices)]
        kinds, counts = np.unique(used, return_counts=True)
        common = kinds[np.argsort(-counts, kind="stable")][:FEATURES]
        return cls(sorted(common.tolist()), most)

    @property
    def over(self) -> bool:
        """Whether all there is was tried."""
        return self.tried >= THIRDS

    def step(self, data: Dataset, primitives: PrimitiveSet) -> tuple[list[Tree], int]:
        """Go on for a while; return what was found, and how many trees were evaluated.

        Parameters
        ----------
        data : Dataset
            The rows, in random order.
        primitives : PrimitiveSet
            Functions that laws may have; sums and products always.
        """
        assert data.y is not None
        few = slice(ROWS) if data.weights is None else np.flatnonzero(data.weights)[:ROWS]
        X, y = data.X[:, self.features][few], data.y[few]
        X = np.asarray(X.toarray() if is_sparse(X) else X, np.float64)
        if self.look is None:
            primitives = primitives.extend(*(s for s in NEEDED if s not in primitives))
            tolerance = 1e-5 if data.X.dtype == np.float32 else 1e-9
            self.look = Look(Words(X, self.features, primitives, self.most), tolerance)
        words, evaluations = self.look.words, 0
        if self.tried < 0:
            targets = whole(y, words.primitives)
            self.tried, evaluations = 0, len(words.size)
        else:
            last = min(self.tried + AT_ONCE, THIRDS, len(words.size))
            targets = (t for k in range(self.tried, last) for t in without(k, y, words))
            self.tried = last if last < len(words.size) else THIRDS
        found = [law for target in targets for law in self.look.up(target)]
        return [_tree(law, words.primitives, data.names) for law in found], evaluations


def whole(y: Floats, primitives: PrimitiveSet) -> Iterator[Target]:
    """Yield the target itself, its logarithm and its exponential."""
    yield Target(y, [], [], "sum product")
    with np.errstate(all="ignore"):
        if "exp" in primitives:
            yield Target(np.log(y), [], [(primitives.functions["exp"], 0.0)], "sum")
        if "log" in primitives:
            yield Target(np.exp(y), [], [(primitives.functions["log"], 0.0)], "product")


def without(word: int, y: Floats, words: Words) -> Iterator[Target]:
    """Yield what the target leaves when a word is taken away."""
    w, text, scale = words.value[word], words.written(word), float(np.abs(y).max())
    codes = words.primitives.functions
    add, mul = [(codes["+"], 0.0)], [(codes["*"], 0.0)]
    with np.errstate(all="ignore"):
        yield Target(y - w, text, add, "sum", scale)
        yield Target(y / w, text, mul, "product")
        if "-" in codes:
            minus = [(codes["-"], 0.0)]
            yield Target(y + w, [], text + minus, "sum", scale)
            yield Target(w - y, text, minus, "sum", scale)
        if "/" in codes:
            over = [(codes["/"], 0.0)]
            yield Target(y * w, [], text + over, "product")
            yield Target(w / y, text, over, "product")


class Look:
    """Words by what they are looked up by."""

    def __init__(self, words: Words, tolerance: float) -> None:
        self.words, self.tolerance = words, tolerance
        weights = np.random.default_rng(1).normal(size=words.value.shape[1])
        self.weights = weights - weights.mean()
        with np.errstate(divide="ignore"):
            logs = np.log(np.abs(words.value))
        self.tables = {}
        for name, values in (("sum", words.value), ("product", logs)):
            at = np.flatnonzero(np.isfinite(values).all(axis=1))
            number = values[at] @ self.weights
            first = np.unique(_rounded(number), return_index=True)[1]  # the smallest of equal ones
            first = first[np.argsort(number[first])]
            self.tables[name] = at[first], number[first]

    def up(self, target: Target) -> Iterator[Postfix]:
        """Yield the formulas that two words make of a target."""
        t, codes = target.values, self.words.primitives.functions
        largest = float(np.abs(t).max())
        if not 0 < largest < LARGEST:  # not so for NaN
            return
        scale = min(largest, target.scale)
        for kind, symbol, sign in (("sum", "+", -1), ("sum", "-", 1), ("product", "*", -1),
                                   ("product", "/", 1)):  # fmt: skip
            if symbol not in codes or (kind == "product" and not t.all()):
                continue
            at, number = self.tables[kind]
            wanted = (t if kind == "sum" else np.log(np.abs(t))) @ self.weights + sign * number
            close = self.tolerance * (np.abs(wanted) + np.abs(number) + largest)
            place = np.searchsorted(number, wanted)
            for near in (np.maximum(place - 1, 0), np.minimum(place, len(number) - 1)):
                hit = np.flatnonzero(np.abs(number[near] - wanted) <= close)
                one, other = at[near[hit]], at[hit]
                for k in self._exact(t, one, other, symbol, scale):
                    law = self._joined(t, int(one[k]), int(other[k]), symbol, kind in target.free)
                    yield target.before + law + target.after

    def _exact(
        self, t: Floats, one: Any, other: Any, symbol: str, scale: float
    ) -> NDArray[np.int64]:
        """Return which pairs are the target, but for a number or a factor."""
        made = self._made(one, other, symbol)
        left = t - made if symbol in "+-" else t / made
        scales = scale if symbol in "+-" else np.abs(left).max(axis=1)
        return np.flatnonzero(np.ptp(left, axis=1) <= self.tolerance * scales)

    def _made(self, one: Any, other: Any, symbol: str) -> Floats:
        value, primitives = self.words.value, self.words.primitives
        made: Floats = primitives[primitives.functions[symbol]].define(np, value[one], value[other])
        return made

    def _joined(self, t: Floats, one: int, other: int, symbol: str, free: bool) -> Postfix:
        """Return two words with the number or factor that is missing, unless it is `free`."""
        codes, words = self.words.primitives.functions, self.words
        law = [*words.written(one), *words.written(other), (codes[symbol], 0.0)]
        made, summed = self._made(one, other, symbol), symbol in "+-"
        missing = float(np.mean(t - made) if summed else np.mean(t / made))
        near = abs(missing - (not summed)) <= self.tolerance * (np.abs(t).max() if summed else 1)
        if free or near:
            return law
        return [*law, (CONSTANT, missing), (codes["+" if summed else "*"], 0.0)]


def _tree(law: Postfix, primitives: PrimitiveSet, names: FeatureNames) -> Tree:
    code, value = zip(*law, strict=True)
    return Tree(np.array(code, np.int32), np.array(value, np.float64), primitives, names)
