"""The command line: ``symgrad fit``, ``predict``, ``show``, ``export``, ``demo``, ``bench``.

Results go to standard output; progress, remarks and complaints to standard error. The exit code is
0, 1 for bad files and data, 2 for bad usage, 130 after Ctrl-C.
"""

from __future__ import annotations

import csv
import re
import tempfile
import time
import warnings
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from symgrad import __version__
from symgrad.bench import commands
from symgrad.complaints import INTERRUPTED, complaining, note, quit_with
from symgrad.tree.exports import KINDS

if TYPE_CHECKING:  # commands import them, so that --help and mistakes need not wait
    import pandas as pd

    from symgrad import tables
    from symgrad.estimator import DGPRegressor

TABLE = "Table: csv, tsv or parquet, each also with .gz."
WIDE = 10_000
"""Width of tables that are written to a file or a pipe: nothing is cut."""

app = typer.Typer(
    help="Find formulas in data.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(commands.app, name="bench")
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="File of a fitted model.")]


def names(text: str | None) -> list[str]:
    """Return the names in a list with commas; one with a comma in it stands in double quotes.

    Examples
    --------
    >>> from symgrad.cli import names
    >>> names('age, "dose, mg"')
    ['age', 'dose, mg']
    """
    if not text:
        return []
    listed = next(csv.reader([text], skipinitialspace=True))
    return [name.strip() for name in listed if name.strip()]


def functions(text: str | None) -> list[str] | None:
    """Return the primitives in a list with commas, definitions among them.

    Examples
    --------
    >>> from symgrad.cli import functions
    >>> functions("+, sin, mean(a, b) = (a + b)/2")
    ['+', 'sin', 'mean(a, b) = (a + b)/2']
    """
    if text is None:
        return None
    return [part.strip() for part in re.split(r",(?![^()]*\))", text) if part.strip()]


