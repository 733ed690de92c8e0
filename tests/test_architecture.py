"""Layers, sizes and habits of the source tree, read from the files."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "symgrad"
MODULES = sorted(PACKAGE.rglob("*.py"))
MAX_LINES = 400

LAYERS = {
    "language": 0, "arrays": 0, "replacing": 0, "_core": 0,
    "tree": 1,
    "data": 2,
    "gpu": 3,
    "dgp": 4, "evolution": 4,
    "search": 5,
    "bench": 7,
    "cli": 8, "__main__": 9,
}  # fmt: skip
SURFACE = "the surface", 6
"""All the rest, one room: demo, estimator, reports, the package itself."""

COVERED_ELSEWHERE: dict[str, str] = {"symgrad.__main__": "test_cli.py"}
"""Modules without a test file of their name, and the file that tests them."""


def room(name):
    """Return (room, layer) of a dotted module name."""
    parts = name.split(".")
    first = parts[1] if len(parts) > 1 else ""
    return (first, LAYERS[first]) if first in LAYERS else SURFACE


def imported(source, module, is_package=False):
    """Return the dotted names of this package that a module imports, anywhere in its text."""
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                up = node.level - 1 if is_package else node.level
                parents = module.split(".")[: len(module.split(".")) - up]
                base = ".".join([*parents, base] if base else parents)
            # `from symgrad import tree` names a package, `from symgrad import Tree` does not.
            names += [f"{base}.{a.name}" if base == "symgrad" else base for a in node.names]
    return [n for n in names if n.split(".")[0] == "symgrad"]


def violations(source, module, is_package=False):
    """Return the imports that are neither from the module's own room nor from a lower layer."""
    own, layer = room(module)
    targets = imported(source, module, is_package)
    return [n for n in targets if room(n)[0] != own and room(n)[1] >= layer]


def dotted(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def ids(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", MODULES, ids=ids)
def test_imports_come_from_the_same_room_or_below(path):
    source = path.read_text(encoding="utf-8")
    assert violations(source, dotted(path), path.name == "__init__.py") == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("symgrad.language.table", "from symgrad.tree.tree import Tree"),
        ("symgrad.language.table", "from symgrad.arrays import threads"),
        ("symgrad.tree.tree", "def f():\n    from symgrad.data import dataset"),
        ("symgrad.tree.tree", "from ..data.dataset import Dataset"),
        ("symgrad.tree.tree", "from symgrad import Dataset"),
        ("symgrad.tree.tree", "import symgrad"),
        ("symgrad.dgp.dst", "from symgrad import evolution"),
        ("symgrad.evolution.pareto", "import symgrad.dgp.dst"),
        ("symgrad.search.base", "from symgrad.estimator import Regressor"),
        ("symgrad.estimator", "from symgrad.bench.harness import run"),
        ("symgrad.bench.commands", "from symgrad.cli import note"),
    ],
)
def test_imports_against_the_rule_are_found(module, source):
    assert violations(source, module)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("symgrad.tree.tree", "from symgrad import _core\nfrom .names import FeatureNames"),
        ("symgrad.search.base", "import symgrad.dgp.dst\nfrom symgrad import evolution"),
        ("symgrad.cli", "from symgrad.estimator import Regressor"),
        ("symgrad.cli", "from symgrad.bench import commands"),
        ("symgrad.language.table", "import numpy\nfrom math import pi"),
    ],
)
def test_imports_by_the_rule_pass(module, source):
    assert violations(source, module) == []


def source_files():
    for folder in ("src", "tests", "benchmarks"):
        for suffix in ("py", "cpp", "hpp", "inc", "html", "css", "js"):
            yield from sorted((ROOT / folder).rglob(f"*.{suffix}"))


@pytest.mark.parametrize("path", list(source_files()), ids=ids)
def test_no_file_is_too_long(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES


@pytest.mark.parametrize("path", MODULES, ids=ids)
def test_no_text_is_executed(path):
    found = re.search(r"\b(eval|exec)\(|sympify|parse_expr", path.read_text(encoding="utf-8"))
    assert found is None


@pytest.mark.parametrize("path", [p for p in MODULES if p.name != "__init__.py"], ids=ids)
def test_every_module_has_a_test_file(path):
    name = COVERED_ELSEWHERE.get(dotted(path), f"test_{path.stem}.py")
    assert (ROOT / "tests" / name).is_file()


def test_no_exception_is_out_of_date():
    assert set(COVERED_ELSEWHERE) <= {dotted(p) for p in MODULES}
