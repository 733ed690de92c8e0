"""What a command says when something is wrong, and its exit code."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import typer

F = TypeVar("F", bound=Callable[..., Any])
INTERRUPTED = 130


def note(text: str) -> None:
    """Print a remark to standard error."""
    print(text, file=sys.stderr, flush=True)


def quit_with(text: str, code: int) -> NoReturn:
    """Print one sentence to standard error and end."""
    note(f"symgrad: {text}")
    raise typer.Exit(code)


def complaining(command: F) -> F:
    """Make sentences and exit codes of what goes wrong with files and data, and of Ctrl-C."""

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except BrokenPipeError:
            raise  # the reader has seen enough
        except OSError as error:
            text = f"{error.filename}: {error.strerror}" if error.filename else str(error)
            code = 1
        except (ValueError, ImportError) as error:
            text, code = str(error), 1
        except KeyboardInterrupt:
            text, code = "interrupted", INTERRUPTED
        quit_with(text, code)  # out here, where the frames of the error are gone

    return wrapped  # type: ignore[return-value]
