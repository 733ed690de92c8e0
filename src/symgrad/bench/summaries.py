"""Tables of benchmark rows as Markdown: means by problem and method, ranks and wins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from symgrad.bench.adapters import BY_METHOD
from symgrad.bench.problems import REAL, SYNTHETIC

SCORES = ("test_r2", "test_r2_clipped")


def accuracy(rows: pd.DataFrame, score: str) -> pd.DataFrame:
    """Return mean ± deviation of the score, with the number of failed runs where there are any."""

    def cell(group: pd.DataFrame) -> str:
        good = group.loc[group["status"] == "ok", score]
        failed = len(group) - len(good)
        note = f" ({failed} of {len(group)} failed)" if failed else ""
        if good.empty:
            return note.strip()
        spread = f" ± {good.std():.3f}" if len(good) > 1 else ""
        return f"{good.mean():.3f}{spread}{note}"

    return cells({(str(d), str(m)): cell(g) for (d, m), g in rows.groupby(["problem", "method"])})


def sizes(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the mean size of the formulas, with the number of those that have none."""

    def cell(group: pd.DataFrame) -> str:
        known = group["size"].dropna()
        unknown = len(group) - len(known)
        note = f" ({unknown} unknown)" if unknown else ""
        return f"{known.mean():.1f}{note}"

    good = rows[rows["status"] == "ok"]
    formulas = good.groupby("method")["size"].transform("count") > 0
    return cells(
        {(str(d), str(m)): cell(g) for (d, m), g in good[formulas].groupby(["problem", "method"])}
    )


def summary(rows: pd.DataFrame, score: str) -> tuple[pd.DataFrame, int]:
    """Return mean rank, wins and means by method, and how many data sets were ranked.

    Ranks are those of the mean score on the data sets that all methods were run on. A method all
    of whose runs failed comes last there, and equal ones share a win.
    """
    tried = rows.groupby(["problem", "method"]).size().unstack("method").notna().all(axis=1)  # noqa: PD010
    good = rows[rows["status"] == "ok"]
    means = good.groupby(["problem", "method"])[score].mean().unstack("method")  # noqa: PD010
    means = means.reindex(index=tried.index[tried], columns=sorted(rows["method"].unique()))
    ranks = means.rank(axis=1, ascending=False, na_option="bottom")
    best = means.eq(means.max(axis=1), axis=0)
    groups = good.groupby("method")
    table = pd.DataFrame(
        {
            "mean rank": ranks.mean().map("{:.2f}".format),
            "wins": best.div(best.sum(axis=1), axis=0).sum().map("{:g}".format),
            "median R2": groups[score].median().map("{:.3f}".format),
            "median size": groups["size"].median().map("{:g}".format),
            "median features": groups["features"].median().map("{:g}".format),
            "mean seconds": groups["seconds"].mean().map("{:.1f}".format),
            "failed": (rows["status"] != "ok").groupby(rows["method"]).sum().map(str),
        }
    )
    table = table.astype(object).fillna("").replace("nan", "")
    return table.loc[ordered(table.index, BY_METHOD)], len(means)


def cells(values: dict[tuple[str, str], str]) -> pd.DataFrame:
    """Return a table of data sets and methods, in the order in which they are known."""
    rows, columns = ({key[axis] for key in values} for axis in (0, 1))
    frame: pd.DataFrame = pd.DataFrame(
        "", index=ordered(rows, [*REAL, *SYNTHETIC]), columns=ordered(columns, BY_METHOD)
    )
    for (problem, method), text in values.items():
        frame.loc[problem, method] = text
    return frame


def ordered(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return the names in the order of the known ones, others after them."""
    order = list(known)
    return sorted(names, key=lambda n: (order.index(n) if n in order else len(order), n))


def parts(rows: pd.DataFrame, score: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield titles and tables, for every budget."""
    label = score.replace("_", " ").replace("r2", "R2")
    budgets: Any = rows.groupby(["budget", "threads"], sort=False)
    for (budget, threads), group in budgets:
        given = f"{budget}, {threads} thread{'s' * (threads > 1)}"
        seeds = group["seed"].nunique()
        yield (
            f"{given}: mean {label} ± deviation, up to {seeds} seed{'s' * (seeds > 1)}",
            accuracy(group, score),
        )
        yield f"{given}: mean size", sizes(group)
        table, ranked = summary(group, score)
        yield f"{given}: ranks by {label} on {ranked} data sets, medians of all runs", table


def document(title: str, rows: pd.DataFrame, tables: Iterable[tuple[str, pd.DataFrame]]) -> str:
    """Return a page of tables, with where and by what they were measured."""
    failed = int((rows["status"] != "ok").sum())
    where = [f"{len(rows):,} runs, {failed} of them failed."]
    for what, column in (("Versions", "version"), ("Commits", "commit"), ("Machines", "machine")):
        where.append(f"{what}: {', '.join(sorted(map(str, rows[column].unique())))}.")
    body = [as_markdown(heading, frame) for heading, frame in tables if len(frame)]
    if failed:
        body.append(as_markdown("failed runs", failures(rows)))
    return "\n\n".join([f"# {title}", " ".join(where), *body]) + "\n"


def failures(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the runs that failed, and why."""
    bad = rows[rows["status"] != "ok"].set_index("method")
    texts = bad[["problem", "seed", "budget", "status", "error"]].astype(object)
    texts = texts.fillna("").astype(str)
    table: pd.DataFrame = texts.replace(r"\|", "/", regex=True)  # a bar would end the cell
    return table


def as_markdown(title: str, frame: pd.DataFrame) -> str:
    """Return a table of texts as Markdown."""
    lines = [["", *frame.columns], ["---", *("---:" for _ in frame.columns)]]
    lines += [[str(name), *row] for name, row in zip(frame.index, frame.to_numpy(), strict=True)]
    return f"**{title}**\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines)
