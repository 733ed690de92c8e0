"""The commands of the benchmarks: what a person gets from them."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from symgrad.bench import commands, figures, harness, problems
from symgrad.bench.adapters import BY_METHOD
from symgrad.cli import app

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINES = [
    line.split("#")[0].removeprefix("symgrad ")
    for page in PAGES
    for block in re.findall(
        r"^```sh\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    for line in block.splitlines()
    if line.startswith("symgrad bench")
]


def bench(*words):
    return CliRunner().invoke(app, ["bench", *map(str, words)])


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Return an empty folder to work in, beside a data folder with all tables of the paper."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(target=2 * X[:, 0] + 1)
    (tmp_path / "data").mkdir()
    (tmp_path / "work").mkdir()
    for name in (*problems.REAL.values(), "line"):
        table.to_csv(tmp_path / "data" / f"{name}.tsv.gz", sep="\t", index=False)
    monkeypatch.setenv("SYMGRAD_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


@pytest.fixture
def sketched(monkeypatch):
    """Have figures made but not drawn, which takes long."""

    def write(figure, path):
        figures.pyplot().close(figure)
        path.write_bytes(b"figure")
        return path

    monkeypatch.setattr(figures, "_saved", write)


@pytest.fixture
def pretended(monkeypatch):
    """Have all runs done at once by a method that knows all, and return their jobs."""
    jobs = []

    def run(self, job):
        jobs.append(job)
        row = {
            "status": "ok", "test_r2": 0.9, "test_r2_clipped": 0.9, "train_r2": 0.95, "size": 7,
            "nodes": 7, "features": 2, "test_rmse": 0.1, "seconds": 1.0, "found": "yes",
            "recovered": "yes", "version": "1", "commit": "c", "machine": "m",
        }  # fmt: skip
        return [dict(zip(harness.KEY, job.key(m), strict=True)) | row for m in job.methods]

    monkeypatch.setattr(harness.Runner, "run", run)
    return jobs


def test_a_real_run_from_end_to_end(data):
    words = ("peers", "--methods", "lasso", "--datasets", "line", "--seeds", 1, "--threads", 1)
    result = bench(*words, "--seconds", 1, "--out", "there")
    assert result.exit_code == 0, result.output
    assert "1/1 lasso, line, seed 0: R2 1.000" in result.stderr
    files = ["rows.csv", "tables.md", "boxes.png", "tradeoff.png"]
    assert result.stdout.split() == [f"there/{name}" for name in files]
    assert "| line | 1.000 |" in (data / "there" / "tables.md").read_text("utf-8")
    (row,) = pd.read_csv(data / "there" / "rows.csv").to_dict("records")
    assert (row["split"], row["features"], row["budget"]) == ("45/15", 1, "1 s")
    again = bench(*words, "--seconds", 1, "--out", "there")
    assert "0 runs to do" in again.stderr
    assert len(pd.read_csv(data / "there" / "rows.csv")) == 1


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("paper", ["rows.csv", "tables.md", "boxes.png", "noise.png"]),
        ("peers", ["rows.csv", "tables.md", "boxes.png", "tradeoff.png"]),
        ("highdim", ["rows.csv", "tables.md", "growth.png", "conditions.png"]),
    ],
)
def test_quick_runs_write_rows_tables_and_figures(
    data, pretended, sketched, monkeypatch, name, files
):
    monkeypatch.setattr("symgrad.bench.task.Adapter.check", lambda adapter: None)
    result = bench(name, "--quick")
    assert result.exit_code == 0, result.output
    assert result.stdout.split() == [f"bench-results/{name}-quick/{file}" for file in files]
    assert all((data / path).stat().st_size for path in result.stdout.split())
    count = len(pretended)
    assert count > 5
    assert bench(name, "--quick").exit_code == 0
    assert len(pretended) == count  # all were there


def test_speed_writes_tables_and_a_figure(data, sketched, monkeypatch):
    flat = {"rows": 1000, "features": 10, "symgrad": 1.0}
    monkeypatch.setattr("symgrad.bench.speed.flatness", lambda cases, repeats: [flat])
    result = bench("speed", "--quick", "--methods", "symgrad", "--threads", "1")
    assert result.exit_code == 0, result.output
    assert "| 1,000 rows | 1 |" in result.stdout
    folder = data / "bench-results" / "speed-quick"
    assert sorted(p.name for p in folder.iterdir()) == ["rows.csv", "speed.png", "tables.md"]


def test_failed_runs_are_tried_again_when_asked(data, sketched, monkeypatch):
    def fail(self, job):
        key = dict(zip(harness.KEY, job.key("lasso"), strict=True))
        return [key | {"status": "crash", "error": "no luck"}]

    monkeypatch.setattr(harness.Runner, "run", fail)
    words = ("peers", "--methods", "lasso", "--datasets", "line", "--seeds", 1, "--seconds", 1)
    assert bench(*words).exit_code == 0
    assert bench("paper", "--quick", "--methods", "lasso").exit_code == 0
    assert bench("highdim", "--quick", "--methods", "lasso").exit_code == 0
    text = (data / "bench-results" / "peers" / "tables.md").read_text("utf-8")
    assert "| lasso | line | 0 | 1 s | crash | no luck |" in text
    assert "0 runs to do" in bench(*words).stderr
    assert "1 runs to do" in bench(*words, "--retry").stderr


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["peers", "--methods", "magic"], 2, "the known ones are symgrad, symgrad accurate"),
        (["peers", "--datasets", "moon"], 1, "unknown data set 'moon'; the known ones are Satel"),
        (["peers", "--seconds", "0"], 2, "--seconds must be positive numbers, got '0'"),
        (["peers", "--score", "luck"], 2, "test_r2, test_r2_clipped"),
        (["peers", "--timeout", "-1"], 2, "--timeout must be positive, got -1"),
        (["paper", "--studies", "moon"], 2, "the known ones are real, synthetic, noise"),
        (["paper", "--problems", "moon"], 2, "those of the paper are Satellite_image"),
        (["paper", "--standardized", "Z"], 2, "none, X, y, both"),
        (["paper", "--evaluations", "0"], 2, "evaluations must be positive, got 0"),
        (["highdim", "--only", "moon*"], 2, "forms product, squares"),
        (["speed", "--methods", "moon"], 2, "symgrad, operon, numpy, symgrad float64"),
        (["fetch", "--datasets", "DLBCL"], 1, "7,399 genes and status"),
    ],
)
def test_bad_usage_is_one_sentence(data, words, code, sentence):
    result = bench(*words)
    assert result.exit_code == code
    assert sentence in " ".join(result.output.replace("│", " ").split())
    assert not any(data.iterdir())


def test_a_missing_folder_and_a_missing_peer_say_what_to_do(data, monkeypatch):
    monkeypatch.setenv("SYMGRAD_DATA", "nowhere")
    result = bench("paper", "--methods", "gp")
    assert result.exit_code == 1
    assert "there is no data folder nowhere; set SYMGRAD_DATA" in result.stderr
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = bench("highdim", "--methods", "gplearn")
    assert result.exit_code == 1
    assert 'pip install "symgrad[bench]"' in result.stderr


def test_without_matplotlib_there_are_tables(data, pretended, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    result = bench("paper", "--quick", "--methods", "gp", "--problems", "Tecator")
    assert result.exit_code == 0
    assert result.stdout.split()[-1].endswith("tables.md")
    assert 'pip install "symgrad[plots]"' in result.stderr


@pytest.mark.parametrize("line", LINES)
def test_the_lines_of_the_documents_can_be_run(data, pretended, monkeypatch, line):
    asked = []
    monkeypatch.setattr(commands, "go", lambda parts, methods, *_: asked.append((parts, methods)))
    monkeypatch.setattr("symgrad.bench.speed.measured", lambda *_: ([], []))
    if line.split()[1] in ("speed", "fetch"):
        line += " --help"
    result = CliRunner().invoke(app, shlex.split(line))
    assert result.exit_code == 0, result.output
    for parts, methods in asked:
        assert parts
        assert set(methods) <= set(BY_METHOD)


def test_the_documents_have_lines():
    assert {line.split()[1] for line in LINES} >= {"paper", "peers", "highdim", "speed"}
