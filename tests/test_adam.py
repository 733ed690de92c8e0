import jax.numpy as jnp
import numpy as np
import pytest
from gpu import LAYOUT
from scipy.special import softmax

from symgrad.gpu import adam


def plain(value, m, v, g, n, rate, pull):
    """One step as one writes it down."""
    p = softmax(value)
    g = g + pull * (p - 0.5)
    d = p * (g - (p * g).sum())
    m = 0.9 * m + 0.1 * d
    v = 0.999 * v + 0.001 * d * d
    step = rate * (m / (1 - 0.9**n)) / (np.sqrt(v / (1 - 0.999**n)) + 1e-8)
    return value - step, m, v


@pytest.mark.parametrize(("width", "chunk"), [(5, 8192), (70, 8192), (200, 64), (700, 256)])
def test_steps_are_those_of_adam(monkeypatch, width, chunk):
    monkeypatch.setattr(adam, "CHUNK", chunk)
    rng = np.random.default_rng(0)
    rows = 8
    widths = np.full(rows, width)
    widths[3] = width - 2
    state = adam.start(np.arange(rows) - 1, widths, width, 2.0)
    values = [np.where(np.arange(w) == i - 1, 2.0, 0.0) for i, w in enumerate(widths)]
    moments = [(np.zeros(w), np.zeros(w)) for w in widths]
    for n in range(1, 5):
        g = rng.normal(size=(rows, state.value.shape[1]))
        g[:, width:] = np.nan  # padding holds anything
        ones = np.ones(rows)
        moves = np.where(np.arange(rows) == 5, 0.0, 1.0)
        one = adam.Moves(
            2 * ones, 0.3 * ones, 0.1 / (1 - 0.9**n) * ones, ones / np.sqrt(1 - 0.999**n),
            moves, widths,
        )  # fmt: skip
        one = adam.Moves(*(jnp.asarray(a, jnp.float32) for a in one[:-1]), jnp.asarray(widths))
        state = adam.step(LAYOUT, state, jnp.asarray(g, jnp.float32), one)
        for i, w in enumerate(widths):
            if moves[i]:
                values[i], *moments[i] = plain(values[i], *moments[i], 2 * g[i, :w], n, 0.1, 0.3)
    tolerance = 0.02 if width > adam.WIDE else 2e-4  # first moments are bfloat16
    for i, w in enumerate(widths):
        np.testing.assert_allclose(state.value[i, :w], values[i], atol=tolerance)
        np.testing.assert_allclose(state.p[i, :w], softmax(values[i]), atol=tolerance)
        assert (np.asarray(state.p[i, w:]) == 0).all()
    np.testing.assert_allclose(np.asarray(state.p).sum(axis=1), 1, rtol=1e-5)
