"""A live panel on a search while it runs, or lines where output is no terminal."""

from __future__ import annotations

import contextlib
import importlib.util
import signal
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

import numpy as np
from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from symgrad.data.dataset import Dataset
from symgrad.evolution.front import Entry
from symgrad.gpu import device
from symgrad.model import formulas
from symgrad.search.base import Budget, Search, State, Stop, run
from symgrad.search.checkpoint import Checkpoint
from symgrad.search.guided import GuidedDGP
from symgrad.search.prune import length
from symgrad.validation import validation

SHARE = 0.02
"""Share of the time that may be spent on the formula shown."""

WIDEST, WIDEST_IN_NOTEBOOKS = 120, 80
"""Width of the panel; a cell of a notebook hides what is beyond its own."""

MARGIN = 4
"""Space to the right of it: the ^C that a terminal writes must not begin a new line."""

LONGEST = 300
"""Characters of a formula that are shown."""


class Progress:
    """What is shown of a search, and how it is ended by hand.

    On a terminal, and in a notebook with ipywidgets, it is a panel; elsewhere a line now and then.
    The formula shown is the one of the front with about the least description length, with its R2
    on the training data and on rows that its constants were not fitted to (`validation`).

    Parameters
    ----------
    console : rich.console.Console, optional
        Where to; by default standard output, or the notebook.
    every : float
        Seconds between two lines where there is no panel.
    keep : bool
        Whether the last panel or line stays.
    interrupt : bool
        Let Ctrl-C end the search with what it has, instead of a KeyboardInterrupt; the second
        one is a KeyboardInterrupt. Works in the main thread only.

    Attributes
    ----------
    stopped : bool
        Whether Ctrl-C was pressed.
    """

    def __init__(
        self,
        console: Console | None = None,
        *,
        every: float = 5.0,
        keep: bool = True,
        interrupt: bool = False,
    ):
        self.console = console or Console()
        self.every, self.keep, self.interrupt = every, keep, interrupt
        self.stopped = False

    def begin(
        self,
        search: Search,
        data: Dataset,
        exact: Dataset,
        budget: Budget,
        start: State | None = None,
    ) -> None:
        """Take note of what is searched; `exact` is the data in the user's units."""
        self._search, self._data, self._exact, self._budget = search, data, exact, budget
        self.stopped = False
        self._state: State | None = None
        self._entry: Entry | None = None
        self._formula, self._r2, self._validation, self._size = "", 0.0, 0.0, 0
        self._start = self._clock = self._line = time.perf_counter()
        self._first: int | None = None
        self._next, self._ready, self._done = 0.0, False, False
        self._live: Live | None = None
        self._title = "symgrad" if start is None else "symgrad, continued"
        if start is not None:
            self(start)

    def __enter__(self) -> Progress:
        self._calm = self._title
        device.notices.append(self._notice)
        if self.interrupt:
            self._handler: Any = signal.signal(signal.SIGINT, self._on_signal)
        jupyter = self.console.is_jupyter
        if importlib.util.find_spec("ipywidgets") if jupyter else self.console.is_terminal:
            self._live = Live(self, console=self.console, transient=not self.keep)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None
    ) -> None:
        device.notices.remove(self._notice)
        if self.interrupt:
            signal.signal(signal.SIGINT, self._handler)
        try:
            if self._state is not None and kind is None:
                self._show(self._state)
                self._done = True
                if self._live is None and self.keep:
                    self._print()
        finally:
            if self._live is not None:
                if self.console.is_jupyter:
                    self._live.refresh()  # which stop leaves out there
                self._live.stop()

    def __call__(self, state: State) -> None:
        """Take in a state; `search.base.run` calls it."""
        now = time.perf_counter()
        if self._first is None:
            self._first = state.evaluations
        self._state, self._clock = state, now
        self._ready = bool(state.front.best)
        if self.stopped and self._ready:
            raise Stop
        if now >= self._next:
            self._show(state)
            self._next = time.perf_counter() + (time.perf_counter() - now) / SHARE
        if self._live is None and now - self._line >= self.every:
            self._print()

    def __rich__(self) -> Panel:
        """Return the panel; it is drawn several times a second, also within an iteration."""
        share, left = self._left()
        bar = Table.grid(padding=(0, 1), expand=True)
        bar.add_column(ratio=1)
        bar.add_column(no_wrap=True)
        bar.add_row(ProgressBar(100, 100 * share), Text(left, "cyan"))
        formula = self._formula or "in the first iteration, no formula yet"
        if self.stopped and not self._formula:
            formula = "ends after the first iteration; Ctrl-C once more quits at once"
        widest = WIDEST_IN_NOTEBOOKS if self.console.is_jupyter else WIDEST
        return Panel(
            Group(Text(formula, "bold" if self._formula else "dim"), Text(self._numbers()), bar),
            title=self._title, title_align="left", border_style="dim", padding=(0, 1),
            width=min(widest, self.console.width - MARGIN),
        )  # fmt: skip

    def _show(self, state: State) -> None:
        """Find the formula to show."""
        entry = self._best(state)
        if entry is None or entry is self._entry:
            return
        self._entry = entry
        loss = self._search.loss if isinstance(self._search, GuidedDGP) else None
        found = formulas([entry], self._data, self._exact, loss)[-1]
        text = found.tree.render(4)
        self._formula = text if len(text) <= LONGEST else text[:LONGEST] + " ..."
        self._r2, self._size = found.r2, found.tree.size
        self._validation = float(validation([found.tree], self._exact, loss)[0])

    def _best(self, state: State) -> Entry | None:
        search = self._search
        if not isinstance(search, GuidedDGP):
            return state.front.most_accurate
        return min(state.front, key=lambda e: length(e, self._data, search.loss), default=None)

    def _rate(self) -> float:
        """Return formulas per second since this search, or its continuation, began."""
        if self._state is None or self._first is None:
            return 0.0
        return (self._state.evaluations - self._first) / max(1e-9, self._clock - self._start)

    def _left(self) -> tuple[float, str]:
        """Return the share of the budget that is used, and the time left in words."""
        state, budget = self._state, self._budget
        if state is None:
            return 0.0, "starting"
        if self._done:
            return 1.0, "done"
        idle = time.perf_counter() - self._clock
        share, seconds = budget.share(state), []
        if budget.seconds is not None:
            seconds.append(budget.seconds - state.seconds - idle)
            share = max(share, min(1.0, 1 - seconds[0] / budget.seconds))
        if budget.evaluations is not None and self._rate() > 0:
            seconds.append((budget.evaluations - state.evaluations) / self._rate() - idle)
        if not seconds:
            return share, "starting"
        return share, f"{duration(max(0.0, min(seconds)))} left"

    def _numbers(self) -> str:
        if self._state is None:
            return ""
        parts = []
        if self._formula:
            held = f" (validation {self._validation:.4f})" if np.isfinite(self._validation) else ""
            parts = [f"R2 {self._r2:.4f}{held}", f"size {self._size}"]
        if self._state.evaluations:
            parts += [f"{self._state.evaluations:,} formulas", f"{self._rate():,.0f}/s"]
        return "   ".join(parts)

    def _print(self) -> None:
        assert self._state is not None
        self._line = time.perf_counter()
        parts = [duration(self._state.seconds), self._left()[1], self._numbers(), self._formula]
        line = "   ".join(part for part in parts if part)
        self.console.print(line, soft_wrap=True, highlight=False, markup=False)

    def _notice(self, what: str) -> None:
        """Say what takes time besides the search; nothing once it is over."""
        self._title = f"{self._calm}: {what}" if what else self._calm
        if what and self._live is None:
            self.console.print(self._title, highlight=False, markup=False)

    def _on_signal(self, signum: int, frame: FrameType | None) -> None:
        if self.stopped:
            raise KeyboardInterrupt
        self.stopped = True
        if self._ready:  # else the first iteration is finished first
            raise Stop


