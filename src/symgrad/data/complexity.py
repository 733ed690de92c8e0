"""How much a formula costs to write down, against how well it fits."""

from __future__ import annotations

import math

import numpy as np

from symgrad.language.primitive import CONSTANT
from symgrad.tree.tree import Tree


def description_length(tree: Tree, fit: float, rows: float, features: int) -> float:
    """Return the length of data plus formula, in units of twice the negative log-likelihood.

    To what the errors take, add half a log of the number of rows per constant (the line's two
    included), and per node the choice of its kind, of one of the features or of one of the
    functions. Choosing among many features costs more, which is what keeps formulas from noise
    away where features outnumber rows.

    Parameters
    ----------
    tree : Tree
        The formula without its outer line.
    fit : float
        `Loss.length` of the errors; 0 for those of the best constant.
    rows : float
        Number of rows (or what weights leave of it).
    features : int
        Number of features there are to choose from.
    """
    constants = int(np.count_nonzero(tree.code == CONSTANT))
    functions = int(np.count_nonzero(tree.code >= 0))
    variables = tree.size - constants - functions
    if not variables:
        return fit + math.log(rows)
    words = (
        variables * math.log(features)
        + tree.size * math.log(3)
        + functions * math.log(max(2, len(tree.primitives)))
    )
    return fit + (constants + 2) * math.log(rows) + 2 * words
