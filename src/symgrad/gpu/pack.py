"""Forests as the flat tables that programs on a GPU read, padded to a few shapes.

A tree is a list of instructions, one for each inner node, bottom up. An instruction says where its
arguments are: the value of the instruction before, a feature (or leaf), a value that an earlier one
has stored, or a constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgrad.language.primitive import CONSTANT
from symgrad.tree.forest import Forest

Ints = NDArray[np.int32]
Floats = NDArray[np.float32]

LAST, LEAF, STORED, NUMBER = range(4)
"""Where an argument is."""

ROUNDING = 1e-12
"""As in the core: a tree that varies by less, squared and relative to its mean, is a constant."""


def bucket(n: int, steps: int = 1) -> int:
    """Return the next of the sizes that programs are compiled for: `steps` per power of two."""
    octave = 1 << max(int(n), 8).bit_length() - 1
    part = max(octave // steps, 1)
    return octave + -(-max(n - octave, 0) // part) * part


def padded(array: NDArray[Any], n: int, fill: float = 0) -> NDArray[Any]:
    """Return an array with rows of `fill` added up to `n`."""
    out = np.full((n, *array.shape[1:]), fill, array.dtype)
    out[: len(array)] = array
    return out


def by_size(first: NDArray[Any], size: NDArray[Any], root: NDArray[Any]) -> Ints:
    """Return first instruction, their number, index and root of trees, the longest first.

    Padding is empty. The root is what a tree without functions is: a feature (or leaf), or ~k for
    the constant of instruction k.
    """
    n = bucket(len(first))
    columns = (padded(first, n), padded(size, n), np.arange(n), padded(root, n, -1))
    tables = np.stack(columns, axis=1)
    return tables[np.argsort(-tables[:, 1], kind="stable")].astype(np.int32)


@dataclass(frozen=True)
class Code:
    """Instructions of a forest.

    Attributes
    ----------
    node : list of int
        The node of each instruction.
    arguments : list
        For each instruction two of (where, place, number, node): the place is a feature, or the
        instruction that stored it, counted within the tree; the node is the argument's.
    first : list of int
        The first instruction of each tree, and the number of all.
    roots : list
        For trees without instructions what they are, as an argument; None for others.
    """

    node: list[int]
    arguments: list[list[tuple[int, int, float, int]]]
    first: list[int]
    roots: list[tuple[int, int, float, int] | None]


def instructions(forest: Forest) -> Code:
    """Return the instructions of a forest.

    Of two inner children only the left one is read from memory: the right one is the last value.
    """
    arity = forest.primitives.arities(forest.code).tolist()
    code, value = forest.code.tolist(), forest.value.tolist()
    made = Code([], [], [0], [])
    begin = 0
    for end in forest.offset[1:].tolist():
        stack: list[tuple[int, int, float, int]] = []
        here = len(made.node)
        for i in range(begin, end):
            if arity[i] == 0:
                fixed = code[i] == CONSTANT
                stack.append((NUMBER, 0, value[i], i) if fixed else (LEAF, ~code[i], 0.0, i))
                continue
            arguments = stack[len(stack) - arity[i] :]
            del stack[len(stack) - arity[i] :]
            if arity[i] == 2 and arguments[0][0] == arguments[1][0] == LAST:
                arguments[0] = (STORED, *arguments[0][1:])
            made.node.append(i)
            made.arguments.append(arguments)
            stack.append((LAST, len(made.node) - 1 - here, 0.0, i))
        made.roots.append(stack[0] if stack[0][0] != LAST else None)
        made.first.append(len(made.node))
        begin = end
    return made


@dataclass(frozen=True)
class Programs:
    """Discrete trees.

    Attributes
    ----------
    trees : array (trees, 4)
        See `by_size`.
    code : array (instructions, 6)
        Function; where and place of both arguments; 1 if the value is read later.
    value : array (instructions, 2)
        Arguments that are constants.
    longest : int
        Instructions of the longest tree.
    """

    trees: Ints
    code: Ints
    value: Floats
    longest: int


def programs(forest: Forest) -> Programs:
    """Return the tables of a forest to be scored. A tree without functions copies its root."""
    made = instructions(forest)
    place = {c: i for i, c in enumerate(forest.primitives.codes)}
    code, value = forest.code, []
    rows: list[list[int]] = []
    first = []
    for t, root in enumerate(made.roots):
        first.append(len(rows))
        for k in range(made.first[t], made.first[t + 1]):
            a, b = made.arguments[k][0], made.arguments[k][-1]
            rows.append([place[int(code[made.node[k]])], a[0], a[1], b[0], b[1], 0])
            value.append((a[2], b[2]))
            if a[0] == STORED:
                rows[first[-1] + a[1]][5] = 1
        if root is not None:
            rows.append([len(place), *root[:2], *root[:2], 0])
            value.append((root[2], root[2]))
    n = bucket(len(rows))
    sizes = np.diff([*first, len(rows)])
    return Programs(
        by_size(np.array(first), sizes, np.zeros(len(first))),
        padded(np.array(rows, np.int32), n),
        padded(np.array(value, np.float32), n),
        bucket(int(sizes.max())),
    )


@dataclass(frozen=True)
class Relaxed:
    """Relaxed trees: each inner node has a row of logits and two edges, each leaf a row of logits.

    Attributes
    ----------
    trees : array (trees, 4)
        See `by_size`; leaves are counted by their rows.
    code : array (inner rows, 5)
        1 for nodes of two arguments; where and place of both inputs. The second input of a node
        of one argument is its added leaf.
    value : array (inner rows, 2)
        Inputs that are constants; for trees that are one, the first of its own (empty) row.
    leaf_tree, inner_tree : array
        The tree that a row belongs to; `len(trees)` for padding.
    rows : array
        Rows of logits of each tree.
    leaf_own, inner_own : array
        The feature or function that a row starts from, -1 for none.
    added : array of bool
        Which leaves were added.
    leaf_of, inner_of, added_of : array
        By node: its row of leaf or inner logits and that of its added leaf; -1 for none.
    edge_of : array
        By node: its edge, counted over both of all inner rows; -1 for roots.
    longest : int
        Inner nodes of the tree that has most.
    """

    trees: Ints
    code: Ints
    value: Floats
    leaf_tree: Ints
    inner_tree: Ints
    rows: Floats
    leaf_own: Ints
    inner_own: Ints
    added: NDArray[np.bool_]
    leaf_of: Ints
    inner_of: Ints
    added_of: Ints
    edge_of: Ints
    longest: int


def relaxed(forest: Forest, steps: int = 1) -> Relaxed:
    """Return the tables of a forest to be trained, with `steps` sizes of leaf rows per octave."""
    made = instructions(forest)
    n_trees, n_nodes = len(forest), len(forest.code)
    arity = forest.primitives.arities(forest.code)
    tree = np.repeat(np.arange(n_trees), forest.sizes)
    is_leaf = (arity == 0) & (forest.code != CONSTANT)
    rows = is_leaf + (arity == 1).astype(np.int64)
    start = np.cumsum(rows) - rows
    leaf_of, added_of = np.where(is_leaf, start, -1), np.where(arity == 1, start, -1)
    inner_of = np.where(arity > 0, np.cumsum(arity > 0) - 1, -1)
    edge_of = np.full(n_nodes, -1)
    code, value = [], []
    for k, arguments in enumerate(made.arguments):
        row, numbers = [len(arguments) - 1], []
        for side, (where, place, number, node) in enumerate(arguments):
            row += [where, int(leaf_of[node]) if where == LEAF else place]
            numbers.append(number)
            edge_of[node] = 2 * k + side
        if len(arguments) == 1:
            row += [LEAF, int(added_of[made.node[k]])]
            numbers.append(0.0)
        code.append(row)
        value.append(numbers)
    first, root = np.array(made.first), np.zeros(n_trees, np.int64)
    for t, what in enumerate(made.roots):
        if what is not None and what[0] == LEAF:
            root[t] = leaf_of[what[3]]
        elif what is not None:
            root[t] = ~len(value)
            value.append([what[2], 0.0])
    place_of = {c: i for i, c in enumerate(forest.primitives.codes)}
    inner_own = np.array([place_of.get(int(forest.code[i]), -1) for i in made.node], np.int32)
    leaf_own = np.where(is_leaf, ~forest.code, -1)[np.repeat(np.arange(n_nodes), rows)]
    leaf_tree, inner_tree = np.repeat(tree, rows), tree[made.node]
    count = np.bincount(leaf_tree, minlength=n_trees) + np.bincount(inner_tree, minlength=n_trees)
    trees = by_size(first[:-1], np.diff(first), root)
    none = len(trees)
    leaves, inner = bucket(len(leaf_tree), steps), bucket(max(len(code), len(value)))

    def ints(array: Any, n: int, fill: int) -> Ints:
        return padded(np.asarray(array, np.int32), n, fill)

    return Relaxed(
        trees,
        ints(np.array(code).reshape(-1, 5), inner, 0),
        padded(np.array(value, np.float32).reshape(-1, 2), inner),
        ints(leaf_tree, leaves, none),
        ints(inner_tree, inner, none),
        padded(np.maximum(count, 1).astype(np.float32), none + 1, 1),
        ints(leaf_own, leaves, -1),
        ints(inner_own, inner, -1),
        padded(leaf_own < 0, leaves),
        leaf_of.astype(np.int32),
        inner_of.astype(np.int32),
        added_of.astype(np.int32),
        edge_of.astype(np.int32),
        bucket(int(np.diff(first).max())),
    )
