"""Names of features: any text, by index and back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cached_property

_DEFAULT = re.compile(r"x(0|[1-9][0-9]{0,9})\Z")
_UNSEEN = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
MAX_FEATURES = 2**31 - 2


class FeatureNames:
    """The names of a table's columns; without a list, ``x0, x1, ...`` without end."""

    def __init__(self, names: Iterable[str] | None = None):
        self.names: tuple[str, ...] | None = None
        if names is None:
            return
        if isinstance(names, str):
            raise TypeError("feature_names must be a list of strings, got one string")
        self.names = tuple(names)
        for name in self.names:
            if not isinstance(name, str):
                raise TypeError(f"feature names must be strings, got {name!r}")
        self.names = tuple(str(n) for n in self.names)  # NumPy strings become plain ones
        if len(self._index) < len(self.names):
            twice = next(n for i, n in enumerate(self.names) if self._index[n] != i)
            raise ValueError(f"feature name {twice!r} occurs more than once")

    @classmethod
    def of(cls, names: FeatureNames | Iterable[str] | None) -> FeatureNames:
        """Return the names as a `FeatureNames`."""
        return names if isinstance(names, FeatureNames) else cls(names)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {n: i for i, n in enumerate(self.names or ())}

    def index(self, name: str) -> int | None:
        """Return the index of a name, or None."""
        if self.names is not None:
            return self._index.get(name)
        match = _DEFAULT.match(name)
        return int(match[1]) if match and int(match[1]) < MAX_FEATURES else None

    def __getitem__(self, index: int) -> str:
        return f"x{index}" if self.names is None else self.names[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FeatureNames) and self.names == other.names

    def __hash__(self) -> int:
        return hash(self.names)


def visible(text: str) -> str:
    """Return text without characters that no page can hold or that reorder what follows."""
    return _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", text)


def shortened(names: Iterable[str], longest: int) -> dict[str, str]:
    """Return what to show for each name: one line, cut in the middle if it is too long.

    Names that would then look the same stay as they are.
    """
    tail = longest // 3
    short = {}
    for name in names:
        line = " ".join(visible(name).split()) or repr(name)
        cut = f"{line[: longest - 1 - tail]}…{line[-tail:]}"
        short[name] = line if len(line) <= longest else cut
    shown = Counter(short.values())
    return {name: s if shown[s] == 1 else visible(name) for name, s in short.items()}
