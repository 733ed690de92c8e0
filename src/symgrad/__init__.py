"""Find formulas in data: symbolic regression by differentiable genetic programming."""

from symgrad.data.dataset import Dataset
from symgrad.estimator import DGPRegressor
from symgrad.files import load
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.tree.forest import Forest
from symgrad.tree.tree import Tree

__version__ = "0.1.0"
__all__ = ["DGPRegressor", "Dataset", "Forest", "PrimitiveSet", "Tree", "load"]
