"""The command line of the benchmarks: ``symgrad bench paper``, ``peers``, ``highdim``, ``speed``.

Each writes rows.csv, tables.md and figures to a folder. The same command goes on where it was
stopped; when all runs are there, it writes tables and figures again.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from symgrad.complaints import complaining, note

if TYPE_CHECKING:
    import pandas as pd

    from symgrad.bench.harness import Part

Write = Callable[["pd.DataFrame", Path], Iterator[Path]]

app = typer.Typer(help="Run the benchmarks.", no_args_is_help=True, rich_markup_mode=None)
Out = Annotated[
    Path | None, typer.Option(help="Folder for results; by default bench-results/COMMAND.")
]
Methods = Annotated[str | None, typer.Option(help="Methods, as a,b,c.")]
Seeds = Annotated[int | None, typer.Option(min=1, help="Number of seeds.")]
FirstSeed = Annotated[int, typer.Option(min=0, help="First seed.")]
Threads = Annotated[int, typer.Option(min=1, help="Threads of one run.")]
Processes = Annotated[
    int | None, typer.Option(min=1, help="Runs at a time; by default as many as cores allow.")
]
Timeout = Annotated[
    float | None,
    typer.Option(
        help="Seconds after which a run is killed; by default 60 more than thrice its time, "
        "or two hours if it has none."
    ),
]
Retry = Annotated[bool, typer.Option("--retry", help="Try failed runs again.")]
Quick = Annotated[bool, typer.Option("--quick", help="A few minutes: fewer and shorter runs.")]
Score = Annotated[
    str, typer.Option(help="test_r2, or test_r2_clipped: predictions in the training range.")
]


@app.command()
@complaining
def paper(
    studies: Annotated[str, typer.Option(help="Of real,synthetic,noise.")] = "real,synthetic,noise",
    problems: Annotated[
        str | None, typer.Option(help="Data sets and formulas, as a,b; by default all.")
    ] = None,
    methods: Methods = None,
    seeds: Seeds = None,
    first_seed: FirstSeed = 0,
    evaluations: Annotated[
        int | None, typer.Option(help="Formulas to try; by default 100000, synthetic 500000.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="Seconds of a fit, instead of evaluations.")
    ] = None,
    standardized: Annotated[str, typer.Option(help="none, X, y or both.")] = "X",
    threads: Threads = 1,
    processes: Processes = None,
    timeout: Timeout = None,
    retry: Retry = False,
    score: Score = "test_r2_clipped",
    quick: Quick = False,
    out: Out = None,
) -> None:
    """Repeat the study of the DGP paper: eight data sets, six formulas, noise."""
    from symgrad.bench import figures, summaries
    from symgrad.bench import paper as study
    from symgrad.bench.problems import REAL, STANDARDIZED, SYNTHETIC
    from symgrad.bench.task import Limit

    with usage():
        wanted_methods = known(
            methods or (study.QUICK_METHODS if quick else study.METHODS), timeout
        )
        one_of("--standardized", standardized, STANDARDIZED)
        one_of("--score", score, summaries.SCORES)
        given = evaluations is not None or seconds is not None
        limit = Limit(seconds, evaluations) if given else None
        names = None if problems is None else listed(problems)
        parts = study.plan(listed(studies), names, standardized, quick, seeds, limit)

    def write(rows: pd.DataFrame, folder: Path) -> Iterator[Path]:
        tables = study.tables(rows, score)
        yield page(folder, summaries.document("The DGP paper's study", rows, tables))
        names = rows["problem"].str.split().str[0]
        real, synthetic = rows[names.isin(REAL)], rows[names.isin(SYNTHETIC)]
        for suffix, own in by_budget(real):
            yield figures.boxes(own, folder / f"boxes{suffix}.png", score)
        for suffix, own in by_budget(synthetic):
            if own["problem"].str.contains("noise").any():
                yield figures.noise(own, folder / f"noise{suffix}.png")

    folder = out or folder_of("paper", quick)
    go(parts, wanted_methods, folder, write, threads, processes, timeout, first_seed, retry)


@app.command()
@complaining
def peers(
    datasets: Annotated[
        str | None,
        typer.Option(help="paper (the default), other (all else in the data folder), or a,b,c."),
    ] = None,
    methods: Methods = None,
    seeds: Seeds = None,
    first_seed: FirstSeed = 0,
    seconds: Annotated[
        str | None, typer.Option(help="Seconds of a fit, by default 10,60: both in turn.")
    ] = None,
    threads: Threads = 2,
    processes: Processes = None,
    timeout: Timeout = None,
    retry: Retry = False,
    score: Score = "test_r2",
    quick: Quick = False,
    out: Out = None,
) -> None:
    """Run other methods on real data, at equal time."""
    from symgrad.bench import figures, problems, summaries
    from symgrad.bench import peers as study

    with usage():
        wanted_methods = known(methods or study.METHODS, timeout)
        one_of("--score", score, summaries.SCORES)
        times = [number("--seconds", s) for s in listed(seconds or study.times(quick))]
    parts = study.plan(
        problems.named(datasets or study.datasets(quick)),
        times,
        seeds or (1 if quick else study.SEEDS),
    )

    def write(rows: pd.DataFrame, folder: Path) -> Iterator[Path]:
        tables = summaries.parts(rows, score)
        yield page(folder, summaries.document("Other methods at equal time", rows, tables))
        for suffix, own in by_budget(rows):
            yield figures.boxes(own, folder / f"boxes{suffix}.png", score)
            if own["size"].notna().any():
                yield figures.tradeoff(own, folder / f"tradeoff{suffix}.png", score)

    folder = out or folder_of("peers", quick)
    go(parts, wanted_methods, folder, write, threads, processes, timeout, first_seed, retry)


@app.command()
@complaining
def highdim(
    only: Annotated[
        str | None, typer.Option(help="Problems, by name or by * and ?, as a,b; by default all.")
    ] = None,
    methods: Methods = None,
    seeds: Seeds = None,
    first_seed: FirstSeed = 0,
    seconds: Annotated[
        float | None, typer.Option(help="Seconds of a fit, instead of 2 to 300 by features.")
    ] = None,
    threads: Threads = 2,
    processes: Processes = None,
    timeout: Timeout = None,
    retry: Retry = False,
    quick: Quick = False,
    out: Out = None,
) -> None:
    """Run wide tables, of which a few features matter."""
    from symgrad.bench import figures, summaries
    from symgrad.bench import highdim as study

    with usage():
        wanted_methods = known(methods or study.METHODS, timeout)
        wanted = only or (study.QUICK if quick else "*")
        parts = study.plan(wanted, seconds, seeds or (1 if quick else study.SEEDS))

    def write(rows: pd.DataFrame, folder: Path) -> Iterator[Path]:
        yield page(folder, summaries.document("Wide tables", rows, study.tables(rows)))
        for budget, own in study.by_budget(rows):
            suffix = f"-{budget.replace(' ', '')}" if budget else ""
            yield figures.growth(own, folder / f"growth{suffix}.png")
            yield figures.conditions(own, folder / f"conditions{suffix}.png")

    folder = out or folder_of("highdim", quick)
    go(parts, wanted_methods, folder, write, threads, processes, timeout, first_seed, retry)


@app.command()
@complaining
def speed(
    repeats: Annotated[int, typer.Option(min=1, help="The best of so many counts.")] = 7,
    threads: Annotated[str, typer.Option(help="Numbers of threads, as 1,2.")] = "1,2",
    methods: Methods = None,
    quick: Quick = False,
    out: Out = None,
) -> None:
    """Measure how fast trees are evaluated, against Operon and NumPy."""
    from symgrad.bench import figures
    from symgrad.bench import speed as study
    from symgrad.bench.adapters import chosen
    from symgrad.bench.summaries import as_markdown

    with usage():
        counts = [int(number("--threads", t)) for t in listed(threads)]
        names = list(study.METHODS) if methods is None else listed(methods)
        for name in names:
            one_of("--methods", name, study.METHODS)
    if "operon" in names:
        chosen(["operon"])
    folder = made(out or folder_of("speed", quick))
    fast, flat = study.measured(2 if quick else repeats, quick, counts, names)
    rows = study.long(fast, flat)
    rows.to_csv(folder / "rows.csv", index=False)
    tables = {
        "10^9 node-rows per second, 1,000 trees of about 23 nodes, float32": fast,
        "fused loss with linear scaling, float32, one thread": flat,
    }
    body = [as_markdown(title, study.texts(table)) for title, table in tables.items()]
    where = f"Commit {rows['commit'][0]}, {rows['machine'][0]}."
    text = "\n\n".join(["# Speed", where, *body]) + "\n"

    def write() -> Iterator[Path]:
        yield page(folder, text)
        yield figures.bars(rows, folder / "speed.png")

    print(text)
    tell([folder / "rows.csv"], write())


@app.command()
@complaining
def fetch(
    datasets: Annotated[str, typer.Option(help="Names at PMLB, as a,b.")] = "",
    to: Annotated[
        Path | None, typer.Option(help="Folder; by default SYMGRAD_DATA, or bench-data.")
    ] = None,
) -> None:
    """Get data sets of the benchmarks from OpenML (needs the internet)."""
    from symgrad.bench import problems

    names = listed(datasets) if datasets else [n for n in problems.REAL if n != "DLBCL"]
    target = to or Path(os.environ.get("SYMGRAD_DATA") or "bench-data")
    for path in problems.fetch(target, names):
        print(path)


def go(
    parts: list[Part],
    methods: list[str],
    folder: Path,
    write: Write,
    threads: int,
    processes: int | None,
    timeout: float | None,
    first_seed: int,
    retry: bool,
) -> None:
    """Do the runs that are not there, then write tables and figures of all that are."""
    from symgrad.bench import harness, problems
    from symgrad.bench.adapters import chosen

    adapters = chosen(methods)
    for part in parts:
        problems.check(part.problem)
    results = made(folder) / "rows.csv"
    rows = harness.last_rows(results)
    if retry:
        rows = rows[rows["status"] == "ok"]
    todo = harness.jobs(adapters, parts, threads, first_seed, rows)
    at_a_time = processes or max(1, (os.cpu_count() or 1) // threads)
    note(f"{len(todo):,} runs to do, {at_a_time} at a time; results go to {folder}")
    try:
        if todo:
            harness.run(todo, results, at_a_time, harness.Runner(timeout))
    except KeyboardInterrupt:
        note(f"stopped; the same command goes on from the rows in {results}")
        raise
    tell([results], write(harness.last_rows(results), folder))


def tell(done: list[Path], written: Iterator[Path]) -> None:
    """Print the files that are written, one by one; without matplotlib there are no figures."""
    for path in done:
        print(path)
    try:
        for path in written:
            print(path, flush=True)
    except ImportError as error:
        note(f"symgrad: {error}; then the same command draws them")


def by_budget(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the good rows of every budget, and what to add to the names of their files."""
    rows = rows[rows["status"] == "ok"]
    budgets = list(dict.fromkeys(rows["budget"]))
    for budget in budgets:
        suffix = f"-{budget.replace(', ', '-').replace(' ', '')}" if len(budgets) > 1 else ""
        yield suffix, rows[rows["budget"] == budget]


