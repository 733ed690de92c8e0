"""Discrete trees from trained ones: SHRINK, REPLACE and EXPAND."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.dgp.optimization import Optimized
from symgrad.tree.forest import Forest

Piece = tuple[list[int], list[float]]
"""Code and value lists of a subtree."""


@dataclass(frozen=True)
class Sampling:
    """How trained trees become discrete. What the paper leaves open is a field of its own.

    Attributes
    ----------
    method : {"argmax", "multinomial"}
        Take the primitive of the greatest weight, or draw with the weights as probabilities (the
        paper's words). After training to near 0 and 1 the two differ little, and the noise of
        drawing costs more than it finds.
    shrink : {"keep", "delete"}
        What a binary node becomes whose primitive takes one argument: that function of the child
        with the stronger edge, which is what the relaxed tree computed, or, by the letter of the
        paper, that child alone.
    accept : {"better", "always", "join"}
        Whether a sampled tree replaces its parent only if its error is lower, always, or joins
        the population, of which the worst then leave. Open in the paper.
    """

    method: str = "argmax"
    shrink: str = "keep"
    accept: str = "better"

    def __post_init__(self) -> None:
        for name, allowed in (
            ("method", ("argmax", "multinomial")),
            ("shrink", ("keep", "delete")),
            ("accept", ("better", "always", "join")),
        ):
            value = getattr(self, name)
            if value not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")

    @classmethod
    def literal(cls) -> Sampling:
        """Return the paper's words taken literally."""
        return cls(method="multinomial", shrink="delete", accept="always")


def sample(optimized: Optimized, sampling: Sampling) -> Forest:
    """Return the discrete trees of trained ones, bottom-up from the primitives drawn.

    A node whose new primitive takes as many arguments as before is REPLACEd; one that takes
    fewer is SHRUNK to its (stronger) child; one that takes more is EXPANDed with new leaves.
    """
    forest = optimized.forest
    arities = forest.primitives.arities(forest.code)
    columns = (forest.code, forest.value, arities, optimized.pick, optimized.added)
    nodes: list[tuple[Any, ...]] = list(zip(*(a.tolist() for a in columns), strict=True))
    strength = optimized.strength.tolist()
    ends = set(forest.offset[1:].tolist())
    draw = _Draw(optimized, sampling)
    code: list[int] = []
    value: list[float] = []
    offset = [0]
    stack: list[tuple[Piece, float]] = []
    for i, node in enumerate(nodes):
        children = stack[len(stack) - node[2] :]
        del stack[len(stack) - node[2] :]
        stack.append((draw.node(node, children), strength[i]))
        if i + 1 in ends:
            piece, _ = stack.pop()
            code += piece[0]
            value += piece[1]
            offset.append(len(code))
    return Forest(
        np.array(code, np.int32), np.array(value), offset, forest.primitives, forest.names
    )


class _Draw:
    """Builds the subtree of one node from the subtrees of its children."""

    def __init__(self, optimized: Optimized, sampling: Sampling):
        self.codes = optimized.forest.primitives.codes
        self.arity = optimized.forest.primitives.arity
        self.features = optimized.n_features
        self.keep = sampling.shrink == "keep"

    def node(self, node: tuple[Any, ...], children: list[tuple[Piece, float]]) -> Piece:
        code, value, arity, pick, added = node
        if pick < 0:
            return [code], [value]
        if arity == 0:
            return self.leaf(pick, code)
        first = children[0][0]
        if arity == 2 and children[1][1] > children[0][1]:
            first = children[1][0]
        if pick == len(self.codes):  # pass: the node goes
            return first
        function = self.codes[pick]
        takes = self.arity(function)
        if takes == 1:
            return first if arity == 2 and not self.keep else _apply(function, first)
        second = children[1][0] if arity == 2 else ([~added], [0.0])
        return _apply(function, children[0][0], second)

    def leaf(self, pick: int, code: int) -> Piece:
        if pick < self.features:
            return [~pick], [0.0]
        function = self.codes[pick - self.features]
        own: Piece = ([code], [0.0])
        return _apply(function, *[own] * self.arity(function))


def _apply(function: int, *arguments: Piece) -> Piece:
    code: list[int] = []
    value: list[float] = []
    for c, v in arguments:
        code += c
        value += v
    return [*code, function], [*value, 0.0]
