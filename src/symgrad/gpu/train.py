"""Training of relaxed trees on a GPU: Adam on node logits and edges, all epochs in one program."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import NDArray

from symgrad.gpu import adam
from symgrad.gpu.adam import Logits
from symgrad.gpu.device import compiled
from symgrad.gpu.kernels import Gradients, Inputs, Layout, gradients, moments
from symgrad.gpu.memory import plan as plan_memory
from symgrad.gpu.pack import ROUNDING, relaxed
from symgrad.language.primitive import Primitive
from symgrad.tree.forest import Forest


def batches(
    X: NDArray[Any], y: NDArray[Any], weight: NDArray[Any] | None, size: int, block: int, width: int
) -> tuple[Any, Any, Any]:
    """Return rows cut into batches of `size`, each filled up to whole blocks.

    Columns of zeros fill the width of rows of logits. The last batch ends with the last row, so
    that it may begin within the one before.
    """
    n = len(X)
    size = min(size, n)
    starts = np.minimum(np.arange(0, n, size), n - size)
    index = starts[:, None] + np.minimum(np.arange(-(-size // block) * block), size - 1)
    weights = np.ones(n) if weight is None else weight
    filled = weights[index] * (np.arange(index.shape[1]) < size)
    put = partial(jnp.asarray, dtype=jnp.float32)
    wide = np.zeros((n, adam.padded_width(width)), np.float32)
    wide[:, : X.shape[1]] = X
    return put(wide[index]), put(y[index]), put(filled)


class Edges(NamedTuple):
    """Values behind the strengths of edges, with Adam's moments."""

    value: Any
    first: Any
    second: Any

    @property
    def p(self) -> Any:
        """The strengths."""
        return jax.nn.sigmoid(self.value)


class State(NamedTuple):
    """Everything that is trained; the steps and losses of each tree."""

    leaf: Logits
    inner: Logits
    edge: Edges
    steps: Any
    loss: Any

    @property
    def weights(self) -> tuple[Any, ...]:
        """Weights of leaves and inner nodes, strengths of edges."""
        return self.leaf.p, self.inner.p, self.edge.p


class Settings(NamedTuple):
    """Numbers of the training that may change without a new program."""

    epochs: Any
    rate: Any
    edge_rate: Any
    zero_one: Any
    deviation: Any
    starts: Any


class Tables(NamedTuple):
    """The arrays of `pack.Relaxed` that programs take, and the widths of rows of logits."""

    trees: Any
    code: Any
    value: Any
    leaf_tree: Any
    inner_tree: Any
    rows: Any
    leaf_width: Any
    inner_width: Any


@dataclass(frozen=True)
class Plan:
    """What is the same for all epochs, and for all forests of one shape.

    Where tables are `wide`, memory is what an epoch waits for: leaves are mixed in TensorFloat-32
    if the GPU has it, and the derivatives by their weights are kept in bfloat16.
    """

    functions: tuple[Primitive, ...]
    features: int
    layout: Layout
    longest: int
    scale: bool
    random: bool
    leaf_functions: bool
    wide: bool

    @property
    def leaf_width(self) -> int:
        """Logits of a leaf."""
        return self.features + len(self.functions) * self.leaf_functions


def derivatives(
    plan: Plan, tables: Tables, weights: tuple[Any, ...], batch: tuple[Any, ...], deviation: Any
) -> tuple[Gradients, Any, Any, Any]:
    """Return derivatives by the weights, what each tree's are to be multiplied by, NRMSE, finite.

    The first of the derivatives is by the leaves' weights.
    """
    X, y, weight = batch
    leaf, inner, edge = weights
    precision = lax.Precision.DEFAULT if plan.wide else lax.Precision.HIGHEST
    h = jnp.matmul(leaf, X.T, precision=precision)
    line = jnp.tile(jnp.array([1.0, 0.0], jnp.float32), (tables.trees.shape[0], 1))
    leaf_w, mass = jnp.zeros((1, 1)), jnp.ones(1)
    d, functions = plan.features, len(plan.functions)
    if plan.leaf_functions:
        leaf_w, mass = leaf[:, d : d + functions], leaf[:, :d].sum(axis=1)
    inputs = Inputs(*tables[:3], h, y, weight, inner, edge, line, leaf_w, mass)
    if plan.scale:
        inputs = inputs._replace(line=best_lines(plan, inputs))
    found = gradients(plan.functions, plan.layout, plan.longest, inputs)
    sums = Gradients(found.h, *(g.sum(axis=0) for g in found[1:]))
    rmse = jnp.sqrt(sums.error[:, 0] / weight.sum())
    finite = jnp.isfinite(sums.error).all(axis=1)
    factor = jnp.where(rmse > 0, 1 / (weight.sum() * rmse * deviation), 0.0)
    kept = jnp.bfloat16 if plan.wide else jnp.float32
    by_leaf = jnp.matmul(sums.h.astype(kept), X.astype(kept), precision=precision)
    if plan.leaf_functions:
        # The features' common share is taken off the functions instead: softmax sees differences.
        apart = sums.leaf_w - sums.mass[:, None]
        by_leaf = by_leaf.at[:, d : d + functions].set(apart.astype(kept))
    return sums._replace(h=by_leaf), jnp.append(factor, 0.0), rmse / deviation, finite


