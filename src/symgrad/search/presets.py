"""Named settings of the search."""

from __future__ import annotations

from dataclasses import replace

from symgrad.dgp.optimization import Optimization
from symgrad.dgp.sampling import Sampling
from symgrad.evolution.diversification import Diversification
from symgrad.search.dgp import DGP
from symgrad.search.guided import GuidedDGP

PRESETS: dict[str, DGP | GuidedDGP] = {
    # The published method: no constants, no scaling. The relaxed tree starts as the tree itself,
    # and a high rate moves it in few epochs (the paper: .005 and 1,000); training little, but every
    # 2 generations (the paper: 20), brings more than training long: see docs/method.md.
    "paper": DGP(
        standardize=True,
        optimization=Optimization(
            epochs=40,
            learning_rate=1.0,
            edge_learning_rate=1e-4,
            batch_size=64,
            start_probability=0.9999,
            edge_strength=0.999,
            leaf_functions=True,
        ),
        sampling=Sampling(accept="join"),
        diversification=Diversification(generations=2),
    ),
    # The gradient at the discrete tree, constants, linear scaling, accuracy against size.
    "default": GuidedDGP(),
}


def preset(name: str, device: str = "cpu") -> DGP | GuidedDGP:
    """Return the search of that name."""
    if name not in PRESETS:
        raise ValueError(f"preset must be one of {', '.join(PRESETS)}, got {name!r}")
    return replace(PRESETS[name], device=device)
