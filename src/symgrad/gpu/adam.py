"""A step of Adam on rows of logits, softmax included, as one program for the GPU.

Rows are padded with logits of `NEVER`, whose weight is zero. For each row the
program reads the derivatives by its weights, goes back through the softmax, moves the logits, and
leaves the new weights: every number is read and written once, but for what the cache still holds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from symgrad.gpu.kernels import Layout
from symgrad.gpu.pack import bucket

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
NEVER = -1e30
CHUNK = 8192
"""Numbers that are worked on at a time; longer rows are read twice."""

PIECE = 1024
"""Numbers of one piece of work, if rows are short."""

WIDE = 512
"""Logits from which a row counts as wide."""

GRAIN = 64
"""Rows are padded to a multiple of so many numbers."""


class Logits(NamedTuple):
    """Rows of logits with their softmax, Adam's moments, and the log of the sum of exponentials."""

    value: Any
    p: Any
    first: Any
    second: Any
    total: Any


class Moves(NamedTuple):
    """What a row's step needs, one number per row.

    Attributes
    ----------
    factor : array
        What the given derivatives are multiplied by.
    pull : array
        Factor of the 0-1 loss, whose derivative is ``pull * (p - 1/2)``.
    rate, root : array
        Learning rate over Adam's first correction; one over the root of the second.
    moves : array
        1, or 0 for rows that stay.
    width : array
        Logits of the row, which the rest is padding to.
    """

    factor: Any
    pull: Any
    rate: Any
    root: Any
    moves: Any
    width: Any


def padded_width(width: int) -> int:
    """Return the width of the arrays for rows of `width` logits."""
    return bucket(width) if width <= GRAIN else -(-width // GRAIN) * GRAIN


def start(own: Any, width: Any, most: int, logit: Any) -> Logits:
    """Return rows of `width` logits each, at most `most`.

    There is a logit at the place of the row's own primitive (if any), and 0 elsewhere. Where rows
    are wide, memory is what a step waits for, and the first moments are kept in bfloat16.
    """
    columns = jnp.arange(padded_width(most))
    value = jnp.where(own[:, None] == columns, logit, 0.0).astype(jnp.float32)
    value = jnp.where(columns < width[:, None], value, NEVER)
    first = jnp.zeros(value.shape, jnp.bfloat16 if most > WIDE else jnp.float32)
    total = jax.nn.logsumexp(value, axis=1)
    return Logits(value, jax.nn.softmax(value), first, jnp.zeros_like(value), total)


def step(layout: Layout, rows: Logits, g: Any, moves: Moves) -> Logits:
    """Move rows of logits by the derivatives `g` of their weights."""
    n, padded = rows.value.shape
    chunk = min(bucket(padded), CHUNK)
    chunks = -(-padded // chunk)
    together = min(max(PIECE // chunk, 1), n & -n)  # a power of two that divides the rows

    def kernel(*refs: Any) -> None:
        given, new = Logits(*refs[:5]), Logits(*refs[-5:])
        at = pl.ds(pl.program_id(0) * together, together)
        one = Moves(*(ref[at][:, None] for ref in refs[6:12]))
        before = given.total[at][:, None]
        columns = lax.broadcasted_iota(jnp.int32, (together, chunk), 1)
        held: dict[int, Any] = {}

        def load(ref: Any, k: Any, other: float = 0.0) -> Any:
            """Return a chunk; it is read once if it is the only one."""
            if chunks == 1 and id(ref) in held:
                return held[id(ref)]
            inside = k * chunk + columns < padded
            where = ref.at[at, pl.ds(k * chunk, chunk)]
            other = jnp.asarray(other, ref.dtype)
            held[id(ref)] = triton.load(where, mask=inside, other=other).astype(jnp.float32)
            return held[id(ref)]

        def store(ref: Any, k: Any, value: Any) -> None:
            inside = k * chunk + columns < padded
            triton.store(ref.at[at, pl.ds(k * chunk, chunk)], value.astype(ref.dtype), mask=inside)
            held[id(ref)] = value

        def each(body: Any, carry: Any) -> Any:
            return body(0, carry) if chunks == 1 else lax.fori_loop(0, chunks, body, carry)

        def derivative(k: Any) -> tuple[Any, Any]:
            weights = jnp.exp(load(given.value, k, NEVER) - before)  # as p, but not read
            d = jnp.where(k * chunk + columns < one.width, load(refs[5], k), 0.0) * one.factor
            return weights, d + one.pull * (weights - 0.5)

        def mean(k: Any, total: Any) -> Any:
            weights, d = derivative(k)
            return total + jnp.sum(weights * d, axis=1, keepdims=True)

        def move(k: Any, carry: Any) -> Any:
            weights, d = derivative(k)
            d = weights * (d - centre)
            old, m, v = load(given.value, k, NEVER), load(given.first, k), load(given.second, k)
            stays = one.moves == 0
            m = jnp.where(stays, m, BETA1 * m + (1 - BETA1) * d)
            v = jnp.where(stays, v, BETA2 * v + (1 - BETA2) * d * d)
            moved = old - one.rate * m / (jnp.sqrt(v) * one.root + EPSILON)
            now = jnp.where(stays, old, moved)
            for ref, value in ((new.value, now), (new.first, m), (new.second, v)):
                store(ref, k, value)
            top, total = carry
            higher = jnp.maximum(top, jnp.max(now, axis=1, keepdims=True))
            more = jnp.sum(jnp.exp(now - higher), axis=1, keepdims=True)
            return higher, total * jnp.exp(top - higher) + more

        def weigh(k: Any, same: Any) -> Any:
            store(new.p, k, jnp.exp(load(new.value, k, NEVER) - top) / total)
            return same

        none = jnp.zeros((together, 1), jnp.float32)
        centre = each(mean, none)
        top, total = each(move, (none + NEVER, none))
        if chunks > 1:
            layout.wait()
        each(weigh, none)
        new.total[at] = (top + jnp.log(total))[:, 0]

    made = pl.pallas_call(
        kernel,
        out_shape=[jax.ShapeDtypeStruct(a.shape, a.dtype) for a in rows],
        grid=(n // together,),
        input_output_aliases={i: i for i in range(5)},
        interpret=layout.interpret,
        compiler_params=None if layout.interpret else triton.CompilerParams(num_warps=4),
    )(*rows, g, *moves)
    return Logits(*made)
