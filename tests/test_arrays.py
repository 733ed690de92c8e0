import os

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from symgrad.arrays import as_columns, as_floats, frozen, threads

A = np.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_are_passed_on(dtype):
    array = A.astype(dtype)
    assert as_floats(array) is array


@pytest.mark.parametrize(
    ("dtype", "becomes"),
    [
        (np.float16, np.float32),
        (np.int8, np.float64),
        (np.uint64, np.float64),
        (bool, np.float64),
        (np.longdouble, np.float64),
        (">f8", np.float64),
        (">f4", np.float64),
        (object, np.float64),
    ],
)
def test_other_numbers_are_converted(dtype, becomes):
    array = A.astype(dtype)
    floats = as_floats(array)
    assert floats.dtype == becomes
    assert floats.dtype.isnative
    assert np.array_equal(floats, array.astype(float))


def test_lists_and_frames_are_arrays():
    assert np.array_equal(as_floats([[1, 2], [3, 4.5]]), [[1, 2], [3, 4.5]])
    assert np.array_equal(as_floats(pd.DataFrame(A)), A)


@pytest.mark.parametrize(
    ("array", "reason"),
    [
        (np.arange(3.0), "must have 2 dimensions .*, got 1"),
        (np.zeros((1, 1, 1)), "got 3"),
        (3.0, "got 0"),
        (A.astype(complex), "complex"),
        (A.astype(str), "must hold numbers, got an array of <U"),
        (A.astype("M8[s]"), "must hold numbers, got an array of datetime64"),
        (np.array([[1.0, "a"]], object), "row 0, column 1 holds 'a'"),
        (np.array([[1.0], [[]]], object), r"row 1, column 0 holds \[\]"),
        (np.array([[1.0], [10**400]], object), "row 1, column 0 holds 1000"),
        (scipy.sparse.csr_matrix(A), r"sparse matrix; pass X.toarray\(\)"),
    ],
    ids=str,
)
def test_what_is_no_table_of_numbers_is_refused(array, reason):
    with pytest.raises(ValueError, match=reason) as caught:
        as_floats(array)
    assert len(str(caught.value)) < 200


def test_errors_carry_the_arguments_name():
    with pytest.raises(ValueError, match="Z must have"):
        as_floats([1.0], name="Z")


def test_columns_are_copied_only_if_they_must():
    column_major = np.asfortranarray(A)
    assert as_columns(column_major) is column_major
    assert as_columns(A).flags.f_contiguous
    assert np.array_equal(as_columns(A[::-1]), A[::-1])


def test_frozen_is_a_copy_that_stays():
    array = np.array([1, 2], np.int32)
    copy = frozen(array, np.int32, "code")
    array[0] = 7
    assert copy.tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        copy[0] = 0


@pytest.mark.parametrize("values", [[0.5], [2**31], [-(2**40)], [np.nan], [np.inf], [1e300]])
def test_frozen_never_changes_a_number(values):
    with pytest.raises(ValueError, match="code must hold int32 values"):
        frozen(values, np.int32, "code")


@pytest.mark.parametrize("values", [["1"], [True], [1j], [None], [[1]], 1, [2**100]])
def test_frozen_takes_vectors_of_numbers_only(values):
    with pytest.raises(ValueError, match="offset must be a one-dimensional array of numbers"):
        frozen(values, np.int64, "offset")


def test_threads(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    cores = threads(None)
    assert 1 <= cores <= os.cpu_count()
    assert threads(1) == 1
    assert threads(np.int64(7)) == 7
    assert threads(-1) == cores
    assert threads(-2) == max(1, cores - 1)
    assert threads(-1000) == 1


@pytest.mark.parametrize(
    ("limit", "expected"), [("1", 1), ("0", 1), ("100000", None), ("", None), ("x", None)]
)
def test_the_environment_bounds_the_default(monkeypatch, limit, expected):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    cores = threads(None)
    monkeypatch.setenv("OMP_NUM_THREADS", limit)
    assert threads(None) == (expected or cores)
    assert threads(3) == 3


@pytest.mark.parametrize("n_jobs", [0, True, 1.0, "2", [1]])
def test_bad_numbers_of_threads(n_jobs):
    with pytest.raises(ValueError, match="n_jobs must"):
        threads(n_jobs)
