import ctypes
import keyword
import re
import shutil
import sqlite3
import subprocess

import excel
import numpy as np
import pytest
import sympy
from hypothesis import given
from strategies import DEFINED, DEFINITIONS, NASTY_NAMES, trees

from symgrad import Forest, PrimitiveSet, Tree
from symgrad.language.fold import fold
from symgrad.language.primitive import CONSTANT
from symgrad.language.targets import TARGETS
from symgrad.tree.exports import EXCEL_LEVELS, KINDS, identifiers
from symgrad.tree.generate import generate

ALL = PrimitiveSet().extend(*DEFINITIONS)
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def used(tree, X):
    return [X[:, j].copy() for j in tree.feature_indices]


def formula(text):
    namespace = {}
    exec(text, namespace)
    return namespace["formula"]


def run_python(forest, X, folder):
    values = [formula(tree.export("python"))(*used(tree, X)) for tree in forest]
    return np.array([np.broadcast_to(v, len(X)) for v in values])


def run_torch(forest, X, folder):
    torch = pytest.importorskip("torch")
    values = []
    for tree in forest:
        columns = [torch.from_numpy(c) for c in used(tree, X)]
        values.append(np.broadcast_to(formula(tree.export("torch"))(*columns), len(X)))
    return np.array(values)


def run_jax(forest, X, folder):
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        values = [formula(tree.export("jax"))(*used(tree, X)) for tree in forest]
    return np.array([np.broadcast_to(v, len(X)) for v in values])


def compiled(sources, folder):
    """Return the functions of some C texts."""
    if COMPILER is None:
        pytest.skip("there is no C compiler (cc, gcc or clang)")
    parts = []
    for k, source in enumerate(sources):
        names = ("formula", "least", "greatest")
        parts += [f"#define {name} {name}{k}\n" for name in names]
        parts += [source, *(f"#undef {name}\n" for name in names)]
    file, library = folder / "formulas.c", folder / "formulas.so"
    file.write_text("".join(parts), encoding="utf-8")
    flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O0", "-shared", "-fPIC"]
    subprocess.run([COMPILER, *flags, "-o", library, file, "-lm"], check=True)
    loaded = ctypes.CDLL(str(library))
    functions = [getattr(loaded, f"formula{k}") for k in range(len(sources))]
    for function in functions:
        function.restype = ctypes.c_double
    return functions


def run_c(forest, X, folder):
    functions = compiled([tree.export("c") for tree in forest], folder)
    out = np.empty((len(forest), len(X)))
    for k, tree in enumerate(forest):
        functions[k].argtypes = [ctypes.c_double] * len(tree.feature_indices)
        out[k] = [functions[k](*row) for row in X[:, tree.feature_indices].tolist()]
    return out


def database(names, X, kind="REAL"):
    connection = sqlite3.connect(":memory:")
    options = {row[0] for row in connection.execute("pragma compile_options")}
    if "ENABLE_MATH_FUNCTIONS" not in options:
        pytest.skip("this SQLite is built without mathematical functions")
    columns = ['"' + n.replace('"', '""') + '"' for n in names]
    connection.execute(f"create table data ({', '.join(f'{c} {kind}' for c in columns)})")
    slots = ", ".join("?" * len(names))
    connection.executemany(f"insert into data values ({slots})", X.tolist())
    return connection


def select(connection, text):
    rows = connection.execute(f"select {text} from data order by rowid").fetchall()
    return [np.nan if v is None else v for (v,) in rows]


def run_sql(forest, X, folder):
    connection = database([forest.names[j] for j in range(X.shape[1])], X)
    return np.array([select(connection, tree.export("sql")) for tree in forest])


def in_excel(text, row):
    cells = {f"{letter}2": v for letter, v in zip("ABCDEFGH", row, strict=False)}
    try:
        return excel.evaluate(text, cells)
    except excel.ExcelError:
        return np.nan


def run_excel(forest, X, folder):
    texts = [tree.export("excel") for tree in forest]
    return np.array([[in_excel(text, row) for row in X.tolist()] for text in texts])


RUN = {"python": run_python, "c": run_c, "sql": run_sql, "excel": run_excel,
       "torch": run_torch, "jax": run_jax}  # fmt: skip
NULLS = ("sql", "excel")
"""Targets in which one undefined step makes the whole undefined, even 1/(1/0)."""


