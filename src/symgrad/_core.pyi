"""Types of the native core; see core/module.cpp."""

from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

class Forest:
    def __init__(
        self,
        code: NDArray[np.int32],
        value: NDArray[np.float64],
        offset: NDArray[np.int64],
        body_code: NDArray[np.int32],
        body_value: NDArray[np.float64],
        body_offset: NDArray[np.int64],
        body_arity: list[int],
    ) -> None: ...
    @property
    def features(self) -> int: ...

def evaluate(
    forest: Forest, X: NDArray[Any], out: NDArray[Any], smooth: bool, jobs: int
) -> None: ...
def gradient(
    forest: Forest, X: NDArray[Any], out: NDArray[Any], smooth: bool, jobs: int
) -> None: ...
def score(
    forest: Forest,
    X: NDArray[Any],
    y: NDArray[np.float64],
    weight: NDArray[np.float64],
    scale: bool,
    out: NDArray[np.float64],
    jobs: int,
) -> None: ...

class Sprout:
    whole: bool
    def __init__(
        self,
        functions: NDArray[np.int32],
        arities: NDArray[np.int32],
        features: int,
        cumulative: NDArray[np.float64],
        p_constant: float,
        constant_scale: float,
        p_leaf: float,
    ) -> None: ...

def generate(
    sprout: Sprout,
    seed: int,
    depth: NDArray[np.int32],
    full: NDArray[np.uint8],
    min_depth: int,
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int64]]: ...

class BreedOptions:
    crossover: float
    mutation: float
    tournament: int
    mutation_min_depth: int
    mutation_max_depth: int
    max_depth: int
    max_size: int
    seed: int

def breed(
    forest: Forest,
    loss: NDArray[np.float64],
    offspring: int,
    sprout: Sprout,
    options: BreedOptions,
) -> tuple[
    NDArray[np.int32],
    NDArray[np.float64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.uint8],
]: ...

class TrainOptions:
    functions: list[int]
    epochs: int
    batch: int
    rate: float
    edge_rate: float
    lambda_: float
    start: float
    start_logit: float
    edge: float
    sharp_added: bool
    leaf_functions: bool
    scale: bool
    random: bool
    seed: int

def train(
    forest: Forest,
    X: NDArray[Any],
    y: NDArray[Any],
    weight: NDArray[Any],
    deviation: float,
    options: TrainOptions,
    gemm: Any,
    pick: NDArray[np.int32],
    added: NDArray[np.int32],
    edge: NDArray[Any],
    probability: NDArray[Any],
    losses: NDArray[np.float64],
    details: NDArray[Any],
    jobs: int,
) -> None: ...
def primitives() -> list[tuple[str, int]]: ...
def isa() -> str: ...

class Loss:
    def __init__(self, name: str, number: float, tiny: float, low: float, high: float) -> None: ...

def defined(
    forest: Forest, low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.uint8]: ...
def loss_at(loss: Loss, y: float, p: float) -> tuple[float, float, float]: ...
def fit_constants(
    forest: Forest,
    X: NDArray[Any],
    y: NDArray[np.float64],
    weight: NDArray[np.float64],
    scaled: bool,
    loss: Loss,
    steps: int,
    jobs: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...

class Units:
    def __init__(self, scale: list[float], moved: list[bool]) -> None: ...
    scale: list[float]
    moved: list[int]

def written_sizes(forest: Forest, units: Units) -> NDArray[np.int64]: ...

class Rules:
    functions: list[int]
    cost: list[int]
    forbidden: list[int]
    required: list[int]
    monotone: list[int]
    direction: list[int]
    units: Units
    low: list[float]
    high: list[float]

class IslandOptions:
    population: int
    max_size: int
    max_depth: int
    tournament: int
    crossover: float
    guided: float
    pairs: float
    pair_work: float
    adapt: bool
    parts: bool
    written: bool
    words: tuple[int, int, int]
    chain: int
    fit_gate: float
    fit_steps: int
    record_steps: int
    rules: Rules

Packed = tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]

class Table:
    @overload
    def __init__(self, X: NDArray[Any]) -> None: ...
    @overload
    def __init__(
        self,
        rows: int,
        first: NDArray[np.int64],
        row: NDArray[np.int32],
        value: NDArray[np.float32],
    ) -> None: ...

def evolve(
    forest: Forest,
    error: NDArray[np.float64],
    island: NDArray[np.int64],
    X: Table,
    precise: bool,
    y: NDArray[np.float64],
    weight: NDArray[np.float64],
    loss: Loss,
    sprouts: list[Sprout],
    options: list[IslandOptions],
    credit: NDArray[np.float64],
    generations: int,
    seconds: float,
    seed: int,
    jobs: int,
) -> tuple[Packed, NDArray[np.int64], Packed, int, NDArray[np.float64]]: ...
