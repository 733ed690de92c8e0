"""The command line: what a person and what a script gets from it."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import symgrad
from symgrad import cli, tables

ROOT = Path(__file__).resolve().parent.parent
QUICK = ("--evaluations", "5000", "--jobs", "1")


def write_table(folder, name="data.csv", rows=60):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(rows, 4)).round(4), columns=["a", "dose, mg", "c", "y"])
    frame["y"] = (3 * frame["a"] * frame["c"] + 0.2 * rng.normal(size=rows)).round(4)
    frame.insert(0, "name", "somebody")
    frame.to_csv(folder / name, index=False)
    return frame


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model")
    write_table(path)
    result = call("fit", path / "data.csv", "--drop", "name", "--out", path / "m.json", *QUICK)
    assert result.exit_code == 0
    return path / "m.json"


def call(*args):
    """Run a command in this process."""
    result = CliRunner().invoke(cli.app, [str(a) for a in args], prog_name="symgrad")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def command(*args):
    return [sys.executable, "-m", "symgrad", *map(str, args)]


def spawn(*args):
    """Run a command in a process of its own."""
    return subprocess.run(command(*args), capture_output=True, text=True, check=False)


def code_of(done):
    return done.exit_code if hasattr(done, "exit_code") else done.returncode


BAD_FILES = {
    "text.csv": ("a,b,y\n1,2,3\n\n4,x5,6\n", ("'b'", "'x5'", "row 4", "--drop")),
    "nan.csv": ("a,b,y\n1,2,3\n4,nan,6\n", ("'b'", "nan", "row 3")),
    "gap.csv": ("a,b,y\n1,2,3\n4,5,\n", ("'y'", "empty", "row 3")),
    "constant.csv": ("a,b,y\n1,2,3\n4,5,3\n", ("'y'", "constant", "3")),
    "header.csv": ("a,b,y\n", ("no rows",)),
    "empty.csv": ("", ("is empty",)),
    "ragged.csv": ("a,b,y\n1,2,3\n4,5,6,7\n", ("row 3", "4 cells")),
    "one.csv": ("a,b,y\n1,2,3\n", ("one row",)),
    "only.csv": ("y\n1\n2\n", ("no columns left",)),
    "twice.csv": ("a,a,y\n1,2,3\n2,3,4\n", ("more than one", "'a'")),
    "table.xls": ("a,y\n1,2\n", ("csv, tsv or parquet",)),
    "broken.csv.gz": ("a,y\n1,2\n", ("gzip",)),
}


ALONE = ("text.csv", "nan.csv", "constant.csv", "header.csv")
"""Those that are tried in a process of their own, too."""


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_data_are_one_sentence_and_exit_code_1(folder, name):
    text, words = BAD_FILES[name]
    (folder / name).write_text(text)
    done = (spawn if name in ALONE else call)("fit", name)
    assert code_of(done) == 1
    assert done.stdout == ""
    sentence = done.stderr.splitlines()[-1]
    assert sentence.startswith("symgrad: ")
    assert all(word in sentence for word in (name, *words))
    remark = ["the target is the last column" in line for line in done.stderr.splitlines()[:-1]]
    assert all(remark)


MISSING = (("nothing.csv",), ("data.csv", "--target", "Y"))


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("fit", "nothing.csv"), ("no file", "nothing.csv")),
        (("fit", "data.csv", "--target", "Y"), ("'Y'", "did you mean 'y'")),
        (("fit", "data.csv", "--features", "a,cc"), ("'cc'", "'c'")),
        (("fit", "data.csv", "--drop", "nam"), ("'nam'", "'name'")),
        (("show", "data.csv"), ("cannot load data.csv",)),
        (("predict", "nothing.json", "data.csv"), ("no file nothing.json",)),
    ],
)
def test_wrong_files_and_columns_have_exit_code_1(folder, args, words):
    done = (spawn if args[1:] in MISSING else call)(*args)
    assert code_of(done) == 1
    sentence = done.stderr.splitlines()[-1]
    assert all(word in sentence for word in words)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("fit",), ("DATA",)),
        (("fit", "data.csv", "--bogus"), ("--bogus",)),
        (("fit", "data.csv", "--time", "soon"), ("--time",)),
        (("fit", "data.csv", "--time", "0"), ("--time must be positive",)),
        (("fit", "data.csv", "--evaluations", "-5"), ("--evaluations must be positive",)),
        (("fit", "data.csv", "--jobs", "0"), ("--jobs",)),
        (("fit", "data.csv", "--seed", "-1"), ("--seed",)),
        (("fit", "data.csv", "--preset", "best"), ("preset", "best")),
        (("fit", "data.csv", "--primitives", "foo"), ("foo",)),
        (("fit", "data.csv", "--max-size", "0"), ("max_size",)),
        (("fit", "data.csv", "--out", "no/m.json"), ("--out", "no/m.json")),
        (("fit", "data.csv", "--out", "."), ("--out", "folder")),
        (("fit", "data.csv", "--report", "no/r.html"), ("--report", "no/r.html")),
        (("fit", "data.csv", "--report", "data.csv"), ("--report", "overwrite", "data.csv")),
        (("predict", "data.csv", "x.csv", "--out", "data.csv"), ("--out", "overwrite")),
        (("fit", "data.csv", "--checkpoint", "data.csv"), ("--checkpoint", "overwrite")),
        (("fit", "data.csv", "--target", "y", "--features", "a,y"), ("'y'", "--features")),
        (("fit", "data.csv", "--target", "y", "--drop", "y"), ("'y'", "--drop")),
        (("predict", "m.json", "data.csv", "--out", "p.xls"), ("csv, tsv or parquet",)),
        (("export", "m.json", "cobol"), ("cobol", "python")),
        (("nonsense",), ("nonsense",)),
    ],
)
def test_bad_usage_has_exit_code_2(folder, args, words):
    result = call(*args)
    assert result.exit_code == 2
    assert all(word in result.stderr for word in words)


def test_usage_in_a_process():
    done = spawn("fit", "data.csv", "--bogus")
    assert done.returncode == 2
    assert "--bogus" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_model_is_found_saved_shown_and_used(folder, model):
    done = spawn("fit", "data.csv", "--drop", "name", "--out", "m.json", *QUICK)
    assert done.returncode == 0
    assert "the target is the last column, 'y'" in done.stderr
    assert "saved to m.json" in done.stderr
    formula, numbers = done.stdout.splitlines()
    assert re.match(r"y = .*\b[ac]\*[ac]\b", formula)
    assert re.match(r"R2 0\.99\d+ on 60 rows, size \d+, [\d,]+ formulas in ", numbers)
    a, b = (json.loads(Path(file).read_text()) | {"history": None} for file in ("m.json", model))
    assert a == b  # the same seed, the same model; the history has seconds


def test_show_lists_the_front_and_the_features_in_use(model):
    shown = call("show", model).stdout
    est = symgrad.load(model)
    assert shown.startswith(f"{est}\n")
    assert f"features: {', '.join(est.tree_.features)}\n" in shown
    for tree in est.trees_:
        assert tree.render(4) in shown
    chosen = [line for line in shown.splitlines() if line.startswith(">")]
    assert len(chosen) == 1
    assert str(est) in chosen[0]
    assert "max_evaluations=5000" in shown
    assert "constraints" not in shown  # settings as usual are left out


def test_predictions_are_those_of_the_estimator(folder, model):
    frame = pd.read_csv("data.csv")
    est = symgrad.load(model)
    expected = est.predict(frame[list(est.feature_names_in_)])
    printed = call("predict", model, "data.csv").stdout.splitlines()
    assert printed[0] == "prediction"
    assert [float(line) for line in printed[1:]] == expected.tolist()
    for name in ("p.csv", "p.tsv.gz"):
        assert call("predict", model, "data.csv", "--out", name).exit_code == 0
        written = pd.read_csv(name, sep="\t" if "tsv" in name else ",")
        assert written["prediction"].tolist() == expected.tolist()


def test_only_the_columns_of_the_formula_are_needed_for_predictions(folder, model):
    used = list(symgrad.load(model).tree_.features)
    frame = pd.read_csv("data.csv")
    frame[used[::-1]].to_csv("few.csv", index=False)
    assert call("predict", model, "few.csv").stdout == call("predict", model, "data.csv").stdout
    frame[used[:1]].to_csv("fewer.csv", index=False)
    result = call("predict", model, "fewer.csv")
    assert result.exit_code == 1
    assert f"no column '{used[1]}'" in result.stderr


def test_models_of_arrays_take_columns_by_place(folder):
    X = np.random.default_rng(0).normal(size=(50, 3))
    est = symgrad.DGPRegressor(max_evaluations=3000, random_state=0).fit(X, X[:, 0] * X[:, 2])
    est.save("m.json")
    for names in (["u", "v", "w"], ["x0", "x1", "x2"]):
        pd.DataFrame(X, columns=names).to_csv("new.csv", index=False)
        printed = call("predict", "m.json", "new.csv").stdout.split()[1:]
        assert [float(p) for p in printed] == est.predict(X).tolist()


def test_exports_are_those_of_the_estimator(folder, model):
    for kind in ("c", "python", "sql", "excel"):
        text = symgrad.load(model).export(kind).rstrip("\n") + "\n"
        assert call("export", model, kind).stdout == text
    assert call("export", model, "c", "--out", "formula.c").exit_code == 0
    assert Path("formula.c").read_text() == call("export", model, "c").stdout


def test_columns_can_be_chosen(folder):
    chosen = ("--target", "a", "--features", 'c,"dose, mg"')
    result = call("fit", "data.csv", *chosen, "--out", "m.json", *QUICK)
    assert result.exit_code == 0
    assert "last column" not in result.stderr
    assert symgrad.load("m.json").feature_names_in_.tolist() == ["c", "dose, mg"]


def test_options_reach_the_estimator(folder):
    call("fit", "data.csv", "--drop", "name", "--primitives", "+,*,mean(a, b) = (a + b)/2",
         "--max-size", 9, "--seed", 7, "--time", 30, *QUICK, "--out", "m.json")  # fmt: skip
    settings = symgrad.load("m.json").get_params(deep=False)
    assert settings["primitives"] == ["+", "*", "mean(a, b) = (a + b)/2"]
    assert (settings["max_size"], settings["random_state"], settings["n_jobs"]) == (9, 7, 1)
    assert (settings["time_limit"], settings["max_evaluations"]) == (30, 5000)


def test_a_report_is_written(folder):
    result = call("fit", "data.csv", "--drop", "name", "--report", "r.html", *QUICK)
    assert result.exit_code == 0
    assert "report written to r.html" in result.stderr
    assert "60" in Path("r.html").read_text(encoding="utf-8")


def start(*args):
    """Start a search without end and wait until it has a formula."""
    process = subprocess.Popen(
        command("fit", "data.csv", "--drop", "name", "--time", "600", *args),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    for line in process.stderr:
        if "R2" in line:
            return process
    raise AssertionError("the search ended by itself")


posix = pytest.mark.skipif(os.name == "nt", reason="signals")


@posix
def test_ctrl_c_saves_the_best_so_far_and_has_exit_code_130(folder):
    process = start("--out", "m.json", "--checkpoint", "run.ckpt")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out.startswith("y = ")
    assert err.splitlines()[-1].startswith("symgrad: interrupted; this is the best formula so far")
    assert "Traceback" not in err
    assert symgrad.load("m.json").score(*xy()) > 0.9
    again = spawn("fit", "data.csv", "--drop", "name", "--time", "1", "--checkpoint", "run.ckpt")
    assert again.returncode == 1
    assert "time_limit was 600.0, is 1.0" in again.stderr


def xy():
    frame = pd.read_csv("data.csv")
    return frame[["a", "dose, mg", "c"]], frame["y"]


@posix
def test_ctrl_c_before_the_search_has_exit_code_130(folder):
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    err = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert err == "symgrad: interrupted\n"


SLOW = """
import time
from symgrad import cli, tables

