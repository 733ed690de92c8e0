"""Genetic programming by DEAP with the paper's settings.

Populations of 500 (1,000 for the six formulas), ramped half-and-half of depths 1 to 4, tournaments
of 3, one-point crossover and uniform mutation by trees of depth 0 to 2, both with probability 0.5,
depth at most 17 (DEAP's own example), no constants, no scaling. A tree that is not finite on all
training rows is worse than any other. The best tree of all generations counts. One thread.
"""

from __future__ import annotations

import operator
import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

from symgrad.bench.task import FOUND, Adapter, Array, Model, Task, symbol

DEPTH = 17
FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any], int]] = {
    "add": (np.add, operator.add, 2),
    "sub": (np.subtract, operator.sub, 2),
    "mul": (np.multiply, operator.mul, 2),
    "div": (np.divide, operator.truediv, 2),
    "sin": (np.sin, sympy.sin, 1),
    "cos": (np.cos, sympy.cos, 1),
    "exp": (np.exp, sympy.exp, 1),
    "log": (np.log, sympy.log, 1),
}
"""Each function on arrays, in SymPy, and its number of arguments."""


def fold(program: Any, leaf: Callable[[int], Any], symbolic: bool) -> Any:
    """Return what a program (prefix) makes of its leaves."""
    stack: list[Any] = []
    for node in reversed(program):
        if node.arity:
            arguments = [stack.pop() for _ in range(node.arity)]
            exact, symbols, _ = FUNCTIONS[node.name]
            stack.append((symbols if symbolic else exact)(*arguments))
        else:
            stack.append(leaf(int(node.value.removeprefix("ARG"))))
    return stack.pop()


def values(program: Any, columns: Array) -> Array:
    """Return the values of a program on rows, given as columns."""
    with np.errstate(all="ignore"):
        return np.asarray(fold(program, lambda j: columns[j], symbolic=False))


def toolbox(features: int) -> Any:
    """Return DEAP's operators with the paper's settings, and the kind of an individual."""
    from deap import base, gp, tools

    class Fitness(base.Fitness):  # type: ignore[misc]
        weights = (-1.0,)

    class Individual(gp.PrimitiveTree):  # type: ignore[misc]
        def __init__(self, nodes: Any) -> None:
            super().__init__(nodes)
            self.fitness = Fitness()

    pset = gp.PrimitiveSet("main", features)
    for name, (function, _, arity) in FUNCTIONS.items():
        pset.addPrimitive(function, arity, name)
    box = base.Toolbox()
    box.register("first", gp.genHalfAndHalf, pset, 1, 4)
    box.register("individual", tools.initIterate, Individual, box.first)
    box.register("population", tools.initRepeat, list, box.individual)
    box.register("select", tools.selTournament, tournsize=3)
    box.register("mate", gp.cxOnePoint)
    box.register("branch", gp.genFull, min_=0, max_=2)
    box.register("mutate", gp.mutUniform, expr=box.branch, pset=pset)
    for name in ("mate", "mutate"):
        box.decorate(name, gp.staticLimit(operator.attrgetter("height"), DEPTH))
    return box


def deap(task: Task) -> dict[str, Model]:
    """Search by DEAP's simple algorithm until the limit is reached."""
    from deap import algorithms, tools

    random.seed(task.seed)
    columns = np.ascontiguousarray(task.X.T)
    box, best = toolbox(len(columns)), tools.HallOfFame(1)
    start, evaluations = time.perf_counter(), 0
    limit = task.limit

    def spent() -> bool:
        late = limit.seconds is not None and time.perf_counter() - start >= limit.seconds
        return late or (limit.evaluations is not None and evaluations >= limit.evaluations)

    def score(program: Any) -> float:
        with np.errstate(all="ignore"):
            error = float(np.mean((values(program, columns) - task.y) ** 2))
        return error if np.isfinite(error) else np.inf

    population = young = box.population(task.population)
    while True:
        new = [p for p in young if not p.fitness.valid]
        for program in new:
            if spent():
                break
            program.fitness.values = (score(program),)
            evaluations += 1
        best.update([p for p in young if p.fitness.valid])
        if spent() or (task.synthetic and best[0].fitness.values[0] <= FOUND):
            break
        population = young
        young = algorithms.varAnd(box.select(population, len(population)), box, 0.5, 0.5)
    found = best[0]
    return {
        "deap": Model(
            lambda X: np.broadcast_to(values(found, np.asarray(X).T), len(X)),
            lambda: fold(found, symbol, symbolic=True),
            evaluations,
            len(found),
        )
    }


ADAPTERS = (Adapter(deap, ("deap",), "deap", "deap.gp"),)
