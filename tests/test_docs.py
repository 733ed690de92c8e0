"""Every example runs: python blocks of the documents, and examples in docstrings.

The blocks of one file share a namespace, in order. A text block right after a python block is
what that block prints.
"""

import contextlib
import doctest
import importlib
import importlib.util
import io
import pkgutil
import re
from pathlib import Path

import pytest

import symgrad
from symgrad.language.table import BUILTINS

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MODULES = ["symgrad", *(m.name for m in pkgutil.walk_packages(symgrad.__path__, "symgrad."))]
if importlib.util.find_spec("jax") is None:
    needy = ("adam", "functions", "kernels", "score", "train")
    MODULES = [m for m in MODULES if m not in [f"symgrad.gpu.{name}" for name in needy]]
BLOCK = re.compile(r"^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)


def run_blocks(text, name):
    """Run the python blocks of a document; return (printed, expected) of those with output."""
    namespace = {"__name__": "document"}
    outputs = []
    for block in BLOCK.finditer(text):
        lines_above = text[: block.start(1)].count("\n")  # so that a traceback shows the line
        code = compile("\n" * lines_above + block[1], name, "exec")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, namespace)
        if block[2] is not None:
            outputs.append((printed.getvalue(), block[2]))
    return outputs


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_python_blocks_run_and_print_what_they_say(path):
    for printed, expected in run_blocks(path.read_text(encoding="utf-8"), str(path)):
        assert printed == expected


def test_the_documents_have_examples():
    texts = [p.read_text(encoding="utf-8") for p in DOCUMENTS]
    assert sum(len(BLOCK.findall(t)) for t in texts) >= 10
    fences = sum(t.count("```python") for t in texts)
    assert fences == sum(len(BLOCK.findall(t)) for t in texts)


def test_blocks_share_names_and_output_is_compared():
    text = "```python\na = 2\n```\n\nwords\n\n```python\nprint(a)\n```\n\n```text\n3\n```\n"
    assert run_blocks(text, "sample") == [("2\n", "3\n")]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


def test_public_classes_have_an_example_that_is_found():
    finder = doctest.DocTestFinder(exclude_empty=True)
    with_examples = {
        test.name for name in MODULES for test in finder.find(importlib.import_module(name))
        if test.examples
    }  # fmt: skip
    assert {"symgrad.tree.tree.Tree", "symgrad.tree.forest.Forest"} <= with_examples


def test_the_page_on_formulas_lists_every_primitive():
    spec = importlib.util.spec_from_file_location("docs_hooks", ROOT / "docs" / "hooks.py")
    hooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hooks)
    page = hooks.on_page_markdown((ROOT / "docs" / "formulas.md").read_text(encoding="utf-8"))
    assert hooks.MARK not in page
    for primitive in BUILTINS:
        assert f"| `{primitive.name}` | {primitive.arity} |" in page
