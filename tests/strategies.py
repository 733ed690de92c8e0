"""Hypothesis strategies: trees over any primitives, constants and feature names."""

import numpy as np
from hypothesis import strategies as st

from symgrad import PrimitiveSet, Tree
from symgrad.language.primitive import CONSTANT
from symgrad.language.table import BUILTINS

DEFINITIONS = (
    "gauss(x) = exp(-x*x)",
    "mix(a, b) = a + 2.5*b",
    "same(x) = x",
    "größe(u) = sqrt(abs(u)) + 1e-3",
    "nested(a, b) = mix(gauss(b), same(a)) - b^2",
)
DEFINED = ("gauss", "mix", "same", "größe", "nested")

NASTY_NAMES = (
    "", " ", "a b", " lead", "trail ", "`", "``", "a`b", '"', "'", "\\", "a\nb", "\n", "\t", "\0",
    "x0", "x00", "X", "pi", "e", "E", "I", "N", "S", "lambda", "None", "__import__('os')", "1",
    "1e5", "2x", "-x", "a+b", "(", ")", ",", "a(b)", "sin", "sin(", "add", "+", "^", "pow",
    "BRCA1 (log2)",
    "<script>", "größer", "变量", "x²", "²x", "٣", "😀", "e\u0301", "\u00a0", "\ud800", "_", "#1",
)  # fmt: skip

NASTY_CONSTANTS = (
    0.0, -0.0, 1.0, -1.0, 2.0, 3.0, -2.0, 0.5, 10.0, 1e5, 1e16, 123456789.0, 2.0**53, 1e22, 0.1,
    1 / 3, np.pi, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-7, 1.7976931348623157e308, -1e300,
)  # fmt: skip

constants = st.one_of(
    st.sampled_from(NASTY_CONSTANTS),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(10**9), 10**9).map(float),
)

name_lists = st.lists(
    st.one_of(st.sampled_from(NASTY_NAMES), st.text(max_size=8)),
    min_size=1,
    max_size=6,
    unique=True,
).map(lambda names: [n for n in names if n not in DEFINED] or ["a"])


@st.composite
def primitive_sets(draw, complete=True):
    """All built-ins or, unless complete, any of them; with definitions or without."""
    count = draw(st.integers(0, len(DEFINITIONS)))
    names = [p.name for p in BUILTINS]
    if not complete:
        names = draw(st.lists(st.sampled_from(names), min_size=1, max_size=6, unique=True))
    return PrimitiveSet([*names, *DEFINITIONS[:count]])


any_primitives = st.one_of(primitive_sets(), primitive_sets(complete=False))


@st.composite
def trees(draw, primitives=any_primitives, names=name_lists, numbers=constants, steps=20):
    """A tree built as its own stack machine runs: any postfix that leaves one value."""
    chosen = draw(primitives)
    features = draw(names)
    code, value, height = [], [], 0
    unary = [c for c in chosen.codes if chosen.arity(c) == 1]
    binary = [c for c in chosen.codes if chosen.arity(c) == 2]

    def emit(c, v=0.0):
        code.append(c)
        value.append(v)

    for _ in range(draw(st.integers(1, steps))):
        kinds = ["leaf"] * (height == 0 or bool(binary))
        kinds += ["unary"] * (height > 0 and bool(unary)) + ["binary"] * (height > 1)
        kind = draw(st.sampled_from(kinds)) if kinds else "stop"
        if kind == "stop":
            break
        if kind == "leaf":
            if draw(st.booleans()):
                emit(~draw(st.integers(0, len(features) - 1)))
            else:
                emit(CONSTANT, draw(numbers))
            height += 1
        elif kind == "unary":
            emit(draw(st.sampled_from(unary)))
        else:
            emit(draw(st.sampled_from(binary)))
            height -= 1
    for _ in range(height - 1):
        emit(draw(st.sampled_from(binary)))
    return Tree(code, value, chosen, features)


tame_constants = st.one_of(
    st.integers(-8, 8).map(float), st.integers(-80, 80).map(lambda n: n / 16), st.floats(-50, 50)
)
"""Constants whose sums and products are mostly exact."""

ab = st.just(["a", "b"])
tame_trees = trees(names=ab, numbers=tame_constants)
tame_rows = st.tuples(st.floats(-50, 50), st.floats(-50, 50))
