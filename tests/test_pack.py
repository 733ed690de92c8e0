import numpy as np
import pytest

from symgrad import Forest, PrimitiveSet
from symgrad.gpu.pack import LAST, LEAF, NUMBER, STORED, bucket, instructions, programs, relaxed
from symgrad.tree.generate import generate

NAMES = ["x0", "x1", "x2", "x3"]


def forest(*formulas):
    return Forest.from_strings(formulas, NAMES, PrimitiveSet.paper())


def arguments(text):
    return [[a[:2] for a in pair] for pair in instructions(forest(text)).arguments]


def test_buckets_are_few_and_large_enough():
    for steps in (1, 4):
        sizes = [bucket(n, steps) for n in range(1, 5000)]
        assert all(b >= n for n, b in enumerate(sizes, 1))
        assert len(set(sizes)) <= 11 * steps
        assert sizes == sorted(sizes)


def test_the_last_value_is_at_hand_and_a_left_one_is_stored():
    assert arguments("sin(x0*x1)") == [[(LEAF, 0), (LEAF, 1)], [(LAST, 0)]]
    assert arguments("x0*x1 + x2") == [[(LEAF, 0), (LEAF, 1)], [(LAST, 0), (LEAF, 2)]]
    assert arguments("x2 - x0*x1")[-1] == [(LEAF, 2), (LAST, 0)]
    assert arguments("x0*x1 - x2*x3")[-1] == [(STORED, 0), (LAST, 1)]
    assert arguments("2*x0")[0][0] == (NUMBER, 0)


def test_a_tree_without_functions_copies_its_root():
    packed = programs(forest("x3", "2.5", "x0 + x1"))
    n = len(PrimitiveSet.paper())
    rows = {int(t[2]): packed.code[t[0]] for t in packed.trees if t[1]}
    assert rows[0].tolist() == [n, LEAF, 3, LEAF, 3, 0]
    assert rows[1].tolist() == [n, NUMBER, 0, NUMBER, 0, 0]


def run(packed, functions, X):
    """Run the instructions one by one."""
    out = {}
    for first, size, index, _ in packed.trees:
        stored, last = {}, None
        for k in range(size):
            f, *places, keep = packed.code[first + k].tolist()
            found = []
            for side in range(2):
                where, place = places[2 * side : 2 * side + 2]
                number = packed.value[first + k, side]
                found.append([last, X[:, place % X.shape[1]], stored.get(place), number][where])
            call = functions[f] if f < len(functions) else None
            with np.errstate(all="ignore"):
                last = (
                    found[1]
                    if call is None
                    else call.define(np, *(found if call.arity == 2 else found[1:]))
                )
            if keep:
                stored[k] = last
        if size:
            out[int(index)] = np.broadcast_to(last, len(X))
    return np.array([out[i] for i in sorted(out)])


def test_instructions_compute_what_trees_do():
    rng = np.random.default_rng(0)
    trees = generate(rng, 200, 4, primitives=PrimitiveSet(), max_depth=6, p_constant=0.2)
    X = rng.normal(size=(9, 4))
    packed = programs(trees)
    got = run(packed, tuple(trees.primitives), X)
    np.testing.assert_allclose(got, trees.evaluate(X), rtol=1e-4)
    stored = packed.code[:, 5].sum()
    assert 0 < stored < (packed.code[:, 0] >= 0).sum() / 4


def test_rows_of_relaxed_trees_start_from_their_own_primitives():
    packed = relaxed(forest("x2*sin(x1)", "x3", "1.5"))
    assert packed.leaf_own[:4].tolist() == [2, 1, -1, 3]
    assert packed.added[:4].tolist() == [False, False, True, False]
    assert packed.inner_own[:2].tolist() == [4, 2]
    assert packed.edge_of.tolist() == [2, 0, 3, -1, -1, -1]
    assert packed.leaf_of.tolist() == [0, 1, -1, -1, 3, -1]
    assert packed.leaf_tree[:5].tolist() == [0, 0, 0, 1, len(packed.trees)]
    assert packed.rows[:3].tolist() == [5, 1, 1]
    roots = {int(t[2]): int(t[3]) for t in packed.trees}
    assert roots[1] == 3
    assert packed.value[~roots[2], 0] == 1.5


@pytest.mark.parametrize("n", [1, 7, 64])
def test_padding_is_empty(n):
    packed = programs(forest(*["x0 + x1"] * n))
    assert (packed.trees[:, 1] > 0).sum() == n
    assert sorted(packed.trees[:, 2].tolist()) == list(range(len(packed.trees)))
