"""Models as JSON files: what `DGPRegressor.save` writes and `symgrad.load` reads.

The format is described in ``docs/exports.md``. Formulas are stored as text in the grammar of
`symgrad.language.grammar`, which is read back as the very same tree, and never executed. Whatever
is read is checked before it is used.
"""

from __future__ import annotations

import json
import math
import os
import uuid
from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from symgrad.data.loss import Loss
from symgrad.dgp.optimization import Optimization
from symgrad.dgp.sampling import Sampling
from symgrad.estimator import EQUATIONS, DGPRegressor
from symgrad.evolution.constraints import Constraints
from symgrad.evolution.diversification import Diversification
from symgrad.evolution.islands import Islands
from symgrad.history import COLUMNS, frame
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.older_files import FORMAT, VERSION, Document, count, take, upgraded
from symgrad.outside import Box
from symgrad.replacing import replacing
from symgrad.tree.names import FeatureNames
from symgrad.tree.tree import Tree

T = TypeVar("T")

NUMBERS = EQUATIONS[1:5]
"""Of each formula: loss, R2 on training and held-out rows, description length."""

POLICIES: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in (
        Constraints, Diversification, Islands, Loss, Optimization, Sampling,
    )
}  # fmt: skip
"""Settings that are objects."""

SEQUENCES: dict[str, type[Any]] = {"tuple": tuple, "set": set, "PrimitiveSet": PrimitiveSet}
"""What else is made of a list."""

NOT_FINITE = {repr(v): v for v in (math.inf, -math.inf, math.nan)}


