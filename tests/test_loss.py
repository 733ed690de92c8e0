import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symgrad import Dataset, Forest, _core
from symgrad.data.constants import fit_constants
from symgrad.data.loss import LOSSES, Loss

numbers = st.floats(-20, 20)


@pytest.mark.parametrize("name", LOSSES)
@given(numbers, st.floats(-5, 5))
def test_the_core_has_the_same_losses(name, y, p):
    loss = Loss(name)
    y = abs(y) if loss.row.log_link else y
    value, gradient, curvature = _core.loss_at(loss.core(np.array([0.0, 1.0])), y, p)
    assert value == pytest.approx(float(loss.of(y, p)), rel=1e-9, abs=1e-9)
    assert curvature > 0
    h = 1e-6
    if abs(y - p) > 1e-3 and abs(abs(y - p) - loss.value) > 1e-3:  # away from kinks
        slope = (float(loss.of(y, p + h)) - float(loss.of(y, p - h))) / (2 * h)
        assert gradient == pytest.approx(slope, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("name", [n for n in LOSSES if n != "poisson"])
@given(numbers, numbers, numbers)
def test_the_parabola_touches_from_above(name, y, p, q):
    loss = Loss(name)
    value, gradient, curvature = _core.loss_at(loss.core(np.array([0.0, 1.0])), y, p)
    if abs(y - p) < 1e-3:
        return
    parabola = value + gradient * (q - p) + 0.5 * curvature * (q - p) ** 2
    assert float(loss.of(y, q)) <= parabola * (1 + 1e-9) + 1e-9


def test_perfect_predictions_cost_nothing():
    y = np.array([0.5, 1.0, 3.0])
    for name, row in LOSSES.items():
        np.testing.assert_allclose(
            Loss(name).of(y, np.log(y) if row.log_link else y), 0, atol=1e-12
        )


@pytest.mark.parametrize(
    ("loss", "best"),
    [
        (Loss(), np.mean),
        (Loss("absolute"), np.median),
        (Loss("quantile", 0.75), lambda y: np.quantile(y, 0.75)),
        (Loss("poisson"), lambda y: np.log(np.mean(y))),
    ],
)
def test_the_best_constant_is_what_it_should_be(loss, best):
    y = np.random.default_rng(0).poisson(3.0, size=501).astype(float)
    y += 0 if loss.row.log_link else np.random.default_rng(1).uniform(size=501)
    data = Dataset(np.zeros((501, 1)), y, dtype=np.float64)
    fitted = fit_constants(Forest.from_strings(["3"]), data, loss=loss, steps=0)
    assert fitted.intercept[0] == pytest.approx(best(y), abs=0.1)
    least = loss.of(y, best(y)).mean()
    assert loss.of(y, fitted.intercept[0]).mean() == pytest.approx(least, rel=1e-3)
    assert fitted.error[0] == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_constants_are_fitted_under_any_loss(name, dtype):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(400, 1))
    eta = 1 + np.exp(1.5 * X[:, 0]) / 2
    y = rng.poisson(np.exp(eta)).astype(float) if name == "poisson" else eta
    data = Dataset(X, y, dtype=dtype, weights=rng.uniform(0.5, 1.5, size=400))
    fitted = fit_constants(Forest.from_strings(["exp(0.7*x0)"]), data, loss=Loss(name), steps=40)
    assert fitted.forest[0].constants[0] == pytest.approx(
        1.5, rel=0.2 if name == "poisson" else 0.02
    )


def test_bad_losses_are_named():
    with pytest.raises(ValueError, match="one of squared"):
        Loss("hinge")
    with pytest.raises(ValueError, match="takes no number"):
        Loss("squared", 2.0)
    with pytest.raises(ValueError, match="out of range"):
        Loss("quantile", 1.5)
    with pytest.raises(ValueError, match="out of range"):
        Loss("huber", 0.0)
    with pytest.raises(ValueError, match="need scaling"):
        fit_constants(
            Forest.from_strings(["x0"]),
            Dataset(np.ones((3, 1)), [1.0, 2.0, 3.0]),
            scale=False,
            loss=Loss("absolute"),
        )
