from dataclasses import replace

import numpy as np
import pytest

from symgrad import Dataset
from symgrad.search.base import Budget, run
from symgrad.search.presets import PRESETS, preset


def data():
    X = np.random.default_rng(0).normal(size=(60, 4))
    return Dataset(X, X[:, 0] + X[:, 1])


@pytest.mark.parametrize("name", PRESETS)
def test_presets_run(name):
    state = run(preset(name), data(), Budget(evaluations=600), np.random.default_rng(0))
    assert np.isfinite(state.front.most_accurate.loss)


def test_the_paper_preset_has_no_constants():
    state = run(preset("paper"), data(), Budget(evaluations=600), np.random.default_rng(0))
    assert all(not len(entry.tree.constants) for entry in state.front)


def test_an_unknown_preset_lists_the_known_ones():
    with pytest.raises(ValueError, match="default"):
        preset("fast")


def test_a_preset_is_the_same_on_any_device():
    here, there = preset("paper"), preset("paper", "gpu")
    assert there.device == "gpu"
    assert replace(there, device="cpu") == here
