"""JAX's array namespace for the primitives' definitions, where its own is slow or differs."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

# pi/2 in three parts, of which the first two have few digits: k times them is exact.
HALF_PI = (1.5703125, 4.837512969970703e-4, 7.549789948768648e-8)
SINE = (-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4)
COSINE = (4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5)


def sine_and_cosine(x: Any) -> tuple[Any, Any]:
    """Return both, to 1e-6 for arguments up to 1e4 or so, by one reduction to a quarter turn."""
    quarter = jnp.floor(x * (2 / jnp.pi) + 0.5)
    r = x
    for part in HALF_PI:
        r = r - quarter * part
    z = r * r
    sine = r + r * z * (SINE[0] + z * (SINE[1] + z * SINE[2]))
    cosine = 1 - 0.5 * z + z * z * (COSINE[0] + z * (COSINE[1] + z * COSINE[2]))
    turn = quarter - 4 * jnp.floor(quarter * 0.25)  # 0, 1, 2 or 3
    odd = (turn == 1) | (turn == 3)
    first, second = jnp.where(odd, cosine, sine), jnp.where(odd, sine, cosine)
    return jnp.where(turn >= 2, -first, first), jnp.where(
        (turn == 1) | (turn == 2), -second, second
    )


@jax.custom_jvp
def sine(x: Any) -> Any:
    """Return the sine."""
    return sine_and_cosine(x)[0]


@jax.custom_jvp
def cosine(x: Any) -> Any:
    """Return the cosine."""
    return sine_and_cosine(x)[1]


@sine.defjvp
def _(x: Any, dx: Any) -> Any:
    s, c = sine_and_cosine(x[0])
    return s, c * dx[0]


@cosine.defjvp
def _(x: Any, dx: Any) -> Any:
    s, c = sine_and_cosine(x[0])
    return c, -s * dx[0]


class Namespace:
    """JAX's namespace with some names replaced."""

    def __init__(self, **names: Any):
        self.__dict__.update(names)

    def __getattr__(self, name: str) -> Any:
        return getattr(jnp, name)


def minimum(a: Any, b: Any) -> Any:
    """Return the lesser; NaN if one is, also on a GPU."""
    return jnp.where((a != a) | (b != b), a + b, jnp.minimum(a, b))


def maximum(a: Any, b: Any) -> Any:
    """Return the greater; NaN if one is, also on a GPU."""
    return jnp.where((a != a) | (b != b), a + b, jnp.maximum(a, b))


EXACT = Namespace(minimum=minimum, maximum=maximum)
"""For the values of discrete trees."""

SMOOTH = Namespace(sin=sine, cos=cosine)
"""For relaxed trees, where sine and cosine take most of the time."""
