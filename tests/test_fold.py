import pytest
from hypothesis import given
from strategies import trees

from symgrad import Tree
from symgrad.language.fold import fold
from symgrad.language.primitive import CONSTANT


def recursive(tree, end):
    """The expression that ends at a node, and where it starts: plain recursion to compare with."""
    c = int(tree.code[end])
    if c == CONSTANT:
        return ("constant", float(tree.value[end])), end
    if c < 0:
        return ("variable", ~c), end
    args, start = [], end
    for _ in range(tree.primitives.arity(c)):
        arg, start = recursive(tree, start - 1)
        args.insert(0, arg)
    return ("function", c, *args), start


@given(trees())
def test_fold_sees_every_node_with_its_arguments_in_order(tree):
    folded = tree.fold(
        variable=lambda j: ("variable", j),
        constant=lambda v: ("constant", v),
        function=lambda c, args: ("function", c, *args),
    )
    expected, start = recursive(tree, tree.size - 1)
    assert start == 0
    assert repr(folded) == repr(expected)  # repr tells 0.0 from -0.0


def test_fold_needs_no_recursion():
    tree = Tree.parse("sin(" * 30_000 + "x0" + ")" * 30_000)
    assert tree.depth == 30_000


def test_fold_refuses_what_leaves_more_than_one_value():
    two = Tree.parse("x0 + x1")
    with pytest.raises(ValueError, match="unpack"):
        fold(
            two.code[:2],
            two.value[:2],
            two.primitives.arity,
            variable=lambda j: j,
            constant=lambda v: v,
            function=lambda c, args: c,
        )
