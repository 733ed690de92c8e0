"""The scripts in examples/, on small budgets. They need the data folder."""

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
    "tecator": ("--evaluations 5000 --restarts 1", ("channel", "on held-out rows", " ~ ")),
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
