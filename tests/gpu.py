"""What tests of the JAX engine share: it runs on the CPU here, interpreted."""

import numpy as np

from symgrad import Dataset, PrimitiveSet
from symgrad.dgp.optimization import core_options
from symgrad.gpu.kernels import Layout
from symgrad.tree.generate import generate

LAYOUT = Layout(block=64, warps=1, workers=2, interpret=True)


def problem(rows=100, features=6, seed=0, weights=None):
    X = np.random.default_rng(seed).normal(size=(rows, features))
    return Dataset(X, X[:, 1] * 2 + X[:, 3], weights=weights)


def trees(n=30, features=6, seed=0, primitives=None, **options):
    rng = np.random.default_rng(seed)
    return generate(rng, n, features, primitives=primitives or PrimitiveSet.paper(), **options)


def options_of(optimization, forest, seed=0):
    options = core_options(optimization, forest)
    options.seed = seed
    return options
