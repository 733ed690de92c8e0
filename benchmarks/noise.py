"""How often a formula is found where there is none: a target unrelated to the features.

    python benchmarks/noise.py --seeds 20 --seconds 5
    python benchmarks/noise.py --seeds 20 --seconds 5 --targets t3,lognormal,spikes

For each number of features: runs whose result is not the constant, of how many. Targets are normal,
or have heavy tails: few rows make up most of the variance, and steep functions catch them easily.
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import Any

import numpy as np

from symgrad import DGPRegressor

TARGETS: dict[str, Any] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "t3": lambda rng, n: rng.standard_t(3, size=n),
    "lognormal": lambda rng, n: rng.lognormal(size=n),
    "spikes": lambda rng, n: np.where(rng.random(n) < 0.1, rng.random(n), 0.0),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--features", default="10,100,1000,10000")
    parser.add_argument("--rows", default="50,200")
    parser.add_argument("--targets", default="normal", help=", ".join(TARGETS))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=5.0)
    o = parser.parse_args()
    if unknown := set(o.targets.split(",")) - set(TARGETS):
        raise SystemExit(
            f"unknown target {min(unknown)!r}; the known ones are {', '.join(TARGETS)}"
        )
    for target, d, n in product(o.targets.split(","), o.features.split(","), o.rows.split(",")):
        wrong = []
        for seed in range(o.first_seed, o.first_seed + o.seeds):
            rng = np.random.default_rng(seed)
            X, y = rng.normal(size=(int(n), int(d))), TARGETS[target](rng, int(n))
            est = DGPRegressor(time_limit=o.seconds, random_state=seed).fit(X, y)
            if est.tree_.feature_indices:
                wrong.append(f"seed {seed}: {est}")
        print(f"{target}, {d} features, {n} rows: {len(wrong)} of {o.seeds}", *wrong, flush=True)


if __name__ == "__main__":
    main()