def defined(tree, X):
    """Where every step of a tree is finite, those of definitions counted."""

    def step(c, args):
        primitive = tree.primitives[c]
        if primitive.body is not None:
            return run(primitive.body.code, primitive.body.value, args)
        values = [v for v, _ in args]
        result = primitive.define(np, *values)
        zero = primitive.name == "pow" and (values[0] == 0) & (values[1] == 0)  # 1 here
        return result, np.isfinite(result) & ~np.asarray(zero) & args[0][1] & args[-1][1]

    def run(code, value, args):
        return fold(
            code, value, tree.primitives.arity, variable=args.__getitem__,
            constant=lambda v: (np.full(len(X), v), np.ones(len(X), bool)), function=step,
        )  # fmt: skip

    with np.errstate(all="ignore"):
        return run(tree.code, tree.value, [(x, np.isfinite(x)) for x in X.T])[1]


def agree(kind, forest, X, folder):
    """Compare an export with the core; return the share of values that were."""
    got = RUN[kind](forest, X, folder)
    want = forest.evaluate(X)
    moved = forest.evaluate(X * (1 + 1e-13))
    with np.errstate(invalid="ignore"):
        steady = np.abs(moved - want) <= 1e-8 * np.abs(want)
        equal = np.abs(got - want) <= 1e-6 * np.abs(want)
    compared = 0
    for k, tree in enumerate(forest):
        finite = np.isfinite(want[k])
        check = finite & steady[k]
        if kind in NULLS:
            check &= ~np.isnan(got[k]) | defined(tree, X)
        assert equal[k][check].all(), (tree, tree.export(kind))
        assert not np.isfinite(got[k][~finite]).any(), (tree, tree.export(kind))
        compared += check.sum()
    return compared / want.size


@pytest.mark.parametrize("kind", RUN)
def test_every_primitive_agrees_with_the_core(kind, tmp_path):
    points = np.array([-30.0, -2.0, -1.0, -0.3, 0.0, 0.3, 0.7, 1.0, 1.5, 3.0, 30.0])
    X = np.array([(a, b) for a in points for b in points])
    codes = [[~k for k in range(ALL.arity(c))] + [c] for c in ALL.codes]
    forest = Forest.of(Tree(code, np.zeros(len(code)), ALL, ["a", "b"]) for code in codes)
    assert agree(kind, forest, X, tmp_path) > 0.8


def pairs():
    """Every function of every function, with numbers among the leaves."""
    for outer in ALL.codes:
        for inner in ALL.codes:
            part = [~k for k in range(ALL.arity(inner))] + [inner]
            if ALL.arity(outer) == 1:
                yield [*part, outer], None
            else:
                yield [*part, ~1, outer], None
                yield [~1, *part, outer], None
                yield [CONSTANT, *part, outer], -2.5
                yield [*part, CONSTANT, outer], -2.0


@pytest.mark.parametrize("kind", RUN)
def test_pairs_of_functions_agree_with_the_core(kind, tmp_path):
    X = np.random.default_rng(0).uniform(-1.5, 1.5, (12, 2))
    made = [
        Tree(code, [v if c == CONSTANT else 0.0 for c in code], ALL, ["a", "b"])
        for code, v in pairs()
    ]
    made = made[:: 7 if kind == "jax" else 1]  # it compiles each of them
    assert agree(kind, Forest.of(made), X, tmp_path) > 0.5


@pytest.mark.parametrize("kind", RUN)
def test_random_trees_agree_with_the_core(kind, tmp_path):
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, (15, 3))
    count = 20 if kind == "jax" else 120
    forest = generate(rng, count, n_features=3, primitives=ALL, max_depth=6, p_constant=0.3)
    assert agree(kind, forest, X, tmp_path) > 0.2


@given(trees())
def test_python_runs_for_any_names_and_numbers(tree):
    function = formula(tree.export("python"))
    X = np.full((2, max(tree.feature_indices, default=0) + 1), 0.5)
    assert np.shape(function(*used(tree, X))) in [(), (2,)]


@given(trees(steps=8))
def test_every_kind_is_text_for_any_tree(tree):
    for kind in set(KINDS) - {"sql", "sympy"}:
        assert isinstance(tree.export(kind), str)
        if kind != "latex":
            tree.export(kind).encode()


