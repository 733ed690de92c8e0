"""Text to postfix: an operator-precedence parser without recursion and without `eval`.

    sum     = product (("+" | "-") product)*
    product = sign (("*" | "/") sign)*
    sign    = ("-" | "+") sign | power
    power   = atom [("^" | "**") sign]
    atom    = number | name | `quoted name` | function "(" sum ("," sum)* ")" | "(" sum ")"

Short forms that have a primitive of their own become that primitive when it is at hand:
``x^2`` is square(x), ``x^3`` is cube(x), ``1/x`` is inv(x), and ``-3`` is the constant. They can
be written in sets without the general operator as well.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from symgrad.language.primitive import CONSTANT, Primitive
from symgrad.language.table import CODE_OF

MAX_NODES = 65_536
"""Longer formulas are refused, so that hostile text cannot exhaust memory."""

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    | (?P<call>[^\W\d]\w*)\s*\(
    | (?P<name>[^\W\d]\w*)
    | (?P<quoted>`(?:[^`]|``)*`(?!`)|"(?:[^"]|"")*"(?!"))
    | (?P<sign>\*\*|[-+*/^(),])
    | (?P<bad>\S)
    )""",
    re.VERBOSE,
)
_SIGN_LEVEL = 3
_LONGEST_SHOWN = 60
_DROPPED = CONSTANT + 1
_IDENTIFIER = re.compile(r"[^\W\d]\w*\Z")


class ParseError(ValueError):
    """The text is not a formula; the message says where and why."""

    def __init__(self, text: str, position: int, reason: str):
        super().__init__(text, position, reason)  # all of them, so that it can be pickled

    def __str__(self) -> str:
        text, position, reason = self.args
        near = text[max(0, position - 20) : position + 20]
        return f"cannot read the formula at column {position + 1}: {reason} (near {near!r})"


def quote(name: str, reserved: Callable[[str], bool]) -> str:
    """Return the name as it stands in a formula: as it is, or in backticks."""
    if _IDENTIFIER.match(name) and not reserved(name):
        return name
    return "`" + name.replace("`", "``") + "`"


@dataclass
class _Pending:
    """An operator, call or parenthesis waiting for its right side."""

    level: int  # 0 for parentheses and calls
    code: int  # function code; -1 for a plain parenthesis
    position: int
    arguments: int = 1


@dataclass
class _Operand:
    start: int
    literal: bool


