import jax
import jax.numpy as jnp
import numpy as np
import pytest

from symgrad.gpu.functions import EXACT, SMOOTH, cosine, sine


@pytest.mark.parametrize(("largest", "error"), [(10, 2e-7), (1e4, 2e-7), (1e5, 2e-6)])
def test_sine_and_cosine(largest, error):
    x = np.linspace(-largest, largest, 100_001).astype(np.float32)
    np.testing.assert_allclose(sine(x), np.sin(x.astype(float)), atol=error)
    np.testing.assert_allclose(cosine(x), np.cos(x.astype(float)), atol=error)


def test_their_derivatives():
    x = np.linspace(-7, 7, 101).astype(np.float32)
    np.testing.assert_allclose(jax.vmap(jax.grad(sine))(x), np.cos(x), atol=1e-6)
    np.testing.assert_allclose(jax.vmap(jax.grad(cosine))(x), -np.sin(x), atol=1e-6)


def test_nan_is_not_lost():
    nan, one = jnp.array([jnp.nan, 1.0, 2.0]), jnp.array([1.0, jnp.nan, 1.0])
    np.testing.assert_array_equal(EXACT.minimum(nan, one), [np.nan, np.nan, 1.0])
    np.testing.assert_array_equal(EXACT.maximum(nan, one), [np.nan, np.nan, 2.0])


def test_other_names_are_those_of_jax():
    assert SMOOTH.exp is jnp.exp
    assert EXACT.sin is jnp.sin
