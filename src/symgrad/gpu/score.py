"""Values and scores of discrete trees on a GPU.

As in training, workers take turns at a tree and a block of rows. A tree is a list of instructions
(`pack.Programs`); the last value stays in registers, others that are needed later lie in scratch
memory. Sums are taken in float32 within a block, about the block's own mean, and in float64 over
blocks.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from numpy.typing import NDArray

from symgrad.data.dataset import Dataset
from symgrad.data.evaluate import Scores, Status
from symgrad.gpu.device import compiled
from symgrad.gpu.functions import EXACT
from symgrad.gpu.kernels import Layout
from symgrad.gpu.pack import ROUNDING, programs
from symgrad.language.primitive import Primitive
from symgrad.tree.forest import Forest


class Refs(NamedTuple):
    """Instructions and columns, as a kernel sees them."""

    trees: Any
    code: Any
    value: Any
    x: Any


def run(
    functions: tuple[Primitive, ...], layout: Layout, refs: Refs, slots: Any, worker: Any, k: Any
) -> tuple[Any, Any, Any]:
    """Return a tree's index, its rows and its values."""
    n = refs.trees.shape[0]
    first, size, tree = refs.trees[k % n, 0], refs.trees[k % n, 1], refs.trees[k % n, 2]
    rows = layout.rows(k // n)

    def argument(at: Any, which: int, last: Any) -> Any:
        kind, place = refs.code[at, 1 + 2 * which], refs.code[at, 2 + 2 * which]
        return lax.switch(
            kind,
            [
                lambda place, last: last,
                lambda place, last: refs.x[place, rows],
                lambda place, last: slots[worker, place, :],
                lambda place, last: jnp.full_like(last, refs.value[at, which]),
            ],
            place,
            last,
        )

    calls = [
        partial(lambda f, a, b: f.define(EXACT, a, b) if f.arity == 2 else f.define(EXACT, b), f)
        for f in functions
    ]

    def step(i: Any, last: Any) -> Any:
        at = first + i
        a, b = argument(at, 0, last), argument(at, 1, last)
        now = lax.switch(refs.code[at, 0], [*calls, lambda a, b: b], a, b)

        @pl.when(refs.code[at, 5] > 0)
        def _() -> None:
            slots[worker, i, :] = now
            layout.wait()

        return now

    return tree, rows, lax.fori_loop(0, size, step, jnp.zeros((layout.block,), jnp.float32))


@partial(jax.jit, static_argnums=(0, 1, 2))
def values_of(functions: tuple[Primitive, ...], layout: Layout, slots: int, refs: Refs) -> Any:
    """Return the values of all trees on all rows."""
    n_trees, rows = refs.trees.shape[0], refs.x.shape[1]

    def kernel(*given: Any) -> None:
        def piece(worker: Any, k: Any) -> None:
            tree, at, f = run(functions, layout, Refs(*given[:4]), given[5], worker, k)
            given[4][tree, at] = f

        layout.share(n_trees * (rows // layout.block), piece)

    out = (layout.struct(n_trees, rows), layout.struct(layout.workers, slots, layout.block))
    return layout.call(kernel, out)(*refs)[0]


@partial(jax.jit, static_argnums=(0, 1, 2))
def sums_of(
    functions: tuple[Primitive, ...], layout: Layout, slots: int, refs: Refs, y: Any, weight: Any
) -> Any:
    """Return by block and tree: mean, squares about it, product with y, error, NaN, infinite."""
    n_trees, blocks = refs.trees.shape[0], refs.x.shape[1] // layout.block

    def kernel(*given: Any) -> None:
        y, weight, out, scratch = given[4:]

        def piece(worker: Any, k: Any) -> None:
            tree, rows, f = run(functions, layout, Refs(*given[:4]), scratch, worker, k)
            block, w, target = k // n_trees, weight[rows], y[rows]
            mean = jnp.sum(w * f) / jnp.maximum(jnp.sum(w), 1e-30)
            apart = w * (f - mean)
            found = (
                mean,
                jnp.sum(apart * (f - mean)),
                jnp.sum(apart * target),
                jnp.sum(w * (f - target) * (f - target)),
                jnp.sum(jnp.where(f != f, 1.0, 0.0)),
                jnp.sum(jnp.where(jnp.abs(f) == jnp.inf, 1.0, 0.0)),
            )
            for i, number in enumerate(found):
                out[block, tree, i] = number

        layout.share(n_trees * blocks, piece)

    out = (
        layout.struct(blocks, n_trees, 6),
        layout.struct(layout.workers, slots, layout.block),
    )
    return layout.call(kernel, out)(*refs, y, weight)[0]


def columns(X: NDArray[Any], block: int) -> NDArray[np.float32]:
    """Return the features as rows, filled up to whole blocks with the last row of X."""
    n = len(X)
    index = np.minimum(np.arange(-(-n // block) * block), n - 1)
    return np.ascontiguousarray(X.T[:, index], np.float32)


def place(forest: Forest, x: Any) -> tuple[tuple[Primitive, ...], int, Refs]:
    """Return the functions, the number of slots, and the tables of a forest with columns."""
    packed = programs(forest)
    refs = Refs(jnp.asarray(packed.trees), jnp.asarray(packed.code), jnp.asarray(packed.value), x)
    return tuple(forest.primitives), packed.longest, refs


def evaluate(forest: Forest, X: NDArray[Any], layout: Layout) -> NDArray[np.float32]:
    """Return the trees' values, (trees, rows)."""
    functions, slots, refs = place(forest, jnp.asarray(columns(X, layout.block)))
    found = compiled(values_of, refs, static=(functions, layout, slots))
    values: NDArray[np.float32] = np.asarray(found[: len(forest), : len(X)])
    return values


def score(forest: Forest, dataset: Dataset, *, scale: bool, layout: Layout) -> Scores:
    """Return the scores of all trees; see `symgrad.data.evaluate.score`."""
    assert dataset.y is not None
    n, block = dataset.rows, layout.block
    functions, slots, refs = place(forest, jnp.asarray(columns(dataset.X, block)))
    filled = refs.x.shape[1]
    weights = np.ones(n) if dataset.weights is None else dataset.weights
    weight = np.zeros(filled)
    weight[:n] = weights
    y = np.zeros(filled)
    y[:n] = dataset.y
    if scale:  # about its mean, which a line takes up, for float32's sake
        centre = np.average(y, weights=weight)
        y -= centre
    put = partial(jnp.asarray, dtype=jnp.float32)
    static = (functions, layout, slots)
    sums = np.asarray(compiled(sums_of, refs, put(y), put(weight), static=static), np.float64)
    y, weight = y.reshape(-1, block), weight.reshape(-1, block)
    found = finish(sums[:, : len(forest)], y, weight, scale)
    return replace(found, intercept=found.intercept + centre) if scale else found


def finish(
    sums: NDArray[np.float64], y: NDArray[np.float64], weight: NDArray[np.float64], scale: bool
) -> Scores:
    """Put the sums of blocks together, as the native core does."""
    mean, squares, products, error, nans, infinite = np.moveaxis(sums, 2, 0)
    w = weight.sum(axis=1)[:, None]
    total, mean_y = w.sum(), np.average(y, weights=weight)
    m2_y = (weight * (y - mean_y) ** 2).sum()
    with np.errstate(all="ignore"):
        centre = (w * mean).sum(axis=0) / total
        m2_f = (squares + w * (mean - centre) ** 2).sum(axis=0)
        targets = (weight * (y - mean_y)).sum(axis=1)[:, None]
        c_fy = (products + (mean - centre) * targets).sum(axis=0)
        sse = error.sum(axis=0)
        status = np.where(nans.sum(axis=0) > 0, Status.NAN, Status.VALID)
        beyond = ~(np.isfinite(m2_f) & np.isfinite(sse))
        beyond |= infinite.sum(axis=0) > 0
        status = np.where((status == Status.VALID) & beyond, Status.INFINITE, status)
        slope, intercept = np.ones(len(sse)), np.zeros(len(sse))
        if scale:
            slope = np.where(m2_f > ROUNDING * centre**2 * total, c_fy / m2_f, 0.0)
            intercept = mean_y - slope * centre
            sse = np.maximum(m2_y - slope * c_fy, 0.0)
    bad = status != Status.VALID
    nan = np.where(bad, np.nan, 1.0)
    r2 = np.where(bad, -np.inf, 1 - sse / m2_y)
    mse = np.where(bad, np.inf, sse / total)
    return Scores(mse, r2, slope * nan, intercept * nan, status.astype(np.int8))
