"""Most memory that a fit of a large memory-mapped table takes.

    python benchmarks/memory.py --rows 1000 --features 100000

The table is a file of normal numbers in float32, the target x0*x1 + x2 of three of them. Pages of
the file that were read are part of the figure.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from symgrad import DGPRegressor

STEP = 50
"""Rows that are written at a time."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--features", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=120.0)
    o = parser.parse_args()
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npy"
        shape = (o.rows, o.features)
        table = np.lib.format.open_memmap(path, "w+", np.float32, shape)
        for first in range(0, o.rows, STEP):
            part = table[first : first + STEP]
            part[:] = rng.normal(size=part.shape)
        del table, part
        X = np.load(path, mmap_mode="r")
        a, b, c = (X[:, j].astype(float) for j in rng.choice(o.features, 3, replace=False))
        start = time.perf_counter()
        est = DGPRegressor(time_limit=o.seconds, random_state=0).fit(X, a * b + c)
        taken = time.perf_counter() - start
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"{X.nbytes / 1e9:.2f} GB: {est}, {taken:.0f} s, {most:.2f} GB at most")


if __name__ == "__main__":
    main()
