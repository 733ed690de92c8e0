"""A pass through relaxed trees, forward and backward, as one program for the GPU.

It is a Pallas kernel. A fixed number of workers takes turns at pieces of work, a tree on a block of
rows each, and walks through the tree's instructions; all threads of a worker do the same on rows of
their own, so that trees of any shape cost what their nodes cost. Values that are needed later lie
in the worker's own scratch memory, which is small enough to stay in the cache. Functions and their
derivatives come from the primitives' definitions, by JAX.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from symgrad.gpu.functions import SMOOTH
from symgrad.gpu.pack import LAST, LEAF, STORED
from symgrad.language.primitive import Primitive


@dataclass(frozen=True)
class Layout:
    """How a kernel is laid out.

    Attributes
    ----------
    block : int
        Rows of one piece of work; a power of two.
    warps : int
        Groups of 32 threads that share a piece.
    workers : int
        Programs that take turns.
    interpret : bool
        Run on the CPU, slowly.
    """

    block: int
    warps: int
    workers: int
    interpret: bool = False

    def call(self, kernel: Callable[..., None], out: Any) -> Callable[..., Any]:
        """Return a kernel over whole arrays as a function."""
        if self.interpret:
            return pl.pallas_call(kernel, out_shape=out, grid=(self.workers,), interpret=True)
        settings = triton.CompilerParams(num_warps=self.warps, num_stages=1)
        return pl.pallas_call(kernel, out_shape=out, grid=(self.workers,), compiler_params=settings)

    def share(self, pieces: int, work: Callable[[Any, Any], None]) -> None:
        """Do the pieces of this worker, one after another."""
        worker = pl.program_id(0)

        def one(k: Any, same: Any) -> Any:
            work(worker, worker + k * self.workers)
            return same

        lax.fori_loop(0, (pieces - worker + self.workers - 1) // self.workers, one, worker)

    def rows(self, block: Any) -> Any:
        """Return the rows of a block."""
        return pl.ds(block * self.block, self.block)

    def wait(self) -> None:
        """Let all threads see what was stored."""
        if not self.interpret:
            triton.debug_barrier()

    def struct(self, *shape: int) -> jax.ShapeDtypeStruct:
        """Return the description of an array."""
        return jax.ShapeDtypeStruct(shape, jnp.float32)


class Inputs(NamedTuple):
    """What a pass reads.

    Attributes
    ----------
    trees, code, value : arrays
        The tables of `pack.Relaxed`.
    h : array (leaf rows, rows)
        Values of the leaves; the rows are a multiple of the layout's block.
    y, weight : arrays (rows,)
        Targets and weights.
    w : array (inner rows, functions + 1 or more)
        Weights of functions and `pass`.
    strength : array (inner rows, 2)
        Of the edges to both inputs.
    line : array (trees, 2)
        Slope and intercept of each tree's output.
    leaf_w, mass : arrays (leaf rows, functions) and (leaf rows,)
        Weights of functions in leaves and of all features together; of one row if leaves mix none.
    """

    trees: Any
    code: Any
    value: Any
    h: Any
    y: Any
    weight: Any
    w: Any
    strength: Any
    line: Any
    leaf_w: Any
    mass: Any


class Gradients(NamedTuple):
    """Half the derivatives of the squared error, all but the first by block.

    Attributes
    ----------
    h, w, strength, leaf_w, mass : arrays
        By those inputs.
    error : array (blocks, trees, 2)
        The error itself, and a number that is finite if all derivatives are.
    """

    h: Any
    w: Any
    strength: Any
    leaf_w: Any
    mass: Any
    error: Any


class Walker:
    """One worker on one tree and one block of rows."""

    def __init__(
        self, functions: tuple[Primitive, ...], layout: Layout, x: Inputs, worker: Any, k: Any
    ):
        self.functions, self.layout, self.x, self.worker = functions, layout, x, worker
        self.leaf_functions = x.mass.shape[0] > 1
        n = x.trees.shape[0]
        self.block, self.rows = k // n, layout.rows(k // n)
        self.first, self.size, self.tree, self.root = (x.trees[k % n, i] for i in range(4))

    def values(self, a: Any, b: Any, one: Any) -> list[Any]:
        """Return what each function makes of the inputs."""
        return [
            f.smooth(SMOOTH, a, b) if f.arity == 2 else f.smooth(SMOOTH, one)
            for f in self.functions
        ]

    def leaf(self, row: Any) -> Any:
        """Return the value of a leaf."""
        mixture = self.x.h[row, self.rows]
        if self.leaf_functions:
            own = mixture / self.x.mass[row]
            for f, value in enumerate(self.values(own, own, own)):
                mixture = mixture + self.x.leaf_w[row, f] * value
        return mixture

    def argument(self, k: Any, side: int, last: Any, output: Any) -> Any:
        """Return an input of instruction k, before its edge."""
        row = self.first + k
        where, place = self.x.code[row, 1 + 2 * side], self.x.code[row, 2 + 2 * side]
        branches = [
            lambda place, last: last,
            lambda place, last: self.leaf(place),
            lambda place, last: output[self.worker, place, :],
            lambda place, last: jnp.full_like(last, self.x.value[row, side]),
        ]
        return lax.switch(where, branches, place, last)

    def inputs(self, k: Any, last: Any, output: Any) -> Any:
        """Return both inputs of instruction k, their strengths, and whether the second rules."""
        a, b = (self.argument(k, side, last, output) for side in range(2))
        sa, sb = (self.x.strength[self.first + k, side] for side in range(2))
        return a, b, sa, sb, (self.x.code[self.first + k, 0] > 0) & (sb > sa)

    def forward(self, output: Any) -> Any:
        """Compute every inner node, bottom up; return the root's values."""

        def step(k: Any, last: Any) -> Any:
            a, b, sa, sb, second = self.inputs(k, last, output)
            a, b = a * sa, b * sb
            one = jnp.where(second, b, a)
            w, row = self.x.w, self.first + k
            total = w[row, len(self.functions)] * one
            for f, value in enumerate(self.values(a, b, one)):
                total = total + w[row, f] * value
            output[self.worker, k, :] = total
            self.layout.wait()
            return total

        zeros = jnp.zeros((self.layout.block,), jnp.float32)

        def alone(root: Any, zeros: Any) -> Any:
            fixed = jnp.full_like(zeros, self.x.value[jnp.maximum(~root, 0), 0])
            return jnp.where(root < 0, fixed, self.leaf(jnp.maximum(root, 0)))

        start = lax.cond(self.size > 0, lambda root, zeros: zeros, alone, self.root, zeros)
        return lax.fori_loop(0, self.size, step, start)

    def backward(self, g: Any, out: Gradients, output: Any, adjoint: Any) -> Any:
        """Store all derivatives, from that of the root; return a check that they are finite."""
        x = self.x

        @pl.when((self.size == 0) & (self.root >= 0))
        def _() -> None:
            self.leaf_backward(self.root, g, out)

        def step(i: Any, carry: Any) -> Any:
            g, check = carry
            k = self.size - 1 - i
            row = self.first + k
            before = output[self.worker, jnp.maximum(k - 1, 0), :]
            a, b, sa, sb, second = self.inputs(k, before, output)
            one = jnp.where(second, b * sb, a * sa)
            values, back = jax.vjp(self.values, a * sa, b * sb, one)
            da, db, done = back([x.w[row, f] * g for f in range(len(values))])
            done = done + x.w[row, len(values)] * g
            da, db = da + jnp.where(second, 0.0, done), db + jnp.where(second, done, 0.0)
            sums = [jnp.sum(g * value) for value in (*values, one)]
            for f, total in enumerate(sums):
                out.w[self.block, row, f] = total
            edges = jnp.sum(da * a), jnp.sum(db * b)
            da, db = da * sa, db * sb
            for side, (total, d) in enumerate(zip(edges, (da, db), strict=True)):
                out.strength[self.block, row, side] = total
                self.send(x.code[row, 1 + 2 * side], x.code[row, 2 + 2 * side], d, out, adjoint)
            self.layout.wait()
            # The instruction before is an input, or waits for a derivative that was stored.
            waits = adjoint[self.worker, jnp.maximum(k - 1, 0), :]
            g = jnp.where(x.code[row, 3] == LAST, db, jnp.where(x.code[row, 1] == LAST, da, waits))
            return g, check + 0 * (da + db) + 0 * (sum(sums) + sum(edges))

        return lax.fori_loop(0, self.size, step, (g, jnp.zeros_like(g)))[1]

    def send(self, where: Any, place: Any, d: Any, out: Gradients, adjoint: Any) -> None:
        """Pass a derivative on to an input that is a leaf, or that comes much earlier."""

        @pl.when(where == LEAF)
        def _() -> None:
            self.leaf_backward(place, d, out)

        @pl.when(where == STORED)
        def _() -> None:
            adjoint[self.worker, place, :] = d

    def leaf_backward(self, row: Any, g: Any, out: Gradients) -> None:
        """Store the derivatives by a leaf's mixture and by its weights of functions."""
        x = self.x
        if not self.leaf_functions:
            out.h[row, self.rows] = g
            return
        mass = x.mass[row]
        own = x.h[row, self.rows] / mass
        values, back = jax.vjp(lambda own: self.values(own, own, own), own)
        (by_own,) = back([x.leaf_w[row, f] * g for f in range(len(values))])
        for f, value in enumerate(values):
            out.leaf_w[self.block, row, f] = jnp.sum(g * value)
        out.mass[self.block, row] = -jnp.sum(by_own * own) / mass
        out.h[row, self.rows] = g + by_own / mass


