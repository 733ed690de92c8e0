"""The paper's study from the rows that were measured: tables and the two figures of docs/study.md.

    python benchmarks/study.py --figures docs/pictures

Nothing is run. The rows are those of `symgrad bench paper`, with machine, versions and commit in
each.
"""

from __future__ import annotations

import argparse
from itertools import combinations
from pathlib import Path

import pandas as pd
from scipy.stats import wilcoxon

from symgrad.bench import figures, paper
from symgrad.bench.problems import REAL
from symgrad.bench.summaries import document

ROWS = Path(__file__).resolve().parent / "measured" / "paper_h200.csv"
WITHOUT_NOISE = ROWS.with_name("paper_cpu.csv")
METHODS = "deap,gp,gp balanced,dgp on gpu,dgp on gpu balanced"
NOISE = "gp,dgp,dgp on gpu,dgp on gpu balanced"
SCORE = "test_r2_clipped"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=Path, default=ROWS)
    parser.add_argument("--methods", default=METHODS, help="of tables")
    parser.add_argument("--figures", type=Path, help="folder for figures")
    args = parser.parse_args()
    rows = pd.read_csv(args.rows)
    own = rows[rows["method"].isin(args.methods.split(","))]
    print(document("The DGP paper's study", own, paper.tables(own, SCORE)))
    pairs(own)
    if args.figures:
        print(figures.boxes(drawn(rows, METHODS, True), args.figures / "study_boxes.png", SCORE))
        rows = pd.concat([rows, pd.read_csv(WITHOUT_NOISE)])
        print(figures.noise(drawn(rows, NOISE, False), args.figures / "study_noise.png"))


def pairs(rows: pd.DataFrame) -> None:
    """Print how often GP and DGP are ahead of each other from the same first population."""
    table = rows[is_real(rows)].pivot_table(SCORE, ["problem", "seed"], "method")
    names = [name for name in table if name != "deap"]
    for one, other in combinations(names, 2):
        ahead = (table[one] - table[other]).dropna()
        worst = ahead.groupby("problem").apply(lambda d: wilcoxon(d).pvalue).max()
        print(f"{one} ahead of {other}: {(ahead > 0).sum()} of {len(ahead)} pairs;"
              f" signed ranks: p at most {worst:.2g} on each table")  # fmt: skip


def is_real(rows: pd.DataFrame) -> pd.Series:
    """Return which rows are of data sets, not of formulas."""
    return rows["problem"].str.split().str[0].isin(REAL)


def drawn(rows: pd.DataFrame, methods: str, real: bool) -> pd.DataFrame:
    """Return the rows of some methods, under short names, on data sets or on formulas."""
    rows = rows[rows["method"].isin(methods.split(",")) & (is_real(rows) == real)].copy()
    rows["method"] = rows["method"].str.replace(" on gpu", "")
    return rows


if __name__ == "__main__":
    main()