def test_names_are_safe_in_every_target(tmp_path):
    hostile = [
        "*/ int x; /*", "\\", "a\\", "??/", "if", "lambda", "int", "unix", "NAN", "M_PI", "sin",
        "np", "t1", "formula", "a\rb", "a\u2028b", "__debug__", "a b", "a_b", "A", "x" * 500,
        "'''", '"""', 'a"; drop table data; --', "-- ", "<script>", "{}", "{0}", "%s", "least",
    ]  # fmt: skip
    names = list(dict.fromkeys([*hostile, *NASTY_NAMES]))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, len(names)))
    code = [~0]
    for j in range(1, len(names)):
        code += [~j, ALL.functions["+" if j % 2 else "-"]]
    forest = Forest.of([Tree(code, np.zeros(len(code)), ALL, names)])
    for kind in ("python", "c"):
        assert agree(kind, forest, X, tmp_path) == 1
    text = forest[0].export("python")
    assert all(f"column {name!r}\n" in text for name in names)
    plain = [j for j, n in enumerate(names) if not re.search("[\0\ud800-\udfff]", n)]
    kept = [n for n in (names[j] for j in plain) if n.upper() not in ("X", "A", "E")]  # any case
    tree = Tree.parse(" + ".join("`" + n.replace("`", "``") + "`" for n in kept), kept)
    rows = rng.normal(size=(4, len(kept)))
    got = select(database(kept, rows), tree.export("sql"))
    np.testing.assert_allclose(got, tree.evaluate(rows))


@pytest.mark.parametrize("kind", ["python", "c", "torch", "jax"])
def test_identifiers_are_distinct_words(kind):
    words = identifiers(dict(enumerate(NASTY_NAMES)), TARGETS[kind].reserved)
    assert len(set(words.values())) == len(NASTY_NAMES)
    for word in words.values():
        assert word.isidentifier()
        assert word.isascii()
        assert kind == "c" or not keyword.iskeyword(word)
    assert identifiers({3: "bmi", 7: "S5"}, TARGETS["python"].reserved) == {3: "bmi", 7: "S5"}


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_what_sql_cannot_name_is_refused(name):
    with pytest.raises(ValueError, match="SQL cannot name the column"):
        Tree([~0], [0.0], feature_names=[name]).export("sql")


def test_whole_numbers_are_divided_as_reals(tmp_path):
    tree = Tree.parse("a/b + 1/b + a/(a*b) + (a + b)/2/b", ["a", "b"])
    X = np.array([[1, 2], [7, 3]])
    connection = database(["a", "b"], X, "INTEGER")
    np.testing.assert_allclose(select(connection, tree.export("sql")), tree.evaluate(X))
    np.testing.assert_allclose(formula(tree.export("python"))(X[:, 0], X[:, 1]), tree.evaluate(X))


def test_excel_has_its_own_precedence():
    for text, want in {"=-A2^2": 9, "=2^3^2": 64, "=-2^2*3": 12, "=1-2-3": -4, "=8/2/2": 2}.items():
        assert excel.evaluate(text, {"A2": 3.0}) == want
    cases = {"-a^2": -9, "(-a)^2": 9, "2^a^2": 512, "(2^a)^2": 64, "a^(-1)": 1 / 3, "-2^a": -8}
    for text, want in cases.items():
        exported = Tree.parse(text, ["a"]).export("excel")
        assert excel.evaluate(exported, {"A2": 3.0}) == pytest.approx(want), exported


def test_excel_cells():
    names = [f"f{j}" for j in range(16_385)]
    tree = Tree.parse("f0 + f25 + f26 + f701 + f702 + f16383", names)
    assert re.findall(r"[A-Z]+\d+", tree.export("excel")) == ["A2", "Z2", "AA2", "ZZ2", "AAA2",
                                                              "XFD2"]  # fmt: skip
    last = Tree.parse("f16384 + 1", names)
    with pytest.raises(ValueError, match="16,384 columns; give cells for 'f16384'"):
        last.export("excel")
    assert last.export("excel", cells={"f16384": "Data!$B7"}) == "=Data!$B7 + 1.0"
    with pytest.raises(ValueError, match="not so 'f16384'"):
        last.export("excel", cells={"f1": "B7"})
    with pytest.raises(ValueError, match="cells are for the kind 'excel'"):
        last.export("c", cells={"f1": "B7"})


