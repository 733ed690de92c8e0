"""How much a formula costs to write down, against how well it fits."""

from __future__ import annotations

import math

import numpy as np

from symgrad.language.primitive import CONSTANT
from symgrad.tree.tree import Tree

LEAST = 1e-15
"""Error, relative to the variance of y, below which fits are told apart no more."""


def description_length(tree: Tree, error: float, rows: float, features: int) -> float:
    """Return the length of data plus formula, in units of twice the negative log-likelihood.

    Errors as Gaussian noise, half a log of the number of rows per constant (the line's two
    included), and per node the choice of its kind, of one of the features or of one of the
    functions. Choosing among many features costs more, which is what keeps formulas from noise
    away where features outnumber rows.

    Parameters
    ----------
    tree : Tree
        The formula without its outer line.
    error : float
        1 - R2 on the training data.
    rows : float
        Number of rows (or what weights leave of it).
    features : int
        Number of features there are to choose from.
    """
    constants = int(np.count_nonzero(tree.code == CONSTANT))
    functions = int(np.count_nonzero(tree.code >= 0))
    variables = tree.size - constants - functions
    if not variables:
        return math.log(rows)
    fit = rows * math.log(max(error, LEAST))
    words = (
        variables * math.log(features)
        + tree.size * math.log(3)
        + functions * math.log(max(2, len(tree.primitives)))
    )
    return fit + (constants + 2) * math.log(rows) + 2 * words
