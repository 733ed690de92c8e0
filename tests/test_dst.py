"""The core trains what the plain NumPy form of Algorithm 2 says."""

import numpy as np
import pytest

from symgrad import Dataset, Forest, PrimitiveSet, Tree
from symgrad.dgp.adjacency_matrix import AdjacencyMatrix
from symgrad.dgp.dst import DifferentiableSymbolicTree, place, relax, trained
from symgrad.dgp.node_matrix import NodeMatrix
from symgrad.dgp.optimization import Optimization, optimize
from symgrad.tree.generate import generate

BUILTIN_AND_OWN = PrimitiveSet().extend(
    "gauss(x) = exp(-x*x)", "mix(a, b) = gauss(a)*b + a/(1 + b^2)"
)
SETTINGS = {
    "preset": Optimization(epochs=1, added_leaf="uniform"),
    "literal": Optimization.literal(epochs=1),
    "leaf functions": Optimization(epochs=1, added_leaf="uniform", leaf_functions=True),
    "scaled": Optimization(epochs=1, added_leaf="uniform", scale=True),
    "weak edges": Optimization(epochs=1, added_leaf="uniform", edge_strength=0.4, zero_one=0.0),
}


def some_data(rows=40, features=3, seed=0, weights=False, nasty=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features))
    if nasty:
        X[:8] = np.array([0, 0, 1e-12, -1e-12, 1, -1, 1e8, -1e8])[:, None]
    y = np.sin(X[:, 0]) + rng.normal(size=rows)
    w = rng.uniform(0.1, 2, rows) if weights else None
    return Dataset(X, y, weights=w, dtype=np.float64)


def some_forest(primitives=None, n=6, features=3, seed=0):
    return generate(
        np.random.default_rng(seed), n, features, primitives=primitives or PrimitiveSet.paper(),
        min_depth=1, max_depth=3, p_constant=0.1,
    )  # fmt: skip


def loss_of(dst, data, o):
    """NRMSE + zero_one * Loss01, as the paper writes it."""
    f, y = dst.forward(data.X), data.y
    w = np.ones(len(y)) if data.weights is None else data.weights
    deviation = np.sqrt(np.average((y - np.average(y, weights=w)) ** 2, weights=w))
    if o.scale:
        root = np.sqrt(w)[:, None]
        line = np.linalg.lstsq(root * np.stack([np.ones_like(f), f], 1), root[:, 0] * y, rcond=None)
        f = line[0][0] + line[0][1] * f
    nrmse = np.sqrt(np.average((y - f) ** 2, weights=w)) / deviation
    return nrmse + o.zero_one * dst.node_matrix.zero_one_loss()


def with_logits(dst, logits):
    matrix = NodeMatrix(logits, dst.node_matrix.functions)
    return DifferentiableSymbolicTree(dst.tree, matrix, dst.adjacency_matrix, dst.children)


def with_edges(dst, v):
    matrix = AdjacencyMatrix(dst.adjacency_matrix.parent, v)
    return DifferentiableSymbolicTree(dst.tree, dst.node_matrix, matrix, dst.children)


def slope(function, array, index, step=2e-6, side=0):
    """The derivative by central differences, or from one side of a jump."""

    def at(h):
        moved = array.copy()
        moved[index] += h
        return function(moved)

    if side:
        return (4 * at(side * step) - at(2 * side * step) - 3 * at(0)) / (2 * side * step)
    coarse, fine = ((at(h) - at(-h)) / (2 * h) for h in (step, step / 4))
    return (16 * fine - coarse) / 15


def logit_gradients(dst, gradients, o):
    """dLoss/dlogit from the core's dNRMSE/dp: the softmax and Loss01 by hand."""
    p = dst.node_matrix.weights
    live = np.isfinite(dst.node_matrix.logits)
    rows = live.any(axis=1).sum()
    width = np.maximum(live.sum(axis=1, keepdims=True), 1)
    g = np.where(live, gradients, 0) - 2 * o.zero_one / rows / width * (p - 0.5) * live
    return p * (g - (p * g).sum(axis=1, keepdims=True))