def _version(wanted: bool) -> None:
    if wanted:
        print(f"symgrad {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


@app.command()
@complaining
def fit(
    data: Annotated[Path, typer.Argument(metavar="DATA", help=TABLE)],
    target: Annotated[
        str | None, typer.Option(help="Column to explain; by default the last one.")
    ] = None,
    features: Annotated[
        str | None, typer.Option(help="Columns to use, as a,b,c; by default all others.")
    ] = None,
    drop: Annotated[str | None, typer.Option(help="Columns to leave out, as a,b.")] = None,
    seconds: Annotated[
        float | None, typer.Option("--time", help="Seconds that the search may take.")
    ] = None,
    evaluations: Annotated[
        int | None, typer.Option(help="Formulas to try; by default 500000 without --time.")
    ] = None,
    preset: Annotated[str, typer.Option(help="default or paper.")] = "default",
    seed: Annotated[int, typer.Option(help="Seed of the search.")] = 0,
    jobs: Annotated[int | None, typer.Option(help="Threads; by default all cores.")] = None,
    device: Annotated[str, typer.Option(help="cpu, gpu or auto: where trees are trained.")] = "cpu",
    primitives: Annotated[
        str | None, typer.Option(help="Functions to use, as '+,*,sin,gauss(x) = exp(-x*x)'.")
    ] = None,
    max_size: Annotated[
        int | None, typer.Option(help="Most nodes of a formula, as written.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="File for the model (JSON).")] = None,
    report: Annotated[Path | None, typer.Option(help="File for a report (HTML).")] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="File to go on from after a crash or Ctrl-C.")
    ] = None,
) -> None:
    """Search for a formula of a column in terms of the others."""
    from symgrad import tables
    from symgrad.progress import Progress, duration

    for name, path in (("--out", out), ("--report", report), ("--checkpoint", checkpoint)):
        _check_output(name, path, data)
    est = _estimator(
        preset=preset, primitives=functions(primitives), max_size=max_size,
        max_evaluations=evaluations, time_limit=seconds, random_state=seed, n_jobs=jobs,
        device=device,
    )  # fmt: skip
    X, y = _training(tables.read(data), target, names(features), names(drop))
    progress = Progress(Console(stderr=True), keep=False, interrupt=True)
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        est.fit(X, y, progress=progress, checkpoint=checkpoint)
    for warning in caught:
        note(f"{warning.message}")
    took = time.perf_counter() - start
    spoken = f"{took:.1f} s" if took < 60 else duration(took)
    when = f" in {spoken}" if checkpoint is None else ""  # of which earlier runs know the rest
    print(f"{y.name} = {est}")
    print(
        f"R2 {est.score(X, y):.4f} on {len(y):,} rows, size {est.tree_.size}, "
        f"{est.n_evaluations_:,} formulas{when}",
        flush=True,
    )
    if out is not None:
        est.save(out)
        note(f"saved to {out}")
    if report is not None:
        est.report(report, X, y)
        note(f"report written to {report}")
    if progress.stopped:
        kept = "; this is the best formula so far" + (f", saved to {out}" if out else "")
        again = "" if checkpoint is None else "; the same command goes on with the search"
        quit_with(f"interrupted{kept}{again}", INTERRUPTED)


@app.command()
@complaining
def predict(
    model: Model,
    data: Annotated[Path, typer.Argument(metavar="DATA", help=TABLE)],
    out: Annotated[
        Path | None, typer.Option(help="File for the predictions; by default they are printed.")
    ] = None,
) -> None:
    """Print or write what a model predicts for new rows."""
    import pandas as pd

    from symgrad import tables

    if out is not None:
        _check_output("--out", out, model, data)
        try:
            tables.check_kind(out)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
    est = _load(model)
    predictions = pd.DataFrame({"prediction": est.predict(_new_rows(est, tables.read(data)))})
    if out is None:
        print(predictions.to_csv(index=False), end="")
    else:
        tables.write(predictions, out)
        note(f"{len(predictions):,} predictions written to {out}")


@app.command()
@complaining
def show(model: Model) -> None:
    """Show a model: its formula, its front, its settings."""
    from symgrad.estimator import DGPRegressor

    est = _load(model)
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=WIDE)
    console.print(Text(str(est), "bold"))
    used = est.tree_.features
    console.print(
        Text(f"size {est.tree_.size}, {len(used)} of {est.n_features_in_} features in use")
    )
    if used:
        console.print(Text(f"features: {', '.join(used)}"))
    console.print()
    console.print(_front(est))
    console.print()
    console.print(Text(f"search: {est.n_evaluations_:,} formulas, {est.n_iter_:,} iterations"))
    usual = DGPRegressor().get_params(deep=False)
    given = {k: v for k, v in est.get_params(deep=False).items() if v != usual[k]}
    console.print(
        Text("settings: " + (", ".join(f"{k}={v!r}" for k, v in given.items()) or "as usual"))
    )


@app.command()
@complaining
def export(
    model: Model,
    kind: Annotated[str, typer.Argument(metavar="KIND", help=", ".join(KINDS) + ".")],
    out: Annotated[
        Path | None, typer.Option(help="File for the text; by default it is printed.")
    ] = None,
) -> None:
    """Print or write the formula of a model as source code."""
    if kind not in KINDS:
        raise typer.BadParameter(f"KIND must be one of {', '.join(KINDS)}, got {kind!r}.")
    _check_output("--out", out, model)
    text = _load(model).export(kind).rstrip("\n") + "\n"
    if out is None:
        print(text, end="")
    else:
        out.write_text(text, encoding="utf-8")
        note(f"written to {out}")


@app.command()
@complaining
def demo() -> None:
    """Show formulas on a small data set, and a first fit."""
    from symgrad.demo import main

    main()


