"""Checkpoints: the state of a search as a file, from which it goes on bit for bit.

A file is a NumPy archive of plain arrays, one of them a JSON text with settings and counters.
Reading it runs no code.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from importlib.metadata import version
from itertools import pairwise
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from symgrad import _core
from symgrad.data.dataset import Dataset
from symgrad.evolution.front import Front
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.replacing import replacing
from symgrad.search.base import Budget, Search, State
from symgrad.search.guided import IslandState
from symgrad.search.laws import Laws
from symgrad.search.presets import PRESETS
from symgrad.tree.forest import Forest
from symgrad.tree.names import FeatureNames
from symgrad.tree.tree import Tree

Arrays = dict[str, NDArray[Any]]

FORMAT = "symgrad checkpoint"
VERSION = 8
"""Of the format. States of other versions are refused: no search goes on from them bit for bit."""

FOREST = ("code", "value", "offset")
"""What a forest is made of."""

INTERVAL = 30.0
"""Seconds after which the state is written in any case."""

SHARE = 0.01
"""Share of the time that writing may take; a state that is written faster is written more often."""

NAMED = 3
"""Differences that a message names."""

DAMAGED = (
    ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, NotImplementedError,
    OSError, TypeError, ValueError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""What reading a file that is no checkpoint may raise."""


