"""What a method is given, and what it gives back: one form for all."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata

import numpy as np
import sympy
from numpy.typing import NDArray

Array = NDArray[np.float64]

FOUND = 1e-24
"""Mean squared error at which one of the paper's six formulas counts as found: GP and DGP stop."""


@dataclass(frozen=True)
class Limit:
    """How long a method may search: seconds, evaluations, or both.

    Examples
    --------
    >>> from symgrad.bench.task import Limit
    >>> str(Limit(seconds=10))
    '10 s'
    >>> Limit.parse("100000 evaluations")
    Limit(seconds=None, evaluations=100000)
    """

    seconds: float | None = None
    evaluations: int | None = None

    def __post_init__(self) -> None:
        if self.seconds is None and self.evaluations is None:
            raise ValueError("a limit needs seconds or evaluations")
        for name in ("seconds", "evaluations"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be positive, got {value}")

    def __str__(self) -> str:
        words = [] if self.evaluations is None else [f"{self.evaluations} evaluations"]
        return ", ".join(words if self.seconds is None else [*words, f"{self.seconds:g} s"])

    @classmethod
    def parse(cls, text: str) -> Limit:
        """Return the limit that a text stands for."""
        numbers = {unit: value for value, _, unit in (p.partition(" ") for p in text.split(", "))}
        try:
            return cls(
                float(numbers["s"]) if "s" in numbers else None,
                int(numbers["evaluations"]) if "evaluations" in numbers else None,
            )
        except ValueError:
            raise ValueError(f"a limit is such as '10 s', got {text!r}") from None


@dataclass(frozen=True)
class Task:
    """The training part of a problem, and what a method may use.

    Attributes
    ----------
    X, y : array
        What to train on.
    limit : Limit
        Seconds or evaluations.
    threads, seed : int
        Threads that may run at a time; the seed of the method.
    synthetic : bool
        Whether this is one of the paper's six formulas: it has populations of 1,000 there.
    """

    X: Array
    y: Array
    limit: Limit
    threads: int = 1
    seed: int = 0
    synthetic: bool = False

    @property
    def population(self) -> int:
        """The paper's population."""
        return 1000 if self.synthetic else 500


@dataclass(frozen=True)
class Model:
    """A fitted model.

    Attributes
    ----------
    predict : callable
        Predictions for new rows.
    expression : callable, optional
        Its formula in symbols x0, x1, ...; a model without one has no size.
    evaluations, nodes : int, optional
        Formulas tried; nodes of the program as the method counts them.
    """

    predict: Callable[[Array], Array]
    expression: Callable[[], sympy.Expr] | None = None
    evaluations: int | None = None
    nodes: int | None = None


Fit = Callable[[Task], dict[str, Model]]


@dataclass(frozen=True)
class Adapter:
    """A way to fit.

    Attributes
    ----------
    fit : callable
        From a task to a model for each of the methods.
    methods : tuple of str
        What one fit gives.
    package, module : str
        What must be installed, and the module that is loaded before the clock starts.
    extra : str
        The extra of symgrad that installs it.
    limited : bool
        Whether it heeds the limit.
    """

    fit: Fit
    methods: tuple[str, ...]
    package: str = "symgrad"
    module: str = "symgrad"
    extra: str = "bench"
    limited: bool = True

    def check(self) -> None:
        """Say what to install if the package is missing."""
        if importlib.util.find_spec(self.module.split(".")[0]) is None:
            raise ImportError(
                f"{self.methods[0]} needs {self.package}, which is not installed: "
                f'pip install "symgrad[{self.extra}]", or leave it out by --methods'
            )

    def load(self) -> None:
        """Import the package, so that the fit is not charged for it."""
        importlib.import_module(self.module)

    @property
    def version(self) -> str:
        """The package and its version."""
        try:
            return f"{self.package} {metadata.version(self.package)}"
        except metadata.PackageNotFoundError:
            return self.package


def symbol(j: int) -> sympy.Symbol:
    """Return the symbol of a feature."""
    return sympy.Symbol(f"x{j}")
