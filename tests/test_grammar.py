import pickle
import time

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import NASTY_NAMES, trees

from symgrad import PrimitiveSet, Tree
from symgrad.language.grammar import MAX_NODES, ParseError, quote

NAMES = ["a", "b", "c", "sin", "a b", "x`y", 'q"q', "", "line\nbreak"]


def read(text, names=NAMES, primitives=None):
    return Tree.parse(text, names, primitives)


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("a + b*c", "add(a, mul(b, c))"),
        ("a*b + c", "add(mul(a, b), c)"),
        ("a - b - c", "sub(sub(a, b), c)"),
        ("a - b + c", "add(sub(a, b), c)"),
        ("a/b/c", "div(div(a, b), c)"),
        ("a/b*c", "mul(div(a, b), c)"),
        ("a^b^c", "pow(a, pow(b, c))"),
        ("a**b**c", "pow(a, pow(b, c))"),
        ("a*b^c", "mul(a, pow(b, c))"),
        ("(a + b)*c", "mul(add(a, b), c)"),
        ("-a + b", "add(neg(a), b)"),
        ("-a*b", "mul(neg(a), b)"),
        ("-a^b", "neg(pow(a, b))"),
        ("--a", "neg(neg(a))"),
        ("+a", "a"),
        ("+-+a", "neg(a)"),
        ("a - -b", "sub(a, neg(b))"),
        ("a*-b", "mul(a, neg(b))"),
        ("a*-b*c", "mul(mul(a, neg(b)), c)"),
        ("a*-b + c", "add(mul(a, neg(b)), c)"),
        ("-2^2", "neg(square(2))"),
        ("(-2)^2", "square(-2)"),
        ("2^-a^b", "pow(2, neg(pow(a, b)))"),
        ("2^-a*b", "mul(pow(2, neg(a)), b)"),
        ("a^-2", "pow(a, -2)"),
        ("a^2", "square(a)"),
        ("a^2.0", "square(a)"),
        ("a^3", "cube(a)"),
        ("a**2", "square(a)"),
        ("a^2^3", "pow(a, cube(2))"),
        ("a^(2)", "pow(a, 2)"),
        ("1/a", "inv(a)"),
        ("1/a/b", "div(inv(a), b)"),
        ("1/a^2", "inv(square(a))"),
        ("1/-a", "inv(neg(a))"),
        ("b*1/a", "div(mul(b, 1), a)"),
        ("(1)/a", "div(1, a)"),
        ("-1/a", "div(-1, a)"),
        ("1/(a + b)", "inv(add(a, b))"),
        ("min(a, b + c)", "min(a, add(b, c))"),
        ("sin((a))", "sin(a)"),
        ("`sin`", "`sin`"),
        ("sin(`sin`)", "sin(sin)"),
        ("`a b` + ``", 'add("a b", "")'),
        ('`x``y`*`q"q`', 'mul("x`y", "q""q")'),
        ("`line\nbreak`", '"line\nbreak"'),
        (" \t\na\n+ b ", "add(a, b)"),
        (".5 + 5. + 1e3 + 1E-3", "add(add(add(0.5, 5.0), 1000), 0.001)"),
        ("sin (a)", "sin(a)"),
    ],
)
def test_precedence_and_short_forms(text, calls):
    left, right = read(text), read(calls)
    assert np.array_equal(left.code, right.code)
    assert np.array_equal(left.value, right.value)


@pytest.mark.parametrize("number", ["3", "-3", "-0.0", "1e-320", "1.7976931348623157e308"])
def test_a_number_is_one_constant(number):
    tree = read(number)
    assert tree.size == 1
    assert tree.value.tobytes() == np.float64(number).tobytes()


def test_pi_is_a_constant_unless_a_feature_has_the_name():
    assert read("pi").constants.tolist() == [np.pi]
    assert read("pi", ["pi"]).features == ("pi",)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "missing"),
        ("   ", "missing"),
        ("a +", "missing"),
        ("a b", "an operator is missing before 'b'"),
        ("2a", "an operator is missing before 'a'"),
        ("a(b)", "unknown function 'a'"),
        ("(a", "never closed"),
        ("sin(a", "never closed"),
        ("a)", "unexpected '\\)'"),
        ("()", "unexpected '\\)'"),
        ("sin()", "unexpected '\\)'"),
        ("sin(a, b)", "sin takes 1 argument and was given 2"),
        ("min(a)", "min takes 2 arguments and was given 1"),
        ("(a, b)", "a comma outside"),
        ("a, b", "unexpected ','"),
        ("a */ b", "unexpected '/'"),
        ("a $ b", "unexpected character '\\$'"),
        ("a == b", "unexpected character '='"),
        ("1e999", "1e999 is too large"),
        ("-1e999", "1e999 is too large"),
        ("a\0b", "unexpected character"),
        ("\ud800", "unexpected character"),
        ("٣", "unexpected character"),
        ("`a", "unexpected character"),
        ("cos", "'cos' is a function and needs its arguments"),
        ("sni(a)", "did you mean 'sin'"),
        ("zz", "unknown feature 'zz'"),
        ("__import__('os')", "unknown function '__import__'"),
        ("a.real", "unexpected character '.'"),
        ("lambda: a", "unknown feature 'lambda'"),
    ],
)
def test_errors_say_where_and_why(text, reason):
    with pytest.raises(ParseError, match=reason):
        read(text)