class _Parser:
    def __init__(
        self,
        text: str,
        functions: Mapping[str, int],
        primitives: Callable[[int], Primitive],
        variable: Callable[[str], int | None],
        names: Iterable[str],
    ):
        self.text = text
        self.functions = functions
        self.primitive = primitives
        self.variable = variable
        self.names = names
        self.code: list[int] = []
        self.value: list[float] = []
        self.operands: list[_Operand] = []
        self.pending: list[_Pending] = []

    def error(self, position: int, reason: str) -> ParseError:
        return ParseError(self.text, position, reason)

    def run(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        operand_next = True
        position = 0
        end = len(self.text.rstrip())
        while position < end:
            match = _TOKEN.match(self.text, position)
            assert match is not None  # `bad` takes any character
            kind = match.lastgroup or ""
            token = match[kind]
            at = match.start(kind)
            position = match.end()
            if kind == "bad":
                raise self.error(at, f"unexpected character {token!r}")
            if operand_next:
                operand_next = self.operand(kind, token, at)
            else:
                operand_next = self.operator(kind, token, at)
            if len(self.pending) > MAX_NODES:
                raise self.error(at, f"more than {MAX_NODES} open parentheses and signs")
        if operand_next:
            raise self.error(end, "a number, a feature or a function is missing")
        self.reduce(1)
        if self.pending:
            raise self.error(self.pending[-1].position, "this parenthesis is never closed")
        keep = [i for i, c in enumerate(self.code) if c != _DROPPED]
        code = np.array([self.code[i] for i in keep], dtype=np.int32)
        value = np.array([self.value[i] for i in keep], dtype=np.float64)
        return code, value

    def operand(self, kind: str, token: str, at: int) -> bool:
        """Take a token where an operand must start; return whether one is still due."""
        if kind == "number":
            number = float(token)
            if not math.isfinite(number):
                raise self.error(at, f"the number {_short(token)} is too large")
            self.emit(CONSTANT, at, number, literal=True)
            return False
        if kind == "quoted":
            mark = token[0]
            self.leaf(token[1:-1].replace(mark * 2, mark), at)
            return False
        if kind == "name":
            self.leaf(token, at)
            return False
        if kind == "call":
            if token not in self.functions:
                raise self.error(at, f"unknown function {_short(token)!r}{self.hint(token)}")
            self.pending.append(_Pending(0, self.functions[token], at))
            return True
        if token == "(":
            self.pending.append(_Pending(0, -1, at))
            return True
        if token in ("+", "-"):
            if token == "-":
                self.pending.append(_Pending(_SIGN_LEVEL, CODE_OF["neg"], at))
            return True
        raise self.error(at, f"unexpected {token!r}")

    def operator(self, kind: str, token: str, at: int) -> bool:
        """Take a token where an operator or a closing sign must stand."""
        if kind != "sign" or token == "(":
            raise self.error(at, f"an operator is missing before {_short(token)!r}")
        if token in "),":
            return self.close(token, at)
        code = CODE_OF["^" if token == "**" else token]
        level = self.primitive(code).level
        self.reduce(level + 1 if level == 4 else level)  # powers group to the right
        self.pending.append(_Pending(level, code, at))
        return True

    def close(self, token: str, at: int) -> bool:
        self.reduce(1)
        if not self.pending:
            raise self.error(at, f"unexpected {token!r}")
        top = self.pending[-1]
        if token == ",":
            if top.code < 0:
                raise self.error(at, "a comma outside a function call")
            top.arguments += 1
            return True
        self.pending.pop()
        if top.code < 0:
            self.operands[-1].literal = False
            return False
        primitive = self.primitive(top.code)
        if top.arguments != primitive.arity:
            takes = f"{primitive.arity} argument{'s' * (primitive.arity > 1)}"
            raise self.error(
                top.position, f"{primitive.name} takes {takes} and was given {top.arguments}"
            )
        self.apply(top.code, primitive.arity, top.position)
        return False

    def reduce(self, level: int) -> None:
        """Apply the waiting operators that bind at least as tightly as `level`."""
        while self.pending and self.pending[-1].level >= level:
            top = self.pending.pop()
            primitive = self.primitive(top.code)
            if self.shorten(primitive.name, top.position):
                continue
            if primitive.name not in self.functions:
                sign = primitive.symbol or primitive.name
                raise self.error(top.position, f"{sign!r} is not in this primitive set")
            self.apply(top.code, primitive.arity, top.position)

    def shorten(self, name: str, at: int) -> bool:
        """Use the short form of -3, x^2, x^3 and 1/x; return whether there was one."""
        last = self.operands[-1]
        if name == "neg" and last.literal:
            self.value[-1] = -self.value[-1]
            last.literal = False
            return True
        if name == "pow" and last.literal and self.value[-1] in (2.0, 3.0):
            short = self.functions.get("square" if self.value[-1] == 2.0 else "cube")
            if short is not None:
                del self.code[-1], self.value[-1], self.operands[-1]
                self.apply(short, 1, at)
                return True
        if name == "div" and self.operands[-2].literal and "inv" in self.functions:
            start = self.operands[-2].start
            if self.value[start] == 1.0:
                self.code[start] = _DROPPED
                del self.operands[-2]
                self.operands[-1].start = start
                self.apply(self.functions["inv"], 1, at)
                return True
        return False

    def apply(self, code: int, arity: int, at: int) -> None:
        first = self.operands[-arity]
        del self.operands[-arity:]
        self.emit(code, at)
        self.operands[-1].start = first.start

    def emit(self, code: int, at: int, value: float = 0.0, *, literal: bool = False) -> None:
        if len(self.code) >= MAX_NODES:
            raise self.error(at, f"more than {MAX_NODES} nodes")
        self.operands.append(_Operand(len(self.code), literal))
        self.code.append(code)
        self.value.append(value)

    def leaf(self, name: str, at: int) -> None:
        index = self.variable(name)
        if index is not None:
            self.emit(~index, at)
        elif name == "pi":
            self.emit(CONSTANT, at, math.pi)
        elif name in self.functions:
            raise self.error(at, f"{name!r} is a function and needs its arguments")
        else:
            raise self.error(at, f"unknown feature {_short(name)!r}{self.hint(name)}")

    def hint(self, name: str) -> str:
        if len(name) > _LONGEST_SHOWN:
            return ""
        known = [*self.functions, *self.names]
        close = difflib.get_close_matches(name, known[:5000], n=1)
        return f", did you mean {close[0]!r}?" if close else ""


def _short(token: str) -> str:
    return token if len(token) <= _LONGEST_SHOWN else token[:_LONGEST_SHOWN] + "..."


def parse(
    text: str,
    functions: Mapping[str, int],
    primitives: Callable[[int], Primitive],
    variable: Callable[[str], int | None],
    names: Iterable[str] = (),
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Read a formula.

    Parameters
    ----------
    text : str
        The formula.
    functions : mapping
        Function codes by name and operator sign.
    primitives : callable
        The primitive of a code.
    variable : callable
        The index of a variable's name, or None.
    names : iterable of str
        Known variable names, for the hint in an error message.

    Returns
    -------
    code, value : arrays
        The expression in postfix order.
    """
    if not isinstance(text, str):
        raise TypeError(f"a formula must be a string, got {type(text).__name__}")
    return _Parser(text, functions, primitives, variable, names).run()
