"""Validated data, column by column."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgrad.arrays import as_columns, as_floats, converted
from symgrad.tree.names import FeatureNames

BLOCK = 1_000_000
"""Numbers that are worked on at a time."""

FAR = 8
"""Deviations from 0 beyond which a column's mean hides its variation."""


class Dataset:
    """A table that has been checked once.

    Parameters
    ----------
    X : array or data frame of shape (rows, features)
        Numbers, all finite. A column-major array of the right dtype is used as it is
        (memory-mapped and read-only ones too), anything else is copied once.
    y : array of shape (rows,), optional
        Target.
    feature_names : sequence of str, optional
        By default the names of the data frame, else ``x0, x1, ...``.
    weights : array of shape (rows,), optional
        Sample weights, not negative.
    dtype : {float32, float64}
        Type of the stored columns.

    Attributes
    ----------
    X : array
        The columns, column-major and read-only.
    y, weights : array of float64 or None
        Target and weights.
    names : FeatureNames
        Names of the columns.
    center, scale : array of float64 or None
        Where the columns were standardised: ``X = (original - center) / scale``.
    """

    def __init__(
        self,
        X: Any,
        y: Any = None,
        *,
        feature_names: FeatureNames | Any = None,
        weights: Any = None,
        dtype: Any = np.float32,
    ):
        if dtype not in (np.float32, np.float64, "float32", "float64"):
            raise ValueError(f"dtype must be float32 or float64, got {dtype!r}")
        if feature_names is None and hasattr(X, "columns"):
            feature_names = [str(c) for c in X.columns]
        table = _numeric(X)
        rows, features = table.shape
        if not rows or not features:
            raise ValueError(f"X must have at least one row and one feature, got {table.shape}")
        if feature_names is None:
            feature_names = [f"x{j}" for j in range(features)]
        self.names = FeatureNames.of(feature_names)
        if len(self.names.names or ()) != features:
            raise ValueError(
                f"X has {features} columns, but there are {len(self.names.names or ())} names"
            )
        _check_finite(table, self.names, dtype)
        self.X: NDArray[Any] = as_columns(table.astype(dtype, copy=False)).view()
        self.X.flags.writeable = False
        self.y = None if y is None else _vector(y, "y", rows)
        self.weights = None if weights is None else _vector(weights, "weights", rows)
        if self.weights is not None and not ((self.weights >= 0).all() and self.weights.any()):
            raise ValueError("weights must not be negative, and not all zero")
        self.center: NDArray[np.float64] | None = None
        self.scale: NDArray[np.float64] | None = None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    def standardize(self, *, gently: bool = False) -> Dataset:
        """Return the data with columns of mean 0 and deviation 1; constant columns become 0.

        The returned dataset remembers `center` and `scale`.

        Parameters
        ----------
        gently : bool
            Change only what is out of proportion, so that zero, signs and ratios keep their
            meaning: the center is 0 unless the mean is more than 8 deviations away from it, and
            the scale a power of 2, which is 1 for deviations from 1/4 to 4.
        """
        center, scale = np.zeros(self.features), np.ones(self.features)
        X = np.empty_like(self.X, order="F")
        width = max(1, BLOCK // self.rows)
        for first in range(0, self.features, width):  # no second copy of the table in float64
            part = slice(first, first + width)
            table = self.X[:, part].astype(np.float64)
            unit = np.abs(table).max(axis=0)  # squares must not overflow or vanish
            unit[unit == 0] = 1.0
            mean, deviation = (table / unit).mean(axis=0), (table / unit).std(axis=0)
            varies = (deviation > 4 * np.finfo(self.X.dtype).eps) & (deviation * unit > 0)
            c, s = mean * unit, np.where(varies, deviation * unit, 1.0)
            if gently:
                power = np.round(np.log2(np.where(varies, deviation, 1.0)) + np.log2(unit))
                c[varies & (np.abs(mean) <= FAR * deviation)] = 0.0
                s = np.where(varies & (np.abs(power) > 2), 2.0**power, 1.0)
            X[:, part] = np.where(varies, (table - c) / s, 0.0)
            center[part], scale[part] = c, s
        if self.center is not None and self.scale is not None:
            center, scale = self.center + self.scale * center, self.scale * scale
        result = self._with(X, self.y, self.weights)
        result.center, result.scale = center, scale
        return result

    @cached_property
    def single(self) -> Dataset:
        """The same data in float32."""
        if self.X.dtype == np.float32:
            return self
        return self._with(self.X.astype(np.float32), self.y, self.weights)

    @property
    def core_weights(self) -> NDArray[np.float64]:
        """The weights as the core takes them: none is an empty array."""
        return np.empty(0) if self.weights is None else self.weights

    def with_target(self, y: Any) -> Dataset:
        """Return the same features with another target."""
        return self._with(self.X, _vector(y, "y", self.rows), self.weights)

    def select(self, features: Sequence[int]) -> Dataset:
        """Return some of the features."""
        result = self._with(np.asfortranarray(self.X[:, features]), self.y, self.weights)
        result.names = FeatureNames([self.names[j] for j in features])
        if self.center is not None and self.scale is not None:
            result.center, result.scale = self.center[features], self.scale[features]
        return result

    def shuffled(self, rng: np.random.Generator) -> Dataset:
        """Return the rows in random order."""
        order = rng.permutation(self.rows)
        X = np.empty_like(self.X, order="F")
        for j in range(self.features):
            X[:, j] = self.X[order, j]
        y = None if self.y is None else self.y[order]
        return self._with(X, y, None if self.weights is None else self.weights[order])

    def _with(self, X: NDArray[Any], y: Any, weights: Any) -> Dataset:
        result = object.__new__(Dataset)
        result.__dict__.update({k: v for k, v in self.__dict__.items() if k != "single"})
        X.flags.writeable = False
        result.X, result.y, result.weights = X, y, weights
        return result

    def __repr__(self) -> str:
        target = "" if self.y is None else ", with target"
        return f"<Dataset {self.rows} x {self.features}, {self.X.dtype}{target}>"


def merge_rows(
    X: NDArray[Any], y: NDArray[Any], weights: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64] | None]:
    """Return the table with equal rows merged, rows of weight 0 removed, in sorted order.

    A search then does not depend on the order of the rows, and a row that occurs twice counts as
    one of weight 2.
    """
    given = np.ones(len(y)) if weights is None else np.asarray(weights, np.float64)
    keep = given > 0
    table = np.column_stack([y[keep], X[keep]])
    rows, where = np.unique(table, axis=0, return_inverse=True)
    total = np.zeros(len(rows))
    np.add.at(total, where.ravel(), given[keep])
    alike = bool((total == 1).all())
    return rows[:, 1:], rows[:, 0], None if alike else total


