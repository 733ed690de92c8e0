import numpy as np
import pytest

from symgrad.dgp.adjacency_matrix import AdjacencyMatrix


def test_matrix_holds_strengths_from_child_to_parent_and_nothing_else():
    a = AdjacencyMatrix(np.array([2, 2, -1]), np.array([0.0, 3.0, 7.0]))
    want = np.zeros((3, 3))
    want[0, 2], want[1, 2] = 0.5, 1 / (1 + np.exp(-3))
    assert a.matrix == pytest.approx(want)
