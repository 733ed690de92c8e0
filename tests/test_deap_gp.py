import random

import numpy as np
import pytest
import sympy

from symgrad.bench.deap_gp import FUNCTIONS, deap, fold, toolbox, values
from symgrad.bench.task import Limit, Task, symbol

pytest.importorskip("deap")


def test_programs_are_read_as_deap_writes_them():
    random.seed(0)
    box = toolbox(3)
    X = np.random.default_rng(0).uniform(0.5, 2, size=(3, 10))
    names = {name: function for name, (function, _, _) in FUNCTIONS.items()}
    for program in box.population(50):
        with np.errstate(all="ignore"):
            expected = eval(str(program), names | {f"ARG{j}": X[j] for j in range(3)})
        np.testing.assert_array_equal(values(program, X), expected)
        assert program.height <= 4


def test_the_budget_is_kept_and_the_best_tree_counts():
    X = np.random.default_rng(0).normal(size=(50, 4))
    task = Task(X, X[:, 1] + X[:, 2], Limit(evaluations=3000))
    model = deap(task)["deap"]
    assert model.evaluations == 3000
    error = np.mean((model.predict(X) - task.y) ** 2)
    assert error < np.var(task.y)
    assert model.nodes >= 3
    again = deap(task)["deap"]
    assert again.expression() == model.expression()


def test_seconds_are_heeded():
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = deap(Task(X, X[:, 0] ** 2, Limit(seconds=0.3)))["deap"]
    assert 0 < model.evaluations < 100_000


def test_a_found_formula_ends_the_search():
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = deap(Task(X, X[:, 0] + X[:, 1], Limit(evaluations=10**6), synthetic=True))["deap"]
    assert model.evaluations < 10**5
    assert sympy.expand(model.expression() - symbol(0) - symbol(1)) == 0


def test_formulas_are_folded_to_symbols():
    box = toolbox(2)
    program = box.individual()
    assert fold(program, symbol, symbolic=True).free_symbols <= {symbol(0), symbol(1)}
