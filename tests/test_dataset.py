import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from symgrad import Dataset, Tree, _core

RNG = np.random.default_rng(0)
A = RNG.normal(size=(20, 3)) * [1, 1e3, 1e-3] + [0, 5, 1]


def damaged(row, column, value, **kwargs):
    X = A.copy()
    X[row, column] = value
    return Dataset(X, **kwargs)


def test_arrays():
    data = Dataset(A, A[:, 0], dtype=np.float64)
    assert (data.rows, data.features) == (20, 3)
    assert np.array_equal(data.X, A)
    assert np.array_equal(data.y, A[:, 0])
    assert data.names.names == ("x0", "x1", "x2")
    assert data.weights is None
    assert data.center is None
    assert repr(data) == "<Dataset 20 x 3, float64, with target>"
    assert repr(Dataset(A)) == "<Dataset 20 x 3, float32>"


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.dtype("f4"), "float64"])
def test_columns_are_column_major_and_read_only(dtype):
    X = Dataset(A, dtype=dtype).X
    assert X.dtype == dtype
    assert X.flags.f_contiguous
    assert np.allclose(X, A, rtol=1e-6)
    with pytest.raises(ValueError, match="read-only"):
        X[0, 0] = 0


@pytest.mark.parametrize("dtype", ["f2", int, "S", object])
def test_other_dtypes_are_refused(dtype):
    with pytest.raises(ValueError, match="dtype must be float32 or float64"):
        Dataset(A, dtype=dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_column_major_arrays_are_not_copied(dtype):
    X = np.asfortranarray(A.astype(dtype))
    assert np.shares_memory(Dataset(X, dtype=dtype).X, X)
    assert X.flags.writeable  # the caller's array is left alone
    assert not np.shares_memory(Dataset(A, dtype=np.float64).X, A)


def test_memory_maps_are_not_copied(tmp_path):
    X = np.memmap(tmp_path / "x", np.float32, "w+", shape=A.shape, order="F")
    X[:] = A
    X.flush()
    mapped = np.memmap(tmp_path / "x", np.float32, "r", shape=A.shape, order="F")
    data = Dataset(mapped)
    assert np.shares_memory(data.X, mapped)
    assert np.array_equal(data.X, X)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (np.nan, "column 'x2' contains NaN in row 7"),
        (np.inf, "column 'x2' contains infinity in row 7"),
        (-np.inf, "column 'x2' contains infinity in row 7"),
        (1e39, r"column 'x2' holds 1e\+39 in row 7: too large for float32"),
        (-1e300, r"column 'x2' holds -1e\+300 in row 7: too large for float32"),
    ],
)
def test_bad_cells_are_named(value, reason):
    with pytest.raises(ValueError, match=reason):
        damaged(7, 2, value)
    with pytest.raises(ValueError, match=reason.replace("x2", "gene 3")):
        damaged(7, 2, value, feature_names=["a", "b", "gene 3"])


def test_what_is_too_large_for_float32_fits_into_float64():
    assert damaged(7, 2, 1e39, dtype=np.float64).X[7, 2] == 1e39


@given(st.integers(0, 19), st.integers(0, 2), st.integers(0, 19), st.integers(0, 2))
def test_the_first_bad_column_is_named(row, column, row2, column2):
    X = A.copy()
    X[row, column] = X[row2, column2] = np.nan
    first = min((column, row), (column2, row2))
    with pytest.raises(ValueError, match=f"column 'x{first[0]}' contains NaN in row {first[1]}$"):
        Dataset(X)


def test_bad_cells_are_found_in_wide_tables():
    X = np.zeros((1200, 2000), np.float32, order="F")  # several slices of the check
    X[1199, 1999] = np.nan
    with pytest.raises(ValueError, match="column 'x1999' contains NaN in row 1199"):
        Dataset(X)


def test_data_frames():
    frame = pd.DataFrame({"b c": [1, 2], 7: [0.5, np.float32(1)], "flag": [True, False]})
    data = Dataset(frame)
    assert data.names.names == ("b c", "7", "flag")
    assert data.X.tolist() == [[1, 0.5, 1], [2, 1, 0]]


