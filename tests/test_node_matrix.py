import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symgrad.dgp.node_matrix import NodeMatrix, start_logit


@given(st.floats(0.01, 0.99), st.integers(2, 10_000))
def test_the_start_logit_gives_the_start_probability(p, width):
    logits = np.zeros(width)
    logits[0] = start_logit(p, 1.0, width)
    weights = np.exp(logits - logits.max())
    assert weights[0] / weights.sum() == pytest.approx(p)


def test_without_a_probability_the_logit_is_taken():
    assert start_logit(None, 1.0, 50) == 1.0


def test_weights_are_distributions_over_what_a_node_mixes():
    logits = np.array([[0.0, 1.0, -np.inf], [-np.inf, -np.inf, -np.inf], [2.0, 2.0, 2.0]])
    weights = NodeMatrix(logits, (0,)).weights
    assert weights.sum(axis=1) == pytest.approx([1, 0, 1])
    assert weights[0, 2] == 0


def test_zero_one_loss_is_lowest_when_decided():
    decided = NodeMatrix(np.array([[50.0, 0.0, 0.0]]), (0,))
    undecided = NodeMatrix(np.zeros((1, 3)), (0,))
    assert decided.zero_one_loss() == pytest.approx(-0.25)
    assert undecided.zero_one_loss() == pytest.approx(-((1 / 3 - 0.5) ** 2))
