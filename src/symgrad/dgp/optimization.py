"""Gradient-based optimisation of relaxed trees (Algorithm 3 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cython_blas
from threadpoolctl import ThreadpoolController

from symgrad import _core
from symgrad.arrays import threads
from symgrad.data.dataset import Dataset
from symgrad.gpu.device import LEAST_TRAINING, training_layout, wins
from symgrad.tree.forest import Forest

MAX_BATCH = 512


@dataclass(frozen=True)
class Optimization:
    """How relaxed trees are trained. What the paper leaves open is a field of its own.

    Attributes
    ----------
    epochs : int
        Adam steps per tree and iteration; one mini-batch each, as in Algorithm 3.
    learning_rate : float
        Of the node logits. The paper says 0.005, with which a sharp start hardly moves in 1,000
        steps; 0.02 lets a wrong primitive lose its lead.
    edge_learning_rate : float, optional
        Of the edge values; by default the same.
    batch_size : int
        Rows per step; on the CPU at most 512. Open in the paper. 256 costs little more noise
        than all rows and bounds the time on long tables.
    start_probability : float, optional
        First weight of a node's own primitive. The paper starts from logit 1, which at 100
        features is a weight of .03: the tree is forgotten before training starts. With .9 it is
        the tree that is trained. None: use `start_logit`.
    start_logit : float
        First logit of a node's own primitive where `start_probability` is None.
    edge_strength : float
        First strength of an edge. Open in the paper. Near 1 the relaxed tree computes what the
        tree does.
    added_leaf : {"random", "uniform"}
        The second input that a unary node is given: one feature drawn at random with the weight
        of `start_probability`, or all alike. Open in the paper. All alike is the mean of the
        features, which says nothing about any of them.
    leaf_functions : bool
        Whether leaves mix functions of their own value too, so that sampling may EXPAND them.
        Open in the paper, and it doubles the work.
    scale : bool
        Whether the loss fits slope and intercept. Not in the paper.
    zero_one : float
        Weight of Loss01, which drives the weights towards 0 or 1.
    trees : int, optional
        How many of the best trees are trained; by default all, as Algorithm 1 says.
    distinct : bool
        Whether of trees with equal errors one is trained. Open in the paper. Late in a search the
        best hundred trees may be copies of a handful.
    """

    epochs: int = 1000
    learning_rate: float = 0.02
    edge_learning_rate: float | None = None
    batch_size: int = 256
    start_probability: float | None = 0.9
    start_logit: float = 1.0
    edge_strength: float = 0.95
    added_leaf: str = "random"
    leaf_functions: bool = False
    scale: bool = False
    zero_one: float = 0.1
    trees: int | None = None
    distinct: bool = True

    def __post_init__(self) -> None:
        if self.epochs < 0:
            raise ValueError(f"epochs must not be negative, got {self.epochs}")
        if self.batch_size < 1:
            raise ValueError(f"batch_size must be positive, got {self.batch_size}")
        for name in ("learning_rate", "edge_learning_rate"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be positive, got {value}")
        if self.start_probability is not None and not 0 < self.start_probability < 1:
            raise ValueError(f"start_probability must be in (0, 1), got {self.start_probability}")
        if not 0 < self.edge_strength < 1:
            raise ValueError(f"edge_strength must be in (0, 1), got {self.edge_strength}")
        if self.added_leaf not in ("random", "uniform"):
            raise ValueError(f"added_leaf must be 'random' or 'uniform', got {self.added_leaf!r}")
        if self.zero_one < 0:
            raise ValueError(f"zero_one must not be negative, got {self.zero_one}")
        if self.trees is not None and self.trees < 1:
            raise ValueError(f"trees must be positive, got {self.trees}")

    @classmethod
    def literal(cls, **changes: Any) -> Optimization:
        """Return the paper's words taken literally: logit 1 and learning rate 0.005."""
        literal = {"learning_rate": 0.005, "start_probability": None, "added_leaf": "uniform",
                   "distinct": False}  # fmt: skip
        return cls(**(literal | changes))


@dataclass(frozen=True)
class Optimized:
    """Trained trees, by node of the forest that was relaxed.

    Attributes
    ----------
    forest : Forest
        What was relaxed.
    pick : array of int32
        The primitive drawn for each node: for inner nodes an index into the primitive set's
        codes, or their number for ``pass``; for leaves a feature, or the number of features plus
        such an index; -1 for constants.
    added : array of int32
        The feature of a unary node's added leaf; -1 elsewhere.
    strength : array
        Strength of each node's edge to its parent.
    probability : array
        Weight of the pick.
    loss : array of shape (2, trees)
        Training loss of the first and the last epoch.
    n_features : int
        Number of features.
    details : array, optional
        Logits and first gradients of everything, for inspection.
    """

    forest: Forest
    pick: NDArray[np.int32]
    added: NDArray[np.int32]
    strength: NDArray[Any]
    probability: NDArray[Any]
    loss: NDArray[np.float64]
    n_features: int
    details: NDArray[Any] | None = None