@pytest.mark.parametrize(
    "kind", ["Int64", "Float32", "boolean", "Sparse[float64]", "int8", "float16"]
)
def test_pandas_own_types(kind):
    frame = pd.DataFrame({"a": pd.array([0, 1, 1]).astype(kind), "b": [1.0, 2.0, 3.0]})
    assert Dataset(frame).X.tolist() == [[0, 1], [1, 2], [1, 3]]


def test_missing_values_of_pandas_are_named():
    frame = pd.DataFrame({"a": pd.array([1, 2, None], "Int64"), "b": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match="column 'a' contains NaN in row 2"):
        Dataset(frame)


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        ([1, "n/a", 2], "column 'b' is not numeric: row 1 holds 'n/a'"),
        (["x", "y", "z"], "column 'b' is not numeric: row 0 holds 'x'"),
        ([1, 2, None], None),  # pandas makes NaN of it
        (pd.to_datetime(["2020-01-01"] * 3), "column 'b' is not numeric: row 0 holds Timestamp"),
        (pd.Categorical([1, 2, 1]), "column 'b' is not numeric: its type is category"),
        ([1j, 2j, 3j], "column 'b' is not numeric: row 0 holds"),
        ([[1], [2], [3]], r"column 'b' is not numeric: row 0 holds \[1\]"),
    ],
    ids=str,
)
def test_columns_that_are_not_numeric_are_named(column, reason):
    with pytest.raises(ValueError, match=reason or "column 'b' contains NaN in row 2"):
        Dataset(pd.DataFrame({"a": [1, 2, 3], "b": column}))


def test_object_arrays():
    assert Dataset(np.array([[1, 2.5]], object)).X.tolist() == [[1, 2.5]]
    with pytest.raises(ValueError, match="row 0, column 1 holds 'n/a'"):
        Dataset(np.array([[1, "n/a"]], object))


def test_names():
    assert Dataset(A, feature_names=["a", "b", ""]).names.names == ("a", "b", "")
    with pytest.raises(ValueError, match="feature name 'a' occurs more than once"):
        Dataset(A, feature_names=["a", "b", "a"])
    with pytest.raises(ValueError, match="feature name 'a' occurs more than once"):
        Dataset(pd.DataFrame(A, columns=["a", "b", "a"]))
    with pytest.raises(ValueError, match="feature name '1' occurs more than once"):
        Dataset(pd.DataFrame(A, columns=["1", "b", 1]))
    with pytest.raises(ValueError, match="X has 3 columns, but there are 2 names"):
        Dataset(A, feature_names=["a", "b"])


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_empty_tables(shape):
    with pytest.raises(ValueError, match="at least one row and one feature"):
        Dataset(np.empty(shape))


@pytest.mark.parametrize("which", ["y", "weights"])
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda v: v[:-1], "{} has 19 values, but X has 20 rows"),
        (lambda v: np.where(np.arange(20) == 4, np.nan, v), "{} contains NaN in row 4"),
        (lambda v: np.where(np.arange(20) == 4, np.inf, v), "{} contains infinity in row 4"),
        (lambda v: v.astype(str), "{} must be a vector of numbers"),
        (lambda v: v.astype(complex), "{} must be a vector of numbers"),
        (
            lambda v: np.stack([v, v], axis=1),
            r"{} must be a vector of numbers, got shape \(20, 2\)",
        ),
        (lambda v: [*v[:4], "a", *v[5:]], "{} must"),
        (lambda v: np.array([*v[:4], "a", *v[5:]], object), "{} must .* row 4 holds 'a'"),
        (lambda v: 1.0, "{} must be a vector of numbers"),
    ],
)
def test_bad_vectors(which, change, reason):
    with pytest.raises(ValueError, match=reason.format(which)):
        Dataset(A, **{which: change(np.abs(A[:, 0]))})


def test_vectors_are_copied_and_read_only():
    y = A[:, 0].copy()
    data = Dataset(A, y)
    y[0] = 100
    assert data.y[0] == A[0, 0]
    with pytest.raises(ValueError, match="read-only"):
        data.y[0] = 0


@pytest.mark.parametrize(
    "y",
    [list(range(20)), pd.Series(range(20)), np.arange(20)[:, None], np.arange(20, dtype=np.int8)],
)
def test_any_vector_will_do(y):
    assert Dataset(A, y).y.tolist() == list(range(20))