def save(estimator: DGPRegressor, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a file, all of it or, if that fails, nothing."""
    check_is_fitted(estimator)
    text = json.dumps(describe(estimator), indent=1, allow_nan=False) + "\n"
    restore(json.loads(text))  # what could not be read back is not written
    target = os.path.realpath(os.fsdecode(path))
    temporary = os.path.join(os.path.dirname(target), f".{uuid.uuid4().hex}.tmp")
    with replacing(target, temporary) as file:
        file.write(text.encode("ascii"))


def load(path: str | os.PathLike[str]) -> DGPRegressor:
    """Read an estimator from a file that `DGPRegressor.save` has written.

    It predicts, prints and exports what the saved one did, bit for bit, and can be fitted again.
    No code is run. A file that is damaged, or from a newer symgrad, is a ValueError that says why.

    Parameters
    ----------
    path : str or path-like
        The file.

    Examples
    --------
    >>> import tempfile, numpy as np, symgrad
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> est = symgrad.DGPRegressor(max_evaluations=2000, random_state=0).fit(X, X[:, 0] - X[:, 2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     est.save(f"{folder}/model.json")
    ...     print(symgrad.load(f"{folder}/model.json"))
    x0 - x2
    """
    with open(path, "rb") as file:
        data = file.read()
    try:
        return restore(_parsed(data))
    except ValueError as error:
        raise ValueError(f"cannot load {os.fsdecode(path)}: {error}") from None
    except RecursionError:
        raise ValueError(f"cannot load {os.fsdecode(path)}: it is nested too deeply") from None


def describe(estimator: DGPRegressor) -> Document:
    """Return a fitted estimator as plain data."""
    from symgrad import __version__

    settings = estimator.get_params(deep=False)
    if not isinstance(settings["random_state"], int | np.integer):
        settings["random_state"] = None  # a generator has moved on since
    trees = estimator.trees_
    sets = list(dict.fromkeys(tree.primitives.specs for tree in trees))
    rows = zip(trees, *(estimator.equations_[name] for name in NUMBERS), strict=True)
    box = estimator._box
    return {
        "format": FORMAT,
        "version": VERSION,
        "symgrad": __version__,
        "formula": trees.index(estimator.tree_),
        "equations": [
            {
                "formula": tree.render(),
                "size": tree.size,
                **{n: _plain(float(v)) for n, v in zip(NUMBERS, numbers, strict=True)},
                "primitives": sets.index(tree.primitives.specs),
            }
            for tree, *numbers in rows
        ],
        "primitives": [list(specs) for specs in sets],
        "n_features_in": int(estimator.n_features_in_),
        "named": hasattr(estimator, "feature_names_in_"),
        "feature_names": [estimator.tree_.names[j] for j in range(estimator.n_features_in_)],
        "fallback": _plain(float(estimator._fallback)),
        "box": None
        if box is None
        else {
            "low": [float(v) for v in box.low],
            "high": [float(v) for v in box.high],
            "center": [_plain(float(v)) for v in box.center],
            "least": float(box.least),
            "greatest": float(box.greatest),
            "reach": _plain(float(box.reach)),
        },
        "n_iter": int(estimator.n_iter_),
        "n_evaluations": int(estimator.n_evaluations_),
        "history": [
            {name: _plain(v) for name, v in zip(COLUMNS, row, strict=True)}
            for row in estimator.history_[list(COLUMNS)].itertuples(index=False, name=None)
        ],
        "settings": {name: _plain(v, name) for name, v in settings.items()},
    }


def restore(document: Any) -> DGPRegressor:
    """Return the estimator of a document; a ValueError says what is wrong with it."""
    document = upgraded(document)
    names = FeatureNames(_texts(take(document, "feature_names", list), "feature_names"))
    n = count(document, "n_features_in", 1)
    if n != len(names.names or ()):
        raise ValueError(f"n_features_in is {n}, but there are {len(names.names or ())} names")
    sets = [PrimitiveSet(_texts(s, "primitives")) for s in take(document, "primitives", list)]
    equations = [_equation(e, sets, names) for e in take(document, "equations", list)]
    estimator = DGPRegressor(**_settings(take(document, "settings", dict)))
    estimator.trees_ = [tree for tree, _ in equations]
    estimator.tree_ = _pick(estimator.trees_, document, "formula")
    estimator.equations_ = pd.DataFrame(
        [(t.size, *numbers, str(t), t is estimator.tree_) for t, numbers in equations],
        columns=EQUATIONS,
    )
    estimator.n_features_in_ = n
    if take(document, "named", bool):
        estimator.feature_names_in_ = np.array(names.names, dtype=object)
    estimator.n_iter_ = count(document, "n_iter")
    estimator.n_evaluations_ = count(document, "n_evaluations")
    estimator.history_ = frame([_step(e) for e in take(document, "history", list)])
    estimator._fallback = _number(document, "fallback")
    estimator._box = None if document.get("box", 0) is None else _box(document, n)
    take(document, "symgrad", str)
    return estimator


def _parsed(data: bytes) -> Any:
    def refuse(text: str) -> NoReturn:
        raise ValueError(f"{text} is no JSON")

    try:
        return json.loads(data.decode("utf-8-sig"), parse_constant=refuse)
    except UnicodeDecodeError:
        raise ValueError("it is no text") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not complete JSON ({error})") from None


def _equation(data: Any, sets: list[PrimitiveSet], names: FeatureNames) -> tuple[Tree, list[float]]:
    if not isinstance(data, dict):
        raise ValueError(f"equations must hold objects, got {data!r:.40}")
    tree = Tree.parse(take(data, "formula", str), names, _pick(sets, data, "primitives"))
    size = take(data, "size", int)
    if size != tree.size:
        raise ValueError(f"size is {size}, but the formula has {tree.size} nodes")
    return tree, [_number(data, name) for name in NUMBERS]


def _step(data: Any) -> tuple[int, float, float, int]:
    if not isinstance(data, dict):
        raise ValueError(f"history must hold objects, got {data!r:.40}")
    seconds, error = (_number(data, name) for name in ("seconds", "error"))
    counts = [count(data, name) for name in ("evaluations", "size")]
    if max(counts) > 2**62:
        raise ValueError(f"history has a count that is too large: {max(counts)}")
    return counts[0], seconds, error, counts[1]


def _box(document: Document, n: int) -> Box:
    box = take(document, "box", dict)
    sides = []
    for name in ("low", "high", "center"):
        side = take(box, name, list)
        if len(side) != n:
            raise ValueError(f"{name} must hold {n} numbers, got {len(side)}")
        sides.append(np.array([_number({name: v}, name) for v in side], np.float64))
    least, greatest, reach = (_number(box, name) for name in ("least", "greatest", "reach"))
    low, high, center = sides
    return Box(low, high, center, least, greatest, reach)


def _settings(data: Document) -> dict[str, Any]:
    hints = get_type_hints(DGPRegressor.__init__) | {"random_state": int | None}
    known = DGPRegressor().get_params(deep=False)
    if set(data) != set(known):
        odd = min(set(data) ^ set(known))
        raise ValueError(f"settings {'lack' if odd in known else 'have an unknown'} {odd!r}")
    return {name: _checked(name, _value(name, v), hints[name]) for name, v in data.items()}


def _plain(value: Any, name: str = "a number") -> Any:
    """Return a setting as plain data; what JSON lacks is an object with its type as the key."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if value is None or isinstance(value, str | int | float):
        return value
    kind = type(value).__name__
    if isinstance(value, PrimitiveSet):
        return {"PrimitiveSet": list(value.specs)}
    if is_dataclass(value) and POLICIES.get(kind) is type(value):
        return {kind: {f.name: _plain(getattr(value, f.name), name) for f in fields(value)}}
    if isinstance(value, Mapping) and all(isinstance(k, str) for k in value):
        return {"mapping": {str(k): _plain(v, name) for k, v in value.items()}}
    if not isinstance(value, Collection) or isinstance(value, Mapping | bytes):
        raise ValueError(f"{name} cannot be saved: {value!r:.60}")
    items = [_plain(v, name) for v in value]
    if isinstance(value, set):
        return {"set": sorted(items, key=repr)}
    return {"tuple": items} if isinstance(value, tuple) else items


def _value(name: str, data: Any) -> Any:
    """Return the setting that `_plain` wrote."""
    if isinstance(data, float) and not math.isfinite(data):
        raise ValueError(f"{name} holds a number that is too large")
    if isinstance(data, list):
        return [_value(name, v) for v in data]
    if not isinstance(data, dict):
        return data
    kind, inner = next(iter(data.items())) if len(data) == 1 else ("", None)
    if kind == "float" and isinstance(inner, str) and inner in NOT_FINITE:
        return NOT_FINITE[inner]
    try:
        if kind == "mapping" and isinstance(inner, dict):
            return {k: _value(name, v) for k, v in inner.items()}
        if kind in SEQUENCES and isinstance(inner, list):
            return SEQUENCES[kind](_value(name, inner))
        if kind in POLICIES and isinstance(inner, dict):
            cls = POLICIES[kind]
            hints = get_type_hints(cls)
            given = {k: _checked(k, _value(k, v), hints.get(k, Any)) for k, v in inner.items()}
            return cls(**given)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} cannot be read: {error}") from None
    raise ValueError(f"{name} has a value of an unknown type: {data!r:.60}")


def _checked(name: str, value: Any, hint: Any) -> Any:
    if not _fits(value, hint):
        raise ValueError(f"{name} must not be {value!r:.60}")
    return value


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value is of about the type a parameter is declared with.

    Numbers of any kind pass for each other, and so do lists, tuples and sets, as in Python.
    """
    origin, inner = get_origin(hint) or hint, get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, UnionType):
        return any(_fits(value, h) for h in inner)
    if origin in (bool, int, float):
        return isinstance(value, int | float)
    if origin is Mapping:
        return isinstance(value, dict) and all(_fits(v, inner[1]) for v in value.values())
    if origin in (Iterable, tuple):
        return isinstance(value, list | tuple | set) and all(_fits(v, inner[0]) for v in value)
    return isinstance(value, origin)


def _pick(items: list[T], data: Document, key: str) -> T:
    index = count(data, key)
    if index >= len(items):
        raise ValueError(f"{key} is {index}, but there are {len(items)} of them, from 0 on")
    return items[index]


def _texts(value: Any, name: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise ValueError(f"{name} must hold texts, got {value!r:.40}")
    return value


def _number(data: Document, key: str) -> float:
    value = _value(key, data[key]) if key in data else take(data, key, int)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{key} must be a number, got {value!r:.40}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{key} is too large") from None
