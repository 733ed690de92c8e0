"""Where the work is done: by the native core, or by JAX on a GPU. JAX is imported only for that."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symgrad.gpu.kernels import Layout

DEVICES = ("cpu", "gpu", "auto")
INSTALL = "pip install symgrad[gpu]"
LEAST_TRAINING = 10**9
"""Node-rows of training, all epochs together, from which `auto` takes a GPU: seconds on a CPU."""

LEAST_SCORING = 10**10
"""Node-rows of one scoring from which a GPU is taken."""

log = logging.getLogger("symgrad")
notices: list[Callable[[str], None]] = []
"""Who is told when a program is compiled, which takes seconds."""


class NoGPUError(ValueError):
    """A GPU was asked for, and there is none that can be used."""


def check(device: str) -> None:
    """Refuse what is no device, or one that is not there."""
    if device not in DEVICES:
        raise ValueError(f"device must be one of {', '.join(DEVICES)}, got {device!r}")
    if device == "gpu" and missing():
        raise NoGPUError(missing())


def wins(device: str, work: float, least: float) -> bool:
    """Whether a piece of work, in node-rows, goes to the GPU."""
    check(device)
    return device != "cpu" and work >= least and not missing()


@cache
def missing() -> str:
    """Return why there is no GPU to use, or nothing."""
    try:
        import jax
    except ImportError:
        return f"device='gpu' needs JAX, which is not installed: {INSTALL}"
    try:
        jax.devices("gpu")
    except RuntimeError:
        kinds = ", ".join(sorted({d.platform for d in jax.devices()}))
        return f"device='gpu' needs a GPU that JAX can use, and it sees only {kinds}: {INSTALL}"
    if jax.config.jax_compilation_cache_dir is None:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        jax.config.update("jax_compilation_cache_dir", str(home / "symgrad" / "jax"))
    return ""


def training_layout(rows: int) -> Layout:
    """Return how training on batches of some rows is laid out on the GPU at hand."""
    from symgrad.gpu.kernels import Layout

    blocks = -(-rows // 64)  # of 128 rows if they are filled
    block = 64 if blocks % 2 and blocks < 8 else 128
    return Layout(block, warps=1, workers=16 * _processors())


@cache
def scoring_layout() -> Layout:
    """Return how scoring is laid out on the GPU at hand."""
    from symgrad.gpu.kernels import Layout

    return Layout(block=1024, warps=4, workers=8 * _processors())


def _processors() -> int:
    import jax

    return int(getattr(jax.devices("gpu")[0], "core_count", 0) or 128)


_programs: dict[Any, Any] = {}


def compiled(function: Any, *arguments: Any, static: tuple[Any, ...]) -> Any:
    """Call a jitted function whose first arguments are static; tell of the time to compile it."""
    import jax

    leaves, shape = jax.tree.flatten(arguments)
    key = (function, static, shape, tuple((a.shape, a.dtype) for a in map(jax.typeof, leaves)))
    if key not in _programs:
        for tell in notices:
            tell("compiling for the GPU")
        start = time.perf_counter()
        _programs[key] = function.lower(*static, *arguments).compile()
        log.info("compiled for the GPU in %.1f s", time.perf_counter() - start)
        for tell in notices:
            tell("")
    return _programs[key](*arguments)
