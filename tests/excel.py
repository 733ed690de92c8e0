"""A small evaluator of Excel formulas, by Excel's rules and not by ours.

From tight to loose: unary minus, ``^``, ``*`` and ``/``, ``+`` and ``-``; all of them group to the
left. So -x^2 is (-x)^2 and 2^3^2 is 64. What has no value is an error, which the whole formula is
then: there are no infinities.
"""

import math
import re

TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)|(?P<function>[A-Z]+)\(|"
    r"(?P<cell>[A-Z]{1,3}[1-9]\d*)|(?P<sign>[-+*/^(),]))"
)
LEVELS = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 3}
FUNCTIONS = {
    "SIN": math.sin, "COS": math.cos, "TAN": math.tan, "EXP": math.exp, "LN": math.log,
    "SQRT": math.sqrt, "ABS": abs, "TANH": math.tanh, "MIN": min, "MAX": max, "ASIN": math.asin,
    "ACOS": math.acos, "ATAN": math.atan, "SINH": math.sinh, "COSH": math.cosh,
}  # fmt: skip
LONGEST = 8192


class ExcelError(Exception):
    """What a cell shows as #DIV/0!, #NUM! or #N/A."""


def power(a, b):
    if a == 0 and b == 0:
        raise ExcelError("#NUM!")
    value = a**b
    if isinstance(value, complex):
        raise ExcelError("#NUM!")
    return value


OPERATORS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "^": power,
}


def evaluate(formula, cells):
    """Return the value of a formula, given the numbers in some cells."""
    assert formula.startswith("=")
    assert len(formula) <= LONGEST
    tokens, position = [], 1
    while position < len(formula):
        match = TOKEN.match(formula, position)
        assert match, formula[position:]
        tokens.append((match.lastgroup, match[match.lastgroup]))
        position = match.end()
    tokens.append(("end", ""))
    tokens.reverse()
    try:
        value = expression(tokens, cells, 1)
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        raise ExcelError(str(error)) from None
    assert tokens == [("end", "")], formula
    if not math.isfinite(value):
        raise ExcelError("#NUM!")
    return value


def expression(tokens, cells, level):
    left = operand(tokens, cells)
    while LEVELS.get(tokens[-1][1], 0) >= level:
        sign = tokens.pop()[1]
        left = OPERATORS[sign](left, expression(tokens, cells, LEVELS[sign] + 1))
    return left


def operand(tokens, cells):
    kind, text = tokens.pop()
    if kind == "number":
        return float(text)
    if kind == "cell":
        return cells[text]
    if text == "-":
        return -operand(tokens, cells)
    if kind == "function":
        return call(text, tokens, cells)
    assert text == "(", text
    value = expression(tokens, cells, 1)
    assert tokens.pop()[1] == ")"
    return value


def call(name, tokens, cells):
    if name == "NA":
        raise ExcelError("#N/A")
    arguments = [expression(tokens, cells, 1)]
    while tokens[-1][1] == ",":
        tokens.pop()
        arguments.append(expression(tokens, cells, 1))
    assert tokens.pop()[1] == ")"
    return FUNCTIONS[name](*arguments)