def watched(
    search: Search,
    data: Dataset,
    exact: Dataset,
    budget: Budget,
    rng: np.random.Generator,
    progress: bool | Progress,
    store: Checkpoint | None,
    *watches: Callable[[State], None],
) -> State:
    """Run a search with what the user wants to see and to keep of it.

    Parameters
    ----------
    search, data, budget, rng
        See `symgrad.search.base.run`.
    exact : Dataset
        The data in the user's units.
    progress : bool or Progress
        What to show.
    store : Checkpoint, optional
        Where to go on from, and to write to.
    *watches
        What else sees every state.
    """
    start = None if store is None else store.state(data.names)
    panel = progress if isinstance(progress, Progress) else Progress() if progress else None
    seen: list[Callable[[State], None]] = [*watches]
    seen += [w for w in (store, panel) if w is not None]

    def watch(state: State) -> None:
        for each in seen:
            each(state)

    if panel is not None:
        panel.begin(search, data, exact, budget, start)
    with panel or contextlib.nullcontext():
        state = run(search, data, budget, start or rng, watch)
    if store is not None and not (panel is not None and panel.stopped):
        store.write(state)
    return state


def duration(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> from symgrad.progress import duration
    >>> duration(7.3), duration(95), duration(7260)
    ('7 s', '1 min 35 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
