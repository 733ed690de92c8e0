import numpy as np

from symgrad.bench.speed import (
    against_peers,
    best_times,
    flatness,
    long,
    numpy_loop,
    random_forest,
    texts,
)


def test_random_trees_have_the_sizes_that_are_said():
    forest = random_forest(10, 100)
    assert len(forest) == 100
    assert 15 <= forest.sizes.min() <= forest.sizes.max() <= 31
    numpy_loop(forest[:3], np.ones((5, 10)))()


def test_the_best_time_counts():
    turns = []
    times = best_times({"a": lambda: turns.append("a"), "b": lambda: turns.append("b")}, 3)
    assert turns == ["a", "b"] * 3
    assert 0 <= times["a"] < 1


def test_both_tables_are_measured_and_written():
    row = against_peers(50, 1, 1, ("symgrad", "numpy"))
    assert set(row) == {"rows", "threads", "symgrad", "numpy"}
    flat = flatness([(50, 10)], 1)
    rows = long([row], flat)
    assert list(rows["method"]) == ["symgrad", "numpy", "fused score"]
    assert (rows["rate"] > 0).all()
    assert list(rows["case"])[::2] == ["50 rows, 1 thread", "50 rows, 10 features"]
    assert texts([row]).loc["50 rows", "threads"] == "1"