def _estimator(**settings: Any) -> DGPRegressor:
    """Return an estimator; settings it would refuse are bad usage."""
    from symgrad.estimator import DGPRegressor

    est = DGPRegressor(**settings)
    if settings["n_jobs"] is not None and settings["n_jobs"] < 1:
        raise typer.BadParameter(f"--jobs must be positive, got {settings['n_jobs']}.")
    if not 0 <= settings["random_state"] < 2**32:
        raise typer.BadParameter(f"--seed must be from 0 to 2**32 - 1, got {est.random_state}.")
    try:
        est._search()
        est._budget()
    except (ValueError, TypeError) as error:
        text = (
            str(error).replace("max_evaluations", "--evaluations").replace("time_limit", "--time")
        )
        raise typer.BadParameter(f"{text}.") from None
    return est


def _check_output(name: str, path: Path | None, *given: Path) -> None:
    """Refuse a file that cannot be written, or that is read, before the work is done."""
    if path is None:
        return
    if path.is_dir():
        raise typer.BadParameter(f"{name} must be a file, but {path} is a folder.")
    if not path.parent.is_dir():
        raise typer.BadParameter(f"{name} must be in a folder that exists, got {path}.")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise typer.BadParameter(f"{name} cannot be {path}: {error.strerror}.") from None
    if path.exists() and any(p.exists() and path.samefile(p) for p in given):
        raise typer.BadParameter(f"{name} would overwrite what is read, {path}.")


def _training(
    table: tables.Table, target: str | None, features: list[str], drop: list[str]
) -> tuple[pd.DataFrame, pd.Series[float]]:
    """Return the features and the target of a table."""
    table.check([*([] if target is None else [target]), *features, *drop])
    if target is None:
        target = next((c for c in reversed(table.columns) if c not in drop), "")
        note(f"the target is the last column, {target!r} (--target takes another)")
    if target in (*features, *drop):
        option = "--features" if target in features else "--drop"
        raise typer.BadParameter(f"{target!r} is the target, so it cannot stand in {option}.")
    chosen = list(dict.fromkeys(features or table.columns))
    chosen = [name for name in chosen if name != target and name not in drop]
    if not chosen:
        raise ValueError(f"{table.path} has no columns left as features")
    y = table.numbers([target])[target]
    if len(y) < 2:
        raise ValueError(f"{table.path} has one row, and at least two are needed")
    if y.min() == y.max():
        raise ValueError(
            f"column {target!r} of {table.path} is constant (every value is {y[0]:g}), so there is "
            "nothing to explain"
        )
    try:
        return table.numbers(chosen), y
    except ValueError as error:
        raise ValueError(f"{error}; --drop leaves columns out") from None


def _load(path: Path) -> DGPRegressor:
    from symgrad.files import load

    if not path.exists():
        raise ValueError(f"there is no file {path}")
    return load(path)


def _new_rows(est: DGPRegressor, table: tables.Table) -> Any:
    """Return rows for a model; columns that its formula does not use need not be there."""
    import pandas as pd

    wanted = [est.tree_.names[j] for j in range(est.n_features_in_)]
    named = hasattr(est, "feature_names_in_")
    if not named and len(table.columns) == len(wanted):  # the model knows places, not names
        wanted = table.columns
    used = [wanted[j] for j in est.tree_.feature_indices]
    given = table.numbers(used)
    rows = pd.DataFrame(0.0, index=range(len(table.frame)), columns=wanted)
    rows[used] = given
    return rows if named else rows.to_numpy()


def _front(est: DGPRegressor) -> RichTable:
    table = RichTable(box=None, pad_edge=False)
    table.add_column("")
    for title in ("size", "R2", "held out", "loss"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("formula", overflow="fold")
    numbers = (est.equations_[name] for name in ("r2", "validation_r2", "loss"))
    for tree, r2, held_out, loss in zip(est.trees_, *numbers, strict=True):
        chosen = tree is est.tree_
        text = Text(tree.render(4), "bold" if chosen else "")
        mark = ">" if chosen else ""
        scores = (f"{r2:.4f}", "" if isnan(held_out) else f"{held_out:.4f}", f"{loss:.4g}")
        table.add_row(mark, str(tree.size), *scores, text)
    return table