def read(path):
    print("reading", flush=True)
    time.sleep(60)

tables.read = read
cli.app(["fit", "data.csv"])
"""


def test_a_finished_checkpoint_gives_the_same_answer(folder):
    args = ("fit", "data.csv", "--drop", "name", *QUICK, "--checkpoint", "run.ckpt")
    one, two = (call(*args) for _ in range(2))
    assert one.exit_code == two.exit_code == 0
    assert one.stdout == two.stdout


def test_what_cannot_be_written_is_found_out_before_the_search(folder, monkeypatch):
    def refused(**_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", refused)
    result = call("fit", "data.csv", "--out", "m.json")
    assert result.exit_code == 2
    assert "--out cannot be m.json: Permission denied" in result.stderr


def test_help_and_mistakes_do_not_wait_for_scikit_learn():
    code = "import sys, symgrad.cli; print({'sklearn', 'pandas', 'sympy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_version_and_help():
    assert tables.KINDS in cli.TABLE
    assert call("--version").stdout == f"symgrad {symgrad.__version__}\n"
    shown = call("--help").stdout
    for name in ("fit", "predict", "show", "export", "demo"):
        assert name in shown
        assert call(name, "--help").exit_code == 0


def test_the_demo_is_a_command(monkeypatch):
    import symgrad.demo

    monkeypatch.setattr(symgrad.demo, "main", lambda: print("the demo"))
    assert call("demo").stdout == "the demo\n"
    assert "-m symgrad demo" in (ROOT / "Makefile").read_text()


def test_there_is_an_entry_point():
    assert 'symgrad = "symgrad.cli:app"' in (ROOT / "pyproject.toml").read_text()


PAGE = re.compile(r"^```sh\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)


def test_the_commands_of_the_page_print_what_it_says(folder, monkeypatch):
    monkeypatch.setattr("symgrad.demo.main", lambda: None)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(100, 3)).round(3), columns=["age", "dose, mg", "bmi"])
    frame["effect"] = 3 * frame["age"] * frame["bmi"] + 1
    frame.to_csv("new.csv", index=False)
    frame.assign(name=0.0)[["name", *frame]].to_csv("data.csv", index=False)
    Path("bad.csv").write_text("age,dose,effect\n1,2,3\n4,x5,6\n")
    quicker = {"--time 60": "--time 1", "--evaluations 5000000": "--evaluations 5000"}
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    for commands, output in PAGE.findall(page):
        for line in commands.splitlines():
            for slow, quick in quicker.items():
                line = line.replace(slow, quick)
            program, *args = shlex.split(line)
            assert program == "symgrad"
            result = call(*args)
            assert result.exit_code == (1 if output.startswith("symgrad: ") else 0), result.output
        if output:
            assert no_time(output) in no_time(result.stdout or result.stderr)


def no_time(text):
    return re.sub(r"[\d,]+ formulas in [\d.]+ s$", "", text, flags=re.MULTILINE)
