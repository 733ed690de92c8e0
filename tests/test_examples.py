"""The scripts and notebooks in examples/, on small budgets. Some need the data folder."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("SYMGRAD_DATA", ROOT.parent / "shared" / "data"))

EXAMPLES = {
    "dlbcl": (
        "--splits 1 --evaluations 1200 --restarts 1 --permutations 1",
        ("With the status", "Genes alone", "R2 on 1 held-out quarters", "y shuffled 1 times"),
    ),
    "tecator": (
        "--evaluations 5000 --restarts 1",
        ("channel", "on held-out rows", "share_exchangeable"),
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_run(name):
    options, said = EXAMPLES[name]
    if not list(DATA.glob(f"*{name}.tsv.gz")):
        pytest.skip(f"there is no table {name} in {DATA}; set SYMGRAD_DATA")
    command = [sys.executable, ROOT / "examples" / f"{name}.py", *options.split()]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for words in said:
        assert words in printed


NOTEBOOKS = {"diabetes": None, "bodyfat": "560_bodyfat"}
"""By name: the table that each needs from the data folder."""

RUN = """
import ast, json, sys
import matplotlib

matplotlib.use("Agg")
sys.path.insert(0, ".")
names = {"__name__": "notebook"}
for cell in json.load(open(sys.argv[1], encoding="utf-8"))["cells"]:
    if cell["cell_type"] != "code":
        continue
    body = ast.parse("".join(cell["source"])).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), "cell", "exec"), names)
    if last is not None:
        shown = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        for show in ("_repr_mimebundle_", "_repr_html_"):
            if hasattr(shown, show):
                getattr(shown, show)()
"""
"""Runs the cells of a notebook as Jupyter would, and shows what stands last in each."""


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_run(name):
    needed = NOTEBOOKS[name]
    if needed and not (DATA / f"{needed}.tsv.gz").exists():
        pytest.skip(f"there is no table {needed} in {DATA}; set SYMGRAD_DATA")
    environment = os.environ | {"SYMGRAD_BUDGET": "3000", "SYMGRAD_DATA": str(DATA)}
    command = [sys.executable, "-c", RUN, f"{name}.ipynb"]
    subprocess.run(command, cwd=ROOT / "examples", env=environment, check=True, timeout=120)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_are_kept_with_what_they_show(name):
    text = (ROOT / "examples" / f"{name}.ipynb").read_text(encoding="utf-8")
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == [*range(1, len(cells) + 1)]
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert all(output["output_type"] != "error" for output in outputs)
    shown = [output.get("data", {}) for output in outputs]
    assert any("<math" in "".join(data.get("text/html", "")) for data in shown)
    assert sum("image/png" in data for data in shown) >= 2
    assert "explain(" in text


def test_a_missing_table_is_named(tmp_path):
    command = [sys.executable, ROOT / "examples" / "tecator.py"]
    environment = os.environ | {"SYMGRAD_DATA": str(tmp_path)}
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert result.returncode != 0
    assert "505_tecator.tsv.gz; set SYMGRAD_DATA" in result.stderr
    assert "Traceback" not in result.stderr


def test_every_example_is_run():
    scripts = {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert scripts == {*EXAMPLES, "tables"}
    assert {path.stem for path in (ROOT / "examples").glob("*.ipynb")} == {*NOTEBOOKS}