def best_lines(plan: Plan, inputs: Inputs) -> Any:
    """Return slope and intercept of least squares for each tree."""
    found = moments(plan.functions, plan.layout, plan.longest, inputs)
    blocks = found.shape[0]
    weight = inputs.weight.reshape(blocks, -1)
    total = weight.sum(axis=1)[:, None]
    targets = (weight * inputs.y.reshape(blocks, -1)).sum(axis=1)[:, None]
    mean = (total * found[..., 0]).sum(axis=0) / total.sum()
    apart = found[..., 0] - mean
    ff = (found[..., 1] + total * apart * apart).sum(axis=0)
    fy = (found[..., 2] + targets * apart).sum(axis=0)
    slope = jnp.where(ff > ROUNDING * mean * mean * total.sum(), fy / ff, 0.0)
    return jnp.stack([slope, targets.sum() / total.sum() - slope * mean], axis=1)


def zero_one(tables: Tables, state: State) -> Any:
    """Return each tree's Loss01: the mean over its rows of logits of -(p - 1/2)^2."""
    total = jnp.zeros(tables.trees.shape[0] + 1)
    for p, width, tree in (
        (state.leaf.p, tables.leaf_width, tables.leaf_tree),
        (state.inner.p, tables.inner_width, tables.inner_tree),
    ):
        given = jnp.arange(p.shape[1]) < width[:, None]
        rows = -jnp.where(given, (p - 0.5) ** 2, 0.0).sum(axis=1) / width
        total = total.at[tree].add(rows)
    return (total / tables.rows)[:-1]


def step(
    plan: Plan, tables: Tables, rows: tuple[Any, ...], settings: Settings, epoch: Any, state: State
) -> State:
    """Make one step of Adam; a tree that is not finite stays as it is."""
    batch = tuple(lax.dynamic_index_in_dim(a, epoch % a.shape[0], keepdims=False) for a in rows)
    found, factor, nrmse, finite = derivatives(
        plan, tables, state.weights, batch, settings.deviation
    )
    finite = jnp.append(finite, False)
    steps = state.steps + finite
    n = jnp.maximum(steps, 1).astype(jnp.float32)
    first, root = 1 / (1 - adam.BETA1**n), 1 / jnp.sqrt(1 - adam.BETA2**n)
    pull = -2 * settings.zero_one / tables.rows
    moves = finite.astype(jnp.float32)

    def logits(rows: Logits, width: Any, g: Any, tree: Any) -> Logits:
        one = adam.Moves(
            factor[tree], pull[tree] / width, settings.rate * first[tree], root[tree], moves[tree],
            width,
        )  # fmt: skip
        return adam.step(plan.layout, rows, g, one)

    def edges(edge: Edges, g: Any, tree: Any) -> Edges:
        d = g * factor[tree][:, None] * edge.p * (1 - edge.p)
        ok, rate = finite[tree][:, None], (settings.edge_rate * first)[tree][:, None]
        m = jnp.where(ok, adam.BETA1 * edge.first + (1 - adam.BETA1) * d, edge.first)
        v = jnp.where(ok, adam.BETA2 * edge.second + (1 - adam.BETA2) * d * d, edge.second)
        move = rate * m / (jnp.sqrt(v) * root[tree][:, None] + adam.EPSILON)
        return Edges(jnp.where(ok, edge.value - move, edge.value), m, v)

    loss = jnp.where(epoch == 0, state.loss.at[0].set(nrmse), state.loss).at[1].set(nrmse)
    return State(
        logits(state.leaf, tables.leaf_width, found.h, tables.leaf_tree),
        logits(state.inner, tables.inner_width, found.w, tables.inner_tree),
        edges(state.edge, found.strength, tables.inner_tree),
        steps,
        loss,
    )


