import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_primitives, name_lists, trees

from symgrad import PrimitiveSet, Tree
from symgrad.language.primitive import CONSTANT
from symgrad.language.table import CODE_OF
from symgrad.tree.names import FeatureNames

NAMES = ["a", "b", "c"]
ADD, SIN = CODE_OF["+"], CODE_OF["sin"]


def read(text):
    return Tree.parse(text, NAMES)


def swapped(tree, rng):
    """The same tree with the arguments of commutative functions in another order."""

    def function(c, args):
        if tree.primitives[c].commutative and rng.random() < 0.5:
            args = args[::-1]
        code, value = zip(*args, strict=True)
        return [*np.concatenate(code), c], [*np.concatenate(value), 0.0]

    code, value = tree.fold(
        variable=lambda j: ([~j], [0.0]), constant=lambda v: ([CONSTANT], [v]), function=function
    )
    return Tree(code, value, tree.primitives, tree.names)


@given(trees(), st.randoms(use_true_random=False))
def test_equal_up_to_commutativity(tree, rng):
    other = swapped(tree, rng)
    assert other == tree
    assert hash(other) == hash(tree)


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        ("a + b", "b + a", True),
        ("a*b", "b*a", True),
        ("min(a, b)", "min(b, a)", True),
        ("max(a, b)", "max(b, a)", True),
        ("a - b", "b - a", False),
        ("a/b", "b/a", False),
        ("a^b", "b^a", False),
        ("min(a, b)", "max(a, b)", False),
        ("sin(a + b)*c", "c*sin(b + a)", True),
        ("(a + b) - c", "c - (a + b)", False),
        ("(a + b) + c", "a + (b + c)", False),  # associativity is not equality
        ("(a - b)*c", "c*(b - a)", False),
        ("a", "b", False),
        ("1", "2", False),
        ("1", "1.0", True),
        ("0", "-0.0", False),  # 1/0 is not 1/(-0)
        ("a^2", "a*a", False),
    ],
)
def test_equality_table(left, right, equal):
    assert (read(left) == read(right)) is equal
    if equal:
        assert hash(read(left)) == hash(read(right))


def test_equality_is_by_the_features_names():
    assert Tree.parse("a", ["a", "b"]) == Tree.parse("a", ["b", "a"])
    assert Tree.parse("x0", ["x0"]) == Tree.parse("x0")
    assert Tree.parse("a", ["a"]) != "a"


def test_equality_is_by_the_meaning_of_definitions():
    def tree(*specs):
        return Tree.parse("f(x0)", primitives=PrimitiveSet(specs))

    assert tree("f(x) = 2*x") == tree("+", "f(y) = y*2")
    assert tree("f(x) = 2*x") != tree("f(x) = 3*x")
    assert tree("g(x) = x^2", "f(x) = g(x)") != tree("g(x) = x^3", "f(x) = g(x)")


@given(trees(), trees())
def test_unequal_text_means_unequal_trees_unless_swapped(one, two):
    def canonical(tree):
        return tree.fold(
            variable=lambda j: ("v", tree.names[j]),
            constant=lambda v: ("c", repr(v)),
            function=lambda c, args: (
                "f",
                tree.primitives[c].name,
                *(sorted(args, key=repr) if tree.primitives[c].commutative else args),
            ),
        )

    assert (one == two) == (canonical(one) == canonical(two))


@given(trees())
def test_arrays_cannot_be_changed(tree):
    for array in (tree.code, tree.value):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_the_callers_arrays_are_copied():
    code, value = np.array([CONSTANT], np.int32), np.array([1.0])
    tree = Tree(code, value)
    value[0] = 2
    assert tree.value[0] == 1


@given(trees())
def test_pickling_and_copying(tree):
    for other in (pickle.loads(pickle.dumps(tree)), copy.copy(tree), copy.deepcopy(tree)):
        assert other == tree
        assert other.names == tree.names
        assert other.primitives == tree.primitives
        assert np.array_equal(other.code, tree.code)
        assert not other.code.flags.writeable


def test_size_depth_features_and_constants():
    tree = read("2.5*sin(c*a) - log(c) + 7")
    assert tree.size == len(tree) == 11
    assert tree.depth == 5
    assert tree.features == ("a", "c")
    assert tree.feature_indices == (0, 2)
    assert tree.constants.tolist() == [2.5, 7.0]
    leaf = read("b")
    assert (leaf.size, leaf.depth, leaf.features, leaf.constants.size) == (1, 0, ("b",), 0)


@given(trees())
def test_size_and_depth_by_recursion(tree):
    def depth(node):
        s = tree.span(node)
        children, at = [], node
        for _ in range(tree.primitives.arity(tree.code[node]) if tree.code[node] >= 0 else 0):
            children.append(at - 1)
            at = tree.span(at - 1).start
        assert at == s.start
        return 1 + max(map(depth, children)) if children else 0

    assert depth(tree.size - 1) == tree.depth


@given(trees())
def test_every_span_is_a_tree(tree):
    for node in range(tree.size):
        s = tree.span(node)
        sub = tree.subtree(node)
        assert s.stop == node + 1
        assert np.array_equal(sub.code, tree.code[s])
        assert np.array_equal(sub.value, tree.value[s])
        assert sub.depth <= tree.depth
        assert sub.names is tree.names
    assert tree.span(tree.size - 1) == slice(0, tree.size)


