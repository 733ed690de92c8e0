import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import NASTY_NAMES, trees

from symgrad import PrimitiveSet, Tree
from symgrad.language.grammar import ParseError
from symgrad.language.primitive import CONSTANT


def same_arrays(a, b):
    return np.array_equal(a.code, b.code) and a.value.tobytes() == b.value.tobytes()


def parse_like(tree, text):
    return Tree.parse(text, tree.names, tree.primitives)


@given(trees())
def test_text_reads_back_as_the_very_same_arrays(tree):
    assert same_arrays(parse_like(tree, tree.render()), tree)


def parentheses(text):
    """Matching pairs that are not a call's, outside quoted names."""
    bare = re.sub(r"`(?:[^`]|``)*`(?!`)", lambda m: "q" * len(m[0]), text)
    opened = []
    for i, character in enumerate(bare):
        if character == "(":
            opened.append(i)
        elif character == ")":
            start = opened.pop()
            if not (start and re.match(r"\w", bare[start - 1])):
                yield start, i


@given(trees())
def test_no_pair_of_parentheses_is_redundant(tree):
    text = tree.render()
    for start, end in parentheses(text):
        if text[start + 1] == "-":  # a - (-b) reads better than a - -b
            continue
        without = text[:start] + " " + text[start + 1 : end] + " " + text[end + 1 :]
        try:
            other = parse_like(tree, without)
        except ParseError:
            continue
        assert not same_arrays(other, tree), (text, without)


@pytest.mark.parametrize(
    "text",
    [
        "a - (b - c)", "a - b - c", "a/(b*c)", "a/b*c", "a*(b + c)", "(a + b)^2", "-a^2", "(-a)^2",
        "a^b^c", "(a^b)^c", "-(a + b)", "-a*b", "-(a*b)", "a - (-b)", "a*(-2)", "-2*a", "(-2)^a",
        "1/a", "1/a^2", "(1/a)^2", "a*(1/b)", "div(1, a)", "pow(a, 2)", "a^-b", "-(2)", "-(-2)",
        "sin(a + b)", "min(a, b - c)", "2^a", "a^(-2)", "a^4", "1e-07*a", "a^b^2", "a + (b + c)",
    ],
)  # fmt: skip
def test_canonical_text_is_kept(text):
    # a^-b is read, and written with parentheses around the sign
    expected = {"a^-b": "a^(-b)"}.get(text, text)
    assert Tree.parse(text, ["a", "b", "c"]).render() == expected


def test_short_forms_need_no_general_operator():
    only = PrimitiveSet(["inv", "square", "cube", "+"])
    tree = Tree.parse("1/a^2 + (a^3 + (-3))", ["a"], only)
    assert tree.render() == "1/a^2 + (a^3 + (-3))"


def test_general_operators_serve_where_short_forms_are_missing():
    general = PrimitiveSet(["/", "^"])
    tree = Tree.parse("1/a^2", ["a"], general)
    assert tree.render() == "1/a^2"
    assert tree.size == 5


@given(trees(), st.integers(1, 17))
def test_digits_round_the_constants_and_nothing_else(tree, digits):
    rounded = [float(f"{v:.{digits}g}") for v in tree.constants]
    assume(np.isfinite(rounded).all())
    back = parse_like(tree, tree.render(digits=digits))
    assert np.array_equal(back.code, tree.code)
    assert np.array_equal(back.constants, rounded)


def test_rounding_does_not_overflow():
    largest = Tree.parse("1.7976931348623157e308*x0")
    assert parse_like(largest, largest.render(digits=2)).constants[0] == 1.7976931348623157e308


@given(trees())
def test_braces_of_latex_match(tree):
    tex = tree.latex()
    bare = re.sub(r"\\[{}]", "", tex)
    assert bare.count("{") == bare.count("}")
    assert tex.count(r"\left") == tex.count(r"\right")


@pytest.mark.parametrize("name", NASTY_NAMES)
def test_latex_escapes_names(name):
    tex = Tree([~0], [0.0], feature_names=[name]).latex()
    # no special character is left with its meaning: all are escaped, in a command, or in \text
    assert not re.search(r"(?<!\\)[#$%&~]", tex)
    stripped = re.sub(r"\\[{}$&#_%]", "", tex)
    assert stripped.count("{") == stripped.count("}")


def test_latex_of_fractions_and_powers():
    names = ["a", "b", "x1"]
    assert Tree.parse("(a + b)/x1", names).latex() == r"\frac{a + b}{x_{1}}"
    assert Tree.parse("a*(b + x1)", names).latex() == r"a \cdot \left(b + x_{1}\right)"
    assert Tree.parse("(a + b)^2", names).latex() == r"\left(a + b\right)^{2}"
    assert Tree.parse("a^(b + 1)", names).latex() == "a^{b + 1}"
    assert Tree.parse("1.23456e-9*a", names).latex() == r"1.235 \cdot 10^{-9} \cdot a"
    assert Tree([CONSTANT], [0.123456]).latex(digits=2) == "0.12"


def test_latex_of_a_power_of_ten_as_a_base_stands_in_brackets():
    tex = Tree.parse("square(1e-9)").latex()
    assert tex == r"\left(1 \cdot 10^{-9}\right)^{2}"