@cache
def _gemm(dtype: str) -> Any:
    return cython_blas.__pyx_capi__["sgemm" if dtype == "float32" else "dgemm"]


@cache
def _pools() -> ThreadpoolController:
    return ThreadpoolController()


def optimize(
    rng: np.random.Generator,
    forest: Forest,
    dataset: Dataset,
    optimization: Optimization,
    *,
    random_pick: bool = False,
    n_jobs: int | None = None,
    device: str = "cpu",
    details: bool = False,
) -> Optimized:
    """Relax the trees, train them, and draw a primitive for every node.

    For each tree, `epochs` times: take a batch of rows, compute the relaxed tree's output
    (Algorithm 2), its loss (NRMSE + `zero_one` * Loss01) and the gradients of N and A, and make
    an Adam step. Memory is that of one group of trees (at most about 4 million leaf weights,
    five numbers each) per thread, and one row-major copy of X.

    Parameters
    ----------
    rng : numpy.random.Generator
        Shuffles the rows, chooses added leaves, and draws picks.
    forest : Forest
        The trees.
    dataset : Dataset
        Data with a target that varies.
    optimization : Optimization
        Settings.
    random_pick : bool
        Draw primitives with their weights as probabilities instead of the greatest.
    n_jobs : int, optional
        Number of threads; it does not change the result.
    device : {"cpu", "gpu", "auto"}
        Where; see `DGPRegressor`. Results of the two differ by rounding, and by what is drawn.
    details : bool
        Return all logits and gradients too, from the CPU; for few trees only.
    """
    assert dataset.y is not None
    dtype = dataset.X.dtype
    order = rng.permutation(dataset.rows)
    X = np.ascontiguousarray(dataset.X[order])
    y = dataset.y[order].astype(dtype)
    weights = np.empty(0, dtype)
    if dataset.weights is not None:
        weights = dataset.weights[order].astype(dtype)
    options = core_options(optimization, forest)
    options.random = random_pick
    options.seed = int(rng.integers(2**63))
    nodes, features = len(forest.code), dataset.features
    work = float(nodes) * min(options.batch, dataset.rows) * options.epochs
    if not details and wins(device, work, LEAST_TRAINING if device == "auto" else 0):
        return _on_gpu(forest, X, y, weights if weights.size else None, dataset, options)
    if options.batch > MAX_BATCH:
        raise ValueError(f"batch_size must be at most {MAX_BATCH} on the CPU, got {options.batch}")
    pick, added = np.empty(nodes, np.int32), np.empty(nodes, np.int32)
    strength, probability = np.empty(nodes, dtype), np.empty(nodes, dtype)
    losses = np.zeros((2, len(forest)))
    width = len(options.functions) + features + 2
    detail = np.zeros((5 * nodes if details else 0, width), dtype)
    core, _ = forest.bind(dataset.X)
    with _pools().limit(limits=1, user_api="blas"):  # threads run over trees
        _core.train(
            core, X, y, weights, deviation(dataset), options, _gemm(dtype.name),
            pick, added, strength, probability, losses, detail, threads(n_jobs),
        )  # fmt: skip
    return Optimized(
        forest, pick, added, strength, probability, losses, features, detail if details else None
    )


def _on_gpu(
    forest: Forest, X: Any, y: Any, weights: Any, dataset: Dataset, options: Any
) -> Optimized:
    from symgrad.gpu.memory import limit
    from symgrad.gpu.train import train

    layout = training_layout(min(options.batch, len(X)))
    made = train(forest, X, y, weights, deviation(dataset), options, layout, limit())
    return Optimized(forest, *made, dataset.features)


def deviation(dataset: Dataset) -> float:
    """Return the (weighted) standard deviation of the target."""
    y = dataset.y
    assert y is not None
    mean = np.average(y, weights=dataset.weights)
    return float(np.sqrt(np.average((y - mean) ** 2, weights=dataset.weights)))


def core_options(o: Optimization, forest: Forest) -> _core.TrainOptions:
    """Return the settings as the native core, and the GPU's engine, take them."""
    options = _core.TrainOptions()
    options.functions = list(forest.primitives.codes)
    options.epochs = o.epochs
    options.batch = o.batch_size
    options.rate = o.learning_rate
    options.edge_rate = o.learning_rate if o.edge_learning_rate is None else o.edge_learning_rate
    options.lambda_ = o.zero_one
    options.start = o.start_probability or 0.0
    options.start_logit = o.start_logit
    options.edge = o.edge_strength
    options.sharp_added = o.added_leaf == "random"
    options.leaf_functions = o.leaf_functions
    options.scale = o.scale
    return options
