"""Named settings of the search."""

from __future__ import annotations

from dataclasses import replace

from symgrad.dgp.optimization import Optimization
from symgrad.dgp.sampling import Sampling
from symgrad.evolution.diversification import Diversification
from symgrad.search.dgp import DGP

PRESETS: dict[str, DGP] = {
    # The published method: no constants, no scaling. The relaxed tree starts as the tree itself,
    # and a high rate moves it in few epochs (the paper: .005 and 1,000): see docs/method.md.
    "paper": DGP(
        diversification=Diversification(max_size=50),
        optimization=Optimization(
            trees=100,
            epochs=100,
            learning_rate=0.5,
            edge_learning_rate=1e-4,
            batch_size=64,
            start_probability=0.9999,
            edge_strength=0.999,
            leaf_functions=True,
        ),
        sampling=Sampling(accept="join"),
    ),
    # The same cycle with linear scaling in fitness and loss, and the training cut down to what
    # two cores do in seconds.
    "default": DGP(scale=True, optimization=Optimization(epochs=200, trees=50, scale=True)),
}


def preset(name: str) -> DGP:
    """Return the search of that name."""
    if name not in PRESETS:
        raise ValueError(f"preset must be one of {', '.join(PRESETS)}, got {name!r}")
    return replace(PRESETS[name])