@pytest.mark.parametrize("weights", [np.zeros(20), [-1.0] + [1.0] * 19])
def test_weights_are_not_negative_and_not_all_zero(weights):
    with pytest.raises(ValueError, match="weights must not be negative, and not all zero"):
        Dataset(A, weights=weights)


def test_some_weights_may_be_zero():
    assert Dataset(A, weights=[0.0] * 19 + [2.0]).weights.sum() == 2


columns = st.lists(st.floats(-1e6, 1e6, width=32), min_size=2, max_size=8)


@given(columns, st.sampled_from([1.0, 1e-30, 1e30]), st.sampled_from([np.float32, np.float64]))
def test_standardizing_can_be_undone(column, scale, dtype):
    X = np.array(column)[:, None] * scale
    data = Dataset(X, dtype=dtype)
    standard = data.standardize()
    back = standard.X.astype(float) * standard.scale + standard.center
    unit = np.abs(X).max()
    assert np.allclose(back, data.X, rtol=0, atol=1e-5 * unit)
    assert (standard.scale > 0).all()
    if np.ptp(data.X) > 1e-3 * unit:  # too small a number is 0 in float32
        assert abs(standard.X.mean()) < 1e-4
        assert abs(standard.X.std() - 1) < 1e-4


def test_standardizing_returns_a_new_read_only_dataset():
    data = Dataset(A, A[:, 0], weights=np.ones(20))
    standard = data.standardize()
    assert data.center is None
    assert np.allclose(data.X, A)
    assert standard.y is data.y
    assert standard.weights is data.weights
    assert standard.names == data.names
    assert standard.X.flags.f_contiguous
    assert not standard.X.flags.writeable


def test_standardizing_twice_remembers_the_original():
    twice = Dataset(A, dtype=np.float64).standardize().standardize()
    assert np.allclose(twice.X * twice.scale + twice.center, A)


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, -7e5, 1e30, 1e-30])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_constant_columns_become_zero(value, dtype):
    X = np.full((1000, 1), value)
    standard = Dataset(X, dtype=dtype).standardize()
    assert (standard.X == 0).all()
    assert standard.scale[0] == 1
    assert np.allclose(standard.center, value)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_columns_of_any_size_are_standardized(size):
    X = np.array([[1.0], [2.0], [3.0]]) * size
    standard = Dataset(X, dtype=np.float64).standardize()
    assert np.allclose(standard.X[:, 0], [-(1.5**0.5), 0, 1.5**0.5])
    assert np.allclose(standard.X * standard.scale + standard.center, X, rtol=1e-12)


def test_gentle_standardization_keeps_zero_and_sane_units():
    rng = np.random.default_rng(0)
    base = rng.uniform(1, 5, 200)
    X = np.column_stack([base, 1e6 * base, 1e-9 * base, 2000 + base, np.full(200, 7.0)])
    gentle = Dataset(X, dtype=np.float64).standardize(gently=True)
    np.testing.assert_array_equal(gentle.X[:, 0], base)
    np.testing.assert_array_equal(gentle.center[:3], 0)
    assert (np.log2(gentle.scale) % 1 == 0).all()
    spread = gentle.X[:, :4].std(axis=0)
    assert (spread > 0.25).all()
    assert (spread < 4).all()
    assert abs(gentle.X[:, 3].mean()) < 1e-9
    np.testing.assert_array_equal(gentle.X[:, 4], 0)
    np.testing.assert_allclose(gentle.X * gentle.scale + gentle.center, X, rtol=1e-12)


def test_other_orders_targets_and_types():
    X = np.arange(12.0).reshape(6, 2)
    data = Dataset(X, np.arange(6.0), weights=np.arange(1.0, 7.0), dtype=np.float64)
    mixed = data.standardize(gently=True, order=np.array([3, 1, 0, 5, 4, 2]))
    order = mixed.y.astype(int)
    assert sorted(order) == list(range(6))
    assert order.tolist() != list(range(6))
    np.testing.assert_array_equal(mixed.X, X[order])
    np.testing.assert_array_equal(mixed.weights, order + 1)
    few = data.standardize(order=np.array([5, 0]))
    np.testing.assert_array_equal(few.X, data.standardize().X[[5, 0]])
    np.testing.assert_array_equal(few.y, [5, 0])
    assert data.single.X.dtype == np.float32
    assert data.single is data.single
    assert data.single.single is data.single
    np.testing.assert_array_equal(data.with_target(-data.y).y, -data.y)
    part = data.standardize().select([1])
    assert part.names.names == ("x1",)
    np.testing.assert_allclose(part.X * part.scale + part.center, X[:, [1]])
    with pytest.raises(ValueError, match="y"):
        data.with_target([1.0])


