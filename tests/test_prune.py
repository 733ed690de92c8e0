import numpy as np

from symgrad import Dataset, Tree
from symgrad.data.loss import Loss
from symgrad.evolution.front import Front
from symgrad.search.prune import prune, shorter
from symgrad.tree.forest import Forest


def test_every_node_can_go():
    made = {str(t) for t in shorter(Tree.parse("sin(x0*x1) + x2"))}
    assert made == {
        "sin(x0) + x2", "sin(x1) + x2", "sin(1) + x2", "x0*x1 + x2", "1 + x2", "sin(x0*x1)",
        "x2", "1",
    }  # fmt: skip


def test_what_does_not_pay_is_left_out():
    X = np.random.default_rng(0).normal(size=(100, 4))
    truth = Tree.parse("x0*x1 + x2")
    data = Dataset(X, truth.evaluate(X), dtype=np.float64)
    front = Front()
    padded = Tree.parse("x0*x1*(1 + 0.00000001*sin(x3)*x1) + x2")
    front.offer(Forest.of([padded]), np.array([1e-12]))
    prune(front, data, Loss())
    best = front.most_accurate
    assert set(best.tree.features) == {"x0", "x1", "x2"}
    assert best.loss < 1e-20


def test_without_time_nothing_is_tried():
    X = np.random.default_rng(0).normal(size=(100, 2))
    data = Dataset(X, X[:, 0], dtype=np.float64)
    padded, front = Forest.from_strings(["x0 + 0.001*sin(x1)"]), Front()
    front.offer(padded, np.array([1e-6]))
    prune(front, data, Loss(), seconds=-1.0)
    assert [entry.tree.size for entry in front] == [int(padded.sizes[0])]


def test_an_empty_front_stays_empty():
    X = np.random.default_rng(0).normal(size=(20, 2))
    front = Front()
    prune(front, Dataset(X, X[:, 0]), Loss())
    assert not len(front)
