import builtins
import logging

import numpy as np
import pytest

from symgrad import DGPRegressor
from symgrad.dgp.optimization import Optimization
from symgrad.evolution.diversification import Diversification
from symgrad.gpu import device


@pytest.fixture
def absent(monkeypatch):
    """There is no JAX."""
    real = builtins.__import__

    def no_jax(name, *args, **kwargs):
        if name.split(".")[0] == "jax":
            raise ImportError
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", no_jax)
    device.missing.cache_clear()
    yield
    device.missing.cache_clear()


@pytest.fixture
def interpreted(monkeypatch):
    """The CPU plays the GPU."""
    from gpu import LAYOUT

    from symgrad.dgp import optimization
    from symgrad.gpu import memory
    from symgrad.search import base

    monkeypatch.setattr(device, "missing", lambda: "")
    monkeypatch.setattr(optimization, "training_layout", lambda rows: LAYOUT)
    monkeypatch.setattr(base, "scoring_layout", lambda: LAYOUT)
    monkeypatch.setattr(base, "LEAST_SCORING", 0)
    monkeypatch.setattr(memory, "limit", lambda: 2**30)


def test_an_unknown_device_is_refused():
    with pytest.raises(ValueError, match="device must be one of cpu, gpu, auto, got 'tpu'"):
        DGPRegressor(device="tpu").fit([[1.0], [2.0]], [1.0, 2.0])


def test_without_jax_one_sentence_says_how_to_get_it(absent):
    with pytest.raises(
        device.NoGPUError, match=r"JAX, which is not installed: pip install symgrad"
    ):
        DGPRegressor(device="gpu").fit([[1.0], [2.0]], [1.0, 2.0])
    assert not device.wins("auto", 1e30, 1)


def test_without_a_gpu_one_sentence_says_what_there_is():
    jax = pytest.importorskip("jax")
    if any(d.platform == "gpu" for d in jax.devices()):
        pytest.skip("there is a GPU")
    with pytest.raises(device.NoGPUError, match="it sees only cpu"):
        device.check("gpu")


def test_auto_takes_the_gpu_for_large_work_only(monkeypatch):
    monkeypatch.setattr(device, "missing", lambda: "")
    assert device.wins("auto", 100, 50)
    assert not device.wins("auto", 10, 50)
    assert not device.wins("cpu", 100, 50)


def test_a_fit_of_the_paper_preset_runs_on_the_device(interpreted, caplog):
    X = np.random.default_rng(0).normal(size=(60, 5))
    y = X[:, 0] * X[:, 1]
    told = []
    device.notices.append(told.append)
    try:
        with caplog.at_level(logging.INFO, "symgrad"):
            est = DGPRegressor(
                "paper", device="gpu", max_evaluations=300, random_state=0,
                diversification=Diversification(population=40, generations=2),
                optimization=Optimization(epochs=3, batch_size=60),
            ).fit(X, y)  # fmt: skip
    finally:
        device.notices.remove(told.append)
    assert est.n_iter_ >= 1
    assert told[:2] == ["compiling for the GPU", ""]
    assert "compiled for the GPU in" in caplog.text
