"""Find formulas in data: symbolic regression by differentiable genetic programming."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symgrad.data.dataset import Dataset
    from symgrad.estimator import DGPRegressor
    from symgrad.files import load
    from symgrad.language.primitive_set import PrimitiveSet
    from symgrad.tree.forest import Forest
    from symgrad.tree.tree import Tree

__version__ = "0.1.0"
__all__ = ["DGPRegressor", "Dataset", "Forest", "PrimitiveSet", "Tree", "load"]

_MODULES = {
    "DGPRegressor": "estimator", "Dataset": "data.dataset", "Forest": "tree.forest",
    "PrimitiveSet": "language.primitive_set", "Tree": "tree.tree", "load": "files",
}  # fmt: skip
"""Where the names are. They are imported when first asked for: scikit-learn alone takes a second,
and ``symgrad --help`` needs none of it."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