@st.composite
def two_trees(draw):
    primitives, names = draw(any_primitives), draw(name_lists)
    both = trees(primitives=st.just(primitives), names=st.just(names))
    return draw(both), draw(both)


@given(two_trees(), st.data())
def test_splice_replaces_one_subtree(pair, data):
    tree, other = pair
    node = data.draw(st.integers(0, tree.size - 1))
    s = tree.span(node)
    new = tree.splice(node, other)
    end = s.start + other.size - 1
    assert new.size == tree.size - (s.stop - s.start) + other.size
    assert new.subtree(end) == other
    assert new.splice(end, tree.subtree(node)) == tree  # and back again


def test_splice_wants_the_same_language():
    tree = read("a + b")
    for other in (Tree.parse("x0"), Tree.parse("a", NAMES, PrimitiveSet.paper())):
        with pytest.raises(ValueError, match="other primitives or feature names"):
            tree.splice(0, other)


@pytest.mark.parametrize("node", [-1, 3, 100])
def test_nodes_out_of_range(node):
    with pytest.raises(IndexError, match=f"node {node} is out of range"):
        read("a + b").span(node)


@pytest.mark.parametrize(
    ("code", "value", "reason"),
    [
        ([], [], "same, positive length"),
        ([-1], [0, 0], "same, positive length"),
        ([[-1]], [[0.0]], "one-dimensional"),
        (-1, 0.0, "one-dimensional"),
        ([ADD], [0], "not one complete tree"),
        ([-1, ADD], [0, 0], "not one complete tree"),
        ([-1, -2], [0, 0], "not one complete tree"),
        ([-1, -2, ADD, -1], [0] * 4, "not one complete tree"),
        ([ADD, -1, -2], [0] * 3, "not one complete tree"),
        ([-1, ADD, -1], [0] * 3, "not one complete tree"),
        ([-1, 25], [0, 0], "code 25 is no function"),
        ([-1, 63], [0, 0], "code 63 is no function"),
        ([-1, 64], [0, 0], "code 64 is no function"),
        ([-1, 2**31 - 1], [0, 0], "is no function"),
        ([~3], [0], "feature 3 is out of range: there are 3 names"),
        ([CONSTANT + 1], [0], "feature 2147483646 is out of range"),
        ([CONSTANT], [np.nan], "constants must be finite"),
        ([CONSTANT], [np.inf], "constants must be finite"),
        ([CONSTANT], [-np.inf], "constants must be finite"),
        ([-1], [np.nan], "constants must be finite"),
        ([-1], [1.0], "value must be 0"),
        ([-1.5], [0.0], "code must hold int32"),
        ([np.nan], [0.0], "code must hold int32"),
        ([np.inf], [0.0], "code must hold int32"),
        ([2**40], [0.0], "code must hold int32"),
        ([-(2**31) - 1], [0.0], "code must hold int32"),
        ([2**70], [0.0], "array of numbers"),
        (["-1"], [0.0], "array of numbers"),
        ([-1], ["0"], "array of numbers"),
        ([-1], [0j], "array of numbers"),
        ([True], [0.0], "array of numbers"),
        ([None], [0.0], "array of numbers"),
        ([CONSTANT], [np.longdouble("1e4000")], "value must hold float64"),
    ],
)  # fmt: skip
def test_corrupt_arrays_are_refused(code, value, reason):
    with pytest.raises(ValueError, match=reason):
        Tree(code, value, None, NAMES)


def test_functions_outside_the_set_are_refused():
    with pytest.raises(ValueError, match=f"code {SIN} is no function of this primitive set"):
        Tree([-1, SIN], [0, 0], PrimitiveSet(["+"]))


@given(trees(), st.data())
def test_no_damage_goes_unnoticed(tree, data):
    """Whatever is done to the codes, the result is a valid tree or a ValueError."""
    code = tree.code.copy()
    at = data.draw(st.integers(0, tree.size - 1))
    code[at] = data.draw(st.integers(-(2**31), 2**31 - 1) | st.integers(-3, 70))
    try:
        other = Tree(code, np.zeros(tree.size), tree.primitives, tree.names)
    except ValueError:
        return
    assert other.render()
    assert other.subtree(other.size - 1) == other


def test_integer_arrays_of_any_width_are_taken():
    for dtype in (np.int8, np.int64, np.float64):
        assert Tree(np.array([-1, -2, ADD], dtype), [0, 0, 0]) == Tree.parse("x0 + x1")


def test_text_forms():
    tree = read("a + 0.123456789")
    assert str(tree) == "a + 0.123456789"
    assert repr(tree) == "Tree('a + 0.123456789')"
    assert tree._repr_latex_() == "$a + 0.1235$"


def test_evaluate_is_the_forests():
    X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert read("a + b*c").evaluate(X).tolist() == [7.0, 34.0]


def test_other_features():
    tree = Tree.parse("b - a*b", ["a", "b"])
    other = tree.renamed(FeatureNames(["b", "c", "a"]))
    assert str(other) == str(tree)
    assert other.feature_indices == (0, 2)
    with pytest.raises(ValueError, match="no feature 'b'"):
        tree.renamed(FeatureNames(["a"]))
