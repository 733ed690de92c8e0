"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import IO


@contextlib.contextmanager
def replacing(target: str, temporary: str) -> Iterator[IO[bytes]]:
    """Open a temporary file that takes the place of another when all is written.

    If anything fails, it is removed, and the other stays as it was.

    Parameters
    ----------
    target : str
        What is replaced.
    temporary : str
        Another name in the same folder. A file that is there is overwritten.
    """
    try:
        with open(temporary, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
