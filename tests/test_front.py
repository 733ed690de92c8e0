import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from symgrad import Forest, Tree
from symgrad.evolution.front import Front

BY_SIZE = {1: "x0", 2: "sin(x0)", 3: "x0 + x1", 4: "sin(x0 + x1)", 5: "x0 + x1*x2"}
LOSS = st.floats(0, 10) | st.just(float("inf")) | st.just(float("nan"))


@given(
    st.lists(st.lists(st.tuples(st.sampled_from(sorted(BY_SIZE)), LOSS), min_size=1), min_size=1)
)
def test_the_front_is_what_no_smaller_or_equal_tree_beats(batches):
    front = Front()
    for batch in batches:
        forest = Forest.from_strings([BY_SIZE[s] for s, _ in batch])
        front.offer(forest, np.array([loss for _, loss in batch]))
    seen = [pair for batch in batches for pair in batch if np.isfinite(pair[1])]
    got = [(e.tree.size, e.loss) for e in front]
    want = sorted(
        {
            (s, v)
            for s, v in seen
            if not any((t <= s and u < v) or (t < s and u <= v) for t, u in seen)
        }
    )
    assert got == want
    assert len(front) == len(want)
    if seen:
        assert front.most_accurate.loss == min(v for _, v in seen)
    else:
        assert front.most_accurate is None


LEAN = ["x0", "x0 + x0", "x0 + x1", "x0 + x0*x0", "x0 + x1*x0", "x0 + x1*x2"]


@given(st.lists(st.tuples(st.sampled_from(LEAN), LOSS), min_size=1))
def test_lean_trees_are_beaten_by_none_as_small_with_as_few_features(seen):
    front = Front()
    for text, loss in seen:
        front.offer(Forest.from_strings([text]), np.array([loss]))
    kinds = [(Tree.parse(text).size, len(set(text) & set("012")), loss) for text, loss in seen]
    want = {
        (s, k, v)
        for s, k, v in kinds
        if np.isfinite(v)
        and not any(
            t <= s and j <= k and u <= v and (t, j, u) != (s, k, v) for t, j, u in kinds
        )
    }  # fmt: skip
    got = [(e.tree.size, len(e.tree.features), e.loss) for e in front.lean()]
    assert got == sorted(want)