def gradients(
    functions: tuple[Primitive, ...], layout: Layout, longest: int, inputs: Inputs
) -> Gradients:
    """Run a pass through relaxed trees of at most `longest` inner nodes.

    What belongs to padding is left undefined.
    """
    n_trees = inputs.trees.shape[0]
    blocks = inputs.h.shape[1] // layout.block
    scratch = layout.struct(layout.workers, longest, layout.block)

    def by_block(a: Any) -> Any:
        return layout.struct(blocks, *a.shape)

    out = Gradients(
        layout.struct(*inputs.h.shape),
        by_block(inputs.w),
        by_block(inputs.strength),
        by_block(inputs.leaf_w),
        by_block(inputs.mass),
        layout.struct(blocks, n_trees, 2),
    )

    def kernel(*refs: Any) -> None:
        given, rest = Inputs(*refs[: len(inputs)]), refs[len(inputs) :]
        made, output, adjoint = Gradients(*rest[:-2]), rest[-2], rest[-1]

        def piece(worker: Any, k: Any) -> None:
            walker = Walker(functions, layout, given, worker, k)
            root = walker.forward(output)
            slope = given.line[walker.tree, 0]
            r = slope * root + given.line[walker.tree, 1] - given.y[walker.rows]
            weighted = given.weight[walker.rows] * r
            check = walker.backward(slope * weighted, made, output, adjoint)
            made.error[walker.block, walker.tree, 0] = jnp.sum(weighted * r)
            made.error[walker.block, walker.tree, 1] = jnp.sum(check)

        layout.share(n_trees * blocks, piece)

    return Gradients(*layout.call(kernel, (*out, scratch, scratch))(*inputs)[:-2])


def moments(functions: tuple[Primitive, ...], layout: Layout, longest: int, inputs: Inputs) -> Any:
    """Return mean, sum of squares about it, and product sum with the target, (blocks, trees, 3)."""
    n_trees = inputs.trees.shape[0]
    blocks = inputs.h.shape[1] // layout.block
    scratch = layout.struct(layout.workers, longest, layout.block)

    def kernel(*refs: Any) -> None:
        given, made, output = Inputs(*refs[: len(inputs)]), refs[-2], refs[-1]

        def piece(worker: Any, k: Any) -> None:
            walker = Walker(functions, layout, given, worker, k)
            f, weight = walker.forward(output), given.weight[walker.rows]
            mean = jnp.sum(weight * f) / jnp.maximum(jnp.sum(weight), 1e-30)
            apart = weight * (f - mean)
            made[walker.block, walker.tree, 0] = mean
            made[walker.block, walker.tree, 1] = jnp.sum(apart * (f - mean))
            made[walker.block, walker.tree, 2] = jnp.sum(apart * given.y[walker.rows])

        layout.share(n_trees * blocks, piece)

    out = layout.struct(blocks, n_trees, 3)
    return layout.call(kernel, (out, scratch))(*inputs)[0]
