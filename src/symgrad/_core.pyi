"""Types of the native core; see core/module.cpp."""

from typing import Any

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
def generate(
    seed: int,
    functions: NDArray[np.int32],
    arities: NDArray[np.int32],
    features: int,
    cumulative: NDArray[np.float64],
    p_constant: float,
    constant_scale: float,
    p_leaf: float,
    depth: NDArray[np.int32],
    full: NDArray[np.uint8],
    min_depth: int,
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int64]]: ...
def primitives() -> list[tuple[str, int]]: ...
def isa() -> str: ...
