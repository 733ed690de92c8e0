"""Named settings of the search."""

from __future__ import annotations

from dataclasses import replace

from symgrad.search.dgp import DGP
from symgrad.search.guided import GuidedDGP

PRESETS: dict[str, DGP | GuidedDGP] = {
    # The published method: no constants, no scaling, all trees trained for 1,000 epochs.
    "paper": DGP(),
    # The gradient at the discrete tree, constants, linear scaling, accuracy against size.
    "default": GuidedDGP(),
}


def preset(name: str) -> DGP | GuidedDGP:
    """Return the search of that name."""
    if name not in PRESETS:
        raise ValueError(f"preset must be one of {', '.join(PRESETS)}, got {name!r}")
    return replace(PRESETS[name])