@pytest.mark.parametrize("form", [np.asarray, sparse.csc_matrix])
def test_rows_are_drawn_at_random_but_always_the_same(form):
    X = np.arange(1.0, 201.0).reshape(100, 2)
    data = Dataset(form(X), np.arange(100.0), weights=np.arange(1.0, 101.0), dtype=np.float64)
    assert data.drawn(100) is data
    few = data.drawn(10)
    rows = few.y.astype(int)
    assert few.rows == len(set(rows)) == 10
    assert np.ptp(rows) > 20
    np.testing.assert_array_equal(few.columns([0, 1]), X[rows])
    np.testing.assert_array_equal(few.weights, rows + 1)
    np.testing.assert_array_equal(data.drawn(10).y, few.y)
    np.testing.assert_array_equal(few.box[0], X[rows].min(axis=0))


def test_sparse_tables_stay_sparse():
    rng = np.random.default_rng(0)
    dense = np.where(rng.uniform(size=(60, 8)) < 0.3, rng.normal(size=(60, 8)), 0.0)
    dense[:, 3] *= 1e5
    y = rng.normal(size=60)
    for kind in (sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix):
        data = Dataset(kind(dense), y, dtype=np.float64)
        assert data.sparse
        order = rng.permutation(60)
        mixed = data.standardize(gently=True, order=order, dtype=np.float32)
        assert mixed.X.dtype == np.float32
        np.testing.assert_allclose(
            mixed.X.toarray() * mixed.scale, dense[order], rtol=1e-6, atol=1e-12
        )
        np.testing.assert_array_equal(mixed.y, y[order])
        few = data.standardize(gently=True, order=order[:20])
        np.testing.assert_array_equal(few.scale, mixed.scale)
        np.testing.assert_allclose(few.X.toarray() * few.scale, dense[order[:20]], rtol=1e-12)
        assert mixed.scale[3] > 1e3
        np.testing.assert_array_equal(data.box[0], dense.min(axis=0))
        np.testing.assert_array_equal(data.box[1], dense.max(axis=0))
        tree = Tree.parse("x1*x3 + x7")
        np.testing.assert_allclose(tree.evaluate(data.X), tree.evaluate(dense))
    with pytest.raises(ValueError, match="gently"):
        data.standardize()
    dense[4, 2] = np.nan
    with pytest.raises(ValueError, match="'x2' contains NaN in row 4"):
        Dataset(sparse.csr_matrix(dense))


def test_the_core_refuses_broken_sparse_tables():
    first, row, value = np.array([0, 2, 3]), np.array([0, 2, 1], np.int32), np.ones(3, np.float32)
    _core.Table(3, first, row, value)
    for broken in (
        (3, first[:0], row, value), (3, np.array([0, 3, 2]), row, value), (2, first, row, value),
        (3, first, row[[1, 0, 2]], value), (3, first, row, value[:2]),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"sparse|ascend"):
            _core.Table(*broken)


def test_tables_are_left_as_they_are_without_a_type():
    table = np.arange(12, dtype=np.float32).reshape(6, 2)
    data = Dataset(table, dtype=None)
    assert np.shares_memory(data.X, table)
    assert Tree.parse("x0 + x1").evaluate(data.X, dtype=np.float64).dtype == np.float64


def test_columns_are_dense_and_exact():
    X = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 0.1]])
    for table in (X, sparse.csc_matrix(X), X.astype(np.float32)):
        data = Dataset(table, dtype=None)
        for which, wanted in ((slice(1, 3), X[:, 1:]), ([2, 0], X[:, [2, 0]])):
            got = data.columns(which)
            assert got.dtype == np.float64
            np.testing.assert_allclose(got, wanted, rtol=1e-7)
