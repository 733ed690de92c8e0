"""How much a formula costs to write down, against how well it fits."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from symgrad.language.primitive import CONSTANT
from symgrad.tree.tree import Tree

LEFT_OUT = (1.5, 0.5)
"""Shares of words for features, and of all others, where errors are of rows that were left out."""

BARE = (2.0, 0.5)
"""The same where trees have no constants to fit."""


def description_length(
    tree: Tree,
    fit: float,
    rows: float,
    features: float,
    shares: tuple[float, float] = (1.0, 1.0),
    once: bool = False,
) -> float:
    """Return the length of data plus formula, in units of twice the negative log-likelihood.

    To what the errors take, add half a log of the number of rows per constant (the line's two
    included), and per node its kind, one of the features or one of the functions. Choosing
    among many features costs more, which is what keeps formulas from noise away where features
    outnumber rows. A function that a formula has used before costs less the next time (the
    Dirichlet code with half a count each to begin with), so that a sum of many terms is not
    charged for every plus. Kinds take half of log 3: what is a leaf, of one argument or of two
    depends on what came before.

    Errors on rows that were left out when constants were fitted hold a part of what words are
    charged for: then a part of them counts, but not of those for features. The best of many is
    found in noise by any errors, and the longer the search, the better; so these count for more.

    Parameters
    ----------
    tree : Tree
        The formula without its outer line.
    fit : float
        `Loss.length` of the errors; 0 for those of the best constant.
    rows : float
        Number of rows (or what weights leave of it).
    features : float
        Number of features there are to choose from, or of different ones (`symgrad.data.alike`).
    shares : tuple of float
        How much of the words counts: of those for features, and of all others.
    once : bool
        Whether a feature is told once, and where it comes again only which of the formula's own
        it is. Trees without constants write x/x for 1, or cos(cos(x)) for about 0.8: another
        feature there would be one more choice among all, of which many fit better by chance.
    """
    constants = int(np.count_nonzero(tree.code == CONSTANT))
    functions = tree.code[tree.code >= 0]
    variables = tree.size - constants - len(functions)
    if not variables:
        return fit + math.log(rows)
    counts = np.unique(functions, return_counts=True)[1]
    words = (
        (constants + 2) * math.log(rows)
        + tree.size * math.log(3)
        + 2 * _code_length(counts, max(2, len(tree.primitives)))
    )
    if once:
        own = len(tree.feature_indices)
        words += 2 * (variables - own) * math.log(own)
        variables = own
    return fit + shares[0] * 2 * variables * math.log(features) + shares[1] * words


def word_costs(rows: float, features: float) -> tuple[int, int, int]:
    """Return about what a feature, a constant and a function add to a length, in whole nats.

    It is the length by errors on rows that were left out. Functions used before cost less than
    others there; here each costs as much as one of four.
    """
    of_features, of_others = LEFT_OUT
    kind = of_others * math.log(3)
    feature = kind + of_features * 2 * math.log(features)
    constant = kind + of_others * math.log(rows)
    function = kind + of_others * 2 * math.log(4)
    return round(feature), round(constant), round(function)


def bare_length(tree: Tree, fit: float, rows: float, features: int) -> float:
    """Return the description length of a tree that stands for itself, without constants."""
    return description_length(tree, fit, rows, features, BARE, once=True)


def _code_length(counts: NDArray[np.int64], kinds: int) -> float:
    """Return the nats for words of some kinds, told one by one, each learnt from those before."""
    known = gammaln(counts + 0.5) - gammaln(0.5)
    return float(gammaln(counts.sum() + kinds / 2) - gammaln(kinds / 2) - known.sum())
