"""Arrays at the door of the core: column-major floats, and how many threads."""

from __future__ import annotations

import os
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray


def threads(n_jobs: int | None) -> int:
    """Return a number of threads: None for all this process may use, -1 likewise.

    ``OMP_NUM_THREADS``, which joblib sets in its workers, bounds None.
    """
    if n_jobs is not None and (
        isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer)
    ):
        raise ValueError(f"n_jobs must be None or an integer, got {n_jobs!r}")
    if n_jobs is None or n_jobs < 0:
        try:
            cores = len(os.sched_getaffinity(0))
        except AttributeError:  # not on macOS and Windows
            cores = os.cpu_count() or 1
        if n_jobs is not None:
            return max(1, cores + 1 + int(n_jobs))
        limit = os.environ.get("OMP_NUM_THREADS", "")
        return max(1, min(cores, int(limit))) if limit.isdecimal() else cores
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0; use None for all cores")
    return int(n_jobs)


def is_sparse(X: Any) -> bool:
    """Whether X is one of scipy's sparse matrices or arrays."""
    return hasattr(X, "tocsc")


def as_sparse(X: Any) -> Any:
    """Return a sparse matrix by columns, in floats, each entry once; X itself where it is so."""
    columns = X.tocsc()
    if columns.dtype not in (np.float32, np.float64):
        columns = columns.astype(np.float64)
    if not columns.has_canonical_format:
        columns = columns.copy() if columns is X else columns
        columns.sum_duplicates()
    return columns


def as_floats(X: Any, name: str = "X") -> NDArray[Any]:
    """Return a 2-D float32 or float64 array: X itself where it is one, else converted."""
    if is_sparse(X):
        raise ValueError(f"{name} is a sparse matrix; pass {name}.toarray()")
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"{name} must have 2 dimensions (rows, features), got {array.ndim}")
    if array.dtype in (np.float32, np.float64) and array.dtype.isnative:
        return array
    if array.dtype.kind == "c":
        raise ValueError(f"{name} holds complex numbers; Complex data not supported")
    if array.dtype.kind not in "biufO":
        raise ValueError(f"{name} must hold numbers, got an array of {array.dtype}")
    return converted(array, np.float32 if array.dtype == np.float16 else np.float64, name)


def converted(array: NDArray[Any], dtype: Any, name: str) -> NDArray[Any]:
    """Return a copy of another type; the first entry that is no number is named."""
    try:
        return array.astype(dtype)
    except (TypeError, ValueError, OverflowError):
        for at, cell in np.ndenumerate(array):
            try:
                float(cell)
            except (TypeError, ValueError, OverflowError):
                where = ", column ".join(str(i) for i in at)
                raise ValueError(
                    f"{name} must hold numbers only, but row {where} holds {cell!r:.60}"
                ) from None
        raise


def frozen(array: Any, dtype: Any, name: str) -> NDArray[Any]:
    """Return a read-only copy as one-dimensional numbers of a type that holds them exactly."""
    given = np.asarray(array)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iuf"):
        raise ValueError(f"{name} must be a one-dimensional array of numbers")
    with np.errstate(invalid="ignore", over="ignore"):
        copy = np.array(given, dtype=dtype)
    exact = copy.dtype == given.dtype
    if not exact and not np.array_equal(copy, given, equal_nan=copy.dtype.kind == "f"):
        raise ValueError(f"{name} must hold {np.dtype(dtype).name} values")
    copy.flags.writeable = False
    return copy


def as_columns(X: NDArray[Any]) -> NDArray[Any]:
    """Return the array in column-major order; copied only if it is not."""
    return np.asfortranarray(X)


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


def _first_text(column: Any) -> str:
    """Return where a column that is not numeric goes wrong."""
    for row, cell in enumerate(column):
        if not isinstance(cell, Real):
            return f"row {row} holds {cell!r:.60}"
    return f"its type is {column.dtype}"
