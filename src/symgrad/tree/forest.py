"""A batch of formulas: the unit the native core works on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from symgrad import _core
from symgrad.arrays import as_columns, as_floats, as_sparse, frozen, is_sparse, threads
from symgrad.language.primitive import CONSTANT
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.tree.names import FeatureNames
from symgrad.tree.tree import ALL, Tree, check_values


class Forest(Sequence[Tree]):
    """An immutable batch of trees over the same primitives and features.

    Parameters
    ----------
    code, value : arrays
        The trees one after another, each in postfix order; see `Tree`.
    offset : array of int64
        Tree t is ``code[offset[t]:offset[t + 1]]``.
    primitives : PrimitiveSet, optional
        By default all built-in primitives.
    feature_names : sequence of str, optional
        By default ``x0, x1, ...``.

    Examples
    --------
    >>> import numpy as np
    >>> from symgrad import Forest
    >>> f = Forest.from_strings(["a + b", "a/b"], ["a", "b"])
    >>> f.evaluate(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[3.  , 7.  ],
           [0.5 , 0.75]])
    """

    def __init__(
        self,
        code: Any,
        value: Any,
        offset: Any,
        primitives: PrimitiveSet | None = None,
        feature_names: FeatureNames | Sequence[str] | None = None,
    ):
        self.primitives = primitives or ALL
        self.names = FeatureNames.of(feature_names)
        self.code = frozen(code, np.int32, "code")
        self.value = frozen(value, np.float64, "value")
        self.offset = frozen(offset, np.int64, "offset")
        if len(self.offset) < 2:
            raise ValueError("a forest needs at least one tree")
        self._core = _core.Forest(self.code, self.value, self.offset, *self.primitives.bodies)
        self.primitives.arities(self.code)  # the core knows all built-ins, the set only its own
        check_values(self.code, self.value)
        known = self.names.names
        if known is not None and self._core.features > len(known):
            worst = self._core.features - 1
            raise ValueError(f"feature {worst} is out of range: there are {len(known)} names")

    @classmethod
    def of(cls, trees: Iterable[Tree]) -> Forest:
        """Return the forest of some trees, which must share primitives and feature names."""
        trees = list(trees)
        if not trees:
            raise ValueError("a forest needs at least one tree")
        first = trees[0]
        if any(t.primitives != first.primitives or t.names != first.names for t in trees):
            raise ValueError("the trees of a forest must share primitives and feature names")
        code = np.concatenate([t.code for t in trees])
        value = np.concatenate([t.value for t in trees])
        offset = np.cumsum([0] + [t.size for t in trees])
        return cls(code, value, offset, first.primitives, first.names)

    @classmethod
    def from_strings(
        cls,
        formulas: Iterable[str],
        feature_names: FeatureNames | Iterable[str] | None = None,
        primitives: PrimitiveSet | None = None,
    ) -> Forest:
        """Return the forest of some formulas; see `Tree.parse`."""
        if isinstance(formulas, str):
            raise TypeError("formulas must be a list of strings, got one string")
        names = FeatureNames.of(feature_names)
        return cls.of(Tree.parse(f, names, primitives) for f in formulas)

    def __len__(self) -> int:
        return len(self.offset) - 1

    @overload
    def __getitem__(self, index: int) -> Tree: ...
    @overload
    def __getitem__(self, index: slice | NDArray[Any]) -> Forest: ...
    def __getitem__(self, index: Any) -> Tree | Forest:
        """Return a tree, or the forest of a slice, an index array or a mask."""
        chosen = np.arange(len(self))[index]
        if np.ndim(chosen) == 0:
            s = slice(self.offset[chosen], self.offset[chosen + 1])
            return Tree(self.code[s], self.value[s], self.primitives, self.names)
        if np.ndim(chosen) > 1:
            raise IndexError("a forest has one dimension")
        size = self.sizes[chosen]
        offset = np.concatenate([[0], np.cumsum(size)])
        nodes = np.repeat(self.offset[:-1][chosen] - offset[:-1], size) + np.arange(offset[-1])
        return Forest(self.code[nodes], self.value[nodes], offset, self.primitives, self.names)

    def __iter__(self) -> Iterator[Tree]:
        return (self[t] for t in range(len(self)))

    def __add__(self, other: Forest) -> Forest:
        if not isinstance(other, Forest):
            return NotImplemented
        if other.primitives != self.primitives or other.names != self.names:
            raise ValueError("the forests have different primitives or feature names")
        code = np.concatenate([self.code, other.code])
        value = np.concatenate([self.value, other.value])
        offset = np.concatenate([self.offset, self.offset[-1] + other.offset[1:]])
        return Forest(code, value, offset, self.primitives, self.names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Forest) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Forest, (self.code, self.value, self.offset, self.primitives, self.names)

    def __repr__(self) -> str:
        return f"<Forest of {len(self)} trees, {len(self.code)} nodes>"

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of nodes of each tree, constants counted."""
        return np.diff(self.offset)

    def costs(self, feature: int, constant: int, function: int) -> NDArray[np.int64]:
        """Return what the nodes of each tree cost, by their kind."""
        leaves = np.where(self.code == CONSTANT, constant, feature)
        return np.add.reduceat(np.where(self.code < 0, leaves, function), self.offset[:-1])

    def written(self, units: _core.Units) -> NDArray[np.int64]:
        """Return the nodes of each formula as it is written, with an outer line, in units.

        As SymPy counts them: a sum or product of any length is one node, -x and 1/x have a number
        more. Numbers that only the units ask for are counted, too. What merging and cancelling
        terms would save is not known here.
        """
        return _core.written_sizes(self._core, units)

    @property
    def feature_counts(self) -> NDArray[np.int64]:
        """Number of different features of each tree."""
        leaf = (self.code < 0) & (self.code != CONSTANT)
        feature = (~self.code[leaf]).astype(np.int64)
        span = int(feature.max(initial=0)) + 1
        tree = np.repeat(np.arange(len(self)), self.sizes)[leaf]
        return np.bincount(np.unique(tree * span + feature) // span, minlength=len(self))

    @cached_property
    def feature_indices(self) -> NDArray[np.int64]:
        """Indices of the features that any tree uses, ascending."""
        leaves = self.code[(self.code < 0) & (self.code != CONSTANT)]
        indices: NDArray[np.int64] = np.unique(~leaves).astype(np.int64)
        return indices

    def narrow(self) -> Forest:
        """Return the same trees over the columns of `feature_indices` alone."""
        code = self.code.copy()
        leaf = (code < 0) & (code != CONSTANT)
        code[leaf] = ~np.searchsorted(self.feature_indices, ~code[leaf]).astype(np.int32)
        return Forest(code, self.value, self.offset, self.primitives)

    def evaluate(
        self, X: Any, n_jobs: int | None = None, *, smooth: bool = False, dtype: Any = None
    ) -> NDArray[Any]:
        """Return the trees' values.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (rows, features)
            float32 is worked on in float32, anything else in float64. Of a data frame the
            columns with the features' names are taken, in any order.
        n_jobs : int, optional
            Number of threads; by default all cores. It does not change the result.
        smooth : bool
            Use the primitives' smooth closures, as relaxed trees do, instead of exact
            mathematics.
        dtype : {float32, float64}, optional
            Work in this type instead.

        Returns
        -------
        array of shape (trees, rows)
            NaN and infinity where a formula is undefined.
        """
        core, columns = self.bind(X, dtype)
        out = np.empty((len(self), columns.shape[0]), columns.dtype)
        _core.evaluate(core, columns, out, smooth, threads(n_jobs))
        return out

    def gradient(self, X: Any, n_jobs: int | None = None, *, smooth: bool = False) -> NDArray[Any]:
        """Return the derivative of each tree's value with respect to each of its nodes.

        Returns
        -------
        array of shape (nodes of all trees, rows)
            Row i belongs to node i of `code`; the roots' rows are 1.
        """
        core, columns = self.bind(X)
        out = np.empty((len(self.code), columns.shape[0]), columns.dtype)
        _core.gradient(core, columns, out, smooth, threads(n_jobs))
        return out

    def bind(self, X: Any, dtype: Any = None) -> tuple[_core.Forest, NDArray[Any]]:
        """Return what the core takes: a forest and column-major data that fit each other.

        Column-major data is passed on as it is. From anything else, sparse matrices too, only the
        columns in use are copied, and the forest is renumbered to them.
        """
        used = self.feature_indices
        if hasattr(X, "columns"):
            chosen = as_floats(self._select(X, used))
            return self._renumbered, as_columns(chosen.astype(dtype or chosen.dtype, copy=False))
        array = X if is_sparse(X) else as_floats(X)
        rows, columns = array.shape
        if not rows:
            raise ValueError("X has no rows")
        known = self.names.names
        if known is not None and columns != len(known):
            raise ValueError(f"X has {columns} columns, but the forest has {len(known)} features")
        if used.size and used[-1] >= columns:
            raise ValueError(f"X has {columns} columns, but the forest uses feature {used[-1]}")
        if is_sparse(X):
            array, used = as_sparse(X.tocsc()[:, used]).toarray(), np.arange(used.size)
        elif (
            array.flags.f_contiguous
            and array.flags.aligned
            and array.dtype == (dtype or array.dtype)
        ):
            return self._core, array
        return self._renumbered, as_columns(array[:, used].astype(dtype or array.dtype, copy=False))

    def _select(self, frame: Any, used: NDArray[np.int64]) -> Any:
        if not len(frame):
            raise ValueError("X has no rows")
        if self.names.names is None:
            if used.size and used[-1] >= frame.shape[1]:
                raise ValueError(
                    f"X has {frame.shape[1]} columns, but the forest uses feature {used[-1]}"
                )
            return frame.iloc[:, used].to_numpy()
        columns = [str(c) for c in frame.columns]  # as Dataset names them
        place = {name: i for i, name in enumerate(columns)}
        wanted = [self.names[j] for j in used]
        for name in wanted:
            if name not in place:
                raise ValueError(f"X has no column {name!r}")
            if len(place) < len(columns) and columns.count(name) > 1:
                raise ValueError(f"X has more than one column {name!r}")
        return frame.iloc[:, [place[n] for n in wanted]].to_numpy()

    @cached_property
    def _renumbered(self) -> _core.Forest:
        leaf = (self.code < 0) & (self.code != CONSTANT)
        code = self.code.copy()
        code[leaf] = ~np.searchsorted(self.feature_indices, ~self.code[leaf]).astype(np.int32)
        return _core.Forest(code, self.value, self.offset, *self.primitives.bodies)
