"""Differentiable symbolic trees: a tree with its node matrix N and adjacency matrix A."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from symgrad.dgp.adjacency_matrix import AdjacencyMatrix
from symgrad.dgp.node_matrix import NodeMatrix, start_logit
from symgrad.dgp.optimization import Optimization, Optimized
from symgrad.language.primitive import CONSTANT
from symgrad.tree.forest import Forest
from symgrad.tree.tree import Tree


@dataclass(frozen=True)
class DifferentiableSymbolicTree:
    """A relaxed tree.

    Nodes are in postfix order; after them come the leaves that were added as second inputs of
    unary nodes, in the order of those.

    Attributes
    ----------
    tree : Tree
        What was relaxed.
    node_matrix : NodeMatrix
        N, one row per node.
    adjacency_matrix : AdjacencyMatrix
        A, one edge per node but the root.
    children : tuple of tuples
        The inputs of each node, added leaves included.
    """

    tree: Tree
    node_matrix: NodeMatrix
    adjacency_matrix: AdjacencyMatrix
    children: tuple[tuple[int, ...], ...]

    def forward(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return the output of the relaxed tree (Algorithm 2), one value per row of X.

        This is the plain form; training runs the same in the native core.
        """
        X = np.asarray(X, np.float64)
        order = range(self.tree.size, len(self.children)), range(self.tree.size)
        outputs: dict[int, NDArray[np.float64]] = {}
        for node in (i for part in order for i in part):
            outputs[node] = self._output(node, X, outputs)
        return outputs[self.tree.size - 1]

    def _output(
        self, node: int, X: NDArray[np.float64], outputs: dict[int, NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        matrix = self.node_matrix
        weights = matrix.weights[node]
        functions, features = weights[: matrix.passes], weights[matrix.passes + 1 :]
        children = self.children[node]
        if not children:
            if node < self.tree.size and self.tree.code[node] == CONSTANT:
                return np.full(len(X), self.tree.value[node])
            total = X @ features
            own = total / features.sum()
            return self._mix(functions, total, (own, own), own)
        strength = self.adjacency_matrix.strength
        inputs = [strength[c] * outputs[c] for c in children]
        added = children[1] >= self.tree.size
        one = (
            inputs[1] if not added and strength[children[1]] > strength[children[0]] else inputs[0]
        )
        return self._mix(functions, weights[matrix.passes] * one, inputs, one)

    def _mix(
        self,
        weights: NDArray[np.float64],
        start: NDArray[np.float64],
        inputs: Any,
        one: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return the weighted sum over all functions (Equation 4) added to `start`."""
        total = start
        for weight, code in zip(weights, self.node_matrix.functions, strict=True):
            primitive = self.tree.primitives[code]
            args = inputs if primitive.arity == 2 else (one,)
            if weight > 0:
                total = total + weight * primitive.smooth(np, *args)
        return total


def relax(
    forest: Forest, n_features: int, optimization: Optimization | None = None
) -> list[DifferentiableSymbolicTree]:
    """Lift discrete trees to relaxed ones, before training.

    Added leaves weigh all features alike here; in training their start may be random.
    """
    o = optimization or Optimization()
    return [_relax(tree, n_features, o) for tree in forest]


def _relax(tree: Tree, d: int, o: Optimization) -> DifferentiableSymbolicTree:
    functions = tree.primitives.codes
    n_functions = len(functions)
    arities = tree.primitives.arities(tree.code)
    unary = np.flatnonzero(arities == 1)
    size = tree.size + len(unary)
    logits = np.full((size, n_functions + 1 + d), -np.inf)
    children: list[tuple[int, ...]] = []
    parent = np.full(size, -1)
    stack: list[int] = []
    leaf_width = d + n_functions * o.leaf_functions
    for i, (code, arity) in enumerate(zip(tree.code.tolist(), arities.tolist(), strict=True)):
        inputs = tuple(stack[len(stack) - arity :])
        del stack[len(stack) - arity :]
        if arity == 1:
            inputs += (tree.size + int(np.searchsorted(unary, i)),)
        for child in inputs:
            parent[child] = i
        children.append(inputs)
        stack.append(i)
        if arity:
            logits[i, : n_functions + 1] = 0
            own = functions.index(code)
            logits[i, own] = start_logit(o.start_probability, o.start_logit, n_functions + 1)
        elif code != CONSTANT:
            logits[i, n_functions + 1 :] = 0
            if o.leaf_functions:
                logits[i, :n_functions] = 0
            own = n_functions + 1 + ~code
            logits[i, own] = start_logit(o.start_probability, o.start_logit, leaf_width)
    for i in range(tree.size, size):
        children.append(())
        logits[i, n_functions + 1 :] = 0
    v = np.full(size, logit(o.edge_strength))
    return DifferentiableSymbolicTree(
        tree, NodeMatrix(logits, functions), AdjacencyMatrix(parent, v), tuple(children)
    )


def trained(optimized: Optimized, optimization: Optimization) -> list[DifferentiableSymbolicTree]:
    """Return the relaxed trees after training; needs `optimize(..., details=True)`."""
    if optimized.details is None:
        raise ValueError("the trees were trained without details=True")
    forest, d = optimized.forest, optimized.n_features
    blocks = optimized.details.reshape(5, len(forest.code), -1)
    result = []
    for t, start in enumerate(relax(forest, d, optimization)):
        rows = slice(forest.offset[t], forest.offset[t + 1])
        logits = place(start, blocks[0, rows], blocks[2, rows], d)
        v = start.adjacency_matrix.v.copy()
        v[: start.tree.size] = logit(np.clip(optimized.strength[rows], 1e-7, 1 - 1e-7))
        result.append(
            DifferentiableSymbolicTree(
                start.tree,
                NodeMatrix(logits, start.node_matrix.functions),
                AdjacencyMatrix(start.adjacency_matrix.parent, v),
                start.children,
            )
        )
    return result


def place(
    dst: DifferentiableSymbolicTree, own: NDArray[Any], added: NDArray[Any], d: int
) -> NDArray[np.float64]:
    """Return the core's rows (by node, and of added leaves) in the layout of the node matrix."""
    functions = len(dst.node_matrix.functions)
    logits: NDArray[np.float64] = dst.node_matrix.logits.copy()
    unary = iter(range(dst.tree.size, len(dst.children)))
    for i in range(dst.tree.size):
        if not dst.children[i] and np.isfinite(logits[i]).any():
            _place_leaf(logits[i], own[i], functions, d)
        elif dst.children[i]:
            logits[i, : functions + 1] = own[i, : functions + 1]
            if dst.children[i][1] >= dst.tree.size:
                _place_leaf(logits[next(unary)], added[i], functions, d)
    return logits


def _place_leaf(row: NDArray[np.float64], given: NDArray[Any], functions: int, d: int) -> None:
    row[functions + 1 :] = given[:d]
    if np.isfinite(row[:functions]).all():
        row[:functions] = given[d : d + functions]
