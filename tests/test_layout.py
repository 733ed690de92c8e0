from hypothesis import given
from strategies import trees

from symgrad import Tree
from symgrad.tree.layout import label, layout


@given(trees())
def test_leaves_have_rows_of_their_own_and_parents_stand_between(tree):
    places = layout(tree)
    assert [p.node for p in places] == list(range(tree.size))
    leaves = [p.row for p in places if p.leaf]
    assert leaves == list(range(len(leaves)))
    assert [p.parent for p in places].count(-1) == 1
    for p in places:
        below = [q for q in places if q.parent == p.node]
        assert p.leaf == (not below)
        assert all(q.column == p.column + 1 for q in below)
        if below:
            assert below[0].row <= p.row <= below[-1].row
    assert max(p.column for p in places) == tree.depth


@given(trees())
def test_nothing_stands_on_top_of_anything_else(tree):
    spots = [(p.column, p.row) for p in layout(tree)]
    assert len(set(spots)) == len(spots)


def test_labels():
    tree = Tree.parse("-1.23456*`a b` + sin(c)^2", ["a b", "c"])
    assert [label(tree, k) for k in range(tree.size)] == [
        "−1.23", "a b", "×", "c", "sin", "( )²", "+",
    ]  # fmt: skip
