"""Algebra that never changes a formula's value where it is finite."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from symgrad.language.fold import fold
from symgrad.language.primitive import CONSTANT
from symgrad.language.primitive_set import PrimitiveSet

Term = tuple[int, int | None, float]
"""(sign, part, number): ``sign*part + number`` in sums, ``number * part**sign`` in products."""

_INVERSE = {("neg", "neg"), ("inv", "inv"), ("exp", "log"), ("log", "exp")}
_EVEN = {"abs", "square", "cos", "cosh"}
_CANCELLATION = 1e-9


def simplify(
    code: NDArray[np.int32], value: NDArray[np.float64], primitives: PrimitiveSet
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the simplified postfix arrays."""
    for _ in range(8):
        store = _Store(primitives)
        root = fold(
            code,
            value,
            primitives.arity,
            variable=store.variable,
            constant=store.constant,
            function=store.function,
        )
        new_code, new_value = store.flatten(root)
        if np.array_equal(new_code, code) and np.array_equal(new_value, value):
            break
        code, value = new_code, new_value
    return code, value


class _MissingError(Exception):
    """A rule needs a primitive that is not in the set."""


class _Store:
    """Expressions by number; equal ones, up to commutativity, share a number."""

    def __init__(self, primitives: PrimitiveSet):
        self.primitives = primitives
        self.nodes: list[tuple[str, float, tuple[int, ...]]] = []
        self.sizes: list[int] = []
        self.numbers: dict[tuple[object, ...], int] = {}

    def add(self, head: str, value: float, args: tuple[int, ...]) -> int:
        commutative = bool(args) and self.primitives[self.functions[head]].commutative
        key = (head, value, tuple(sorted(args)) if commutative else args)
        if key not in self.numbers:
            self.numbers[key] = len(self.nodes)
            self.nodes.append((head, value, args))
            self.sizes.append(1 + sum(self.sizes[a] for a in args))
        return self.numbers[key]

    @property
    def functions(self) -> dict[str, int]:
        return self.primitives.functions

    def variable(self, index: int) -> int:
        return self.add("#variable", index, ())

    def function(self, code: int, args: Sequence[int]) -> int:
        return self.make(self.primitives[code].name, args)

    def constant(self, value: float) -> int:
        return self.add("#constant", value + 0.0, ())

    def plain(self, name: str, *args: int) -> int:
        if name not in self.functions:
            raise _MissingError(name)
        return self.add(name, 0.0, args)

    def number(self, i: int) -> float | None:
        head, value, _ = self.nodes[i]
        return value if head == "#constant" else None

    def make(self, name: str, args: Sequence[int]) -> int:
        """Return the simplest known form of a function of simple arguments."""
        folded = self.fold_constants(name, args)
        if folded is not None:
            return folded
        try:
            simpler = self.rule(name, args)
        except _MissingError:
            simpler = None
        return self.plain(name, *args) if simpler is None else simpler

    def fold_constants(self, name: str, args: Sequence[int]) -> int | None:
        numbers = [self.number(a) for a in args]
        if any(n is None for n in numbers):
            return None
        define = self.primitives[self.functions[name]].define
        with np.errstate(all="ignore"):
            result = float(define(np, *(np.float64(n) for n in numbers)))
        return self.constant(result) if np.isfinite(result) else None

    def rule(self, name: str, args: Sequence[int]) -> int | None:
        if name in ("add", "sub", "neg"):
            signs = (-1,) if name == "neg" else (1, -1 if name == "sub" else 1)
            return self.sum([self.term(a, "sum") for a in args], signs, args)
        if name in ("mul", "div", "inv"):
            signs = (-1,) if name == "inv" else (1, -1 if name == "div" else 1)
            return self.product([self.term(a, "product") for a in args], signs, args)
        if name in ("min", "max") and args[0] == args[1]:
            return args[0]
        if name == "pow":
            return self.power(*args)
        head, _, inner = self.nodes[args[0]]
        if (name, head) in _INVERSE:
            return inner[0]
        if name in _EVEN and head in ("neg", "abs") and name in self.functions:
            return self.make(name, inner)
        if name == "abs" and head in ("square", "exp", "sqrt"):
            return args[0]
        if name == "sqrt" and head == "square":
            return self.make("abs", inner) if "abs" in self.functions else None
        return None

    def term(self, i: int, kind: str) -> Term:
        """Split a number off a sum (x + c, c - x, -x) or a product (c*x, x/c, c/x, 1/x)."""
        neutral = 0.0 if kind == "sum" else 1.0
        constant = self.number(i)
        if constant is not None:
            return 1, None, constant
        head, _, args = self.nodes[i]
        names = ("add", "sub", "neg") if kind == "sum" else ("mul", "div", "inv")
        if head == names[2]:
            return -1, args[0], neutral
        if head not in names:
            return 1, i, neutral
        left, right = self.number(args[0]), self.number(args[1])
        inverse = head == names[1]
        if left is not None:
            return -1 if inverse else 1, args[1], left
        if right is not None and not (kind == "product" and inverse and right == 0):
            undone = (-right if kind == "sum" else 1 / right) if inverse else right
            return 1, args[0], undone
        return 1, i, neutral

    def sum(self, terms: Sequence[Term], signs: Sequence[int], args: Sequence[int]) -> int | None:
        total = 0.0
        parts: list[tuple[int, int]] = []
        for (sign, part, number), outer in zip(terms, signs, strict=True):
            total += outer * number
            if part is not None:
                parts.append((outer * sign, part))
        largest = max(abs(number) for _, _, number in terms)
        if (total and abs(total) < _CANCELLATION * largest) or not np.isfinite(total):
            return None
        if len(parts) == 2 and parts[0][1] == parts[1][1]:
            if parts[0][0] != parts[1][0]:
                return self.constant(total)
            if self.sizes[parts[0][1]] > 1:
                twice = self.plain("mul", self.constant(2.0), parts[0][1])
                return self.shift(parts[0][0], twice, total)
        if len(parts) == 2:
            (s, a), (t, b) = parts
            if s < 0 and t < 0:
                return self.shift(-1, self.plain("add", a, b), total)
            first, second = (a, b) if s > 0 else (b, a)
            both = self.plain("add" if s == t else "sub", first, second)
            return self.shift(1, both, total)
        sign, part = parts[0]
        if len(terms) == 1 and total == 0 and self.nodes[part][0] in ("sub", "mul", "div"):
            return self.opposite(part)
        return self.shift(sign, part, total)

    def shift(self, sign: int, part: int, number: float) -> int:
        """Return ``sign*part + number``."""
        if sign < 0:
            if number:
                return self.plain("sub", self.constant(number), part)
            return self.opposite(part) or self.plain("neg", part)
        if number == 0:
            return part
        if "sub" in self.functions and (number < 0 or "add" not in self.functions):
            return self.plain("sub", part, self.constant(-number))
        return self.plain("add", part, self.constant(number))

    def opposite(self, part: int) -> int | None:
        """Return ``-part`` where the sign can move inside, else None."""
        head, _, args = self.nodes[part]
        if head == "sub":
            return self.plain("sub", args[1], args[0])
        if head in ("mul", "div"):
            number = self.number(args[0])
            if number is not None:
                return self.plain(head, self.constant(-number), args[1])
        return None

    def product(
        self, terms: Sequence[Term], signs: Sequence[int], args: Sequence[int]
    ) -> int | None:
        total = 1.0
        parts: list[tuple[int, int]] = []
        with np.errstate(all="ignore"):
            for (sign, part, number), outer in zip(terms, signs, strict=True):
                total = float(total * np.float64(number) ** outer)
                if part is not None:
                    parts.append((outer * sign, part))
        exact_zero = any(part is None and number == 0 for _, part, number in terms)
        if not np.isfinite(total) or (not exact_zero and abs(total) < 1e-300):
            return None
        if exact_zero:
            return self.constant(0.0)
        if len(parts) == 2 and parts[0][1] == parts[1][1]:
            power, part = parts[0][0], parts[0][1]
            if power != parts[1][0]:
                return self.constant(total)
            if "square" in self.functions:
                return self.scale(power, self.make("square", [part]), total)
        if len(parts) == 2:
            (s, a), (t, b) = parts
            if s < 0 and t < 0:
                return self.scale(-1, self.plain("mul", a, b), total)
            first, second = (a, b) if s > 0 else (b, a)
            both = self.plain("mul" if s == t else "div", first, second)
            return self.scale(1, both, total)
        return self.scale(*parts[0], total)

    def scale(self, power: int, part: int, number: float) -> int:
        """Return ``number * part**power``."""
        if power < 0:
            if number == 1.0 and "inv" in self.functions:
                return self.plain("inv", part)
            return self.plain("div", self.constant(number), part)
        if number == 1.0:
            return part
        if number == -1.0 and "neg" in self.functions:
            return self.opposite(part) or self.plain("neg", part)
        return self.plain("mul", self.constant(number), part)

    def power(self, base: int, exponent: int) -> int | None:
        number = self.number(exponent)
        if number == 0:
            return self.constant(1.0)
        if number == 1:
            return base
        short = {2.0: "square", 3.0: "cube", -1.0: "inv", 0.5: "sqrt"}
        name = short.get(number) if number is not None else None
        return self.make(name, [base]) if name in self.functions else None

    def flatten(self, root: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the postfix arrays of an expression."""
        code: list[int] = []
        value: list[float] = []
        todo = [root]
        while todo:
            head, number, args = self.nodes[todo.pop()]
            if head == "#variable":
                code.append(~int(number))
            else:
                code.append(CONSTANT if head == "#constant" else self.functions[head])
            value.append(number if head == "#constant" else 0.0)
            todo.extend(args)  # the last argument comes first: reversed postfix
        return np.array(code[::-1], np.int32), np.array(value[::-1], np.float64)
