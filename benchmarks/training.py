"""How fast relaxed trees are trained, against the same trees in batched, jitted JAX.

    python benchmarks/training.py [--trees 500] [--epochs 20]

Full binary trees of 31 nodes over + - * / sin cos exp log are relaxed and trained for some
epochs of 256 rows: by symgrad's core, and by JAX on the CPU. The trees are those that suit JAX
best: all of one shape, so that its program goes level by level through dense arrays (leaf values
by one einsum, gradients by jax.grad, Adam by hand, epochs in lax.scan, compiled before the clock
starts). Both use all cores and take turns. Throughput is in 10^6 node-rows per second; a second
figure for symgrad is that of random trees of 15 to 31 nodes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console

from symgrad import Dataset, Forest, PrimitiveSet
from symgrad.bench.speed import best_times, random_forest, show
from symgrad.dgp.node_matrix import start_logit
from symgrad.dgp.optimization import Optimization, optimize
from symgrad.tree.generate import generate

ROWS = 256
DEPTH = 4


def full_trees(features: int, n: int) -> Forest:
    """Return full binary trees of depth 4."""
    rng = np.random.default_rng(0)
    binary = PrimitiveSet(["+", "-", "*", "/"])
    made = generate(rng, n, features, primitives=binary, method="full", max_depth=DEPTH)
    return Forest(made.code, made.value, made.offset, PrimitiveSet.paper())


def jax_train(forest: Forest, data: Dataset, epochs: int) -> Callable[[], None]:
    """Return the work of some epochs in JAX, compiled."""
    import jax
    import jax.numpy as jnp

    functions = forest.primitives.codes
    rows = [forest.primitives[c] for c in functions]
    n, leaves = len(forest), 2**DEPTH
    features = ~forest.code.reshape(n, -1)
    leaf = np.zeros((n, leaves, data.features), np.float32)
    at = features[features >= 0].reshape(n, leaves)
    np.put_along_axis(leaf, at[:, :, None], start_logit(0.9, 1.0, data.features), axis=2)
    inner = np.zeros((n, leaves - 1, len(functions) + 1), np.float32)
    own = forest.code.reshape(n, -1)
    own = own[own >= 0].reshape(n, leaves - 1)  # any order will do: the work is the same
    np.put_along_axis(inner, own[:, :, None], start_logit(0.9, 1.0, len(functions) + 1), axis=2)
    params = {"leaf": leaf, "inner": inner, "edge": np.full((n, 2 * leaves - 2), 2.94, np.float32)}
    X, y = jnp.asarray(data.X), jnp.asarray(data.y, jnp.float32)

    def output(params: Any) -> Any:
        values = jnp.einsum("tkd,rd->tkr", jax.nn.softmax(params["leaf"], axis=-1), X)
        weights = jax.nn.softmax(params["inner"], axis=-1)
        strength = jax.nn.sigmoid(params["edge"])
        first_node = first_edge = 0
        for level in range(DEPTH - 1, -1, -1):
            width = 2**level
            s = strength[:, first_edge : first_edge + 2 * width, None]
            w = weights[:, first_node : first_node + width, :, None]
            first_edge, first_node = first_edge + 2 * width, first_node + width
            values = values * s
            a, b = values[:, 0::2], values[:, 1::2]
            one = jnp.where(s[:, 1::2] > s[:, 0::2], b, a)
            values = w[:, :, -1] * one
            for f, p in enumerate(rows):
                args = (a, b) if p.arity == 2 else (one,)
                values = values + w[:, :, f] * p.smooth(jnp, *args)
        return values[:, 0]

    def loss(params: Any) -> Any:
        nrmse = jnp.sqrt(jnp.mean((output(params) - y) ** 2, axis=1)) / jnp.std(y)
        softmaxes = [jax.nn.softmax(params[k], axis=-1) for k in ("inner", "leaf")]
        return jnp.sum(nrmse) - 0.1 * sum(((p - 0.5) ** 2).mean() for p in softmaxes)

    def epoch(carry: Any, step: Any) -> tuple[Any, None]:
        params, m, v = carry
        g = jax.grad(loss)(params)
        m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
        v = jax.tree.map(lambda a, b: 0.999 * a + 0.001 * b * b, v, g)
        c1, c2 = 1 - 0.9**step, 1 - 0.999**step
        params = jax.tree.map(
            lambda p, a, b: p - 0.02 * (a / c1) / (jnp.sqrt(b / c2) + 1e-8), params, m, v
        )
        return (params, m, v), None

    def epochs_of(params: Any) -> Any:
        zeros = jax.tree.map(jnp.zeros_like, params)
        steps = jnp.arange(1, epochs + 1, dtype=jnp.float32)
        return jax.lax.scan(epoch, (params, zeros, zeros), steps)[0][0]

    train = jax.jit(epochs_of)
    start = jax.tree.map(jnp.asarray, params)
    jax.block_until_ready(train(start))
    return lambda: jax.block_until_ready(train(start))


def measure(features: int, n_trees: int, epochs: int, repeats: int = 3) -> dict[str, Any]:
    """Return the row of one width."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, features))
    data = Dataset(X, X[:, 0] * X[:, 1] + X[:, 2])
    full, mixed = full_trees(features, n_trees), random_forest(features, n_trees)
    settings = Optimization(epochs=epochs, added_leaf="uniform")
    times = best_times(
        {
            "symgrad": lambda: optimize(np.random.default_rng(0), full, data, settings),
            "jax": jax_train(full, data, epochs),
            "mixed": lambda: optimize(np.random.default_rng(0), mixed, data, settings),
        },
        repeats,
    )
    work = ROWS * epochs / 1e6
    return {
        "features": features,
        "symgrad": len(full.code) * work / times["symgrad"],
        "jax": len(full.code) * work / times["jax"],
        "ratio": times["jax"] / times["symgrad"],
        "symgrad, mixed sizes": len(mixed.code) * work / times["mixed"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=500)
    parser.add_argument("--epochs", type=int, default=20)
    o = parser.parse_args()
    widths = ((50, o.epochs), (1000, max(o.epochs // 4, 2)))
    rows = [measure(features, o.trees, epochs) for features, epochs in widths]
    show(Console(), "training, 10^6 node-rows per second, float32", rows)
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
