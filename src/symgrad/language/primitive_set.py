"""The primitives a search or a formula may use, built-in and user-defined by the same door."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgrad.language import grammar
from symgrad.language.enclosure import Enclosure
from symgrad.language.fold import fold
from symgrad.language.interval import Interval
from symgrad.language.primitive import FIRST_COMPOSED, Body, Primitive
from symgrad.language.table import BUILTINS, CODE_OF

PAPER = ("+", "-", "*", "/", "sin", "cos", "exp", "log")
MAX_COMPOSED = 1000
"""Bound on primitive sets and on the nodes of one expanded definition."""

MAX_NESTING = 50
"""Bound on definitions in terms of definitions: their folds are the one recursion there is."""

_DEFINITION = re.compile(r"\s*([^\W\d]\w*)\s*\(([^()]*)\)\s*=(.*)\Z", re.DOTALL)
_NAME = re.compile(r"[^\W\d]\w*\Z")


class PrimitiveSet:
    """An immutable set of primitives.

    Parameters
    ----------
    primitives : iterable of str, optional
        Names (``"sin"``), operator signs (``"+"``), or definitions in terms of built-in and
        earlier primitives (``"gauss(x) = exp(-x*x)"``). By default every built-in.

    Examples
    --------
    >>> from symgrad import PrimitiveSet
    >>> p = PrimitiveSet(["+", "*", "gauss(x) = exp(-x*x)"])
    >>> p.names
    ('add', 'mul', 'gauss')
    """

    def __init__(self, primitives: Iterable[str] | None = None):
        if isinstance(primitives, str):
            raise TypeError("primitives must be a list of strings, got one string")
        specs = [p.name for p in BUILTINS] if primitives is None else list(primitives)
        if not specs:
            raise ValueError("a primitive set needs at least one primitive")
        self._composed: list[Primitive] = []
        self._codes: list[int] = []
        self._expanded: dict[int, int] = {}
        self._nesting: dict[int, int] = {}
        self.specs: tuple[str, ...] = tuple(specs)
        for spec in specs:
            self._add(spec)

    @classmethod
    def paper(cls) -> PrimitiveSet:
        """Return the eight functions of the DGP paper: ``+ - * / sin cos exp log``."""
        return cls(PAPER)

    def extend(self, *primitives: str) -> PrimitiveSet:
        """Return a set with these names or definitions added."""
        return PrimitiveSet([*self.specs, *primitives])

    @property
    def codes(self) -> tuple[int, ...]:
        """The codes of the primitives, in the order given."""
        return tuple(self._codes)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the primitives, in the order given."""
        return tuple(self[c].name for c in self._codes)

    @cached_property
    def functions(self) -> dict[str, int]:
        """Codes by name and by operator sign: what the parser accepts."""
        table = {self[c].name: c for c in self._codes}
        table |= {self[c].symbol: c for c in self._codes if self[c].symbol}
        return table

    def __getitem__(self, code: int) -> Primitive:
        return self._composed[code - FIRST_COMPOSED] if code >= FIRST_COMPOSED else BUILTINS[code]

    def __contains__(self, name: object) -> bool:
        return name in self.functions

    def __len__(self) -> int:
        return len(self._codes)

    def __iter__(self) -> Iterator[Primitive]:
        return (self[c] for c in self._codes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PrimitiveSet) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        """What the set means, however it was spelled."""
        code, value, offset, arity = self.bodies
        names = tuple(p.name for p in self._composed)
        bodies = (code.tobytes(), value.tobytes(), offset.tobytes(), tuple(arity))
        return tuple(self._codes), names, bodies

    def __reduce__(self) -> tuple[Any, ...]:
        return PrimitiveSet, (self.specs,)

    def __repr__(self) -> str:
        return f"PrimitiveSet({list(self.specs)})"

    def arity(self, code: int) -> int:
        """Return the number of arguments of a function code."""
        return self[code].arity

    @cached_property
    def _arity_of(self) -> NDArray[np.int64]:
        """The arity by code; -1 for codes outside the set."""
        known = np.full(FIRST_COMPOSED + len(self._composed), -1)
        known[self._codes] = [p.arity for p in self]
        return known

    def arities(self, code: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the arity of each code, 0 for leaves; codes outside the set are an error."""
        known = self._arity_of
        inside = np.clip(code, 0, len(known) - 1)
        arities = np.where(code < 0, 0, np.where(code == inside, known[inside], -1))
        if (arities < 0).any():
            raise ValueError(f"code {code[arities < 0][0]} is no function of this primitive set")
        return arities

    def check_features(self, names: Iterable[str]) -> None:
        """Refuse feature names that a user-defined primitive has taken."""
        taken = {p.name for p in self._composed}
        clash = next((n for n in names if n in taken), None) if taken else None
        if clash is not None:
            raise ValueError(f"primitive {clash!r} has the name of a feature; rename one of them")

    @cached_property
    def bodies(self) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int64], list[int]]:
        """User-defined bodies as the core takes them: code, value, offsets, arities."""
        bodies = [p.body for p in self._composed if p.body is not None]
        code = [b.code for b in bodies]
        offset = np.cumsum([0] + [len(c) for c in code], dtype=np.int64)
        return (
            np.concatenate([np.empty(0, np.int32), *code]),
            np.concatenate([np.empty(0, np.float64), *(b.value for b in bodies)]),
            offset,
            [p.arity for p in self._composed],
        )

    def _add(self, spec: str) -> None:
        if not isinstance(spec, str):
            raise TypeError(f"a primitive must be given as a string, got {spec!r}")
        if "=" in spec:
            self._define(spec)
            return
        name = spec.strip()
        known = {p.name: FIRST_COMPOSED + i for i, p in enumerate(self._composed)}
        code = known.get(name, CODE_OF.get("^" if name == "**" else name))
        if code is None:
            listed = ", ".join(p.name for p in BUILTINS)
            raise ValueError(f"unknown primitive {name!r}; the built-in ones are {listed}")
        if code not in self._codes:
            self._codes.append(code)

    def _define(self, spec: str) -> None:
        match = _DEFINITION.match(spec)
        if match is None:
            raise ValueError(f'primitive {spec!r} must look like "gauss(x) = exp(-x*x)"')
        name, parameters, text = match[1], [p.strip() for p in match[2].split(",")], match[3]
        fail = _failure(name)
        if name in CODE_OF or any(p.name == name for p in self._composed):
            raise fail("its name is taken by another primitive")
        if not all(_NAME.match(p) for p in parameters) or len(set(parameters)) < len(parameters):
            raise fail("its parameters must be distinct names")
        if len(parameters) > 2:
            raise fail(f"it may have 1 or 2 parameters, not {len(parameters)}")
        if re.search(rf"\b{name}\s*\(", text):
            raise fail("it refers to itself, and recursion is not allowed")
        functions = dict(CODE_OF)
        functions |= {p.name: FIRST_COMPOSED + i for i, p in enumerate(self._composed)}
        index = {p: i for i, p in enumerate(parameters)}
        try:
            code, value = grammar.parse(text, functions, self.__getitem__, index.get, parameters)
        except grammar.ParseError as error:
            raise fail(str(error).replace("unknown feature", "unknown name")) from None
        unused = [p for p, i in index.items() if ~i not in code]
        if unused:
            raise fail(f"its parameter {unused[0]!r} is not used")
        size = sum(self._expanded.get(c, 1) for c in code.tolist())
        if size > MAX_COMPOSED:
            raise fail(f"written out it has more than {MAX_COMPOSED} nodes")
        if len(self._composed) >= MAX_COMPOSED:
            raise fail(f"a primitive set may have at most {MAX_COMPOSED} definitions")
        nesting = 1 + max(self._nesting.get(c, 0) for c in code.tolist())
        if nesting > MAX_NESTING:
            raise fail(f"definitions are nested more than {MAX_NESTING} deep")
        if not _constants_finite(Body(code, value), self.__getitem__):
            raise fail("a part of it without parameters is not a finite number")
        self._codes.append(FIRST_COMPOSED + len(self._composed))
        self._expanded[self._codes[-1]] = size
        self._nesting[self._codes[-1]] = nesting
        self._composed.append(_compose(name, len(parameters), Body(code, value), self.__getitem__))


def _failure(name: str) -> Callable[[str], ValueError]:
    return lambda reason: ValueError(f"primitive {name!r} cannot be defined: {reason}")


def _constants_finite(body: Body, lookup: Callable[[int], Primitive]) -> bool:
    """Whether every part of a body without parameters is finite, as 1/0 and log(-1) are not."""
    finite = True

    def step(c: int, args: Sequence[Any]) -> Any:
        nonlocal finite
        if any(a is None for a in args):
            return None
        with np.errstate(all="ignore"):
            result = np.float64(lookup(c).define(np, *args))
        finite = finite and bool(np.isfinite(result))
        return result

    fold(
        body.code,
        body.value,
        lambda c: lookup(c).arity,
        variable=lambda _: None,
        constant=np.float64,
        function=step,
    )
    return finite


def _compose(name: str, arity: int, body: Body, lookup: Callable[[int], Primitive]) -> Primitive:
    """Return a primitive whose every definition is the fold of its body."""

    def folded(kind: str) -> Callable[..., Any]:
        def define(xp: Any, *args: Any) -> Any:
            return fold(
                body.code,
                body.value,
                lambda c: lookup(c).arity,
                variable=args.__getitem__,
                constant=getattr(xp, "exact", float),  # SymPy's are exact
                function=lambda c, a: getattr(lookup(c), kind)(xp, *a),
            )

        return define

    def domain(xp: Any, *args: Any) -> Any:
        """All steps inside their domains."""

        def step(c: int, a: Sequence[Any]) -> tuple[Any, Any]:
            values = [v for v, _ in a]
            inside = lookup(c).domain(xp, *values)
            for _, ok in a:
                inside = inside & ok
            return lookup(c).define(xp, *values), inside

        return fold(
            body.code,
            body.value,
            lambda c: lookup(c).arity,
            variable=lambda j: (args[j], xp.isfinite(args[j])),
            constant=lambda v: (v, True),
            function=step,
        )[1]

    enclose = Enclosure(body.code, body.value, lookup)
    same = Enclosure(np.where(body.code == ~1, np.int32(~0), body.code), body.value, lookup)

    def interval(*args: Interval) -> Interval | None:
        return enclose(args)

    def diagonal(a: Interval) -> Interval | None:
        return same((a,))

    slots = ", ".join(f"#{k + 1}" for k in range(arity))
    escaped = name.replace("_", r"\_")
    return Primitive(
        name=name,
        arity=arity,
        define=folded("define"),
        smooth=folded("smooth"),
        domain=domain,
        interval=interval,
        diagonal=diagonal if arity == 2 else None,
        text=f"{name}({slots})",
        tex=rf"\operatorname{{{escaped}}}\left({slots}\right)",
        needs=(0,) * arity,
        body=body,
    )