def check(forest, data, o, rel=1e-5):
    got = optimize(np.random.default_rng(0), forest, data, o, details=True)
    blocks = got.details.reshape(5, len(forest.code), -1)
    edges = blocks[4].reshape(-1)
    compared = 0
    for t, dst in enumerate(relax(forest, data.features, o)):
        rows = slice(forest.offset[t], forest.offset[t + 1])
        loss = loss_of(dst, data, o)
        assert got.loss[0, t] == pytest.approx(loss, rel=rel)
        core = place(dst, blocks[1, rows], blocks[3, rows], data.features)
        want = logit_gradients(dst, core, o)
        for i, j in np.argwhere(np.isfinite(dst.node_matrix.logits)):
            numeric = slope(lambda a, dst=dst: loss_of(with_logits(dst, a), data, o),
                            dst.node_matrix.logits, (i, j))  # fmt: skip
            assert want[i, j] == pytest.approx(numeric, rel=1e-4, abs=rel * (1 + loss)), (t, i, j)
            compared += 1
        rights = {c[1] for c in dst.children if c and c[1] < dst.tree.size}
        for i in range(dst.tree.size - 1):
            # All edges start alike: left ones must stay the stronger.
            numeric = slope(lambda a, dst=dst: loss_of(with_edges(dst, a), data, o),
                            dst.adjacency_matrix.v, i, side=-1 if i in rights else 1)  # fmt: skip
            own = edges[: len(forest.code)][rows][i]
            assert own == pytest.approx(numeric, rel=1e-4, abs=rel * (1 + loss)), (t, i)
    assert compared > 20


@pytest.mark.parametrize("name", SETTINGS)
def test_loss_and_gradients_agree_with_the_plain_form(name):
    check(some_forest(), some_data(weights=name == "preset"), SETTINGS[name])


@pytest.mark.parametrize("primitive", BUILTIN_AND_OWN, ids=lambda p: p.name)
def test_every_primitive_in_every_kind_of_node(primitive):
    primitives = PrimitiveSet(["+", "neg"]).extend(*(
        [s for s in BUILTIN_AND_OWN.specs if "=" in s] if primitive.body else [primitive.name]
    ))  # fmt: skip
    args = ", ".join(["x0 + x1", "x2"][: primitive.arity])
    text = f"{primitive.name}({args}) + -x1"
    check(Forest.from_strings([text], primitives=primitives), some_data(), SETTINGS["preset"])


def test_at_the_nasty_points():
    data = some_data(nasty=True)
    forest = some_forest(n=20)
    for o in (SETTINGS["preset"], SETTINGS["leaf functions"]):
        got = optimize(np.random.default_rng(0), forest, data, o)
        for t, dst in enumerate(relax(forest, data.features, o)):
            assert got.loss[0, t] == pytest.approx(loss_of(dst, data, o), rel=1e-5)


def test_the_sharper_the_start_the_nearer_to_the_tree():
    forest = Forest.from_strings(
        ["x0*sin(x1) + x2", "exp(x0) - x1/x2"], primitives=PrimitiveSet.paper()
    )
    X = some_data().X
    exact = forest.evaluate(X, smooth=True)
    for tolerance, p in ((1e-2, 0.9999), (1e-5, 1 - 1e-8)):
        o = Optimization(start_probability=p, edge_strength=p)
        for dst, want in zip(relax(forest, 3, o), exact, strict=True):
            error = np.abs(dst.forward(X) - want) / (1 + np.abs(want))
            assert np.median(error) < tolerance


def test_one_adam_step():
    o = Optimization(epochs=1, added_leaf="uniform", learning_rate=0.01)
    forest, data = some_forest(), some_data()
    got = optimize(np.random.default_rng(0), forest, data, o, details=True)
    before, after = relax(forest, 3, o), trained(got, o)
    for b, a in zip(before, after, strict=True):
        live = np.isfinite(b.node_matrix.logits)
        step = a.node_matrix.logits[live] - b.node_matrix.logits[live]
        # The first step of Adam has the length of the learning rate, whatever the gradient.
        assert np.all((np.abs(step) < 1e-6) | (np.abs(np.abs(step) - 0.01) < 1e-3))


def test_details_are_needed_to_look_inside():
    o = Optimization(epochs=1)
    got = optimize(np.random.default_rng(0), some_forest(), some_data(), o)
    with pytest.raises(ValueError, match="details"):
        trained(got, o)


def test_children_and_added_leaves():
    tree = Tree.parse("sin(x0) + x1", primitives=PrimitiveSet.paper())
    (dst,) = relax(Forest.of([tree]), 4)
    assert dst.children == ((), (0, 4), (), (1, 2), ())
    assert dst.adjacency_matrix.parent.tolist() == [1, 3, 3, -1, 1]
    assert dst.node_matrix.logits.shape == (5, 8 + 1 + 4)