def check_numeric(X: Any) -> None:
    """Name the first column of a data frame that is not numeric; accept anything else."""
    if not (hasattr(X, "columns") and hasattr(X, "dtypes")):
        return
    if not X.shape[1]:
        raise ValueError("X has 0 features; at least one is needed")
    for j, kind in enumerate(X.dtypes):
        if getattr(kind, "kind", "O") not in "biuf":
            where = _first_text(X.iloc[:, j])
            raise ValueError(f"column {str(X.columns[j])!r} is not numeric: {where}")


def _numeric(X: Any) -> NDArray[Any]:
    """Return X as floats."""
    check_numeric(X)
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        kinds = (getattr(d, "numpy_dtype", getattr(d, "subtype", d)) for d in X.dtypes)
        X = X.to_numpy(dtype=np.result_type(np.float32, *kinds), na_value=np.nan)
    return as_floats(X)


def _first_text(column: Any) -> str:
    """Return where a column that is not numeric goes wrong."""
    for row, cell in enumerate(column):
        if not isinstance(cell, Real):
            return f"row {row} holds {cell!r:.60}"
    return f"its type is {column.dtype}"


def _check_finite(table: NDArray[Any], names: FeatureNames, dtype: Any) -> None:
    limit = np.finfo(dtype).max
    step = max(1, 10**6 // table.shape[0])
    for first in range(0, table.shape[1], step):  # in slices: bounded memory
        part = table[:, first : first + step]
        good = np.isfinite(part) & (np.abs(part) <= limit)
        if good.all():
            continue
        row, column = (int(i) for i in np.argwhere(~good.T)[0][::-1])
        value, name = part[row, column], names[first + column]
        if np.isfinite(value):
            raise ValueError(f"column {name!r} holds {value} in row {row}: too large for float32")
        what = "NaN" if np.isnan(value) else "infinity"
        raise ValueError(f"column {name!r} contains {what} in row {row}")


def _vector(values: Any, name: str, rows: int) -> NDArray[np.float64]:
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 or array.dtype.kind not in "biufO":
        raise ValueError(
            f"{name} must be a vector of numbers, got shape {array.shape} of {array.dtype}"
        )
    if len(array) != rows:
        raise ValueError(f"{name} has {len(array)} values, but X has {rows} rows")
    vector = converted(array, np.float64, name)
    bad = np.flatnonzero(~np.isfinite(vector))
    if bad.size:
        what = "NaN" if np.isnan(vector[bad[0]]) else "infinity"
        raise ValueError(f"{name} contains {what} in row {bad[0]}")
    vector.flags.writeable = False
    return vector