@pytest.mark.parametrize(
    ("text", "sign"),
    [("a - b", "-"), ("-a", "neg"), ("a^b", r"\^"), ("a/b", "/"), ("cos(a)", "cos")],
)
def test_operators_outside_the_set_are_refused(text, sign):
    with pytest.raises(ParseError, match=f"'{sign}'"):
        read(text, primitives=PrimitiveSet(["+", "square", "inv", "sin"]))


def test_errors_are_value_errors():
    assert issubclass(ParseError, ValueError)


def test_an_error_survives_pickling():
    with pytest.raises(ParseError) as caught:
        read("a +")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_text_must_be_a_string():
    with pytest.raises(TypeError, match="must be a string, got bytes"):
        read(b"a")


def parse_or_refuse(text, names=NAMES, primitives=None):
    """Nothing but a tree or a ParseError of one short sentence may come out."""
    started = time.perf_counter()
    tree, message = None, ""
    try:
        tree = read(text, names, primitives)
    except ParseError as error:
        message = str(error)
    assert time.perf_counter() - started < 5  # a second or so on an idle machine
    assert "\n" not in message
    assert len(message) < 400
    return tree


@given(st.text())
@example("`" * 7)
@example("\u2028a")
def test_any_text_is_read_or_refused(text):
    parse_or_refuse(text)


@given(st.lists(st.sampled_from([
    "a", "b", "sin(", "min(", "(", ")", ",", "+", "-", "*", "**", "/", "^", "1", "2", "3", "1.5e3",
    ".", "`", '"', " ", "`a b`", "pi", "e", "\0", "٣", "\ud800",
])).map("".join))  # fmt: skip
def test_any_tokens_are_read_or_refused(text):
    parse_or_refuse(text)


@given(trees(), st.data())
def test_mutated_formulas_are_read_or_refused(tree, data):
    text = tree.render()
    at = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 3))
    mutated = text[:at] + data.draw(st.sampled_from([*'()+-*/^,`"1.ae \0', ""])) + text[at + cut :]
    parse_or_refuse(mutated, tree.names, tree.primitives)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000,
        ")" * 100_000,
        "sin(" * 100_000,
        "sin(" * 100_000 + "a" + ")" * 100_000,
        "-" * 1_000_000,
        "-" * 1_000_000 + "a",
        "a^" * 300_000 + "a",
        "a+" * 500_000 + "a",
        "min(a," * 100_000,
        "a" * 1_000_000,
        "1" * 1_000_000,
        "`" * 1_000_000,
        '"' + "a" * 1_000_000,
        "a" + " " * 1_000_000 + "b",
        "1e" + "9" * 1_000_000,
        "sin(" + "a," * 300_000 + "a)",
        "é" * 1_000_000 + "(",
    ],
    ids=lambda text: text[:6] + "...",
)
def test_hostile_text_is_refused_in_time(text):
    assert parse_or_refuse(text) is None


def test_deep_parentheses_are_fine():
    tree = parse_or_refuse("(" * 50_000 + "a" + ")" * 50_000)
    assert tree.size == 1
    assert parse_or_refuse("sin(" * 50_000 + "a" + ")" * 50_000).depth == 50_000


def test_the_longest_formula_is_read_and_no_longer_one():
    longest = "+".join(["a"] * (MAX_NODES // 2))  # an odd number of nodes, one below the bound
    assert parse_or_refuse(longest).size == MAX_NODES - 1
    assert parse_or_refuse("-" + longest).size == MAX_NODES
    assert parse_or_refuse("--" + longest) is None


def test_ten_thousand_names_are_fast():
    names = [f"gene {i}" for i in range(10_000)]
    started = time.perf_counter()
    tree = Tree.parse("`gene 9999` - `gene 17`", names)
    assert tree.feature_indices == (17, 9999)
    with pytest.raises(ParseError, match="did you mean 'gene 17'"):
        Tree.parse("`gene17`", names)
    assert time.perf_counter() - started < 2


@pytest.mark.parametrize("name", NASTY_NAMES)
def test_quoted_names_are_one_feature(name):
    text = quote(name, lambda n: n in ("sin", "add", "pow", "pi"))
    assert read(text, ["other", name]).feature_indices == (1,)


def test_plain_names_are_not_quoted():
    assert quote("größe_2", lambda _: False) == "größe_2"
    assert quote("sin", lambda n: n == "sin") == "`sin`"
    assert quote("a`b", lambda _: False) == "`a``b`"
