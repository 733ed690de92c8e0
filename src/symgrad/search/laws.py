"""Laws: exact formulas, put together from two or three small ones.

A line through a tree and fitted constants make approximations so good that the law itself, which
is worse until its last piece is there, does not survive beside them. So where a formula is nearly
exact, laws are looked for from both ends. All small trees, the *words*, are written down with their
values on a few rows. If the target is a sum of two of them, it becomes a word when one is taken
away, and which one it is can be looked up: all pairs are tried at the cost of one look for each
word. The same goes for differences, products and quotients, for what the target leaves when a third
word is taken away, and for logarithms and exponentials of the target. And each of these may be a
polynomial, which a linear fit tells.

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
from symgrad.search.words import LARGEST, Floats, Postfix, Powers, Words, rounded
from symgrad.tree.names import FeatureNames
from symgrad.tree.tree import Tree
from symgrad.tree.units import NEEDED

ROWS, FEATURES = 48, 6
"""Rows that words are compared on, and features that they are made of, at most."""

WORDS = 30_000
"""Words that are written down, small ones first."""

BEST = 20
"""Pairs of one kind that are taken of those that make the same target."""

THIRDS, AT_ONCE = 100, 2
"""Words that are tried as a third, and so many of them at a time."""


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
        X = data.X[:, self.features][few]
        y = data.target_scale * data.y[few] + data.target_center  # where numbers are plain
        X = np.asarray(X.toarray() if is_sparse(X) else X, np.float64)
        if self.look is None:
            primitives = primitives.extend(*(s for s in NEEDED if s not in primitives))
            tolerance = 1e-5 if data.X.dtype == np.float32 else 1e-9
            words = Words(X, self.features, primitives, self.most)
            self.look = Look(words, Powers(X, self.features, primitives), tolerance)
        words, evaluations = self.look.words, 0
        if self.tried < 0:
            targets = whole(y, words.primitives)
            self.tried, evaluations = 0, len(words.size)
        else:
            last = min(self.tried + AT_ONCE, THIRDS, len(words.size))
            targets = [t for k in range(self.tried, last) for t in without(k, y, words)]
            self.tried = last if last < len(words.size) else THIRDS
        found = [law for target in targets for law in self.look.up(target)]
        return [_tree(law, words.primitives, data.names) for law in found], evaluations


def whole(y: Floats, primitives: PrimitiveSet) -> list[Target]:
    """Return the target itself, its logarithm and its exponential."""
    codes, found = primitives.functions, [Target(y, [], [], "sum product")]
    with np.errstate(all="ignore"):
        if "exp" in codes:
            found.append(Target(np.log(y), [], [(codes["exp"], 0.0)], "sum"))
        if "log" in codes:
            found.append(Target(np.exp(y), [], [(codes["log"], 0.0)], "product"))
    return found


def without(word: int, y: Floats, words: Words) -> list[Target]:
    """Return what the target leaves when a word is taken away."""
    w, text, scale = words.value[word], words.written(word), float(np.abs(y).max())
    codes = words.primitives.functions
    add, mul = [(codes["+"], 0.0)], [(codes["*"], 0.0)]
    with np.errstate(all="ignore"):
        found = [Target(y - w, text, add, "sum", scale), Target(y / w, text, mul, "product")]
        if "exp" in codes:
            found.append(Target(np.log(y / w), text, [(codes["exp"], 0.0), *mul], "sum"))
        if "-" in codes:
            minus = [(codes["-"], 0.0)]
            found.append(Target(y + w, [], text + minus, "sum", scale))
            found.append(Target(w - y, text, minus, "sum", scale))
        if "/" in codes:
            over = [(codes["/"], 0.0)]
            found.append(Target(y * w, [], text + over, "product"))
            found.append(Target(w / y, text, over, "product"))
    return found


class Look:
    """Words by what they are looked up by."""

    def __init__(self, words: Words, powers: Powers, tolerance: float) -> None:
        self.words, self.powers, self.tolerance = words, powers, tolerance
        weights = np.random.default_rng(1).normal(size=words.value.shape[1])
        self.weights = weights - weights.mean()
        with np.errstate(divide="ignore"):
            logs = np.log(np.abs(words.value))
        self.tables = {}
        for name, values in (("sum", words.value), ("product", logs)):
            at = np.flatnonzero(np.isfinite(values).all(axis=1))
            number = values[at] @ self.weights
            first = np.unique(rounded(number), return_index=True)[1]  # the smallest of equal ones
            first = first[np.argsort(number[first])]
            self.tables[name] = at[first], number[first]

    def up(self, target: Target) -> Iterator[Postfix]:
        """Yield the polynomial that a target is, and what two words make of it."""
        t, codes = target.values, self.words.primitives.functions
        largest = float(np.abs(t).max())
        if not 0 < largest < LARGEST:  # not so for NaN
            return
        scale = min(largest, target.scale)
        polynomial = self.powers.polynomial(t, target.free, self.tolerance * scale)
        if polynomial is not None:
            yield target.before + polynomial + target.after
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
        """Return which pairs, the smallest, are the target, but for a number or a factor."""
        made = self._made(one, other, symbol)
        left = t - made if symbol in "+-" else t / made
        scales = scale if symbol in "+-" else np.abs(left).max(axis=1)
        exact = np.flatnonzero(np.ptp(left, axis=1) <= self.tolerance * scales)
        size = self.words.size[one[exact]] + self.words.size[other[exact]]
        return exact[np.argsort(size, kind="stable")][:BEST]

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
