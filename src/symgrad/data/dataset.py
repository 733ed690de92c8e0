"""Validated data, column by column."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from symgrad import _core
from symgrad.arrays import as_columns, as_floats, as_sparse, check_numeric, converted, is_sparse
from symgrad.data.counts import observations
from symgrad.data.limits import NONE, Limits, in_units
from symgrad.tree.names import FeatureNames

BLOCK = 1_000_000
"""Numbers that are worked on at a time."""

FAR = 8
"""Deviations from 0 beyond which a column's mean hides its variation."""


class Dataset:
    """A table that has been checked once.

    Parameters
    ----------
    X : array, data frame or sparse matrix of shape (rows, features)
        Numbers, all finite. A column-major array of the right dtype is used as it is
        (memory-mapped and read-only ones too), anything else is copied once. A sparse matrix
        stays sparse, by columns.
    y : array of shape (rows,), optional
        Target.
    feature_names : sequence of str, optional
        By default the names of the data frame, else ``x0, x1, ...``.
    weights : array of shape (rows,), optional
        Sample weights, not negative.
    dtype : {float32, float64}, optional
        Type of the stored columns; None leaves an array as it is, whatever its order and type.

    Attributes
    ----------
    X : array or scipy.sparse.csc_array
        The columns, column-major and read-only.
    y, weights : array of float64 or None
        Target and weights.
    names : FeatureNames
        Names of the columns.
    center, scale : array of float64 or None
        Where the columns were standardised: ``X = (original - center) / scale``.
    target_center, target_scale : float
        The same for the target.
    limits : tuple of float
        The least and the greatest value that the target can have, infinite if it has no limit: a
        row at a limit stands for all beyond it.
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
        if dtype not in (None, np.float32, np.float64, "float32", "float64"):
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
        _check_finite(table, self.names, dtype or table.dtype)
        if dtype is not None:
            table = table.astype(dtype, copy=False)
        self.X: Any = table
        if not is_sparse(table):
            self.X = (table if dtype is None else as_columns(table)).view()
            self.X.flags.writeable = False
        self.y = None if y is None else _vector(y, "y", rows)
        self.weights = None if weights is None else _vector(weights, "weights", rows)
        if self.weights is not None and not ((self.weights >= 0).all() and self.weights.any()):
            raise ValueError("weights must not be negative, and not all zero")
        self.center: NDArray[np.float64] | None = None
        self.scale: NDArray[np.float64] | None = None
        self.target_center, self.target_scale = 0.0, 1.0
        self.limits = NONE

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    def standardize(
        self, *, gently: bool = False, order: NDArray[np.int64] | None = None, dtype: Any = None
    ) -> Dataset:
        """Return the data with columns of mean 0 and deviation 1; constant columns become 0.

        The returned dataset, the only copy of the table that is made, remembers `center` and
        `scale`.

        Parameters
        ----------
        gently : bool
            Change only what is out of proportion, so that zero, signs and ratios keep their
            meaning: the center is 0 unless the mean is more than 8 deviations away from it, and
            the scale a power of 2, which is 1 for deviations from about 1/6 to 6. Sparse columns
            can be treated gently only, and their center is 0 always.
        order : array, optional
            The rows that are returned, in this order; means and deviations are those of all rows.
        dtype : {float32, float64}, optional
            Type of the returned columns; by default that of these.
        """
        if self.sparse:
            if not gently:
                raise ValueError("a sparse table can be standardised gently only")
            return self._scaled_sparsely(order, dtype or self.X.dtype)
        center, scale = np.zeros(self.features), np.ones(self.features)
        shape = (self.rows if order is None else len(order), self.features)
        X = np.empty(shape, dtype or self.X.dtype, order="F")
        width = max(1, BLOCK // self.rows)
        for first in range(0, self.features, width):
            part = slice(first, first + width)
            table = self.X[:, part].astype(np.float64)
            unit = np.abs(table).max(axis=0)  # squares must not overflow or vanish
            unit[unit == 0] = 1.0
            mean, deviation = (table / unit).mean(axis=0), (table / unit).std(axis=0)
            varies = (deviation > 4 * np.finfo(self.X.dtype).eps) & (deviation * unit > 0)
            c, s = mean * unit, np.where(varies, deviation * unit, 1.0)
            if gently:
                c[varies & (np.abs(mean) <= FAR * deviation)] = 0.0
                s = _gentle(np.where(varies, deviation, 0.0), unit)
            table = np.where(varies, (table - c) / s, 0.0)
            X[:, part] = table if order is None else table[order]
            center[part], scale[part] = c, s
        if self.center is not None and self.scale is not None:
            center, scale = self.center + self.scale * center, self.scale * scale
        return self._standardized(X, center, scale, order)

    def _scaled_sparsely(self, order: NDArray[np.int64] | None, dtype: Any) -> Dataset:
        unit = np.abs(self.X).max(axis=0).toarray().ravel().astype(np.float64)
        unit[unit == 0] = 1.0
        counts = np.diff(self.X.indptr)
        entries = self.X.data / np.repeat(unit, counts)
        columns = np.repeat(np.arange(self.features), counts)
        mean = np.bincount(columns, entries, self.features) / self.rows
        square = np.bincount(columns, entries**2, self.features) / self.rows
        scale = _gentle(np.sqrt(np.maximum(square - mean**2, 0.0)), unit)
        X = (self.X if order is None else self.X[order]).astype(dtype, copy=order is None)
        X.data /= np.repeat(scale, np.diff(X.indptr)).astype(dtype)
        X.sort_indices()
        return self._standardized(X, np.zeros(self.features), scale, order)

    def _standardized(
        self,
        X: Any,
        center: NDArray[np.float64],
        scale: NDArray[np.float64],
        order: NDArray[np.int64] | None,
    ) -> Dataset:
        y, weights = (v if v is None or order is None else v[order] for v in (self.y, self.weights))
        result = self._with(X, y, weights)
        result.center, result.scale = center, scale
        return result

    @cached_property
    def single(self) -> Dataset:
        """The same data in float32."""
        if self.X.dtype == np.float32:
            return self
        return self._with(self.X.astype(np.float32), self.y, self.weights)

    @cached_property
    def units(self) -> _core.Units:
        """The features' units as the core wants them."""
        if self.scale is None or self.center is None:
            return _core.Units([], [])
        return _core.Units(self.scale.tolist(), (self.center != 0).tolist())

    @property
    def sparse(self) -> bool:
        """Whether X is a sparse matrix."""
        return is_sparse(self.X)

    @cached_property
    def table(self) -> _core.Table:
        """X as the core searches it; sparse columns are in float32."""
        if not self.sparse:
            return _core.Table(self.X)
        return _core.Table(
            self.rows,
            self.X.indptr.astype(np.int64),
            self.X.indices.astype(np.int32),
            self.X.data.astype(np.float32),
        )

    @cached_property
    def box(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least and the greatest value of each feature."""
        low, high = self.X.min(axis=0), self.X.max(axis=0)
        if self.sparse:
            low, high = low.toarray().ravel(), high.toarray().ravel()
        return low.astype(np.float64), high.astype(np.float64)

    def columns(self, which: slice | Sequence[int]) -> NDArray[np.float64]:
        """Return some columns in float64, dense."""
        some = self.X[:, which]
        return np.asarray(some.toarray() if self.sparse else some, np.float64, order="F")

    @property
    def observations(self) -> float:
        """How many observations the rows stand for."""
        return float(self.rows) if self.weights is None else observations(self.weights)

    @property
    def core_weights(self) -> NDArray[np.float64]:
        """The weights as the core takes them: none is an empty array."""
        return np.empty(0) if self.weights is None else self.weights

    def with_target(self, y: Any) -> Dataset:
        """Return the same features with another target, which is taken as it is."""
        result = self._with(self.X, _vector(y, "y", self.rows), self.weights)
        result.target_center, result.target_scale = 0.0, 1.0
        result.limits = NONE
        return result

    def with_limits(self, limits: Limits) -> Dataset:
        """Return the same data, the target between limits."""
        result = self._with(self.X, self.y, self.weights)
        result.limits = limits
        return result

    @cached_property
    def at_limits(self) -> tuple[float, float]:
        """The share of rows at a limit, and the nats it takes to tell at which one each row is."""
        if self.limits == NONE or self.y is None:
            return 0.0, 0.0
        at = np.stack([self.y <= self.limits[0], self.y >= self.limits[1]])
        low, high = np.average(at, axis=1, weights=self.weights).tolist()
        return low + high, float(entr([low, high, max(0.0, 1 - low - high)]).sum())

    @property
    def inside(self) -> Dataset:
        """The rows with the target between its limits."""
        if self.limits == NONE or self.y is None:
            return self
        inside = (self.y > self.limits[0]) & (self.y < self.limits[1])
        return self.subset(np.flatnonzero(inside)).with_limits(NONE)

    def with_weights(self, weights: NDArray[np.float64]) -> Dataset:
        """Return the same features and target with other weights, which are taken as they are."""
        return self._with(self.X, self.y, weights)

    def with_gentle_target(self) -> Dataset:
        """Return the same features with the target treated as `standardize` does columns gently."""
        assert self.y is not None
        target = Dataset(self.y[:, None], dtype=np.float64).standardize(gently=True)
        assert target.center is not None
        assert target.scale is not None
        result = self.with_target(target.X[:, 0])
        result.target_center, result.target_scale = target.center[0], target.scale[0]
        return result.with_limits(in_units(self.limits, target.center[0], target.scale[0]))

    def extended(self, X: Any, y: Any, weights: Any) -> Dataset:
        """Return the data, dense, with more rows at the end."""
        own = np.ones(self.rows) if self.weights is None else self.weights
        table = np.concatenate([self.X, np.asarray(X, self.X.dtype)])
        return self._with(
            np.asfortranarray(table),
            None if self.y is None else np.concatenate([self.y, np.clip(y, *self.limits)]),
            np.concatenate([own, weights]),
        )

    def select(self, features: Sequence[int]) -> Dataset:
        """Return some of the features."""
        X = self.X[:, features]
        result = self._with(X if self.sparse else np.asfortranarray(X), self.y, self.weights)
        result.names = FeatureNames([self.names[j] for j in features])
        if self.center is not None and self.scale is not None:
            result.center, result.scale = self.center[features], self.scale[features]
        return result

    def drawn(self, most: int) -> Dataset:
        """Return so many rows at most, drawn at random, always the same ones."""
        if self.rows <= most:
            return self
        return self.subset(np.sort(np.random.default_rng(0).permutation(self.rows)[:most]))

    def subset(self, rows: NDArray[np.int64]) -> Dataset:
        """Return some of the rows."""
        X = self.X[rows] if self.sparse else np.asfortranarray(self.X[rows])
        return self._with(X, *(v if v is None else v[rows] for v in (self.y, self.weights)))

    def _with(self, X: Any, y: Any, weights: Any) -> Dataset:
        result = object.__new__(Dataset)
        made = ("single", "table", "box", "at_limits", "units")
        result.__dict__.update({k: v for k, v in self.__dict__.items() if k not in made})
        if not is_sparse(X):
            X.flags.writeable = False
        result.X, result.y, result.weights = X, y, weights
        return result

    def __repr__(self) -> str:
        target = "" if self.y is None else ", with target"
        return f"<Dataset {self.rows} x {self.features}, {self.X.dtype}{target}>"


def _gentle(deviation: NDArray[np.float64], unit: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return powers of 2 for deviations (in units) that are out of proportion, 1 for others."""
    varies = deviation > 0
    power = np.round(np.log2(np.where(varies, deviation, 1.0)) + np.log2(unit))
    return np.where(varies & (np.abs(power) > 2), 2.0**power, 1.0)


def _numeric(X: Any) -> Any:
    """Return X as floats; a sparse matrix by columns."""
    check_numeric(X)
    if is_sparse(X):
        return as_sparse(X)
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        kinds = (getattr(d, "numpy_dtype", getattr(d, "subtype", d)) for d in X.dtypes)
        X = X.to_numpy(dtype=np.result_type(np.float32, *kinds), na_value=np.nan)
    return as_floats(X)


def _check_finite(table: Any, names: FeatureNames, dtype: Any) -> None:
    limit = np.finfo(dtype).max
    if is_sparse(table):
        bad = np.flatnonzero(~(np.isfinite(table.data) & (np.abs(table.data) <= limit)))
        if bad.size:
            column = int(np.searchsorted(table.indptr, bad[0], "right")) - 1
            _refuse(table.data[bad[0]], names[column], table.indices[bad[0]])
        return
    step = max(1, 10**6 // table.shape[0])
    for first in range(0, table.shape[1], step):  # in slices: bounded memory
        part = table[:, first : first + step]
        good = np.isfinite(part) & (np.abs(part) <= limit)
        if good.all():
            continue
        row, column = (int(i) for i in np.argwhere(~good.T)[0][::-1])
        _refuse(part[row, column], names[first + column], row)


def _refuse(value: Any, name: str, row: int) -> None:
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
