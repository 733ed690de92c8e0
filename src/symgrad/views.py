"""What a fitted estimator says of its formula: text, files, notebooks, plots, reports, trust."""

from __future__ import annotations

import os
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any, cast

import pandas as pd
from sklearn import get_config
from sklearn.utils.validation import check_is_fitted

from symgrad.tree.names import visible

if TYPE_CHECKING:
    import sympy

    from symgrad.estimator import DGPRegressor
    from symgrad.trust import Significance


class Views:
    """The part of `DGPRegressor` that is about its result."""

    def plot(self, kind: str = "front", X: Any = None, y: Any = None, ax: Any = None) -> Any:
        """Draw with matplotlib and return the axes.

        Parameters
        ----------
        kind : {"front", "fit", "tree", "convergence", "features"}
            Error against size of all formulas, with the chosen one marked; predicted against
            actual values; the formula's tree; the error of the best formula over the search;
            which features the formulas use.
        X, y : array or data frame, array
            Data for "fit"; the others need none.
        ax : matplotlib axes, optional
            Where to draw; by default a new figure of a fitting size.
        """
        from symgrad.plots import plot

        return plot(self._own(), kind, X, y, ax)

    def explain(self, X: Any, y: Any, top: int = 5) -> pd.DataFrame:
        """Return what else each node of the formula might be, and how the data weigh that.

        A leaf might be any other feature; a function might be another one of the same arguments,
        or one of the arguments alone. The gradient of the formula says what each of them would
        explain, to first order, under the best line through it. What only changes that line is
        left out.

        Parameters
        ----------
        X, y : array or data frame, array
            Data: those of the fit, or fresh ones. Rows on which the formula is not finite are
            left out, and of more than 10,000 so many are used, evenly.
        top : int
            How many alternatives to each node are listed.

        Returns
        -------
        pandas.DataFrame
            For each node (postfix position) what it is now, and below it the best alternatives:
            ``node``, ``part`` (the subtree), ``now`` (the node itself), ``alternative`` (a feature,
            or a function of the node's arguments ``a`` and ``b``; "as it is" for what stands
            there, where ``current`` is true), ``r2`` (expected
            by the gradient), ``exact_r2`` (after substitution; constants as they are) and
            ``weight``: (1 - R2)^(-n/2), over the sum of that for all alternatives, those not
            listed included. The weights of a node are the row of a relaxed tree's node matrix.
        """
        from symgrad.explain import explain

        return explain(self._own(), X, y, top)

    def report(self, path: str | os.PathLike[str], X: Any, y: Any) -> None:
        """Write an HTML page about the model: one file that needs no network and no symgrad.

        Parameters
        ----------
        path : str or path
            Where to; a file that is there is replaced.
        X, y : array or data frame, array
            Data on which the formulas are shown, those of the fit or fresh ones.
        """
        from symgrad.report import write_report

        write_report(self._own(), path, X, y)

    def sympy(self) -> sympy.Expr:
        """Return the formula as a SymPy expression."""
        return self._own().tree_.sympy()

    def latex(self, digits: int | None = 4) -> str:
        """Return the formula as LaTeX."""
        return self._own().tree_.latex(digits)

    def export(self, kind: str, cells: Mapping[str, str] | None = None) -> str:
        """Return the formula as source text: "python", "c", "sql", "excel", "torch", "jax", ...

        It is the bare formula, ``tree_.evaluate(X)``: what `predict` does beyond it, the mean where
        it is undefined and the range of the target outside the training data, is not part of it.
        See `Tree.export` for the kinds and for `cells`.
        """
        return self._own().tree_.export(kind, cells)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a JSON file, which `symgrad.load` reads.

        A `random_state` that is no integer is left out.
        """
        from symgrad.files import save

        save(self._own(), path)

    def trust(self, X: Any, y: Any, n_restarts: int = 10, **options: Any) -> pd.DataFrame:
        """Return how far each feature of the formula can be trusted, from restarts on the data.

        See `symgrad.trust.trust` for the columns and the options.
        """
        from symgrad.trust import trust

        return trust(self._own(), X, y, n_restarts, **options)

    def significance(
        self, X: Any, y: Any, n_permutations: int = 20, **options: Any
    ) -> Significance:
        """Return what the search finds when y is shuffled, against y as it is.

        See `symgrad.trust.significance` for the options.
        """
        from symgrad.trust import significance

        return significance(self._own(), X, y, n_permutations, **options)

    def _own(self) -> DGPRegressor:
        check_is_fitted(self)
        return cast("DGPRegressor", self)

    def _repr_html_inner(self) -> str:
        """Return the formula, typeset; scikit-learn's diagram before there is one."""
        if not hasattr(self, "tree_"):
            return cast(str, super()._repr_html_inner())  # type: ignore[misc]
        est = self._own()
        best = est.equations_[est.equations_["chosen"]].iloc[0]
        facts = f"{type(est).__name__}: size {best['size']}, training R2 {best['r2']:.4g}"
        text = escape(visible(est.tree_.render(4)), quote=True)
        return (
            f'<div style="overflow-x: auto; line-height: 2.2" title="{text}">'
            f"{est.tree_.mathml()}</div>"
            f'<div style="font-size: 85%; opacity: .7">{escape(facts)}, '
            f"{est.n_evaluations_:,} formulas tried</div>"
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        if not hasattr(self, "tree_"):
            return cast("dict[str, str]", super()._repr_mimebundle_(**kwargs))  # type: ignore[misc]
        bundle = {"text/plain": repr(self), "text/latex": f"${self._own().latex()}$"}
        if get_config()["display"] == "diagram":
            bundle["text/html"] = self._repr_html_inner()
        return bundle