def test_unknown_kinds_are_refused():
    with pytest.raises(ValueError, match=r"kind must be one of python, c, sql.* got 'fortran'"):
        Tree.parse("x0").export("fortran")


def chain(n, code):
    return Tree([~0] + [code] * n, np.zeros(n + 1), ALL, ["a"])


@pytest.mark.parametrize("name", ["sin", "neg", "gauss", "größe", "square", "sigmoid"])
def test_deep_trees_are_cut_into_lines(name, tmp_path):
    forest, X = Forest.of([chain(3000, ALL.functions[name])]), np.array([[0.3], [0.5]])
    for kind in ("python", "c"):
        np.testing.assert_allclose(RUN[kind](forest, X, tmp_path), forest.evaluate(X), rtol=1e-6)


def test_long_sums_run():
    tree = Tree.parse("+".join(["a"] * 20_000), ["a"])
    assert formula(tree.export("python"))(1.0) == 20_000


def test_what_a_target_cannot_hold_is_refused():
    with pytest.raises(ValueError, match="more than the 8,192 characters that Excel takes"):
        Tree.parse("+".join(["a"] * 3000), ["a"]).export("excel")
    with pytest.raises(ValueError, match="nests deeper than Excel's 64 levels"):
        chain(EXCEL_LEVELS + 1, ALL.functions["sin"]).export("excel")
    chain(EXCEL_LEVELS, ALL.functions["sin"]).export("excel")
    with pytest.raises(ValueError, match="more than the 1,000,000 characters that SQL takes"):
        chain(60, ALL.functions["gauss"]).export("sql")


def test_numbers_are_exact():
    for number in (0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -1e-7, 123456789.0, -0.0):
        tree = Tree([CONSTANT], [number])
        assert repr(formula(tree.export("python"))()) == repr(number)
        assert float(tree.export("sql")) == number
        assert float(tree.export("excel")[1:]) == number


def test_undefined_numbers_and_plain_arguments():
    for text, want in {"1/0": np.inf, "log(0)": -np.inf, "log(-1)": np.nan}.items():
        tree = Tree.parse(text)
        np.testing.assert_equal(formula(tree.export("python"))(), want)
        assert "NULL" in tree.export("sql")
        assert "NA()" in tree.export("excel")
    inverse = formula(Tree.parse("1/x0").export("python"))
    assert inverse(0) == np.inf
    assert inverse([1, 2]).tolist() == [1, 0.5]


def test_nan_comes_through_min_and_max(tmp_path):
    forest = Forest.from_strings(["min(a, b)", "max(a, b)", "min(1, a)"], ["a", "b"])
    X = np.array([[np.nan, 1.0], [1.0, np.nan]])
    for kind in ("python", "c"):
        np.testing.assert_array_equal(RUN[kind](forest, X, tmp_path), forest.evaluate(X))


@pytest.mark.parametrize("module", ["torch", "jax"])
def test_gradients(module):
    pytest.importorskip(module)
    text = Tree.parse("a*sigmoid(a) + min(2, a^2)", ["a"]).export(module)
    slope = 1 / (1 + np.exp(-0.5)) * (1 + 0.5 * (1 - 1 / (1 + np.exp(-0.5)))) + 1
    if module == "torch":
        import torch

        a = torch.tensor(0.5, requires_grad=True)
        formula(text)(a).backward()
        got = a.grad.item()
    else:
        import jax

        got = float(jax.jit(jax.grad(formula(text)))(0.5))
    assert got == pytest.approx(slope, rel=1e-5)


def test_sympy_and_latex_are_text():
    tree = Tree.parse("0.1*a + `b c`", ["a", "b c"])
    namespace = {}
    exec(f"from sympy import *\nresult = {tree.export('sympy')}", namespace)
    assert namespace["result"] == tree.sympy()
    assert sympy.Symbol("b c") in namespace["result"].free_symbols
    assert tree.export("latex") == tree.latex(None)


def test_definitions_are_written_out():
    tree = Tree.parse("nested(a, b)", ["a", "b"], ALL)
    for kind in TARGETS:
        assert not any(re.search(rf"\b{name}\(", tree.export(kind)) for name in DEFINED)
