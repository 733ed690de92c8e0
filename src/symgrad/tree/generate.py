"""Random trees: grow, full, and ramped half-and-half."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad import _core
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.tree.forest import Forest
from symgrad.tree.names import FeatureNames
from symgrad.tree.tree import ALL

METHODS = ("grow", "full", "half-and-half")
MAX_DEPTH = 16


def generate(
    rng: np.random.Generator,
    n_trees: int,
    n_features: int | None = None,
    *,
    primitives: PrimitiveSet | None = None,
    feature_names: FeatureNames | Sequence[str] | None = None,
    method: str = "half-and-half",
    min_depth: int = 1,
    max_depth: int = 4,
    p_leaf: float = 0.2,
    p_constant: float = 0.0,
    constant_scale: float = 1.0,
    whole: bool = False,
    feature_weights: Any = None,
) -> Forest:
    """Return random trees.

    A node of a grown tree is a leaf with probability `p_leaf`, whatever the number of features:
    drawing from functions and features alike would leave little but single features when there
    are thousands of them.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of randomness; tree i depends on one number drawn from it and on i only.
    n_trees : int
        How many.
    n_features : int, optional
        Number of features; by default as many as there are names.
    primitives : PrimitiveSet, optional
        Functions, drawn uniformly.
    feature_names : sequence of str, optional
        By default ``x0, x1, ...``.
    method : {"grow", "full", "half-and-half"}
        ``full``: all leaves at `max_depth`. ``half-and-half``: the depth bound runs from
        `min_depth` to `max_depth`, every other tree is full.
    min_depth, max_depth : int
        Bounds on the depth in edges, 0 to 16.
    p_leaf : float
        Probability that a node between the bounds is a leaf.
    p_constant : float
        Probability that a leaf is a constant.
    constant_scale : float
        Standard deviation of the constants, which are normal.
    whole : bool
        Constants are 1 or 2 instead.
    feature_weights : array of shape (n_features,), optional
        Relative probabilities of the features; by default uniform.
    """
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy.random.Generator, got {rng!r}")
    primitives, names = primitives or ALL, FeatureNames.of(feature_names)
    if n_features is None:
        if names.names is None:
            raise ValueError("n_features or feature_names must be given")
        n_features = len(names.names)
    if names.names is not None and n_features > len(names.names):
        raise ValueError(f"n_features is {n_features}, but there are {len(names.names)} names")
    _check(n_trees, n_features, method, min_depth, max_depth, p_leaf=p_leaf, p_constant=p_constant)
    if not 0 <= constant_scale < np.inf:
        raise ValueError(f"constant_scale must be finite and not negative, got {constant_scale}")
    index = np.arange(n_trees)
    full = np.full(n_trees, method == "full")
    depth = np.full(n_trees, max_depth)
    if method == "half-and-half":
        full = index % 2 == 1
        depth = min_depth + index // 2 % (max_depth - min_depth + 1)
    code, value, offset = _core.generate(
        sprout(primitives, n_features, p_leaf, p_constant, constant_scale, whole, feature_weights),
        int(rng.integers(2**64, dtype=np.uint64)),
        depth.astype(np.int32),
        full.astype(np.uint8),
        min_depth,
    )
    return Forest(code, value, offset, primitives, names)


def sprout(
    primitives: PrimitiveSet,
    n_features: int,
    p_leaf: float = 0.2,
    p_constant: float = 0.0,
    constant_scale: float = 1.0,
    whole: bool = False,
    feature_weights: Any = None,
) -> _core.Sprout:
    """Return what the core draws nodes from; the parameters are those of `generate`."""
    made = _core.Sprout(
        np.array(primitives.codes, np.int32),
        np.array([p.arity for p in primitives], np.int32),
        n_features,
        _cumulative(feature_weights, n_features),
        p_constant,
        constant_scale,
        p_leaf,
    )
    made.whole = whole
    return made


def _check(
    n_trees: int,
    n_features: int,
    method: str,
    min_depth: int,
    max_depth: int,
    **probabilities: float,
) -> None:
    counts = {
        "n_trees": n_trees,
        "n_features": n_features,
        "min_depth": min_depth,
        "max_depth": max_depth,
    }
    for name, n in counts.items():
        if not isinstance(n, int | np.integer):
            raise ValueError(f"{name} must be an integer, got {n!r}")
    if n_trees < 1 or n_features < 1:
        raise ValueError(f"n_trees and n_features must be positive, got {n_trees}, {n_features}")
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if not 0 <= min_depth <= max_depth <= MAX_DEPTH:
        raise ValueError(
            f"depths must satisfy 0 <= min_depth <= max_depth <= {MAX_DEPTH}, "
            f"got {min_depth} and {max_depth}"
        )
    for name, p in probabilities.items():
        if not 0 <= p <= 1:
            raise ValueError(f"{name} must be a probability, got {p}")


def _cumulative(weights: Any, n_features: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    if weights is None:
        return np.empty(0)
    weights = np.asarray(weights, np.float64)
    if weights.shape != (n_features,):
        raise ValueError(f"feature_weights must have shape ({n_features},), got {weights.shape}")
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise ValueError("feature_weights must be finite, not negative, and not all zero")
    return np.cumsum(weights / weights.max())  # whatever the scale, the sum is finite