def page(folder: Path, text: str) -> Path:
    """Write tables.md."""
    (folder / "tables.md").write_text(text, encoding="utf-8")
    return folder / "tables.md"


def made(folder: Path) -> Path:
    """Return a folder that is there."""
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def folder_of(name: str, quick: bool) -> Path:
    """Return the default folder; quick runs have their own."""
    return Path("bench-results") / (f"{name}-quick" if quick else name)


def listed(text: str) -> list[str]:
    """Return the parts of a list with commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def known(methods: str, timeout: float | None) -> list[str]:
    """Return the methods in a list with commas, all of them known; check the timeout too."""
    from symgrad.bench.adapters import BY_METHOD

    for name in listed(methods):
        one_of("--methods", name, tuple(BY_METHOD))
    if timeout is not None and timeout <= 0:
        raise ValueError(f"--timeout must be positive, got {timeout:g}")
    return listed(methods)


def number(name: str, text: str) -> float:
    """Return a positive number."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not value > 0:
        raise ValueError(f"{name} must be positive numbers, got {text!r}")
    return value


def one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    """Refuse a value that is not known, and list those that are."""
    if value not in known:
        raise ValueError(f"{name}: unknown {value!r}; the known ones are {', '.join(known)}")


@contextlib.contextmanager
def usage() -> Iterator[None]:
    """Make bad usage of what is wrong with an option."""
    try:
        yield
    except ValueError as error:
        raise typer.BadParameter(f"{error}.") from None
