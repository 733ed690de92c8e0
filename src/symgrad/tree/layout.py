"""Where the nodes of a drawn tree stand.

Trees are drawn from left to right: a node's column is its depth, and every leaf has a row of its
own. What is written to the right of a leaf then meets nothing else, however long it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from symgrad.language.primitive import CONSTANT
from symgrad.tree.render import number
from symgrad.tree.tree import Tree

SIGNS = {"add": "+", "sub": "−", "mul": "×", "div": "÷", "pow": "^", "neg": "−", "inv": "1/"}
"""Functions that are drawn by a sign."""


class Place(NamedTuple):
    """A node of a drawn tree.

    Attributes
    ----------
    node : int
        Its position in the tree, postfix.
    parent : int
        That of its parent; -1 for the root.
    label : str
        What is written there.
    leaf, feature : bool
        Whether it is a leaf, and whether that is a feature.
    column : int
        How many edges away from the root it is.
    row : float
        0 for the first leaf, 1 for the next; functions stand between their arguments.
    """

    node: int
    parent: int
    label: str
    leaf: bool
    feature: bool
    column: int
    row: float


def layout(tree: Tree, digits: int | None = 3) -> list[Place]:
    """Return the places of all nodes, in postfix order.

    Parameters
    ----------
    tree : Tree
        The formula.
    digits : int, optional
        Significant digits of the constants.
    """
    parents, rows = [-1] * tree.size, [0.0] * tree.size
    nodes, leaves = iter(range(tree.size)), iter(range(tree.size))

    def leaf(_: float) -> int:
        node = next(nodes)
        rows[node] = next(leaves)
        return node

    def function(_: int, args: Sequence[int]) -> int:
        node = next(nodes)
        rows[node] = (rows[args[0]] + rows[args[-1]]) / 2
        for a in args:
            parents[a] = node
        return node

    tree.fold(variable=leaf, constant=leaf, function=function)
    columns = [0] * tree.size
    for node in range(tree.size - 2, -1, -1):  # parents come after their arguments
        columns[node] = columns[parents[node]] + 1
    return [
        Place(k, parents[k], label(tree, k, digits), c < 0, c < 0 and c != CONSTANT, column, row)
        for k, (c, column, row) in enumerate(zip(tree.code.tolist(), columns, rows, strict=True))
    ]


def spread(places: Sequence[Place], widths: Sequence[float], step: float) -> list[float]:
    """Return where each column stands, so that functions with long names have room.

    Parameters
    ----------
    places : sequence of Place
        The nodes.
    widths : sequence of float
        How wide each node is drawn. Functions are centered on their column, leaves begin a fifth
        of a step before it.
    step : float
        Least distance of columns.
    """
    widest = [0.0] * (max(p.column for p in places) + 1)
    for p, width in zip(places, widths, strict=True):
        if not p.leaf:
            widest[p.column] = max(widest[p.column], width)
    at = [max(widest[0] / 2, step / 5)]
    for left, right in pairwise(widest):
        at.append(at[-1] + max(step, left / 2 + max(right / 2, step / 5) + step / 3))
    return at


def label(tree: Tree, node: int, digits: int | None = 3) -> str:
    """Return a node by itself: the name of a feature, a number, a function's sign or name."""
    c = int(tree.code[node])
    if c == CONSTANT:
        return number(float(tree.value[node]), digits).replace("-", "−")
    if c < 0:
        return tree.names[~c]
    primitive = tree.primitives[c]
    power = {"square": "( )²", "cube": "( )³"}.get(primitive.name)
    return power or SIGNS.get(primitive.name, primitive.name)
