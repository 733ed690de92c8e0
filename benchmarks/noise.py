"""How often a formula is found where there is none: a target unrelated to the features.

    python benchmarks/noise.py --seeds 20 --seconds 5

For each number of features: runs whose result is not the constant, of how many.
"""

from __future__ import annotations

import argparse

from symgrad import DGPRegressor
from symgrad.bench.needles import make


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--features", default="10,100,1000,10000")
    parser.add_argument("--rows", default="50,200")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=5.0)
    o = parser.parse_args()
    for d in o.features.split(","):
        for n in o.rows.split(","):
            wrong = []
            for seed in range(o.first_seed, o.first_seed + o.seeds):
                problem = make(f"noise d={d} n={n}", seed)
                est = DGPRegressor(time_limit=o.seconds, random_state=seed)
                est.fit(problem.X, problem.y)
                if est.tree_.feature_indices:
                    wrong.append(f"seed {seed}: {est}")
            print(f"{d} features, {n} rows: {len(wrong)} of {o.seeds}", *wrong, flush=True)


if __name__ == "__main__":
    main()
