"""What a user allows formulas to be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgrad import _core
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.tree.forest import Forest
from symgrad.tree.names import FeatureNames
from symgrad.tree.tree import Tree

MOST_FUNCTIONS = 64


@dataclass(frozen=True)
class Constraints:
    """Limits on formulas beside size, depth and the set of primitives.

    Attributes
    ----------
    nesting : mapping of str to list of str
        Functions that must not occur inside another: ``{"sin": ["sin", "cos"]}``.
    costs : mapping of str to int
        What a primitive counts for in a formula's size while searching, instead of 1.
    exclude, require : list of str
        Features that must not occur, and such that must.
    monotone : mapping of str to int
        Features that the formula must never fall with (1) or never rise with (-1), checked by
        the sign of its derivative at every row of the training data.
    limits : tuple of float, optional
        The least and the greatest value that is predicted, None for no limit: ``(0, None)``. Rows
        with the target at a limit stand for all beyond it. By default the ends of the target's
        range at which at least 2 % of the rows, and ten, are found; ``(None, None)`` for none.
        With squared loss only.
    margin : float
        How far beyond the training data, in parts of each feature's range, a formula must be
        defined and within bounds to be chosen.
    extrapolate : bool
        Predict rows outside the box of the training data by the bare formula, too. By default
        they get a prediction between those at the edge of the box, or near them if the formula
        explains 95 % of the training data, unless it is exact.

    Examples
    --------
    >>> from symgrad.evolution.constraints import Constraints
    >>> c = Constraints(nesting={"exp": ["exp"]}, require=["dose"], monotone={"dose": 1})
    """

    nesting: Mapping[str, Iterable[str]] = field(default_factory=dict)
    costs: Mapping[str, int] = field(default_factory=dict)
    exclude: Iterable[str] = ()
    require: Iterable[str] = ()
    monotone: Mapping[str, int] = field(default_factory=dict)
    limits: tuple[float | None, float | None] | None = None
    margin: float = 0.0
    extrapolate: bool = False

    def __post_init__(self) -> None:
        for name in ("exclude", "require"):
            if isinstance(getattr(self, name), str):
                raise TypeError(f"{name} must be a list of features, got one string")
        for feature, sign in self.monotone.items():
            if sign not in (-1, 1):
                raise ValueError(f"monotone must be 1 or -1, got {sign!r} for {feature!r}")
        for name, cost in self.costs.items():
            if not isinstance(cost, int) or cost < 1:
                raise ValueError(f"costs must be positive whole numbers, got {cost!r} for {name!r}")
        ends = self.limits or (None, None)
        if len(ends) != 2 or (None not in ends and not ends[0] < ends[1]):  # type: ignore[operator]
            raise ValueError(f"limits must be a least and a greatest value, got {self.limits}")
        if not self.margin >= 0:
            raise ValueError(f"margin must not be negative, got {self.margin}")
        both = set(self.exclude) & {*self.require, *self.monotone}
        if both:
            raise ValueError(f"feature {min(both)!r} is excluded and asked for")

    def allow(self, tree: Tree, X: NDArray[Any]) -> bool:
        """Whether a formula has the required features and directions, and nests as it may."""
        if not set(self.require) <= set(tree.features):
            return False
        forest = Forest.of([tree])
        slopes = forest.gradient(X) if self.monotone else None
        for feature, sign in self.monotone.items():
            assert slopes is not None
            leaves = slopes[tree.code == ~indices([feature], tree.names)[0]]
            if not (sign * leaves.sum(axis=0) >= -1e-6 * np.abs(leaves).sum(axis=0)).all():
                return False
        return not any(_inside(tree, o, set(inner)) for o, inner in self.nesting.items())

    def rules(self, primitives: PrimitiveSet, names: FeatureNames) -> _core.Rules:
        """Return the core's form for some primitives and features."""
        rules = _core.Rules()
        if self.nesting or self.costs:
            codes = list(primitives.codes)
            if len(codes) > MOST_FUNCTIONS:
                raise ValueError(f"nesting and costs work with {MOST_FUNCTIONS} primitives at most")
            costs, inside = [1] * len(codes), [0] * len(codes)
            for name, cost in self.costs.items():
                costs[codes.index(_code(name, primitives))] = cost
            for outer, inner in self.nesting.items():
                bits = (1 << codes.index(_code(name, primitives)) for name in inner)
                inside[codes.index(_code(outer, primitives))] = sum(set(bits))
            rules.functions, rules.cost, rules.forbidden = codes, costs, inside
        rules.required = indices(self.require, names)
        rules.monotone = indices(self.monotone, names)
        rules.direction = list(self.monotone.values())
        return rules


def _inside(tree: Tree, outer: str, inner: set[str]) -> bool:
    """Whether one of some functions occurs inside another."""
    outer_code = tree.primitives.functions.get(outer)
    codes = {tree.primitives.functions.get(name) for name in inner}
    return any(
        code == outer_code and not codes.isdisjoint(tree.code[tree.span(node)][:-1].tolist())
        for node, code in enumerate(tree.code.tolist())
    )


def _code(name: str, primitives: PrimitiveSet) -> int:
    if name not in primitives:
        raise ValueError(f"{name!r} is not among the primitives: {', '.join(primitives.names)}")
    return primitives.functions[name]


def indices(features: Iterable[str], names: FeatureNames) -> list[int]:
    """Return the indices of some features."""
    found = []
    for feature in features:
        index = names.index(feature)
        if index is None:
            raise ValueError(f"there is no feature {feature!r}")
        found.append(index)
    return found