class Checkpoint:
    """A file that a search writes its state to, and goes on from.

    Parameters
    ----------
    path : str or path-like
        The file. If it is there already, it must belong to the same search on the same data.
    search : Search
        The search; only `n_jobs` may be another than that of the file.
    budget : Budget
        Its bounds.
    data : Dataset
        The data as they were given.
    seed : int
        What the search starts from.
    any_seed : bool
        Take the seed of the file, if there is one.

    Attributes
    ----------
    history : list of tuples
        How the search went, those rows first that the file has: formulas tried, seconds, error
        and size of the best. They are written with the state.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        search: Search,
        budget: Budget,
        data: Dataset,
        seed: int,
        any_seed: bool = False,
    ):
        self.path = os.fsdecode(path)
        self._about = _plain(
            {"symgrad": version("symgrad"), **settings(search, budget), "random_state": seed}
        )
        self._names = list(data.names.names or ())
        self._data = fingerprint(data)
        self._written, self._cost = -np.inf, 0.0
        self.history: list[tuple[int, float, float, int]] = []
        self._found = self._read()
        if self._found is not None:
            self._compare(*self._found, any_seed)
            with self._checked():
                for tried, seconds, error, size in self._found[1]["history"]:
                    self.history.append((int(tried), float(seconds), float(error), int(size)))
        self.seed = int(self._about["random_state"])

    def state(self, names: FeatureNames) -> State | None:
        """Return the state of the file, with these names of features; None if there is no file."""
        if self._found is None:
            return None
        with self._checked():
            return _state(*self._found, names)

    def __call__(self, state: State) -> None:
        """Write the state if it is time to."""
        if time.perf_counter() - self._written >= min(INTERVAL, self._cost / SHARE):
            self.write(state)

    def write(self, state: State) -> None:
        """Write the state, all of it or, if that fails, nothing."""
        start = time.perf_counter()
        header, arrays = _described(state)
        header |= {"format": FORMAT, "version": VERSION, "about": self._about}
        header["names"] = self._names
        arrays["history"] = np.array(self.history, np.float64)
        text = np.frombuffer(json.dumps(header).encode(), np.uint8)
        target = os.path.realpath(self.path)
        # Always the same temporary name: what a killed run leaves is overwritten.
        with replacing(target, f"{target}.tmp") as file:
            np.savez(file, allow_pickle=False, **(arrays | self._data | {"header": text}))
        self._written = time.perf_counter()
        self._cost = self._written - start

    def _read(self) -> tuple[dict[str, Any], Arrays] | None:
        try:
            file = open(self.path, "rb")  # noqa: SIM115
        except FileNotFoundError:
            return None
        with file, self._checked():
            header, arrays = _parsed(file)
            version = header["version"]
        if version != VERSION:
            raise ValueError(
                f"{self.path} is a checkpoint of version {version}, and this symgrad reads version "
                f"{VERSION}: remove it or name another file to start anew"
            )
        return header, arrays

    @contextlib.contextmanager
    def _checked(self) -> Any:
        try:
            yield
        except DAMAGED as error:
            why = f": {error}" if str(error) and not isinstance(error, LookupError) else ""
            raise ValueError(f"{self.path} is no checkpoint, or a damaged one{why}") from None

    def _compare(self, header: dict[str, Any], arrays: Arrays, any_seed: bool) -> None:
        """Refuse the file of another run; say what differs."""
        with self._checked():
            if any_seed:
                self._about["random_state"] = int(header["about"]["random_state"])
            different = _differences(header["about"], self._about)
            different += self._data_differences(header["names"], arrays)
        if different:
            more = f" and {len(different) - NAMED} more" if len(different) > NAMED else ""
            raise ValueError(
                f"{self.path} is the checkpoint of another run ({'; '.join(different[:NAMED])}"
                f"{more}): remove it or name another file to start anew"
            )

    def _data_differences(self, names: list[str], old: Arrays) -> list[str]:
        new = self._data
        if names != self._names:
            gone = [n for n in names if n not in set(self._names)]
            come = [n for n in self._names if n not in set(names)]
            if gone:
                return [f"the data have no column {gone[0]!r}"]
            if come:
                return [f"the data have a new column {come[0]!r}"]
            return ["the data have their columns in another order"]
        rows = [int(v["data_rows"]) for v in (old, new)]
        if rows[0] != rows[1]:
            return [f"the data had {rows[0]:,} different rows, and have {rows[1]:,}"]
        found = []
        if old["data_target"] != new["data_target"]:
            found.append("the target has other values")
        if old["data_weights"] != new["data_weights"]:
            found.append("the sample weights are others")
        columns = np.flatnonzero(old["data_columns"] != new["data_columns"])
        found += [f"the data have other values in column {self._names[j]!r}" for j in columns]
        if not found and (old["data_whole"] != new["data_whole"]).any():
            found.append("the data have the same values in other rows")
        return found


def settings(search: Search, budget: Budget) -> dict[str, Any]:
    """Return all that the course of a search depends on, by dotted names, in plain values."""
    kind = next((n for n, p in PRESETS.items() if type(p) is type(search)), type(search).__name__)
    flat: dict[str, Any] = {
        "preset": kind, "max_evaluations": budget.evaluations, "time_limit": budget.seconds,
    }  # fmt: skip

    def add(value: Any, path: str) -> None:
        if is_dataclass(value):
            for f in fields(value):
                add(getattr(value, f.name), f"{path}.{f.name}" if path else f.name)
        elif path != "n_jobs":  # the result is the same for any
            flat[path] = value

    add(search, "")
    return flat


def fingerprint(data: Dataset) -> Arrays:
    """Return what tells data apart: a hash of the whole, and sums per column to say where."""
    assert data.y is not None
    whole, X = blake2b(digest_size=16), data.X
    table = (X.indptr, X.indices, X.data) if data.sparse else (X.T,)
    for array in (*table, data.y, data.core_weights):
        whole.update(np.ascontiguousarray(array).data)
    if data.sparse:
        columns = [_sum(X.data[a:b]) for a, b in pairwise(X.indptr)]
    else:
        columns = [_sum(X[:, j]) for j in range(data.features)]
    return {
        "data_rows": np.array(data.rows),
        "data_whole": np.frombuffer(whole.digest(), np.uint8),
        "data_columns": np.array(columns, np.uint64),
        "data_target": np.array(_sum(data.y)),
        "data_weights": np.array(_sum(data.core_weights)),
    }


def _sum(values: NDArray[Any]) -> int:
    """Return a number that depends on the values, but not on their order."""
    bits = np.array(values, np.float64).view(np.uint64)
    bits ^= bits >> np.uint64(31)
    bits *= np.uint64(0x9E3779B97F4A7C15)
    bits ^= bits >> np.uint64(29)
    bits *= np.uint64(0xBF58476D1CE4E5B9)
    bits ^= bits >> np.uint64(32)
    return int(np.sum(bits, dtype=np.uint64))


def _differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return which settings differ; those of another preset are not compared."""
    if old["preset"] != new["preset"]:
        return [f"preset was {old['preset']}, is {new['preset']}"]
    found = []
    for key in new:
        if key == "random_state" and old[key] != new[key]:
            found.append("random_state is another")
        elif old.get(key) != new[key]:
            name = "max_size" if key.endswith(".max_size") else key  # as the estimator calls it
            found.append(f"{name} was {_shown(old.get(key))}, is {_shown(new[key])}")
    return found


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) and value else str(value)


