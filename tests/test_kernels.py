"""What a pass computes is compared with the core in test_train.py; this is the layout."""

import numpy as np
import pytest
from gpu import LAYOUT, problem, trees

from symgrad.gpu import score
from symgrad.gpu.kernels import Layout


@pytest.mark.parametrize("layout", [Layout(8, 1, 1, True), Layout(128, 1, 7, True)])
def test_blocks_and_workers_change_nothing(layout):
    forest, data = trees(20), problem(90)
    want = score.evaluate(forest, data.X, LAYOUT)
    np.testing.assert_array_equal(score.evaluate(forest, data.X, layout), want)
