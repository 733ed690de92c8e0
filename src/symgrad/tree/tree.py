"""One formula: an immutable tree in flat postfix arrays."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from symgrad.arrays import frozen
from symgrad.language import grammar
from symgrad.language.fold import fold
from symgrad.language.primitive import CONSTANT, Primitive
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.tree import exports, mathml, render, simplify
from symgrad.tree.names import FeatureNames

if TYPE_CHECKING:
    import sympy

T = TypeVar("T")
ALL = PrimitiveSet()


class Tree:
    """An immutable formula.

    Trees are equal when they are the same up to the order of commutative arguments.

    Parameters
    ----------
    code : array of int32
        Postfix: functions by code, `CONSTANT`, and ``~j`` for feature j.
    value : array of float64
        The numbers of the constants; 0 elsewhere.
    primitives : PrimitiveSet, optional
        By default all built-in primitives.
    feature_names : sequence of str, optional
        By default ``x0, x1, ...``.

    Examples
    --------
    >>> from symgrad import Tree
    >>> t = Tree.parse("2.5*sin(a*b) - log(c)", ["a", "b", "c"])
    >>> t.size, t.depth, t.features
    (9, 4, ('a', 'b', 'c'))
    >>> str(t)
    '2.5*sin(a*b) - log(c)'
    """

    def __init__(
        self,
        code: Any,
        value: Any,
        primitives: PrimitiveSet | None = None,
        feature_names: FeatureNames | Sequence[str] | None = None,
    ):
        self.code = frozen(code, np.int32, "code")
        self.value = frozen(value, np.float64, "value")
        self.primitives = primitives or ALL
        self.names = FeatureNames.of(feature_names)
        self._check()

    def _check(self) -> None:
        if self.code.shape != self.value.shape or not self.code.size:
            raise ValueError("a tree needs code and value arrays of the same, positive length")
        stack = np.cumsum(1 - self.primitives.arities(self.code))
        if stack.min() < 1 or stack[-1] != 1:
            raise ValueError("the code array is not one complete tree in postfix order")
        check_values(self.code, self.value)
        known = self.names.names
        largest = max(self.feature_indices, default=-1)
        if known is not None and largest >= len(known):
            raise ValueError(f"feature {largest} is out of range: there are {len(known)} names")

    @classmethod
    def parse(
        cls,
        text: str,
        feature_names: FeatureNames | Iterable[str] | None = None,
        primitives: PrimitiveSet | None = None,
    ) -> Tree:
        """Read a formula.

        Parameters
        ----------
        text : str
            For example ``"2.5*sin(x1*x2) - log(`BRCA1 (log2)`)"``: names that are not
            identifiers stand in backticks.
        feature_names : sequence of str, optional
            By default ``x0, x1, ...``.
        primitives : PrimitiveSet, optional
            By default all built-in primitives.
        """
        primitives, names = primitives or ALL, FeatureNames.of(feature_names)
        primitives.check_features(names.names or ())
        code, value = grammar.parse(
            text, primitives.functions, primitives.__getitem__, names.index, names.names or ()
        )
        return cls(code, value, primitives, names)

    @classmethod
    def from_sympy(
        cls,
        expression: sympy.Basic,
        feature_names: FeatureNames | Iterable[str] | None = None,
        primitives: PrimitiveSet | None = None,
    ) -> Tree:
        """Return the tree of a SymPy expression whose symbols are the features."""
        primitives, names = primitives or ALL, FeatureNames.of(feature_names)
        from symgrad.tree import sympy_form

        code, value = sympy_form.read(expression, primitives, names)
        return cls(code, value, primitives, names)

    def fold(
        self,
        *,
        variable: Callable[[int], T],
        constant: Callable[[float], T],
        function: Callable[[int, Sequence[T]], T],
    ) -> T:
        """Combine the tree bottom-up; see `symgrad.language.fold`."""
        return fold(
            self.code,
            self.value,
            self.primitives.arity,
            variable=variable,
            constant=constant,
            function=function,
        )

    @property
    def size(self) -> int:
        """Number of nodes, constants counted."""
        return len(self.code)

    def __len__(self) -> int:
        return self.size

    def __reduce__(self) -> tuple[Any, ...]:
        return Tree, (self.code, self.value, self.primitives, self.names)

    @cached_property
    def depth(self) -> int:
        """Number of edges from the root to the deepest leaf."""
        return self.fold(
            variable=lambda _: 0, constant=lambda _: 0, function=lambda _, args: 1 + max(args)
        )

    @cached_property
    def feature_indices(self) -> tuple[int, ...]:
        """Indices of the features in use, ascending."""
        leaves = self.code[(self.code < 0) & (self.code != CONSTANT)]
        return tuple(int(j) for j in np.unique(~leaves))

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features in use, by index."""
        return tuple(self.names[j] for j in self.feature_indices)

    @property
    def constants(self) -> NDArray[np.float64]:
        """The constants, in postfix order."""
        constants: NDArray[np.float64] = self.value[self.code == CONSTANT]
        return constants

    @cached_property
    def key(self) -> bytes:
        """A digest that equal trees share."""

        def digest(*parts: bytes) -> bytes:
            return hashlib.blake2b(b"\0".join(parts), digest_size=16).digest()

        def function(code: int, args: Sequence[bytes]) -> bytes:
            primitive = self.primitives[code]
            ordered = sorted(args) if primitive.commutative else args
            return digest(b"f", primitive.name.encode(), meaning(primitive), *ordered)

        def meaning(primitive: Primitive) -> bytes:
            if primitive.body is None:
                return b""
            return fold(
                primitive.body.code,
                primitive.body.value,
                self.primitives.arity,
                variable=lambda k: digest(b"a", bytes([k])),
                constant=lambda v: digest(b"c", np.float64(v).tobytes()),
                function=function,
            )

        return self.fold(
            variable=lambda j: digest(b"v", self.names[j].encode("utf-8", "surrogatepass")),
            constant=lambda v: digest(b"c", np.float64(v).tobytes()),
            function=function,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def span(self, node: int) -> slice:
        """Return the slice of the arrays that holds the subtree of a node."""
        if not 0 <= node < self.size:
            raise IndexError(f"node {node} is out of range: the tree has {self.size} nodes")
        arities = self.primitives.arities(self.code[: node + 1])
        missing, start = 1, node + 1
        while missing:
            start -= 1
            missing += int(arities[start]) - 1
        return slice(start, node + 1)

    def subtree(self, node: int) -> Tree:
        """Return the subtree whose root is the given node (postfix position)."""
        s = self.span(node)
        return Tree(self.code[s], self.value[s], self.primitives, self.names)

    def splice(self, node: int, replacement: Tree) -> Tree:
        """Return the tree with the subtree of a node replaced."""
        if replacement.primitives != self.primitives or replacement.names != self.names:
            raise ValueError("the replacement has other primitives or feature names")
        s = self.span(node)
        code = np.concatenate([self.code[: s.start], replacement.code, self.code[s.stop :]])
        value = np.concatenate([self.value[: s.start], replacement.value, self.value[s.stop :]])
        return Tree(code, value, self.primitives, self.names)

    def renamed(self, names: FeatureNames) -> Tree:
        """Return the same formula over other features, which must include those in use."""
        code = self.code.copy()
        for j in self.feature_indices:
            index = names.index(self.names[j])
            if index is None:
                raise ValueError(f"there is no feature {self.names[j]!r}")
            code[self.code == ~j] = ~index
        return Tree(code, self.value, self.primitives, names)

    def simplify(self) -> Tree:
        """Return a tree of the same value, usually smaller.

        Constants are folded and merged, and what cancels is removed. Where the original is
        finite the value is kept (up to rounding); where it is not, the result may be defined.
        """
        code, value = simplify.simplify(self.code, self.value, self.primitives)
        return Tree(code, value, self.primitives, self.names)

    def render(self, digits: int | None = None) -> str:
        """Return the formula as text that `parse` reads back.

        Parameters
        ----------
        digits : int, optional
            Significant digits of the constants; by default as many as it takes to be exact.
        """
        return render.text(self.code, self.value, self.primitives, self.names, digits)

    def latex(self, digits: int | None = 4) -> str:
        """Return the formula as LaTeX, constants rounded to `digits` significant digits."""
        return render.latex(self.code, self.value, self.primitives, self.names, digits)

    def mathml(self, digits: int | None = 4) -> str:
        """Return the formula as MathML: ``math`` elements, between which lines may end."""
        return mathml.mathml(self.code, self.value, self.primitives, self.names.__getitem__, digits)

    def sympy(self) -> sympy.Expr:
        """Return a SymPy expression with one plain symbol per feature, named as the feature."""
        from symgrad.tree import sympy_form

        return sympy_form.write(self.code, self.value, self.primitives, self.names)

    def export(self, kind: str, cells: Mapping[str, str] | None = None) -> str:
        """Return the formula as source text, constants in full precision.

        Parameters
        ----------
        kind : {"python", "c", "sql", "excel", "torch", "jax", "sympy", "latex"}
            A function ``formula`` of the columns in use (Python with NumPy, C, PyTorch, JAX), an
            expression (SQL as SQLite has it), a cell's formula (Excel), code that makes the SymPy
            expression, or LaTeX. What is undefined is NaN or infinite, NULL in SQL, an error in
            Excel.
        cells : mapping of str to str, optional
            Where each feature stands in Excel; by default the first in A2, the next in B2, ...

        Examples
        --------
        >>> from symgrad import Tree
        >>> Tree.parse("-a^2/b", ["a", "b"]).export("excel")
        '=-(A2^2)/B2'
        """
        return exports.export(kind, self.code, self.value, self.primitives, self.names, cells)

    def evaluate(self, X: Any, dtype: Any = None) -> NDArray[Any]:
        """Return the formula's values on the rows of X; see `Forest.evaluate`."""
        from symgrad.tree.forest import Forest

        values: NDArray[Any] = Forest.of([self]).evaluate(X, dtype=dtype)[0]
        return values

    def __str__(self) -> str:
        return self.render()

    def __repr__(self) -> str:
        return f"Tree({self.render()!r})"

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"


def check_values(code: NDArray[np.int32], value: NDArray[np.float64]) -> None:
    """Refuse constants that are not finite, and numbers where no constant is."""
    if not np.isfinite(value).all():
        raise ValueError("constants must be finite")
    if (value[code != CONSTANT] != 0).any():
        raise ValueError("value must be 0 where code is no constant")
