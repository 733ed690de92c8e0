"""Trees as source text: Python, C, SQL, Excel, PyTorch and JAX, by the table of targets.

User-defined primitives are written out. Parts without features become one number, so that each
target computes with what it is made for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symgrad.language.fold import fold
from symgrad.language.primitive import ATOM, CONSTANT, Body
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.language.targets import TARGETS, WRITTEN_OUT, Target
from symgrad.tree import render
from symgrad.tree.names import FeatureNames

KINDS = (*TARGETS, "sympy", "latex")

LONGEST = 200
"""Longer parts get a line of their own, where there are lines: compilers nest only so deep."""

LONGEST_NAME = 60
"""Identifiers are cut to this length."""

EXCEL_COLUMNS, EXCEL_LEVELS = 16_384, 64
"""What Excel can hold."""

_SLOT = re.compile(r"#([1-9])")
_CALL = re.compile(r"[\w.]+\(.*\)", re.DOTALL)
_SIGN = 3


class Piece(NamedTuple):
    """A written part, its printing level, and its number if it has no features."""

    text: str
    level: int
    number: float | None = None


def export(
    kind: str,
    code: NDArray[np.int32],
    value: NDArray[np.float64],
    primitives: PrimitiveSet,
    names: FeatureNames,
    cells: Mapping[str, str] | None = None,
) -> str:
    """Return a formula as source text; see `Tree.export`."""
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    if cells is not None and kind != "excel":
        raise ValueError(f"cells are for the kind 'excel', got kind={kind!r}")
    if kind == "sympy":
        import sympy  # takes half a second

        from symgrad.tree import sympy_form

        return str(sympy.srepr(sympy_form.write(code, value, primitives, names)))
    if kind == "latex":
        return render.latex(code, value, primitives, names, digits=None)
    leaves = code[(code < 0) & (code != CONSTANT)]
    columns = {j: names[j] for j in np.unique(~leaves).tolist()}
    if kind == "excel":
        written = {j: _cell(j, name, cells) for j, name in columns.items()}
    elif kind == "sql":
        written = {j: _quoted(name) for j, name in columns.items()}
    else:
        written = identifiers(columns, TARGETS[kind].reserved)
    writer = _Writer(TARGETS[kind], primitives)
    result = writer.write(code, value, lambda j: Piece(written[j], ATOM))
    text = writer.program(result.text, {written[j]: name for j, name in columns.items()})
    if kind == "excel" and _nesting(text) > EXCEL_LEVELS:
        raise ValueError(f"the formula nests deeper than Excel's {EXCEL_LEVELS} levels")
    return text


def identifiers(columns: Mapping[int, str], reserved: str) -> dict[int, str]:
    """Return a distinct word for each column, its own name where that is one.

    Parameters
    ----------
    columns : mapping of int to str
        Names by index: any text.
    reserved : str
        Pattern of words that must not be used.
    """
    words: dict[int, str] = {}
    taken: set[str] = set()
    for j, name in columns.items():
        word = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[:LONGEST_NAME] or f"x{j}"
        if word[0].isdigit() or re.fullmatch(reserved, word):
            word = f"x_{word}"
        candidate, k = word, 1
        while candidate in taken:
            k += 1
            candidate = f"{word}_{k}"
        taken.add(candidate)
        words[j] = candidate
    return words


class _Writer:
    """Writes one formula; keeps the lines that come before its last one."""

    def __init__(self, target: Target, primitives: PrimitiveSet):
        self.target = target
        self.primitives = primitives
        self.lines: list[str] = []
        self.helpers: dict[str, str] = {}

    def write(
        self,
        code: NDArray[np.int32],
        value: NDArray[np.float64],
        variable: Callable[[int], Piece],
    ) -> Piece:
        return fold(
            code,
            value,
            self.primitives.arity,
            variable=variable,
            constant=self.number,
            function=self.function,
        )

    def number(self, v: float) -> Piece:
        if math.isnan(v):
            return Piece(self.target.undefined, ATOM, v)
        sign = "-" if math.copysign(1, v) < 0 else ""
        digits = repr(abs(v)) if math.isfinite(v) else self.target.infinity
        return Piece(sign + digits, _SIGN if sign else ATOM, v)

    def function(self, c: int, args: Sequence[Piece]) -> Piece:
        primitive, target = self.primitives[c], self.target
        numbers = [np.float64(a.number) for a in args if a.number is not None]
        if len(numbers) == len(args):
            with np.errstate(all="ignore"):
                return self.number(float(primitive.define(np, *numbers)))
        if primitive.body is not None:
            return self.expanded(primitive.body, args)
        template = target.templates.get(primitive.name)
        if template is None:
            body = WRITTEN_OUT[primitive.name]
            assert body is not None
            return self.expanded(body, args)
        if primitive.name in target.helpers:
            self.helpers[primitive.name] = target.helpers[primitive.name]
        if _CALL.fullmatch(template):
            if primitive.commutative and args[0].number is not None:
                args = args[::-1]  # PyTorch's functions want a tensor first
            return self.kept(_fill(template, (0, 0), args), ATOM)
        needs = target.needs.get(primitive.name, primitive.needs)
        return self.kept(_fill(template, needs, args), primitive.level)

    def expanded(self, body: Body, args: Sequence[Piece]) -> Piece:
        """Return a definition with these arguments; what it uses twice is computed once."""
        leaves = body.code.tolist()
        args = [self.named(a) if leaves.count(~k) > 1 else a for k, a in enumerate(args)]
        return self.write(body.code, body.value, args.__getitem__)

    def kept(self, text: str, level: int) -> Piece:
        """Return a part, in a line of its own if it is long."""
        longest = self.target.longest
        if longest is not None and len(text) > longest:
            raise ValueError(
                f"the formula needs more than the {longest:,} characters that "
                f"{self.target.title} takes"
            )
        piece = Piece(text, level)
        return self.named(piece) if len(text) > LONGEST else piece

    def named(self, piece: Piece) -> Piece:
        """Return the name of a part; the part itself if it is a leaf or there are no lines."""
        if not self.target.line or piece.number is not None or piece.text.isidentifier():
            return piece
        name = f"t{len(self.lines) + 1}"
        self.lines.append(self.target.line.format(name, piece.text))
        return Piece(name, ATOM)

    def program(self, result: str, columns: Mapping[str, str]) -> str:
        """Return the whole text."""
        target = self.target
        return target.frame.format(
            # The quotes that repr adds keep a name from ending its line or continuing it.
            comments="".join(target.comment.format(w, repr(name)) for w, name in columns.items()),
            helpers="".join(self.helpers.values()),
            arguments=", ".join(map(target.argument.format, columns)) or target.nothing,
            prepare="".join(map(target.prepare.format, columns)),
            lines="".join(self.lines),
            result=result,
        )


def _fill(template: str, needs: Sequence[int], args: Sequence[Piece]) -> str:
    """Put the arguments into a template, in parentheses where their level asks for them."""

    def slot(match: re.Match[str]) -> str:
        k = int(match[1]) - 1
        text, level, _ = args[k]
        after = match.start() > 0 and needs[k] > 0 and text.startswith("-")
        return f"({text})" if level < needs[k] or after else text

    return _SLOT.sub(slot, template)


def _quoted(name: str) -> str:
    """Return a column's name as SQL writes it."""
    if re.search("[\0\ud800-\udfff]", name):
        raise ValueError(f"SQL cannot name the column {name!r}")
    return '"' + name.replace('"', '""') + '"'


def _cell(index: int, name: str, cells: Mapping[str, str] | None) -> str:
    """Return the Excel cell of a feature: column A for the first, row 2."""
    if cells is not None:
        if name not in cells:
            raise ValueError(f"cells must name a cell for each feature in use, not so {name!r}")
        return str(cells[name])
    if index >= EXCEL_COLUMNS:
        raise ValueError(f"Excel has {EXCEL_COLUMNS:,} columns; give cells for {name!r}")
    letters, index = "", index + 1
    while index:
        index, letter = divmod(index - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return f"{letters}2"


def _nesting(text: Iterable[str]) -> int:
    """Return how deep parentheses nest."""
    deepest = depth = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        deepest = max(deepest, depth)
    return deepest
