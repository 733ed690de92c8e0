"""The table of losses: one row each.

A row's name is that of its line in ``core/losses.inc``; a test compares the two.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgrad import _core
from symgrad.data.limits import NONE, Limits, seen

TINY = 1e-3
"""Errors below this, in deviations of y, weigh no more where weights grow as errors shrink."""

LEAST = 1e-15
"""Mean loss, relative to that of the best constant, below which fits are told apart no more."""


@dataclass(frozen=True)
class LossRow:
    """One loss.

    Attributes
    ----------
    define : callable
        ``define(y, p, number)``: the loss of the prediction p, 0 if it is perfect. For a loss with
        a logarithmic link, p is the logarithm of what is predicted.
    number : float, optional
        Default of the loss's own number, if it has one.
    log_link : bool
        Whether the formula's exponential is what is predicted.
    scale : float
        How often the log of the mean loss counts in the description length: 1 for errors like
        Gaussian noise, 2 for errors like Laplace's; 0 if the loss is a log-likelihood itself.
    """

    define: Callable[[Any, Any, float], Any]
    number: float | None = None
    log_link: bool = False
    scale: int = 1


def _poisson(y: Any, p: Any, _: float) -> Any:
    perfect = np.where(y > 0, y - y * np.log(np.where(y > 0, y, 1.0)), 0.0)
    return np.exp(p) - y * p - perfect


def _huber(y: Any, p: Any, t: float) -> Any:
    r = np.abs(y - p)
    return np.where(r <= t, r * r, t * (2 * r - t))


LOSSES: dict[str, LossRow] = {
    "squared": LossRow(lambda y, p, _: (y - p) ** 2),
    "absolute": LossRow(lambda y, p, _: np.abs(y - p), scale=2),
    "huber": LossRow(_huber, number=1.35),
    "log_cosh": LossRow(lambda y, p, _: np.logaddexp(y - p, p - y) - np.log(2)),
    "quantile": LossRow(lambda y, p, t: np.maximum(t * (y - p), (t - 1) * (y - p)), 0.5, scale=2),
    "poisson": LossRow(_poisson, log_link=True, scale=0),
}


@dataclass(frozen=True)
class Loss:
    """What a formula's errors cost.

    Parameters
    ----------
    name : {"squared", "absolute", "huber", "log_cosh", "quantile", "poisson"}
        ``poisson`` is for counts: the model is the exponential of a formula.
    number : float, optional
        For ``huber``: the error up to which squares count, by default 1.35; for ``quantile``:
        which one, by default 0.5.

    Examples
    --------
    >>> from symgrad.data.loss import Loss
    >>> Loss("quantile", 0.9).of([1.0, 2.0], [1.5, 1.5])
    array([0.05, 0.45])
    """

    name: str = "squared"
    number: float | None = None

    def __post_init__(self) -> None:
        if self.name not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(LOSSES)}, got {self.name!r}")
        if self.number is None:
            return
        if self.row.number is None:
            raise ValueError(f"the loss {self.name} takes no number")
        if not self.number > 0 or (self.name == "quantile" and not self.number < 1):
            raise ValueError(f"the number of {self.name} is out of range: {self.number}")

    @property
    def row(self) -> LossRow:
        """The row of the table."""
        return LOSSES[self.name]

    @property
    def value(self) -> float:
        """The loss's number; 1 where it has none."""
        return self.number or self.row.number or 1.0

    def of(self, y: Any, p: Any, limits: Limits = NONE) -> NDArray[np.float64]:
        """Return the loss of each prediction, before a logarithmic link's exponential.

        Where the target is at a limit, predictions beyond it are as good as the limit.
        """
        with np.errstate(over="ignore"):
            loss: NDArray[np.float64] = self.row.define(
                np.asarray(y, np.float64), seen(y, p, limits), self.value
            )
        return loss

    def length(self, mean: float, best_constant: float, rows: float) -> float:
        """Return minus twice the log-likelihood of errors with that mean loss, up to a constant.

        The scale of the errors is free, except where the loss is a log-likelihood itself.
        """
        if not self.row.scale:
            return 2 * rows * (mean - best_constant)
        return self.row.scale * rows * math.log(max(mean / best_constant, LEAST))

    def check(self, y: NDArray[np.float64]) -> None:
        """Refuse targets that the loss is not made for."""
        if self.row.log_link and (y < 0).any():
            raise ValueError(f"the loss {self.name} needs a target that is never negative")

    def core(self, y: NDArray[np.float64], limits: Limits = NONE) -> _core.Loss:
        """Return the core's form of it for a target."""
        return _core.Loss(self.name, self.value, TINY * float(np.std(y)) or 1e-12, *limits)