def _plain(value: Any) -> Any:
    """Return a value as JSON gives it back."""
    if isinstance(value, PrimitiveSet):
        return list(value.specs)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(_plain, value))
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_plain(v) for v in value]
    return value


def _described(state: State) -> tuple[dict[str, Any], Arrays]:
    """Return a state as counters and arrays."""
    entries = [entry for _, entry in sorted(state.front.best.items())]
    trees, losses = [entry.tree for entry in entries], [entry.loss for entry in entries]
    sets = list(dict.fromkeys(tree.primitives.specs for tree in trees))
    header: dict[str, Any] = {
        "kind": type(state).__name__,
        "rng": state.rng.bit_generator.state,
        "evaluations": int(state.evaluations),
        "iterations": int(state.iterations),
        "seconds": float(state.seconds),
        "population": list(state.population.primitives.specs),
        "front": [list(specs) for specs in sets],
        "words": state.front.words,
    }
    arrays: Arrays = {
        **{f"population_{part}": getattr(state.population, part) for part in FOREST},
        "loss": state.loss,
        "front_code": np.concatenate([np.empty(0, np.int32), *(t.code for t in trees)]),
        "front_value": np.concatenate([np.empty(0), *(t.value for t in trees)]),
        "front_offset": np.cumsum([0, *(t.size for t in trees)]),
        "front_loss": np.array(losses, np.float64),
        "front_set": np.array([sets.index(t.primitives.specs) for t in trees], np.int64),
    }
    if state.front.units is not None:
        arrays["front_scale"] = np.array(state.front.units.scale, np.float64)
        arrays["front_moved"] = np.array(state.front.units.moved, bool)
    if isinstance(state, IslandState):
        header |= {n: getattr(state, n) for n in ("merged", "exact", "precise", "advised")}
        arrays |= {"bounds": state.bounds, "credit": state.credit}
        if state.laws is not None:
            header["laws"] = state.laws.features, state.laws.most, state.laws.tried
    return header, arrays


def _parsed(file: IO[bytes]) -> tuple[dict[str, Any], Arrays]:
    """Return the parts of a file; anything in `DAMAGED` may come out of a bad one."""
    archive = np.load(file, allow_pickle=False)
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise ValueError("it holds something else")
    arrays = {name: archive[name] for name in archive.files}
    header = json.loads(arrays.pop("header").tobytes())
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError("it holds something else")
    return header, arrays


def _state(header: dict[str, Any], arrays: Arrays, names: FeatureNames) -> State:
    """Return the state that `_described` took apart."""
    code, value, offset = (arrays[f"population_{part}"] for part in FOREST)
    population = Forest(code, value, offset, PrimitiveSet(header["population"]), names)
    rng = np.random.default_rng()
    rng.bit_generator.state = header["rng"]
    sets = [PrimitiveSet(specs) for specs in header["front"]]
    feature, constant, function = header["words"]
    front, offset = Front(words=(feature, constant, function)), arrays["front_offset"]
    if "front_scale" in arrays:
        parts = (arrays[f"front_{part}"].tolist() for part in ("scale", "moved"))
        front.units = _core.Units(*parts)
    for k, (loss, chosen) in enumerate(zip(arrays["front_loss"], arrays["front_set"], strict=True)):
        span = slice(offset[k], offset[k + 1])
        code, value = arrays["front_code"][span], arrays["front_value"][span]
        tree = Tree(code, value, sets[chosen], names)
        front.offer(Forest.of([tree]), np.array([loss]))
    common = (
        rng, population, arrays["loss"], front,
        header["evaluations"], header["iterations"], header["seconds"],
    )  # fmt: skip
    if header["kind"] != IslandState.__name__:
        return State(*common)
    return IslandState(
        *common,
        arrays["bounds"],
        header["merged"],
        header["exact"],
        header["precise"],
        arrays["credit"],
        header["advised"],
        laws=Laws(*header["laws"]) if "laws" in header else None,
    )
