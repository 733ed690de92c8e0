"""The node matrix N of a relaxed tree (Definition 1 of the paper)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax


def start_logit(probability: float | None, logit: float, width: int) -> float:
    """Return the first logit of a node's own primitive, the other ``width - 1`` being 0."""
    if probability is None or width < 2:
        return logit
    return math.log(probability * (width - 1) / (1 - probability))


@dataclass(frozen=True)
class NodeMatrix:
    """One row of logits per node over all primitives: functions, ``pass``, features.

    Attributes
    ----------
    logits : array of shape (K, F + 1 + d)
        Minus infinity where a node does not mix a primitive: features in inner nodes, functions
        in leaves (unless leaves mix functions of their own value), ``pass`` in leaves.
    functions : tuple of int
        Codes of the F functions.
    """

    logits: NDArray[np.float64]
    functions: tuple[int, ...]

    @property
    def weights(self) -> NDArray[np.float64]:
        """The softmax of each row: how much of each primitive a node is."""
        live = np.isfinite(self.logits).any(axis=1)  # constants have no row of their own
        weights = np.zeros_like(self.logits)
        weights[live] = softmax(self.logits[live], axis=1)
        return weights

    @property
    def passes(self) -> int:
        """The column of ``pass``."""
        return len(self.functions)

    def zero_one_loss(self) -> float:
        """Return Loss01 (Equation 6), the mean over nodes."""
        live = np.isfinite(self.logits)
        per_row = [-((w[on] - 0.5) ** 2).mean() for w, on in zip(self.weights, live, strict=True)
                   if on.any()]  # fmt: skip
        return float(np.mean(per_row)) if per_row else 0.0
