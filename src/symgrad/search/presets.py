"""Named settings of the search."""

from __future__ import annotations

from dataclasses import replace

from symgrad.dgp.optimization import Optimization
from symgrad.search.dgp import DGP

PRESETS: dict[str, DGP] = {
    # The published method: no constants, no scaling, all trees trained for 1,000 epochs.
    "paper": DGP(),
    # The same cycle with linear scaling in fitness and loss, and the training cut down to what
    # two cores do in seconds.
    "default": DGP(scale=True, optimization=Optimization(epochs=200, trees=50, scale=True)),
}


def preset(name: str) -> DGP:
    """Return the search of that name."""
    if name not in PRESETS:
        raise ValueError(f"preset must be one of {', '.join(PRESETS)}, got {name!r}")
    return replace(PRESETS[name])