@partial(jax.jit, static_argnums=0)
def run(
    plan: Plan, tables: Tables, rows: tuple[Any, ...], owns: tuple[Any, ...], settings: Settings,
    key: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """Train; return picks and their weights by row of logits, strengths, and losses."""
    state = begin(plan, tables, owns, settings)
    before = zero_one(tables, state)
    make = partial(step, plan, tables, rows, settings)
    state = lax.fori_loop(0, settings.epochs, make, state)
    loss = state.loss + settings.zero_one * jnp.stack([before, zero_one(tables, state)])
    picks = []
    for k, rows_of in enumerate((state.leaf, state.inner)):
        if plan.random:
            pick = jax.random.categorical(jax.random.fold_in(key, k), rows_of.value)
        else:
            pick = jnp.argmax(rows_of.p, axis=1)
        picks.append((pick, jnp.take_along_axis(rows_of.p, pick[:, None], axis=1)[:, 0]))
    return picks, state.edge.p, loss


def begin(plan: Plan, tables: Tables, owns: tuple[Any, ...], settings: Settings) -> State:
    """Return the first state, from the primitives that rows of logits start from."""
    leaf = adam.start(owns[0], tables.leaf_width, plan.leaf_width, settings.starts[0])
    width = len(plan.functions) + 1
    inner = adam.start(owns[1], tables.inner_width, width, settings.starts[1])
    value = jnp.full((len(tables.inner_tree), 2), settings.starts[2], jnp.float32)
    edges = Edges(value, jnp.zeros_like(value), jnp.zeros_like(value))
    n_trees = tables.trees.shape[0]
    steps, loss = jnp.zeros(n_trees + 1, jnp.int32), jnp.zeros((2, n_trees))
    return State(leaf, inner, edges, steps, loss)


def prepare(
    forest: Forest, features: int, deviation: float, options: Any, layout: Layout
) -> tuple[Any, ...]:
    """Return the plan, the tables, the first primitives and the settings for some trees."""
    wide = features > adam.WIDE
    packed = relaxed(forest, 4 if wide else 1)
    functions = tuple(forest.primitives[c] for c in options.functions)
    plan = Plan(
        functions, features, layout, packed.longest, options.scale, options.random,
        options.leaf_functions, wide,
    )  # fmt: skip
    own = packed.leaf_own
    if options.sharp_added:
        rng = np.random.default_rng(options.seed)
        own = np.where(packed.added, rng.integers(features, size=len(own)), own)
    edge = float(np.log(options.edge / (1 - options.edge)))
    leaf_start = start_logit(options, plan.leaf_width)
    added_start = start_logit(options, features)
    starts = (
        np.where(packed.added, added_start, leaf_start).astype(np.float32)[:, None],
        np.float32(start_logit(options, len(functions) + 1)),
        np.float32(edge),
    )
    settings = Settings(
        np.int32(options.epochs), np.float32(options.rate), np.float32(options.edge_rate),
        np.float32(options.lambda_), np.float32(deviation), starts,
    )  # fmt: skip
    arrays = [getattr(packed, name) for name in Tables._fields[:-2]]
    arrays.append(np.where(packed.added, features, plan.leaf_width).astype(np.int32))
    arrays.append(np.full(len(packed.inner_tree), len(functions) + 1, np.int32))
    tables = Tables(*map(jnp.asarray, arrays))
    return plan, tables, (jnp.asarray(own), jnp.asarray(packed.inner_own)), settings, packed


def start_logit(options: Any, width: int) -> float:
    """Return the first logit of a row's own primitive among `width`."""
    if not options.start > 0 or width < 2:
        return float(options.start_logit)
    return float(np.log(options.start * (width - 1) / (1 - options.start)))


class Trained(NamedTuple):
    """What the native core returns, too: see `dgp.optimization.Optimized`."""

    pick: NDArray[np.int32]
    added: NDArray[np.int32]
    strength: NDArray[np.float32]
    probability: NDArray[np.float32]
    loss: NDArray[np.float64]


def train(
    forest: Forest,
    X: NDArray[Any],
    y: NDArray[Any],
    weights: NDArray[Any] | None,
    deviation: float,
    options: Any,
    layout: Layout,
    limit: int,
) -> Trained:
    """Relax trees, train them, and draw a primitive for every node.

    `options` are those of the native core; trees are split into parts that need at most `limit`
    bytes on the device.
    """
    width = X.shape[1] + len(options.functions) * options.leaf_functions
    rows = batches(X, y, weights, options.batch, layout.block, width)
    bounds = plan_memory(forest, width, rows[1].shape[1], limit).bounds
    parts = [
        train_part(forest[first:end], X.shape[1], rows, deviation, options, layout, first)
        for first, end in pairwise(bounds.tolist())
    ]
    return Trained(*(np.concatenate(each, axis=-1) for each in zip(*parts, strict=True)))


def train_part(
    forest: Forest, features: int, rows: tuple[Any, ...], deviation: float, options: Any,
    layout: Layout, number: int,
) -> Trained:  # fmt: skip
    """Train trees that fit into the device's memory together."""
    plan, tables, owns, settings, packed = prepare(forest, features, deviation, options, layout)
    key = jax.random.fold_in(jax.random.key(options.seed % 2**32), number)
    made = compiled(run, tables, rows, owns, settings, key, static=(plan,))
    ((leaf, leaf_p), (inner, inner_p)), strength, loss = jax.device_get(made)
    is_leaf, is_inner = packed.leaf_of >= 0, packed.inner_of >= 0
    pick = np.select([is_leaf, is_inner], [leaf[packed.leaf_of], inner[packed.inner_of]], -1)
    probability = np.select(
        [is_leaf, is_inner], [leaf_p[packed.leaf_of], inner_p[packed.inner_of]], np.float32(1)
    )
    return Trained(
        pick.astype(np.int32),
        np.where(packed.added_of >= 0, leaf[packed.added_of], -1).astype(np.int32),
        np.where(packed.edge_of >= 0, strength.ravel()[packed.edge_of], np.float32(options.edge)),
        probability,
        loss[:, : len(forest)].astype(np.float64),
    )
