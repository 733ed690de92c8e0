"""Forests as values: construction, selection and data at the door; not their numbers."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_primitives, name_lists, trees

from symgrad import Forest, PrimitiveSet
from symgrad.language.primitive import CONSTANT
from symgrad.language.table import CODE_OF

NAMES = ["a", "b", "c"]
FORMULAS = ["a - b", "c", "2.5", "sin(a)*c", "b/2 + a", "a^2"]
ADD, SIN = CODE_OF["+"], CODE_OF["sin"]
X = np.random.default_rng(0).normal(size=(7, 3))


@pytest.fixture
def forest():
    return Forest.from_strings(FORMULAS, NAMES)


@st.composite
def tree_lists(draw):
    chosen, names = draw(any_primitives), draw(name_lists)
    one = trees(primitives=st.just(chosen), names=st.just(names), steps=8)
    return draw(st.lists(one, min_size=1, max_size=6))


def same(one, two):
    return (
        np.array_equal(one.code, two.code)
        and np.array_equal(one.offset, two.offset)
        and one.value.tobytes() == two.value.tobytes()
        and one.primitives == two.primitives
        and one.names == two.names
    )


@given(tree_lists())
def test_a_forest_is_the_list_of_its_trees(some):
    forest = Forest.of(some)
    assert len(forest) == len(some)
    assert list(forest) == some
    assert [forest[i] for i in range(-len(some), 0)] == some
    assert forest.sizes.tolist() == [t.size for t in some]
    assert set(forest.feature_indices) == {j for t in some for j in t.feature_indices}
    assert forest.feature_counts.tolist() == [len(t.feature_indices) for t in some]
    assert all(np.array_equal(f.code, t.code) for f, t in zip(forest, some, strict=True))


@given(tree_lists())
def test_pickling_and_copying(some):
    forest = Forest.of(some)
    for other in (pickle.loads(pickle.dumps(forest)), copy.deepcopy(forest), copy.copy(forest)):
        assert same(other, forest)
        assert other == forest
        assert not other.code.flags.writeable


@given(tree_lists(), st.data())
def test_selection_is_that_of_arrays(some, data):
    forest, n = Forest.of(some), len(some)
    index = data.draw(st.lists(st.integers(-n, n - 1), min_size=1, max_size=10))
    assert same(forest[np.array(index)], Forest.of([some[i] for i in index]))
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    if mask.any():
        assert same(
            forest[mask], Forest.of([t for t, keep in zip(some, mask, strict=True) if keep])
        )
    cut = data.draw(st.slices(n))
    if some[cut]:
        assert same(forest[cut], Forest.of(some[cut]))


@given(tree_lists(), st.data())
def test_concatenation(some, data):
    forest = Forest.of(some)
    at = data.draw(st.integers(0, len(some)))
    if 0 < at < len(some):
        assert same(forest[:at] + forest[at:], forest)
    assert same(forest + forest, Forest.of(some + some))


def test_concatenation_wants_the_same_language(forest):
    for other in (
        Forest.from_strings(["a"], ["a", "b"]),
        Forest.from_strings(["a"], NAMES, PrimitiveSet.paper()),
    ):
        with pytest.raises(ValueError, match="different primitives or feature names"):
            forest + other
        with pytest.raises(ValueError, match="must share primitives and feature names"):
            Forest.of([forest[0], other[0]])
    with pytest.raises(TypeError, match="unsupported operand"):
        forest + 1


def test_selection_errors(forest):
    for index in (6, -7, [6], np.array([0, 99])):
        with pytest.raises(IndexError, match="out of bounds"):
            forest[index]
    with pytest.raises(IndexError, match="boolean"):
        forest[np.array([True, False])]
    for index in (None, np.array([[0, 1], [2, 3]]), np.array([[0], [1]]), True):
        with pytest.raises(IndexError, match="one dimension"):
            forest[index]
    for index in (1.5, "a", (0, 1)):
        with pytest.raises(IndexError):
            forest[index]
    for nothing in (slice(3, 3), np.zeros(6, bool), np.array([], int)):
        with pytest.raises(ValueError, match="at least one tree"):
            forest[nothing]


def test_equality(forest):
    assert forest == Forest.from_strings(["a - b", "c", "2.5", "c*sin(a)", "a + b/2", "a^2"], NAMES)
    assert forest != forest[:3]
    assert forest != forest[::-1]
    assert forest != list(forest)
    with pytest.raises(TypeError, match="unhashable"):
        hash(forest)


def test_repr(forest):
    assert repr(forest) == f"<Forest of 6 trees, {len(forest.code)} nodes>"


def test_arrays_cannot_be_changed(forest):
    for array in (forest.code, forest.value, forest.offset):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_the_callers_arrays_are_copied():
    code, value, offset = np.array([-1], np.int32), np.zeros(1), np.array([0, 1])
    forest = Forest(code, value, offset)
    code[0] = -2
    assert forest.code[0] == -1
    assert forest.evaluate(X).tolist() == [X[:, 0].tolist()]


def test_from_strings_errors():
    with pytest.raises(ValueError, match="at least one tree"):
        Forest.from_strings([])
    with pytest.raises(TypeError, match="got one string"):
        Forest.from_strings("a + b")
    with pytest.raises(ValueError, match="unknown feature 'd'"):
        Forest.from_strings(["a", "d"], NAMES)
    with pytest.raises(TypeError, match="must be a string, got int"):
        Forest.from_strings([1], NAMES)
    with pytest.raises(ValueError, match="occurs more than once"):
        Forest.from_strings(["a"], ["a", "a"])


@pytest.mark.parametrize(
    ("code", "value", "offset", "reason"),
    [
        ([], [], [0], "at least one tree"),
        ([], [], [], "at least one tree"),
        ([-1], [0], [0, 0, 1], "increasing"),
        ([-1, -1], [0, 0], [0, 1], "span"),
        ([-1], [0], [0, 2], "span"),
        ([-1], [0], [-1, 1], "span"),
        ([-1, -1, -1], [0] * 3, [0, 2, 1, 3], "increasing"),
        ([-1], [0, 0], [0, 1], "differ in length"),
        ([-1, ADD], [0, 0], [0, 2], "lacks arguments"),
        ([-1, -2], [0, 0], [0, 2], "instead of one"),
        ([-1, -2, ADD], [0] * 3, [0, 1, 3], "lacks arguments"),
        ([-1, len(CODE_OF)], [0, 0], [0, 2], f"unknown code {len(CODE_OF)}"),
        ([-1, 64], [0, 0], [0, 2], "unknown code 64"),
        ([-1, 2**31 - 1], [0, 0], [0, 2], "unknown code"),
        ([~3], [0], [0, 1], "feature 3 is out of range: there are 3 names"),
        ([CONSTANT], [np.nan], [0, 1], "constants must be finite"),
        ([CONSTANT], [np.inf], [0, 1], "constants must be finite"),
        ([-1], [1.0], [0, 1], "value must be 0"),
        ([-1.5], [0], [0, 1], "code must hold int32"),
        ([2**40], [0], [0, 1], "code must hold int32"),
        ([-1], [0], [0, 0.5], "offset must hold int64"),
        ([[-1]], [0], [0, 1], "code must be a one-dimensional"),
        (["-1"], [0], [0, 1], "code must be a one-dimensional array of numbers"),
        ([-1], [0], [[0, 1]], "offset must be a one-dimensional"),
        ([-1], [None], [0, 1], "value must be a one-dimensional array of numbers"),
    ],
)
def test_corrupt_arrays_are_refused(code, value, offset, reason):
    with pytest.raises(ValueError, match=reason):
        Forest(code, value, offset, None, NAMES)


def test_functions_outside_the_set_are_refused():
    with pytest.raises(ValueError, match=f"code {SIN} is no function of this primitive set"):
        Forest([-1, SIN], [0, 0], [0, 2], PrimitiveSet(["+"]))


@given(tree_lists(), st.data())
def test_no_damage_goes_unnoticed(some, data):
    """Whatever is done to the codes, all trees are valid or it is a ValueError."""
    forest = Forest.of(some)
    code = forest.code.copy()
    at = data.draw(st.integers(0, len(code) - 1))
    code[at] = data.draw(st.integers(-(2**31), 2**31 - 1) | st.integers(-3, 70))
    try:
        other = Forest(code, np.zeros(len(code)), forest.offset, forest.primitives, forest.names)
    except ValueError:
        return
    assert all(tree.render() for tree in other)
    assert other.evaluate(np.ones((1, len(forest.names.names)))).shape == (len(some), 1)


def memory_map(array, path):
    mapped = np.memmap(path, array.dtype, "w+", shape=array.shape)
    mapped[:] = array
    mapped.flush()
    return np.memmap(path, array.dtype, "r", shape=array.shape)


def unaligned(array):
    raw = np.zeros(array.nbytes + 1, np.uint8)[1:]
    view = raw.view(array.dtype).reshape(array.shape, order="F")
    view[:] = array
    return view


LAYOUTS = {
    "row-major": lambda A, _: np.ascontiguousarray(A),
    "column-major": lambda A, _: np.asfortranarray(A),
    "every other": lambda A, _: np.repeat(np.repeat(A, 2, axis=0), 2, axis=1)[::2, ::2],
    "column-major rows": lambda A, _: np.asfortranarray(np.repeat(A, 2, axis=0))[::2],
    "reversed": lambda A, _: np.ascontiguousarray(A[::-1, ::-1])[::-1, ::-1],
    "transposed": lambda A, _: np.ascontiguousarray(A.T).T,
    "memory-mapped": lambda A, tmp: memory_map(A, tmp / "x"),
    "unaligned": lambda A, _: unaligned(A),
    "read-only": lambda A, _: np.frombuffer(A.tobytes(), A.dtype).reshape(A.shape),
    "lists": lambda A, _: A.tolist(),
    "subclass": lambda A, _: np.asmatrix(A),
    "frame": lambda A, _: pd.DataFrame(A, columns=NAMES),
    "frame in another order": lambda A, _: pd.DataFrame(A, columns=NAMES)[["c", "a", "b"]],
    "frame with more columns": lambda A, _: pd.DataFrame(A, columns=NAMES).assign(z="text")[
        ["z", "b", "a", "c"]
    ],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_the_layout_of_the_data_does_not_matter(forest, layout, tmp_path):
    got = forest.evaluate(LAYOUTS[layout](X, tmp_path))
    assert got.dtype == np.float64
    assert np.array_equal(got, forest.evaluate(np.asfortranarray(X)))


@pytest.mark.parametrize(
    "layout", ["row-major", "column-major", "every other", "unaligned", "frame"]
)
def test_float32_stays_float32(forest, layout, tmp_path):
    got = forest.evaluate(LAYOUTS[layout](X.astype(np.float32), tmp_path))
    assert got.dtype == np.float32
    assert np.allclose(got, forest.evaluate(X), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("dtype", "becomes"),
    [
        (np.int8, np.float64),
        (np.int64, np.float64),
        (np.uint16, np.float64),
        (bool, np.float64),
        (object, np.float64),
        (">f8", np.float64),
        (np.float16, np.float32),
    ],
)
def test_other_numbers_are_taken(forest, dtype, becomes):
    table = np.array([[1, 0, 1], [0, 1, 1]])
    got = forest.evaluate(table.astype(dtype))
    assert got.dtype == becomes
    assert np.allclose(got, forest.evaluate(table.astype(float)), rtol=1e-6)


def test_frames_with_mixed_types(forest):
    frame = pd.DataFrame({"c": [True, False], "b": [1, 2], "a": np.array([0.5, 1.5], np.float32)})
    expected = forest.evaluate(np.array([[0.5, 1, 1], [1.5, 2, 0]]))
    assert np.allclose(forest.evaluate(frame), expected)


def test_frames_with_other_labels_than_strings():
    frame = pd.DataFrame(X)  # columns 0, 1, 2, which Dataset calls "0", "1", "2"
    forest = Forest.from_strings(["`2` - `0`"], ["0", "1", "2"])
    assert np.array_equal(forest.evaluate(frame)[0], X[:, 2] - X[:, 0])


def test_frames_without_names_are_taken_by_position():
    forest = Forest.from_strings(["x2 - x0"])
    assert np.array_equal(forest.evaluate(pd.DataFrame(X, columns=NAMES))[0], X[:, 2] - X[:, 0])


def test_constants_need_no_columns():
    forest = Forest.from_strings(["2 + 1"], NAMES)
    assert forest.evaluate(X).tolist() == [[3.0] * 7]
    assert forest.evaluate(pd.DataFrame({"other": range(7)})).tolist() == [[3.0] * 7]


def test_of_a_wide_frame_only_the_used_columns_are_read(forest):
    frame = pd.DataFrame({"a": [1.0], "b": ["text"], "c": [2.0]})
    assert forest[[1, 3]].evaluate(frame).shape == (2, 1)
    with pytest.raises(ValueError, match="must hold numbers"):
        forest.evaluate(frame)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (X[:, :2], "X has 2 columns, but the forest has 3 features"),
        (np.hstack([X, X]), "X has 6 columns, but the forest has 3 features"),
        (X[0], "must have 2 dimensions"),
        (X[:0], "X has no rows"),
        (np.asfortranarray(X[:0]), "X has no rows"),
        (pd.DataFrame(X[:0], columns=NAMES), "X has no rows"),
        (pd.DataFrame(X[:, :2], columns=["a", "c"]), "X has no column 'b'"),
        (pd.DataFrame(X, columns=["a", "b", "b"]), "X has more than one column 'b'"),
        (pd.DataFrame(np.hstack([X, X]), columns=NAMES * 2), "X has more than one column 'a'"),
        (X.astype(str), "must hold numbers, got an array of <U"),
        (X.astype(complex), "complex"),
        (np.array([["a", 1, 2]], object), "row 0, column 0 holds 'a'"),
        (None, "must have 2 dimensions"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_data_that_do_not_fit(forest, data, reason):
    for method in (forest.evaluate, forest.gradient):
        with pytest.raises(ValueError, match=reason):
            method(data)


@pytest.mark.parametrize("data", [X, np.asfortranarray(X), pd.DataFrame(X)])
def test_without_names_there_must_be_enough_columns(data):
    with pytest.raises(ValueError, match="X has 3 columns, but the forest uses feature 3"):
        Forest.from_strings(["x0 + x3"]).evaluate(data)
    assert Forest.from_strings(["x1"]).evaluate(data).shape == (1, 7)


def test_column_major_data_are_not_copied(forest):
    columns = np.asfortranarray(X)
    assert forest.bind(columns)[1] is columns
    # of any other array the columns in use only
    assert Forest.from_strings(["c"], NAMES).bind(X)[1].shape == (7, 1)


def test_data_are_left_alone(forest):
    before = X.copy()
    forest.evaluate(X)
    forest.evaluate(np.asfortranarray(X))
    assert np.array_equal(before, X)


def test_costs_are_by_the_kind_of_a_node():
    forest = Forest.from_strings(["x0", "2*x0 + sin(x1)", "3"])
    assert forest.costs(1, 1, 1).tolist() == forest.sizes.tolist()
    assert forest.costs(100, 10, 1).tolist() == [100, 213, 10]
