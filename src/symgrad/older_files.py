"""What older versions of symgrad have written to files, as the present one writes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
Document = dict[str, Any]

FORMAT = "symgrad model"
VERSION = 4


def _from_1(document: Document) -> Document:
    """Return a document with what came with version 2.

    The first population was a setting of its own; there was no device, and no validation.
    """
    settings = dict(take(document, "settings", dict))
    first = settings.pop("initialization", None)
    if isinstance(first, dict) and isinstance(first.get("Initialization"), dict):
        old = {"population": 500, "min_depth": 1, "max_depth": 4} | first["Initialization"]
        given = settings.get("diversification") or {"Diversification": {"max_size": 50}}
        depths = {"tuple": [old["min_depth"], old["max_depth"]]}
        more = {"population": old["population"], "first_depth": depths}
        settings["diversification"] = {"Diversification": given["Diversification"] | more}
    unknown = {"validation_r2": {"float": "nan"}, "length": {"float": "nan"}}
    equations = [
        unknown | e if isinstance(e, dict) else e for e in take(document, "equations", list)
    ]
    return document | {"settings": {"device": "cpu"} | settings, "equations": equations}


def _from_2(document: Document) -> Document:
    """Return a document with what came with version 3: how steep predictions outside may be."""
    box = document.get("box")
    unbounded = {"reach": {"float": "inf"}}
    return document | {"box": box | unbounded} if isinstance(box, dict) else document


def _from_3(document: Document) -> Document:
    """Return a document with what came with version 4: the mean of the data, not known."""
    box = document.get("box")
    if not isinstance(box, dict):
        return document
    unknown = [{"float": "nan"}] * len(take(box, "low", list))
    return document | {"box": {"center": unknown} | box}


UPGRADES: dict[int, Callable[[Document], Document]] = {1: _from_1, 2: _from_2, 3: _from_3}
"""By version: what makes a document one of the next version."""

KINDS = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    list: "a list",
    dict: "an object",
}


def upgraded(document: Any) -> Document:
    """Return a document in the current version of the format."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f'it is no {FORMAT}: "format" must be "{FORMAT}"')
    version = count(document, "version", 1)
    if version > VERSION:
        raise ValueError(
            f"it has version {version} of the format, and this symgrad reads up to {VERSION}"
        )
    made: Document = document
    for v in range(version, VERSION):
        made = UPGRADES[v](made)
    return {"history": [], **made}  # which the first files did not have


def take(data: Document, key: str, kind: type[T]) -> T:
    """Return an entry, which must be of a kind."""
    if key not in data:
        raise ValueError(f"{key!r} is missing")
    value = data[key]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(f"{key} must be {KINDS[kind]}, got {value!r:.40}")
    return value


def count(data: Document, key: str, least: int = 0) -> int:
    """Return an entry, which must be a whole number of some size."""
    value = take(data, key, int)
    if value < least:
        raise ValueError(f"{key} must be at least {least}, got {value}")
    return value
